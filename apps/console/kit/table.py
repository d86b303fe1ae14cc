"""Tables of pages: declared columns drawn as headings and cells, in parts and in the order of an address, and as CSV."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from django.http import HttpResponse, QueryDict
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.console.kit.cells import UNKNOWN, Locale, escaped, linked, warned
from apps.console.kit.csv_file import CsvFile, csv_file
from apps.console.kit.form import Field
from apps.console.kit.frame import Link
from apps.console.kit.glossary import meaning_of
from apps.console.kit.request import Context, with_current_filters
from apps.console.templatetags.show_tags import time_element
from apps.show.amounts import counted
from apps.show.cell_formats import MOMENT
from apps.show.csv_cells import csv_text_of
from apps.show.words import StateWords
from apps.tables import table as tables
from apps.tables.column import Column
from apps.tables.table import dressed, ordered_rows

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


@dataclass(frozen=True)
class Table(tables.Table[Row]):
    """A table of a page: what is declared of it, drawn in the order that an address asks for."""

    @classmethod
    def of(
        cls,
        table: tables.Table[Row],
        *more: Column[Row],
        dress: dict[str, dict[str, Any]] | None = None,
        **changes: Any,
    ) -> "Table[Row]":
        """Return an app's table for a page: `dress` changes columns by key, `more` are columns of the page alone."""
        declared = {part.name: getattr(table, part.name) for part in fields(tables.Table)}
        columns = (*dressed(table.columns, dress or {}), *more)
        return cls(**declared | {"columns": columns} | changes)

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
        return csv_response(name, self.csv_text(self.ordered(rows, context), context.locale))

    def chosen(self, query: QueryDict) -> tuple[Column[Row] | None, bool]:
        """The column that the address orders by, and whether downwards; None: as rows come."""
        sort_param = self._asked(query)
        if self._column(sort_param) is None:
            sort_param = self.default_sort
        return self._column(sort_param), sort_param.startswith("-")

    def ordered(self, rows: Iterable[Row], context: Context) -> list[Row]:
        """The rows as the address orders them; those of which it is not known come last either way."""
        column, is_descending = self.chosen(context.query)
        return ordered_rows(rows, column, is_descending=is_descending)

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
        return self.sorted_by(sort_param, self.page_columns)


def requested_page(query: QueryDict, name: str) -> int:
    """Return which part of a list the address asks for, from 1; nonsense is the first."""
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 6 and int(text) else 1


def part_words(first: int, shown: int, total: int, noun: tuple[str, str]) -> str:
    """`12 nodes`, or `101–200 of 240 nodes`."""
    if shown == total:
        return counted(total, *noun)
    return f"{first + 1:,}–{first + shown:,} of {counted(total, *noun)}"


def csv_answer(name: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> HttpResponse:
    """The rows as a file to keep; its cells are exact, and unknown ones empty."""
    return csv_response(name, csv_text_of(header, rows))


def csv_response(name: str, text: str) -> HttpResponse:
    """Return a text of CSV as the file `name`.csv."""
    return HttpResponse(
        text,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def cell_content(column: Column[Row], row: Row, locale: Locale) -> SafeString:
    """Render what stands in a cell, as HTML."""
    if column.shown is not None:
        return escaped(column.shown(row, locale))
    value = column.value_of(row)
    if value is None:
        text = UNKNOWN if column.missing is None else column.missing
    else:
        text = column.format.shown(value, locale)
        if column.format is MOMENT:
            text = time_element(value, text)
    if column.href is not None:
        text = linked(text, locale.onward(column.href(row)))
    warning = column.warns(row) if column.warns is not None else False
    if warning:
        text = warned(text, warning if isinstance(warning, str) else "")
    note = column.note(row) if column.note is not None else ""
    return format_html("{}<small>{}</small>", text, note) if note else escaped(text)


def _table_row(columns: Sequence[Column[Row]], row: Row, locale: Locale) -> SafeString:
    """A row of cells; the first is the row's name."""
    cells = []
    for place, column in enumerate(columns):
        tag = "td" if place else "th"
        scope = "" if place else ' scope="row"'
        css = f' class="{column.format.css}"' if column.format.css else ""
        cells.append(f"<{tag}{scope}{css}>{cell_content(column, row, locale)}</{tag}>")
    return SafeString("".join(cells))
