"""The hours that a forecast is made from: measured ones, and where there are none, those of files."""

import hashlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.economics.hours import HOUR, hour_of
from apps.planning.models import ForecastSeries, HistoryPoint
from apps.planning.queries.measured import HISTORY_HOURS, MeasuredSeries, measured_series
from apps.planning.queries.series import SeriesKey

HISTORY = HISTORY_HOURS * HOUR


@dataclass(frozen=True, slots=True)
class SeriesHistory:
    """`values[n]` is of the hour n after `starts_at`, None unknown; the first and the last are known.

    `imported` of the hours are from files, `left_out` were settled and do not count; `measured` are the others known.
    """

    series: SeriesKey
    starts_at: datetime
    values: list[float | None]
    imported: int
    left_out: int
    queue: str
    measured: frozenset[datetime] = frozenset()

    @property
    def ends_at(self) -> datetime:
        """The first hour after it, with which a forecast begins."""
        return self.starts_at + len(self.values) * HOUR

    @property
    def observed(self) -> int:
        """How many of its hours are known."""
        return sum(value is not None for value in self.values)

    @property
    def last_value(self) -> float:
        """Of its last hour, which is known."""
        return next(value for value in reversed(self.values) if value is not None)

    def value_at(self, place: int) -> float | None:
        """Return what is known of the hour so many after `starts_at`; it may lie outside."""
        return self.values[place] if 0 <= place < len(self.values) else None

    @property
    def digest(self) -> str:
        """SHA-256 of its first hour and its values, an unknown one as a NaN."""
        return digest_of(self.starts_at.isoformat(), self.values)


def digest_of(first: str, values: Sequence[float | None]) -> str:
    """SHA-256 of where values begin and of each, an unknown one as a NaN."""
    nan = float("nan")
    numbers = [nan if value is None else value for value in values]
    return hashlib.sha256(first.encode() + struct.pack(f"<{len(numbers)}d", *numbers)).hexdigest()


def histories(at: datetime) -> dict[SeriesKey, SeriesHistory]:
    """The 90 days up to their last known hour before `at`, of every series that has a known hour."""
    until = hour_of(at)
    measured = measured_series(until - HISTORY, until)
    imported = _imported_hours(until)
    histories_by_series = {}
    for series in sorted({*measured, *imported}):
        history = _joined(series, measured.get(series, MeasuredSeries()), imported.get(series, {}))
        if history is not None:
            histories_by_series[series] = history
    return histories_by_series


def _joined(
    series: SeriesKey, measured: MeasuredSeries, imported: Mapping[datetime, float]
) -> SeriesHistory | None:
    """Return the joined history: what was measured stands before what a file says of the same hour."""
    values_by_hour = {**imported, **measured.values}
    if not values_by_hour:
        return None
    last = max(values_by_hour)
    first = min(hour for hour in values_by_hour if hour > last - HISTORY)
    count = (last - first) // HOUR + 1
    hours = [first + number * HOUR for number in range(count)]
    return SeriesHistory(
        series,
        first,
        [values_by_hour.get(hour) for hour in hours],
        imported=sum(hour in imported and hour not in measured.values for hour in hours),
        left_out=measured.left_out,
        queue=measured.queue,
        measured=frozenset(hour for hour in hours if hour in measured.values),
    )


def _imported_hours(until: datetime) -> dict[SeriesKey, dict[datetime, float]]:
    """Of each series with an imported history, its last 90 days before `until`."""
    hours_by_series = {}
    for row in ForecastSeries.objects.order_by("id"):
        points = HistoryPoint.objects.filter(series_id=row.pk, hour__lt=until)
        last = points.order_by("-hour").values_list("hour", flat=True).first()
        if last is not None:
            known_points = points.filter(hour__gt=last - HISTORY).values_list("hour", "value")
            hours_by_series[key_of(row)] = dict(known_points)
    return hours_by_series


def key_of(row: ForecastSeries) -> SeriesKey:
    """The series that a row is of."""
    return SeriesKey(row.measure, row.dimension, row.key)
