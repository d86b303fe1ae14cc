"""Imports of files of histories: how far each is, what a look at it found, and rows it could not take."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from apps.accounts.queries.facts import facts_of
from apps.planning.models import RejectedSeriesRow, SeriesImport
from apps.planning.queries.series import SeriesKey
from apps.uploads.imports import RejectedFact, UploadedFact

COMPARED = """
SELECT count(*) FILTER (WHERE point.hour IS NULL), count(*) FILTER (WHERE point.value <> brought.value)
FROM unnest(%(hours)s::timestamptz[], %(values)s::float8[]) AS brought (hour, value)
LEFT JOIN planning_forecastseries AS series
  ON (series.measure, series.dimension, series.key) = (%(measure)s, %(dimension)s, %(key)s)
LEFT JOIN planning_historypoint AS point ON point.series_id = series.id AND point.hour = brought.hour
"""


@dataclass(frozen=True, slots=True)
class SeriesImportFact(UploadedFact):
    """One import of histories: `imported` and `unchanged` are hours, `rows` and `rejected` rows of the file."""

    person__name: str | None


def series_imports(limit: int) -> list[SeriesImportFact]:
    """The latest imports, the newest first."""
    return list(facts_of(SeriesImportFact, SeriesImport.objects.order_by("-id")[:limit]))


def series_import(import_id: int) -> SeriesImportFact | None:
    """One import."""
    return next(iter(facts_of(SeriesImportFact, SeriesImport.objects.filter(id=import_id))), None)


def rejected_series_rows(import_id: int, limit: int) -> Iterator[RejectedFact]:
    """The first rows that were not taken, by their number."""
    rows = RejectedSeriesRow.objects.filter(batch_id=import_id).order_by("line", "id")
    for row in rows.values_list("line", "field", "reason")[:limit]:
        yield RejectedFact(*row)


def hours_compared(series: SeriesKey, points: Sequence[tuple[datetime, float]]) -> tuple[int, int]:
    """How many of these hours no file brought before, and of how many one brought another value."""
    with connection.cursor() as cursor:
        cursor.execute(
            COMPARED,
            {
                "hours": [hour for hour, _ in points],
                "values": [value for _, value in points],
                "measure": series.measure,
                "dimension": series.dimension,
                "key": series.key,
            },
        )
        added, changed = cursor.fetchone()
    return added, changed
