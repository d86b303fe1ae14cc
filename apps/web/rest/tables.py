"""Lists as CSV, one row for each result, safe to open in a spreadsheet."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.renderers import BaseRenderer

from apps.show.csv_cells import csv_text, csv_text_of

NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")


class CsvRenderer(BaseRenderer):
    """`Accept: text/csv`: a column for each field, amounts as they are in JSON.

    The columns are those of the view's `row` serializer, else of the first result. What is told by
    id and name has a column for each, an amount one for its currency.
    """

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> str:
        """The rows under `results`; a problem stays a document of JSON."""
        if not isinstance(data, Mapping) or "results" not in data:
            return json.dumps(data)
        columns, rows = self.table(data, (renderer_context or {}).get("view"))
        return csv_text_of(columns, rows)

    def table(
        self, data: Mapping[str, Any], view: object
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """The columns, and the cells of each result in their order."""
        rows = [dict(_cells_of_result(result)) for result in data["results"]]
        row = getattr(view, "row", None)
        columns = list(rows[0]) if row is None and rows else columns_of(row)
        return columns, ([cells.get(name) for name in columns] for cells in rows)


def columns_of(row: type[serializers.Serializer[Any]] | None) -> list[str]:
    """The columns that a list of such rows has, also when it is empty."""
    columns = []
    for name, field in (row().fields if row is not None else {}).items():
        parts = list(field.fields) if isinstance(field, serializers.Serializer) else []
        columns += [_column_name(name, part) for part in parts] or [name]
    return columns


def safe_cell(value: Any) -> Any:
    """A text that a spreadsheet would compute is told to be text; a list is told by commas."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return safe_cell(", ".join(str(item) for item in value))
    if not isinstance(value, str) or NUMBER.fullmatch(value):
        return value
    return csv_text(value)


def _cells_of_result(result: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in result.items():
        if isinstance(value, Mapping):
            for part, inner in value.items():
                yield _column_name(name, part), safe_cell(inner)
        else:
            yield name, safe_cell(value)


def _column_name(name: str, part: str) -> str:
    """`team` for its name, `team_id` for its id, `amount` for its amount."""
    return name if part in {"name", "amount"} else f"{name}_{part}"
