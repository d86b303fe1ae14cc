"""One page of a long list, found by the key of its first or last row, never by counting rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import itemgetter, or_
from typing import Any, Generic, TypeVar

from django.db.models import Q, QuerySet

Row = TypeVar("Row")
Other = TypeVar("Other")


class CursorNotUnderstood(ValueError):
    """A cursor that this list never gave out."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Up to `limit` rows after (or before) the row of key `after` (`before`); neither: the first."""

    limit: int = 100
    after: tuple[Any, ...] | None = None
    before: tuple[Any, ...] | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """A page's rows, with the keys of its neighbours' edges; None where there is no neighbour."""

    rows: list[Row]
    after: tuple[Any, ...] | None
    before: tuple[Any, ...] | None


def equality_conditions(chosen: Mapping[str, Any]) -> Q:
    """Return the condition for what is asked, by lookup and value; None asks for nothing."""
    return Q(**{name: value for name, value in chosen.items() if value is not None})


def page_of(
    query: "QuerySet[Any, dict[str, Any]]", page_request: PageRequest, *order: str
) -> Page[dict[str, Any]]:
    """The asked page of `found.values(…)`, ordered by `order`: not null, unique together.

    A name in `order` that begins with a minus goes down. The rows carry the names of `order`.
    """
    backward = page_request.before is not None
    key = page_request.before if backward else page_request.after
    names = [_reversed_order(name) for name in order] if backward else list(order)
    if key is not None:
        query = query.filter(_rows_beyond(names, key))
    rows = list(query.order_by(*names)[: page_request.limit + 1])
    has_more = len(rows) > page_request.limit
    del rows[page_request.limit :]
    if backward:
        rows.reverse()
    return _slice_of_rows(rows, page_request, order, has_more=has_more)


def merged_page(
    slices: Sequence[Page[dict[str, Any]]], page_request: PageRequest, *order: str
) -> Page[dict[str, Any]]:
    """Return one page of several lists that are read as one, given the asked page of each.

    Their rows carry the names of `order`, in which each of the lists is and all are unique together.
    """
    backward = page_request.before is not None
    rows = [row for slice_ in slices for row in slice_.rows]
    for name in reversed(order):
        rows.sort(key=itemgetter(name.lstrip("-")), reverse=name.startswith("-"))
    edges = [slice_.before if backward else slice_.after for slice_ in slices]
    has_more = len(rows) > page_request.limit or any(edge is not None for edge in edges)
    page_rows = rows[-page_request.limit :] if backward else rows[: page_request.limit]
    return _slice_of_rows(page_rows, page_request, order, has_more=has_more)


def _slice_of_rows(
    rows: list[dict[str, Any]], page_request: PageRequest, order: tuple[str, ...], *, has_more: bool
) -> Page[dict[str, Any]]:
    """These rows; `has_more`: others lie beyond them in the direction in which was asked."""
    if not rows:
        return Page([], None, None)
    backward = page_request.before is not None
    has_next = backward or has_more
    has_previous = has_more if backward else page_request.after is not None
    return Page(
        rows,
        after=_key_of_row(rows[-1], order) if has_next else None,
        before=_key_of_row(rows[0], order) if has_previous else None,
    )


def _reversed_order(name: str) -> str:
    return name[1:] if name.startswith("-") else f"-{name}"


def _rows_beyond(names: list[str], key: tuple[Any, ...]) -> Q:
    """Rows that come later: equal in the first few names, beyond in the next."""
    if len(key) != len(names):
        raise CursorNotUnderstood("cursor: it is not one of this list's")
    steps = []
    for place, name in enumerate(names):
        same = {column.lstrip("-"): key[at] for at, column in enumerate(names[:place])}
        beyond = "lt" if name.startswith("-") else "gt"
        steps.append(Q(**same) & Q(**{f"{name.lstrip('-')}__{beyond}": key[place]}))
    return reduce(or_, steps)


def _key_of_row(row: dict[str, Any], order: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(row[name.lstrip("-")] for name in order)
