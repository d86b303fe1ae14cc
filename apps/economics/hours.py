"""Hours of UTC, which is what everything is charged by, and where the organisation's days begin.

An hour belongs to the local day and month in which it starts. Where a zone is off by half an hour,
the hour that local midnight cuts still belongs to the day before.
"""

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

HOUR = timedelta(hours=1)
HOUR_MS = 3_600_000
DAY_HOURS, WEEK_HOURS = 24, 168
"""Of a day and a week of UTC; a local day may have 23 or 25."""
MILLISECOND = timedelta(milliseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST_MONTH, MONTHS_END = date(1990, 1, 1), date(2200, 1, 1)


def epoch_ms(moment: datetime) -> int:
    """Whole milliseconds since 1970 at `moment`, rounded down."""
    return (moment - EPOCH) // MILLISECOND


def from_epoch_ms(milliseconds: int) -> datetime:
    """The moment so many milliseconds after the beginning of 1970."""
    return EPOCH + timedelta(milliseconds=milliseconds)


def hour_of(moment: datetime) -> datetime:
    """The UTC hour that `moment` is in."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def hour_from(moment: datetime) -> datetime:
    """The first UTC hour that begins at `moment` or after it."""
    # In its own zone a moment that the clock shows twice equals none in another zone.
    hour, exact = hour_of(moment), moment.astimezone(UTC)
    return hour if hour == exact else hour + HOUR


@lru_cache(maxsize=4096)
def first_hour(day: date, zone: str) -> datetime:
    """The first UTC hour that starts on the local `day`."""
    return hour_from(datetime.combine(day, time.min, tzinfo=ZoneInfo(zone)))


def parse_month_text(text: str) -> date | None:
    """`2026-07` as its first day; None for anything else, and for months outside 1990 to 2199."""
    try:
        first = date.fromisoformat(f"{text[:7]}-01")
    except ValueError:
        return None
    return first if len(text) == 7 and EARLIEST_MONTH <= first < MONTHS_END else None
