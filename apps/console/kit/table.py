"""Tables said once: a column gives heading, cell, order and CSV cell; a table page, parts and CSV."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from django.http import HttpResponse, QueryDict
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.console.kit.cells import CURRENCY, TEXT, UNKNOWN, Format, Locale, escaped, linked, warned
from apps.console.kit.csv_file import CsvFile, csv_file
from apps.console.kit.form import Field
from apps.console.kit.frame import Link
from apps.console.kit.glossary import meaning_of
from apps.console.kit.request import Context, with_current_filters
from apps.show.amounts import counted
from apps.show.words import StateWords

PER_PAGE = 100
LONGEST_TEXT = 40

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class ColumnHeading:
    """A heading of a page; with `href` it orders. `order` is `ascending`, `descending` or empty."""

    key: str
    text: str
    href: str = ""
    order: str = ""
    is_number: bool = True

    @property
    def meaning(self) -> str:
        """The glossary's meaning of the heading; empty where it says nothing, and of a column of ways to change a row."""
        return meaning_of(self.text) if self.href or self.is_number else ""


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column of a table, everywhere it stands.

    `key` is its name in addresses and in CSV (`csv` where that is another; empty: not in CSV);
    `text` its heading on the page (empty: in CSV alone). `value` is what both show, as `format`
    says, None where it is not known: the page then shows `missing`, CSV nothing. `order` is what
    rows are ordered by where that is not the value; `sql` what the query calls it, where the query
    orders; without `sorts` it orders nothing. `href`, `warns` (True, or why) and `note` (small, after it) dress the cell;
    `shown` and `written` take the place of a cell and of a CSV cell where the format cannot say it.
    """

    key: str
    text: str
    value: Callable[[Row], Any]
    format: Format = TEXT
    csv: str | None = None
    order: Callable[[Row], Any] | None = None
    sql: Any = None
    missing: str = UNKNOWN
    href: Callable[[Row], str] | None = None
    warns: Callable[[Row], bool | str] | None = None
    note: Callable[[Row], str] | None = None
    shown: Callable[[Row, Locale], str] | None = None
    written: Callable[[Row, Locale], str] | None = None
    sorts: bool = True

    @property
    def csv_name(self) -> str:
        """Its name in CSV; empty where it is not there."""
        return self.key if self.csv is None else self.csv

    def ordered_by(self, row: Row) -> Any:
        """Return the value that orders a row; texts without regard to case, None where it is not known."""
        value = (self.order or self.value)(row)
        return value.casefold() if isinstance(value, str) else value

    def content(self, row: Row, locale: Locale) -> SafeString:
        """Render what stands in the cell, as HTML."""
        if self.shown is not None:
            return escaped(self.shown(row, locale))
        value = self.value(row)
        text = self.missing if value is None else self.format.shown(value, locale)
        if self.href is not None:
            text = linked(text, locale.onward(self.href(row)))
        warning = self.warns(row) if self.warns is not None else False
        if warning:
            text = warned(text, warning if isinstance(warning, str) else "")
        note = self.note(row) if self.note is not None else ""
        return format_html("{}<small>{}</small>", text, note) if note else escaped(text)

    def csv_cell(self, row: Row, locale: Locale) -> str:
        """The exact value; empty where it is not known."""
        if self.written is not None:
            return self.written(row, locale)
        value = self.value(row)
        return "" if value is None else self.format.written(value, locale)


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of a longer list that are shown, in words, and the ways to those before and after."""

    said: str
    before: Link | None = None
    after: Link | None = None


@dataclass(frozen=True, slots=True)
class TableSection:
    """A table as its template takes it: headings, cells as HTML, and its CSV.

    Without `is_shown` it is in CSV alone. Without rows `empty` is said instead; `links` stand beside the title, `remark` under the rows.
    With `form` the rows hold entries, which its button sends there with `fields`, which stand below
    them; `others` are buttons that send the same elsewhere. With `is_sent` by POST. Without `form` each button of the rows sends to its own address.
    """

    template: ClassVar[str] = "kit/table.html"
    name: str
    title: str
    about: str
    headings: tuple[ColumnHeading, ...]
    rows: tuple[SafeString, ...]
    foot: str = ""
    part: Part = Part("")
    problem: str = ""
    empty: str = ""
    csv: CsvFile | None = None
    links: tuple[Link, ...] = ()
    remark: str = ""
    css: str = ""
    states: tuple[StateWords, ...] = ()
    form: Link | None = None
    others: tuple[Link, ...] = ()
    fields: Sequence[Field] = ()
    is_sent: bool = False
    is_shown: bool = True


# Without slots: with them Python 3.11 cannot make a frozen `Table[Row](…)`.
@dataclass(frozen=True)
class Table(Generic[Row]):
    """A table, declared once.

    `name` is its anchor, `sort` its parameter in addresses; without it all rows stand as they come.

    `about` is the line beside its title; `{said}` in it is how many rows there are, as `noun` calls
    them. `csv_first` are columns that a file begins with where the page does not. `default_sort`
    is the order of an address that says none, `page_name` the parameter of its part where the
    query finds that.
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

    def section(
        self,
        rows: Sequence[Row],
        context: Context,
        *,
        part: Part | None = None,
        csv_name: str = "",
        csv_rows: Callable[[], Iterable[Row]] | None = None,
        **options: Any,
    ) -> TableSection:
        """The rows that the address asks for, in its order.

        With `part` they are these rows already, ordered by the query. `options` may hold `about`,
        `title`, `total` (the row at the foot) and whatever else a TableSection has. With `csv_name` it
        has a CSV: the file of that name, with all `rows`, or with `csv_rows`, which are asked for when
        the CSV is wanted.
        """
        if csv_name:
            options["csv"] = self.file(csv_name, context, csv_rows or (lambda: rows))
        if context.csv_table is not None:
            return TableSection(self.name, "", "", (), (), csv=options.get("csv"))
        columns, locale = self.page_columns, context.locale
        listed = rows
        if part is None:
            listed, part = self.part_of(self.ordered(rows, context), context)
        about = options.pop("about", self.about).replace("{said}", part.said)
        total = options.pop("total", None)
        return TableSection(
            name=self.name,
            title=options.pop("title", self.title),
            about=about,
            headings=tuple(self.heading(column, context) for column in columns),
            rows=tuple(_table_row(columns, row, locale) for row in listed),
            foot=_table_row(columns, total, locale) if total is not None else "",
            part=part,
            problem=self._problem(context.query),
            empty=options.pop("empty", self.empty),
            links=tuple(with_current_filters(link, context) for link in options.pop("links", ())),
            css=self.css,
            **options,
        )

    def file(self, csv_name: str, context: Context, rows: Callable[[], Iterable[Row]]) -> CsvFile:
        """Return the table as the file `csv_name`.csv, under the address of the page; its rows are asked for when it is wanted."""
        return csv_file(self.name, context, lambda: self.csv(rows(), context, csv_name))

    def csv(self, rows: Iterable[Row], context: Context, name: str) -> HttpResponse:
        """Every row, in the order of the page, as the file `name`.csv."""
        ordered = self.ordered(rows, context)
        columns, locale = self.csv_columns, context.locale
        cells = ([column.csv_cell(row, locale) for column in columns] for row in ordered)
        return csv_answer(name, [column.csv_name for column in columns], cells)

    def chosen(self, query: QueryDict) -> tuple[Column[Row] | None, bool]:
        """The column that the address orders by, and whether downwards; None: as rows come."""
        sort_param = self._asked(query)
        if self._column(sort_param) is None:
            sort_param = self.default_sort
        return self._column(sort_param), sort_param.startswith("-")

    def ordered(self, rows: Iterable[Row], context: Context) -> list[Row]:
        """The rows as the address orders them; those of which it is not known come last either way."""
        column, is_descending = self.chosen(context.query)
        if column is None or column.sql is not None:
            return list(rows)
        keyed = [(column.ordered_by(row), row) for row in rows]
        known_pairs = [pair for pair in keyed if pair[0] is not None]
        known_pairs.sort(key=lambda pair: pair[0], reverse=is_descending)
        return [row for _, row in known_pairs] + [row for value, row in keyed if value is None]

    def heading(self, column: Column[Row], context: Context) -> ColumnHeading:
        """The heading, with the order that it leads to; numbers begin with the largest."""
        if not self.sort or not column.sorts:
            return ColumnHeading(column.key, column.text, is_number=column.format.is_number)
        chosen, is_descending = self.chosen(context.query)
        is_chosen = chosen is not None and chosen.key == column.key
        falls = not is_descending if is_chosen else column.format.is_number
        return ColumnHeading(
            key=column.key,
            text=column.text,
            href=self.href(context, **{self.sort: f"-{column.key}" if falls else column.key}),
            order=("descending" if is_descending else "ascending") if is_chosen else "",
            is_number=column.format.is_number,
        )

    def href(self, context: Context, **changes: str) -> str:
        """Return the address of the same page with this table's order and part changed; other tables stay as they are."""
        params = context.query.copy()
        for name in (self._page_name, self.sort):
            params.pop(name, None)
        for name, text in changes.items():
            params[name] = text
        return f"{context.path}{f'?{params.urlencode()}' if params else ''}#{self.name}"

    @property
    def _page_name(self) -> str:
        if self.page_name:
            return self.page_name
        return "page" if self.sort == "sort" else f"{self.sort}-page"

    def part_of(self, rows: Sequence[Row], context: Context) -> tuple[Sequence[Row], Part]:
        """Those of the ordered rows that the address asks for, and which they are."""
        if not self.sort:
            return rows, Part(counted(len(rows), *self.noun))
        last = max(1, -(-len(rows) // self.per_page))
        page = min(requested_page(context.query, self._page_name), last)
        first = (page - 1) * self.per_page
        shown = rows[first : first + self.per_page]
        return shown, Part(
            part_words(first, len(shown), len(rows), self.noun),
            Link("Previous", self._turned(page - 1, context)) if page > 1 else None,
            Link("Next", self._turned(page + 1, context)) if page < last else None,
        )

    def _turned(self, page: int, context: Context) -> str:
        changes = {self._page_name: str(page)} if page > 1 else {}
        sort_param = self._asked(context.query)
        if self._column(sort_param) is not None:
            changes[self.sort] = sort_param
        return self.href(context, **changes)

    def _problem(self, query: QueryDict) -> str:
        sort_param = self._asked(query)
        if not sort_param or self._column(sort_param) is not None:
            return ""
        return f"There is no column {sort_param.removeprefix('-')!r} to order by."

    def _asked(self, query: QueryDict) -> str:
        return query.get(self.sort, "")[:LONGEST_TEXT] if self.sort else ""

    def _column(self, sort_param: str) -> Column[Row] | None:
        key = sort_param.removeprefix("-")
        return next(
            (
                page_column
                for page_column in self.page_columns
                if page_column.sorts and page_column.key == key
            ),
            None,
        )


def requested_page(query: QueryDict, name: str) -> int:
    """Return which part of a list the address asks for, from 1; nonsense is the first."""
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 6 and int(text) else 1


CURRENCY_COLUMN: Column[Any] = Column("currency", "", lambda _: "", CURRENCY)
"""What the amounts of a file are in."""


def part_words(first: int, shown: int, total: int, noun: tuple[str, str]) -> str:
    """`12 nodes`, or `101–200 of 240 nodes`."""
    if shown == total:
        return counted(total, *noun)
    return f"{first + 1:,}–{first + shown:,} of {counted(total, *noun)}"


def csv_answer(name: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> HttpResponse:
    """The rows as a file to keep; its cells are exact, and unknown ones empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return HttpResponse(
        out.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def _table_row(columns: Sequence[Column[Row]], row: Row, locale: Locale) -> SafeString:
    """A row of cells; the first is the row's name."""
    cells = []
    for place, column in enumerate(columns):
        tag = "td" if place else "th"
        scope = "" if place else ' scope="row"'
        css = f' class="{column.format.css}"' if column.format.css else ""
        cells.append(f"<{tag}{scope}{css}>{column.content(row, locale)}</{tag}>")
    return SafeString("".join(cells))
