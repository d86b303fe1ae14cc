"""The local days that a forecast by day is made from: of the hours known now, those kept of before, and files."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import LiteralString

from apps.economics.hours import HOUR
from apps.ledger.queries.calendar import day_span, local_day
from apps.ledger.queries.tables import named_rows
from apps.planning.models import ForecastSeries, HistoryDay
from apps.planning.queries.history import HISTORY, SeriesHistory, digest_of, key_of
from apps.planning.queries.series import QUEUE_WAIT, SeriesKey

DAY = timedelta(days=1)
MOST_DAYS = 3 * 366
LEAST_SHARE = 0.75
"""Of a day's hours that are known, for its total to be theirs scaled to the day; with fewer it is not known."""

IMPORTED: LiteralString = """
SELECT (hour AT TIME ZONE %(zone)s)::date AS day, sum(value) AS total, count(*) AS hours
FROM planning_historypoint
WHERE series_id = %(series)s AND hour >= %(from)s AND hour < %(to)s
GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class DailyHistory:
    """`values[n]` is of the local day n after `first_day`, None unknown; the first and the last are known.

    `hours` is how many hours its days have that are known.
    """

    first_day: date
    values: list[float | None]
    hours: int

    @property
    def ends_on(self) -> date:
        """The first day after it, with which a forecast begins."""
        return self.first_day + len(self.values) * DAY

    @property
    def digest(self) -> str:
        """SHA-256 of its first day and its values, an unknown one as a NaN."""
        return digest_of(self.first_day.isoformat(), self.values)

    def value_on(self, day: date) -> float | None:
        """Return what is known of a day; it may lie outside."""
        place = (day - self.first_day).days
        return self.values[place] if 0 <= place < len(self.values) else None


def measured_days(history: SeriesHistory, zone: str) -> dict[date, float]:
    """The whole days of a history of which an hour was measured: what is to be kept of it."""
    totals = _totals_by_day(history, zone)
    measured = {local_day(hour, zone) for hour in history.measured}
    return {day: total for day, total in totals.items() if day in measured}


def daily_history(history: SeriesHistory, zone: str) -> DailyHistory | None:
    """Up to three years of days that end before `history` does; None without a whole one.

    What is known of its hours stands before what was kept of a day, and that before what files say.
    """
    last = local_day(history.ends_at, zone)
    span = {"from": day_span(last - MOST_DAYS * DAY, zone).starts_at, "to": history.ends_at}
    values_by_day: dict[date, float] = {}
    row = ForecastSeries.objects.filter(**asdict(history.series)).first()
    if row is not None:
        values_by_day |= _imported_days(row, span, zone)
        kept_days = HistoryDay.objects.filter(series_id=row.pk, day__gt=last - MOST_DAYS * DAY)
        values_by_day |= dict(kept_days.filter(day__lt=last).values_list("day", "value"))
    values_by_day |= _totals_by_day(history, zone)
    if not values_by_day:
        return None
    first, end = min(values_by_day), max(values_by_day) + DAY
    days = [first + place * DAY for place in range((end - first).days)]
    hours = sum(day_span(day, zone).hours for day in values_by_day)
    return DailyHistory(first, [values_by_day.get(day) for day in days], hours)


def _totals_by_day(history: SeriesHistory, zone: str) -> dict[date, float]:
    """Of whole days the total, of waits the mean, where enough hours are known.

    A day that began before hours are read is left out: what is read of it is its end alone.
    """
    reads_from = min(history.starts_at, history.ends_at - HISTORY)
    of_day: dict[date, list[float]] = {}
    for place, value in enumerate(history.values):
        if value is not None:
            day = local_day(history.starts_at + place * HOUR, zone)
            of_day.setdefault(day, []).append(value)
    return {
        day: total
        for day, values in of_day.items()
        if reads_from <= day_span(day, zone).starts_at
        and day_span(day, zone).ends_at <= history.ends_at
        and (total := _total_of_day(history.series, sum(values), len(values), day, zone))
        is not None
    }


def _imported_days(
    row: ForecastSeries, span: Mapping[str, datetime], zone: str
) -> dict[date, float]:
    series = key_of(row)
    day_rows = named_rows(IMPORTED, {**span, "series": row.pk, "zone": zone})
    totals = {
        day_row.day: _total_of_day(series, day_row.total, day_row.hours, day_row.day, zone)
        for day_row in day_rows
    }
    return {
        day: total
        for day, total in totals.items()
        if total is not None and day_span(day, zone).ends_at <= span["to"]
    }


def _total_of_day(
    series: SeriesKey, total: float, known_hours: int, day: date, zone: str
) -> float | None:
    """The mean of the known hours times the day's; of waits their mean, for an hour without one has none."""
    if series.measure == QUEUE_WAIT:
        return total / known_hours
    hours = day_span(day, zone).hours
    return total / known_hours * hours if known_hours >= LEAST_SHARE * hours else None
