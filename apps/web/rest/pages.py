"""Lists by cursor: `next`, `previous` and `results`."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.core import signing
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.paging import Page, PageRequest

DEFAULT_LIMIT = 100
MOST_ROWS = 1_000
MOST_CSV_ROWS = 20_000
NOT_OURS = "this is not a cursor of this list; begin without one"

Row = TypeVar("Row")


def parse_page_request(request: Request) -> PageRequest:
    """The page that `cursor` and `limit` name; refuses with a ValidationError that names them."""
    most = MOST_CSV_ROWS if _is_csv(request) else MOST_ROWS
    default = MOST_CSV_ROWS if _is_csv(request) else DEFAULT_LIMIT
    text = request.query_params.get("limit", str(default))
    # int() takes more than digits: a limit of "٣" or "1_0" is not what the schema says.
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most and len(text) < 9):
        raise ValidationError({"limit": [f"a limit is from 1 to {most}"]})
    cursor = request.query_params.get("cursor")
    if cursor is None:
        return PageRequest(limit=int(text))
    side, key = _opened_cursor(cursor, request)
    return PageRequest(limit=int(text), **{side: key})


def paged(
    request: Request, page: Page[Row], serialize: Callable[[Row], Mapping[str, Any]]
) -> Response:
    """The answer of a list: each row as `serialize` tells it, and the ways to the neighbour pages."""
    before, after = (
        _page_link(request, "before", page.before),
        _page_link(request, "after", page.after),
    )
    links = [f'<{url}>; rel="{name}"' for url, name in ((after, "next"), (before, "prev")) if url]
    return Response(
        {"next": after, "previous": before, "results": [serialize(row) for row in page.rows]},
        headers={"Link": ", ".join(links)} if links else None,
    )


def serialize_as(
    form: type[serializers.Serializer[Any]],
    value: Any,
    currency: str | None = None,
    **instead: Any,
) -> dict[str, Any]:
    """One thing as its serializer tells it; its micro-units are of this currency.

    `instead` of, or beside, what a frozen value says.
    """
    if instead:
        value = _Beside(value, instead)
    return dict(_serializer_of(form, currency).to_representation(value))


class _Beside:
    """A value of which some of what it says is said otherwise."""

    __slots__ = ("_instead", "_value")

    def __init__(self, value: Any, instead: Mapping[str, Any]) -> None:
        self._value, self._instead = value, instead

    def __getattr__(self, name: str) -> Any:
        """Return what is said instead, else what the value says."""
        return self._instead[name] if name in self._instead else getattr(self._value, name)


@cache
def _serializer_of(
    form: type[serializers.Serializer[Any]], currency: str | None
) -> serializers.Serializer[Any]:
    # Making a serializer takes many times as long as a row by it.
    return form(context={} if currency is None else {"currency": currency})


def slice_of(
    rows: Iterable[Row], page_request: PageRequest, key: Callable[[Row], tuple[Any, ...]]
) -> Page[Row]:
    """The asked page of rows that are all here already, in the order of their unique `key`."""
    ordered = sorted(rows, key=key)
    if page_request.after is not None:
        ordered = [row for row in ordered if key(row) > page_request.after]
    if page_request.before is not None:
        ordered = [row for row in ordered if key(row) < page_request.before]
        page_rows = ordered[-page_request.limit :]
        has_previous, has_next = len(ordered) > page_request.limit, True
    else:
        page_rows = ordered[: page_request.limit]
        has_previous, has_next = page_request.after is not None, len(ordered) > page_request.limit
    if not page_rows:
        return Page([], None, None)
    return Page(
        page_rows,
        key(page_rows[-1]) if has_next else None,
        key(page_rows[0]) if has_previous else None,
    )


@cache
def list_of(row: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """The serializer of a page of such rows."""
    name = row.__name__.removesuffix("Out")
    return type(
        f"{name}ListOut",
        (serializers.Serializer,),
        {
            "__doc__": "A page of a list.",
            "next": serializers.CharField(allow_null=True, help_text="the page after, as a URL"),
            "previous": serializers.CharField(allow_null=True, help_text="the page before"),
            "results": row(many=True),
        },
    )


def _is_csv(request: Request) -> bool:
    return getattr(request, "accepted_media_type", None) == "text/csv"


def _page_link(request: Request, side: str, key: tuple[Any, ...] | None) -> str | None:
    if key is None:
        return None
    params = {name: request.query_params[name] for name in request.query_params}
    cursor = signing.dumps([side, *map(_plain_value, key)], salt=_cursor_salt(request))
    return request.build_absolute_uri(f"{request.path}?{urlencode(params | {'cursor': cursor})}")


def _cursor_salt(request: Request) -> str:
    """The list and its order, which a cursor is of: of another it is none."""
    return f"{request.path} {request.query_params.get('sort', '')}"


def _opened_cursor(cursor: str, request: Request) -> tuple[str, tuple[Any, ...]]:
    """Signed, and for this list in this order alone: what it holds was put there by `_page_link`."""
    try:
        side, *key = signing.loads(cursor, salt=_cursor_salt(request))
    except (signing.BadSignature, ValueError) as refused:
        raise ValidationError({"cursor": [NOT_OURS]}) from refused
    return side, tuple(key)


def _plain_value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
