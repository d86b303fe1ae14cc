"""History of a series that people bring from a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from apps.economics.hours import HOUR
from apps.economics.refusal import Refusal
from apps.logs.changes import field_of, logged_change
from apps.planning.models import ForecastSeries
from apps.planning.queries.series import SeriesKey

POINTS = """
INSERT INTO planning_historypoint (series_id, hour, value)
SELECT %(series)s, hour, value
FROM unnest(%(hours)s::timestamptz[], %(values)s::float8[]) AS brought (hour, value)
ON CONFLICT (series_id, hour) DO UPDATE SET value = excluded.value
WHERE planning_historypoint.value IS DISTINCT FROM excluded.value
RETURNING xmax = 0
"""


class HistoryAhead(Refusal):
    """Hours of a history that are not over yet."""


@dataclass(frozen=True, slots=True)
class ImportedHistory:
    """How many hours a file had, and how many of them were new or had another value."""

    hours: int
    added: int
    changed: int

    @property
    def written(self) -> int:
        """How many hours are not as they were."""
        return self.added + self.changed


@logged_change(count=field_of("written"))
@transaction.atomic
def import_history(
    *, series: SeriesKey, points: Sequence[tuple[datetime, float]], at: datetime
) -> ImportedHistory:
    """Keep these hours of a series; one that is there already gets the value brought last.

    The same points again change nothing. Refuses HistoryAhead.
    """
    last = max((hour for hour, _ in points), default=None)
    if last is not None and last + HOUR > at:
        raise HistoryAhead(
            "time", f"the hour of {last:%Y-%m-%d %H:%M} UTC is not over yet: history ends before it"
        )
    row, _ = ForecastSeries.objects.get_or_create(
        measure=series.measure, dimension=series.dimension, key=series.key
    )
    with connection.cursor() as cursor:
        cursor.execute(
            POINTS,
            {
                "series": row.pk,
                "hours": [hour for hour, _ in points],
                "values": [value for _, value in points],
            },
        )
        is_new = [new for (new,) in cursor.fetchall()]
    return ImportedHistory(len(points), sum(is_new), len(is_new) - sum(is_new))
