"""How far the day's forecasts are."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from apps.economics.hours import first_hour
from apps.ledger.queries.calendar import local_day
from apps.planning.models import ForecastSeries

SETTLED_AFTER = timedelta(hours=4)
"""After midnight, until when the day before is still being settled."""


@dataclass(frozen=True, slots=True)
class ForecastProgress:
    """How many series have been looked at since the day's forecasts are due, of how many."""

    done: int
    count: int

    @property
    def is_under_way(self) -> bool:
        """Whether some are, and some are not."""
        return 0 < self.done < self.count


def series_due(at: datetime, zone: str) -> QuerySet[ForecastSeries]:
    """Series that were not looked at since yesterday was settled, or never."""
    day = local_day(at - SETTLED_AFTER, zone)
    due = Q(looked_at=None) | Q(looked_at__lt=first_hour(day, zone) + SETTLED_AFTER)
    return ForecastSeries.objects.filter(due)


def forecast_progress(at: datetime, zone: str) -> ForecastProgress:
    """Of the pass that is under way, or was the last."""
    count = ForecastSeries.objects.count()
    return ForecastProgress(count - series_due(at, zone).count(), count)
