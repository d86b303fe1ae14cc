"""Rows of a table in the order, and the part, that the address asks for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, Generic, TypeAlias, TypeVar

from django.http import QueryDict

from apps.console.kit.frame import Link
from apps.console.kit.table import ColumnHeading, asked_page, part_words

PER_PAGE = 100
LONGEST_TEXT = 40

Row = TypeVar("Row")
Value: TypeAlias = (
    "str | int | float | Fraction | Decimal | date | datetime | tuple[Any, ...] | None"
)


@dataclass(frozen=True, slots=True)
class By(Generic[Row]):
    """A heading, and what of a row orders it; without `value` the column orders nothing."""

    text: str
    value: Callable[[Row], Value] | None = None
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address says of one table: its order under `name`, its part under `name`-page.

    `part` is the anchor of the table on its page.
    """

    given: QueryDict
    path: str
    name: str = "sort"
    part: str = ""
    per_page: int = PER_PAGE
    noun: tuple[str, str] = ("row", "rows")

    @property
    def sort(self) -> str:
        """The column asked for, `-` before it for the largest first; empty: as the rows come."""
        return self.given.get(self.name, "")[:LONGEST_TEXT]

    @property
    def page(self) -> int:
        """Which part, from 1."""
        return asked_page(self.given, self.page_name)

    @property
    def page_name(self) -> str:
        """The parameter that says which part."""
        return "page" if self.name == "sort" else f"{self.name}-page"

    def href(self, **changes: str) -> str:
        """The same address with the table's parameters changed; other tables stay as they are."""
        kept = self.given.copy()
        for name in (self.name, self.page_name):
            kept.pop(name, None)
        for name, text in changes.items():
            if text:
                kept[name] = text
        anchor = f"#{self.part}" if self.part else ""
        return self.path + (f"?{kept.urlencode()}" if kept else "") + anchor


@dataclass(frozen=True, slots=True)
class Listed(Generic[Row]):
    """The rows shown of `total`, under headings that order them; `said` tells which they are."""

    rows: tuple[Row, ...]
    total: int
    columns: tuple[ColumnHeading, ...]
    said: str = ""
    before: Link | None = None
    after: Link | None = None
    problem: str = ""


def listed(rows: Sequence[Row], by: Mapping[str, By[Row]], asked: Asked) -> Listed[Row]:
    """The part of the rows that is asked for; an order that is not known is said and left."""
    key = asked.sort.removeprefix("-")
    is_known = key in by and by[key].value is not None
    found = ordered(rows, by, asked.sort) if is_known else list(rows)
    last = max(1, -(-len(found) // asked.per_page))
    page = max(1, min(asked.page, last))
    first = (page - 1) * asked.per_page
    shown = tuple(found[first : first + asked.per_page])
    kept = {asked.name: asked.sort} if is_known else {}
    return Listed(
        rows=shown,
        total=len(found),
        columns=tuple(_column(each, by[each], asked) for each in by),
        said=part_words(first, len(shown), len(found), asked.noun),
        before=_turned("Previous", page - 1, asked, kept) if page > 1 else None,
        after=_turned("Next", page + 1, asked, kept) if page < last else None,
        problem="" if is_known or not key else f"There is no column {key!r} to order by.",
    )


def ordered(rows: Sequence[Row], by: Mapping[str, By[Row]], sort: str) -> list[Row]:
    """By this column; rows of which it is not known come last either way."""
    value = by[sort.removeprefix("-")].value
    if value is None:
        return list(rows)
    keyed = [(value(row), row) for row in rows]
    known = [(_comparable(each), row) for each, row in keyed if each is not None]
    known.sort(key=lambda pair: pair[0], reverse=sort.startswith("-"))
    return [row for _, row in known] + [row for each, row in keyed if each is None]


def _comparable(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value


def _column(key: str, by: By[Row], asked: Asked) -> ColumnHeading:
    sort = asked.sort
    is_chosen, is_descending = sort.removeprefix("-") == key, sort.startswith("-")
    first = f"-{key}" if by.is_number else key
    turned = key if is_descending else f"-{key}"
    order = ("descending" if is_descending else "ascending") if is_chosen else ""
    return ColumnHeading(
        key=key,
        text=by.text,
        href="" if by.value is None else asked.href(**{asked.name: turned if is_chosen else first}),
        order="" if by.value is None else order,
        is_number=by.is_number,
    )


def _turned(text: str, page: int, asked: Asked, kept: Mapping[str, str]) -> Link:
    changes = {**kept, asked.page_name: str(page) if page > 1 else ""}
    return Link(text, asked.href(**changes))
