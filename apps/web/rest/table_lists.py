"""REST lists of declared tables: their rows, their OpenAPI schema and their order are the table's."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from typing import Any, ClassVar, TypeVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation
from apps.accounts.queries.paging import Page, PageRequest
from apps.show.cell_formats import CURRENCY, ValueKind
from apps.tables.column import Column
from apps.tables.table import Table
from apps.web.rest.money import HoursOut, MoneyOut, RatioOut
from apps.web.rest.pages import (
    list_of,
    paged,
    parse_page_request,
    serialize_as,
    slice_of,
)
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import RestField, answer_field

Row = TypeVar("Row")
SORT = "sort"

FIELD_OF_KIND: Mapping[ValueKind, Callable[..., RestField]] = {
    ValueKind.TEXT: serializers.CharField,
    ValueKind.COUNT: serializers.IntegerField,
    ValueKind.NUMBER: serializers.FloatField,
    ValueKind.RATIO: RatioOut,
    ValueKind.MICROS: MoneyOut,
    ValueKind.MILLISECONDS: HoursOut,
    ValueKind.DAY: serializers.DateField,
    ValueKind.MOMENT: serializers.DateTimeField,
}


class RowAnswer(serializers.Serializer[Any]):
    """A row of a table, with a field for each column of its file.

    What REST answers otherwise is declared in the class, as in any serializer: a field that is called as a column and has no
    `source` is answered from the column's value, another from the row. `without` names columns of the file that are left out.
    """

    table: ClassVar[Table[Any]]
    without: ClassVar[tuple[str, ...]] = ()

    def get_fields(self) -> dict[str, RestField]:
        """Return the fields that the class declares first, then those of the columns."""
        declared = super().get_fields()
        return {
            name: declared.get(name) or _column_field(column)
            for name, column in self.columns.items()
        } | declared

    @cached_property
    def columns(self) -> dict[str, Column[Any]]:
        """The columns by name that are answered; the currency stands beside each amount."""
        return {
            column.csv_name: column
            for column in self.table.csv_columns
            if column.csv_name not in self.without and column.format is not CURRENCY
        }

    @cached_property
    def answered_columns(self) -> dict[str, Column[Any]]:
        """The columns whose values are answered; a field that the class declares with a source reads the row."""
        return {
            name: column
            for name, column in self.columns.items()
            if name not in self._declared_fields or self._declared_fields[name].source is None
        }

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Return the row by name; None where a value is not known."""
        answer = {}
        for name, rest_field in self.fields.items():
            column = self.answered_columns.get(name)
            value = (
                rest_field.get_attribute(instance) if column is None else column.value_of(instance)
            )
            answer[name] = None if value is None else rest_field.to_representation(value)
        return answer


def _column_field(column: Column[Any]) -> RestField:
    """Return the field that answers a column: of its declared field, else of its format."""
    declared = column.declared
    help_text = column.definition or column.text
    if declared is not None:
        return answer_field(declared, help_text)
    if column.format.kind not in FIELD_OF_KIND:
        raise TypeError(f"{column.key}: REST has no field for its format; declare it in the class")
    return FIELD_OF_KIND[column.format.kind](allow_null=True, help_text=help_text)


def table_schema(
    operation_id: str,
    row: type[RowAnswer],
    *parameters: type[Any] | OpenApiParameter,
    **options: Any,
) -> Callable[..., Any]:
    """Return the decorator that describes a list of the rows of a table: its order, its paging, its fields."""
    sort = OpenApiParameter(
        SORT,
        {"type": "string", "enum": [name for key in sort_keys(row) for name in (key, f"-{key}")]},
        description="the column that rows are ordered by, with a minus downwards",
    )  # fmt: skip
    return extend_schema(
        operation_id=operation_id,
        parameters=[*parameters, sort, *PAGES],
        responses=list_of(row),
        **options,
    )


@cache
def sort_keys(row: type[RowAnswer]) -> tuple[str, ...]:
    """Return the names of the fields that rows may be ordered by: those that are columns of the table."""
    # Making a serializer takes longer than a page of rows by it.
    answered = row().get_fields()
    return tuple(
        column.key
        for column in row.table.csv_columns
        if column.sorts and column.sql is None and column.key in answered
    )


def answer_table(
    request: Request, row: type[RowAnswer], rows: Iterable[Row], currency: str = ""
) -> Response:
    """Return the page of rows that is asked for, in the order that is asked for.

    Without a `currency` amounts are in the organisation's.

    Refuses a ValidationError of a `sort` that is no column.
    """
    table = row.table
    page = page_of_table(table, rows, sort_of(request, row), parse_page_request(request))
    currency = currency or organisation().currency
    return paged(request, page, lambda value: serialize_as(row, value, currency))


def sort_of(request: Request, row: type[RowAnswer]) -> str:
    """Return the order that is asked for; empty where none is; refuses a ValidationError of what is no such field."""
    sort_param = request.query_params.get(SORT, "")
    keys = sort_keys(row)
    if sort_param and sort_param.removeprefix("-") not in keys:
        raise ValidationError({SORT: [f"rows are ordered by one of: {', '.join(keys)}"]})
    return sort_param


def page_of_table(
    table: Table[Row], rows: Iterable[Row], sort_param: str, page_request: PageRequest
) -> Page[Row]:
    """Return the asked page of rows that are all here already; without an order they come by what is unique of each.

    Where the row of a cursor is gone, the page goes on from where it stood.
    """
    assert table.unique is not None, f"{table.name} does not say what tells its rows apart"  # noqa: S101
    if not sort_param:
        return slice_of(rows, page_request, table.unique)
    ordered = table.in_order(sorted(rows, key=table.unique), sort_param)
    keys = [table.unique(row) for row in ordered]
    first, last = 0, page_request.limit
    if page_request.after is not None:
        place, is_there = _place_of(page_request.after, keys)
        first = place + is_there
        last = first + page_request.limit
    elif page_request.before is not None:
        last, _ = _place_of(page_request.before, keys)
        first = max(0, last - page_request.limit)
    page_rows = ordered[first:last]
    if not page_rows:
        return Page([], None, None)
    last = first + len(page_rows)
    return Page(
        page_rows,
        (*keys[last - 1], last - 1) if last < len(ordered) else None,
        (*keys[first], first) if first else None,
    )


def _place_of(cursor_key: tuple[Any, ...], keys: list[tuple[Any, ...]]) -> tuple[int, bool]:
    """Return where the row of a cursor stands now, or stood, and whether it is still there."""
    *key, place = cursor_key
    try:
        return keys.index(tuple(key)), True
    except ValueError:
        return place, False
