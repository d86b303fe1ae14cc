"""A column of a table: its name in CSV, REST and addresses, its heading, its value and its format."""

from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any, Generic, TypeVar

from apps.show.cell_formats import (
    BY_TYPE,
    COUNT,
    CURRENCY,
    EXACT,
    GPU_HOURS,
    ISO_DAY,
    MOMENT,
    MONEY,
    NUMBER,
    RATIO,
    TEXT,
    CellLocale,
    Format,
)
from apps.show.entries import EntryField, Figure, entry_field_of

Row = TypeVar("Row")

FORMAT_OF_FIGURE = {
    Figure.MICROS: MONEY,
    Figure.MILLISECONDS: GPU_HOURS,
    Figure.RATIO: RATIO,
}
FIGURE_OF_KIND = {cell_format.kind: figure for figure, cell_format in FORMAT_OF_FIGURE.items()}
FORMAT_OF_TYPE = {int: COUNT, float: NUMBER, Decimal: EXACT, datetime: MOMENT, date: ISO_DAY}


class FieldPath:
    """The field of a row that a column shows, by its name: `headroom_gpus`, or `quota.most_gpus` of what the row holds.

    Where the row may hold none, as of `peak.hour`, the field is None too.
    """

    __slots__ = ("_get", "_names", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._names = path.split(".")
        self._get = attrgetter(path)

    def __call__(self, row: Any) -> Any:
        """Return the value of the field."""
        try:
            return self._get(row)
        except AttributeError:
            for name in self._names:
                row = getattr(row, name)
                if row is None:
                    return None
            raise

    def declared_in(self, shape: type[Any]) -> EntryField:
        """Return the field or the property of that name as `shape` declares it; refuses an AttributeError where there is none."""
        *holders, last = self._names
        may_be_none = False
        for name in holders:
            holder = entry_field_of(shape, name)
            may_be_none |= holder.is_optional
            shape = holder.type
        declared = entry_field_of(shape, last)
        return replace(declared, is_optional=declared.is_optional or may_be_none)


def field(path: str) -> FieldPath:
    """Return the value of a column that is a field of its rows."""
    return FieldPath(path)


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column of a table, everywhere it stands.

    `key` is its name in addresses, in CSV and over REST (`csv` where that is another; empty: on pages alone);
    `text` its heading on the page (empty: not there). `value` is what all of them show, as `format`
    says, None where it is not known: the page then shows `missing`, CSV nothing, REST null. Without a `value` it is the
    field of the rows that is called as the column, unless it is `shown` on pages alone; without a `format` that of the field's type.
    A field that is formatted as money, GPU time or a share is that over REST too.
    `definition` says over REST and in the list of figures what it is, where the heading does not.
    `order` is what rows are ordered by where that is not the value; `sql` what the query calls it, where the query
    orders; without `sorts` it orders nothing; `formerly` are names that addresses of before order by.
    `href`, `warns` (True, or why) and `note` (small, after it) dress the cell;
    `shown` and `written` take the place of a cell and of a CSV cell where the format cannot say it.
    """

    key: str
    text: str
    value: Callable[[Row], Any] | None = None
    format: Format = BY_TYPE
    csv: str | None = None
    order: Callable[[Row], Any] | None = None
    sql: Any = None
    missing: str | None = None
    href: Callable[[Row], str] | None = None
    warns: Callable[[Row], bool | str] | None = None
    note: Callable[[Row], str] | None = None
    shown: Callable[[Row, Any], str] | None = None
    written: Callable[[Row, Any], str] | None = None
    sorts: bool = True
    formerly: tuple[str, ...] = ()
    definition: str = ""
    declared: EntryField | None = None

    @property
    def csv_name(self) -> str:
        """Its name in CSV and over REST; empty where it is not there."""
        return self.key if self.csv is None else self.csv

    def of_rows(self, shape: type[Any] | None) -> "Column[Row]":
        """Return the column with its value, its format and its field as the dataclass of the rows declares them.

        Refuses an AttributeError where the rows have no such field, a TypeError where the table does not say what its rows are.
        """
        if self.value is None and self.shown is not None and not self.csv_name:
            # A cell of a page alone, such as the links to change the row.
            return replace(self, value=lambda _: "", format=TEXT)
        value = self.value or FieldPath(self.key)
        declared = self.declared
        if declared is None and isinstance(value, FieldPath):
            if shape is None or not is_dataclass(shape):
                raise TypeError(f"{self.key}: the table does not say what its rows are")
            declared = value.declared_in(shape)
        if declared is None:
            return self
        cell_format = format_of(declared) if self.format is BY_TYPE else self.format
        if cell_format.kind in FIGURE_OF_KIND:
            declared = replace(declared, figure=FIGURE_OF_KIND[cell_format.kind])
        return replace(self, value=value, format=cell_format, declared=declared)

    def value_of(self, row: Row) -> Any:
        """Return the value of a row; None where it is not known."""
        assert self.value is not None, "a column belongs to a table"  # noqa: S101  (of_rows gave it)
        return self.value(row)

    def ordered_by(self, row: Row) -> Any:
        """Return the value that orders a row; texts without regard to case, None where it is not known."""
        value = self.value_of(row) if self.order is None else self.order(row)
        return value.casefold() if isinstance(value, str) else value

    def csv_cell(self, row: Row, locale: CellLocale) -> str:
        """Return the exact value; empty where it is not known."""
        if self.written is not None:
            return self.written(row, locale)
        return self.format.csv_cell(self.value_of(row), locale)


def format_of(declared: EntryField) -> Format:
    """Return how a field is shown, by its figure or its type."""
    if declared.figure is not None:
        return FORMAT_OF_FIGURE[declared.figure]
    return FORMAT_OF_TYPE.get(declared.type, TEXT)


CURRENCY_COLUMN: Column[Any] = Column("currency", "", lambda _: "", CURRENCY, sorts=False)
"""What the amounts of a file are in."""
