"""A table declared once: its columns, the order of its rows, and its rows as CSV."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from apps.show.cell_formats import CellLocale
from apps.show.csv_cells import csv_text_of
from apps.tables.column import Column

PER_PAGE = 100

Row = TypeVar("Row")


# Without slots: with them Python 3.11 cannot make a frozen `Table[Row](…)`.
@dataclass(frozen=True)
class Table(Generic[Row]):
    """A table, declared once.

    `name` is its anchor, `sort` its parameter in addresses; without it all rows stand as they come.

    `about` is the line beside its title; `{said}` in it is how many rows there are, as `noun` calls
    them. `csv_first` are columns that a file begins with where the page does not. `default_sort`
    is the order of an address that says none, `page_name` the parameter of its part where the
    query finds that. `row` is the dataclass of the rows, of which columns without a value are the fields, and
    `unique` tells one row from all others, by what they are ordered over REST.
    """

    name: str
    title: str
    columns: tuple[Column[Row], ...]
    noun: tuple[str, str] = ("row", "rows")
    about: str = "{said}"
    empty: str = ""
    sort: str = ""
    per_page: int = PER_PAGE
    css: str = ""
    csv_first: tuple[str, ...] = ()
    default_sort: str = ""
    page_name: str = ""
    row: type[Any] | None = None
    unique: Callable[[Row], tuple[Any, ...]] | None = None

    def __post_init__(self) -> None:
        """Take what the dataclass of the rows declares of the columns."""
        columns = tuple(column.of_rows(self.row) for column in self.columns)
        object.__setattr__(self, "columns", columns)

    @property
    def csv_columns(self) -> list[Column[Row]]:
        """Those of the file, in its order."""
        rank = {name: place for place, name in enumerate(self.csv_first)}
        exported = [column for column in self.columns if column.csv_name]
        return sorted(exported, key=lambda column: rank.get(column.csv_name, len(rank)))

    @property
    def page_columns(self) -> tuple[Column[Row], ...]:
        """Those that have a heading."""
        return tuple(column for column in self.columns if column.text)

    def csv_text(self, rows: Iterable[Row], locale: CellLocale) -> str:
        """Return the rows as a CSV file with a line of names; its cells are exact, and unknown ones empty."""
        columns = self.csv_columns
        cells = ([column.csv_cell(row, locale) for column in columns] for row in rows)
        return csv_text_of([column.csv_name for column in columns], cells)

    def sorted_by(
        self, sort_param: str, columns: Iterable[Column[Row]] | None = None
    ) -> Column[Row] | None:
        """Return which of the columns, or of all, a parameter names, as `-cost` or `cost`; None where there is none that orders."""
        key = sort_param.removeprefix("-")
        return next(
            (
                column
                for column in (self.columns if columns is None else columns)
                if column.sorts and (key == column.key or key in column.formerly)
            ),
            None,
        )

    def in_order(self, rows: Iterable[Row], sort_param: str) -> list[Row]:
        """Return the rows ordered by the column that `sort_param` names, or as they come; those of which it is not known come last either way."""
        column = self.sorted_by(sort_param)
        return ordered_rows(rows, column, is_descending=sort_param.startswith("-"))


def ordered_rows(
    rows: Iterable[Row], column: Column[Row] | None, *, is_descending: bool
) -> list[Row]:
    """Return the rows by the values of a column, or as they come where there is none or the query has ordered them.

    Those of which it is not known come last either way.
    """
    if column is None or column.sql is not None:
        return list(rows)
    keyed = [(column.ordered_by(row), row) for row in rows]
    known_pairs = [pair for pair in keyed if pair[0] is not None]
    known_pairs.sort(key=lambda pair: pair[0], reverse=is_descending)
    return [row for _, row in known_pairs] + [row for value, row in keyed if value is None]


def dressed(
    columns: Sequence[Column[Row]], dress: dict[str, dict[str, Any]]
) -> tuple[Column[Row], ...]:
    """Return the columns with what is changed of each by key; refuses a KeyError where there is none of a key."""
    left = dict(dress)
    changed = tuple(replace(column, **left.pop(column.key, {})) for column in columns)
    if left:
        raise KeyError(", ".join(left))
    return changed
