"""When hours of owned hardware are: in its life, in the month, and under which tariff."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import groupby
from zoneinfo import ZoneInfo

from apps.economics.hours import HOUR, first_hour, hour_from

MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class OfMonth:
    """Hour `hour` (from 0) of the `hours` of a month; `month` counts months, of a life from 0."""

    month: int
    hour: int
    hours: int


@dataclass(frozen=True, slots=True)
class TariffSpan:
    """`[start_ms, end_ms)` of an hour at one tariff, in micro-units per kilowatt-hour.

    `starts_local` is the minute of the local day at which the span begins.
    """

    start_ms: int
    end_ms: int
    micros: int
    starts_local: int


@lru_cache(maxsize=4096)
def of_life(entered_at: datetime, hour: datetime, zone: str) -> OfMonth:
    """Where `hour` is in the life of what entered service at `entered_at`, both whole hours.

    A month of a life goes from the day and time of its entry to the same of the next month, in
    local time; where a month has no such day, to its last. `hour` is not before `entered_at`.
    """
    local = entered_at.astimezone(ZoneInfo(zone))
    now = hour.astimezone(ZoneInfo(zone))
    month = 12 * (now.year - local.year) + now.month - local.month
    if hour < _months_after(entered_at, month, zone):
        month -= 1
    begins = _months_after(entered_at, month, zone)
    ends = _months_after(entered_at, month + 1, zone)
    return OfMonth(month, (hour - begins) // HOUR, (ends - begins) // HOUR)


@lru_cache(maxsize=4096)
def of_calendar(hour: datetime, zone: str) -> OfMonth:
    """Where `hour` is in the local month in which it starts; months count from the year 0."""
    local = hour.astimezone(ZoneInfo(zone))
    first = local.date().replace(day=1)
    begins = first_hour(first, zone)
    ends = first_hour((first + timedelta(days=32)).replace(day=1), zone)
    return OfMonth(
        12 * local.year + local.month - 1, (hour - begins) // HOUR, (ends - begins) // HOUR
    )


@lru_cache(maxsize=4096)
def tariffs_of_hour(
    tariffs: tuple[tuple[int, int], ...], hour: datetime, zone: str
) -> tuple[TariffSpan, ...]:
    """Return the tariffs that hold in the UTC hour, and when; they tile it.

    `tariffs` are (minute of the local day from which it holds, micro-units), by minute. Before the
    first of a day the last of the day before goes on. None at all answers none.
    """
    if not tariffs:
        return ()
    minutes = [minute for minute, _ in tariffs]
    minute_tariffs: list[tuple[int, int, int]] = []
    for k in range(60):
        local = (hour + timedelta(minutes=k)).astimezone(ZoneInfo(zone))
        of_day = 60 * local.hour + local.minute
        # Minus one is the last of the list: what goes on from the day before.
        minute_tariffs.append((k, tariffs[bisect_right(minutes, of_day) - 1][1], of_day))
    spans = []
    for micros, group in groupby(minute_tariffs, key=lambda entry: entry[1]):
        of_span = list(group)
        first, last = of_span[0], of_span[-1]
        spans.append(TariffSpan(first[0] * MINUTE_MS, (last[0] + 1) * MINUTE_MS, micros, first[2]))
    return tuple(spans)


def within(spans: Sequence[TariffSpan], start_ms: int, end_ms: int) -> list[TariffSpan]:
    """Return the parts of the spans that lie in `[start_ms, end_ms)`."""
    return [
        TariffSpan(
            max(span.start_ms, start_ms), min(span.end_ms, end_ms), span.micros, span.starts_local
        )
        for span in spans
        if span.start_ms < end_ms and span.end_ms > start_ms
    ]


def _months_after(entered_at: datetime, months: int, zone: str) -> datetime:
    local = entered_at.astimezone(ZoneInfo(zone))
    first = _shift_months(local.date().replace(day=1), months)
    last = _shift_months(first, 1) - timedelta(days=1)
    day = first.replace(day=min(local.day, last.day))
    return hour_from(datetime.combine(day, local.time(), tzinfo=ZoneInfo(zone)))


def _shift_months(first: date, months: int) -> date:
    count = 12 * first.year + first.month - 1 + months
    return date(count // 12, count % 12 + 1, 1)
