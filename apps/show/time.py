"""Time as people read it: durations, instants in a zone, periods in words, labels of days.

Instants are aware; periods are half-open, so their last day is the one before `end`.
"""

from datetime import UTC, date, datetime, timedelta, tzinfo

from apps.show.unknown import UNKNOWN

# Written out, not asked of strftime, which follows the process's locale.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_SPANS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def duration(span: timedelta | None) -> str:
    """A length of time in its two largest units: `3 d 4 h`, `5 min`, `420 ms`."""
    if span is None:
        return UNKNOWN
    milliseconds = abs(span) // timedelta(milliseconds=1)
    if milliseconds < 1000:
        text = f"{milliseconds} ms" if milliseconds else "0 s"
    else:
        text = _two_largest(milliseconds // 1000)
    return f"−{text}" if span < timedelta(0) else text


def minute_duration(span: timedelta) -> str:
    """A length of time, to the minute once it is one: `3 h 20 min`, `42 s`."""
    minute = timedelta(minutes=1)
    return duration(span - span % minute if span >= minute else span)


def instant(at: datetime | None, zone: tzinfo) -> str:
    """A moment in the organisation's zone: `24 July 2026, 14:00 UTC`."""
    if at is None:
        return UNKNOWN
    local = at.astimezone(zone)
    return f"{day(local.date())} {local.year}, {local:%H:%M} {zone_name(local)}"


def day_or_instant(at: datetime | None, zone: tzinfo) -> str:
    """A local midnight as its day, `1 June 2025`; any other moment in full."""
    if at is None:
        return UNKNOWN
    local = at.astimezone(zone)
    if (local.hour, local.minute, local.second) != (0, 0, 0):
        return instant(at, zone)
    return f"{day(local.date())} {local.year}"


def clock(at: datetime | None, zone: tzinfo) -> str:
    """The time of day alone, where the day is said beside it: `14:00 UTC`."""
    if at is None:
        return UNKNOWN
    local = at.astimezone(zone)
    return f"{local:%H:%M} {zone_name(local)}"


def utc(at: datetime | None) -> str:
    """A moment in UTC, for a tooltip: `2026-07-24 14:00:00 UTC`."""
    return UNKNOWN if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def machine(at: datetime) -> str:
    """A moment for `<time datetime>`: RFC 3339 in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def zone_name(local: datetime) -> str:
    """The zone's abbreviation then (`CEST`), or its offset where it has none (`UTC+05:45`)."""
    name = local.tzname() or "UTC"
    if name.strip("+-0123456789"):
        return name
    offset = f"{local:%z}"
    return f"UTC{offset[:3]}:{offset[3:5]}"


def day(date_: date) -> str:
    """A day without its year: `24 July`."""
    return f"{date_.day} {_MONTHS[date_.month - 1]}"


def short_day(date_: date) -> str:
    """A day for an axis: `24 Jul`."""
    return f"{date_.day} {_MONTHS[date_.month - 1][:3]}"


def weekday(date_: date) -> str:
    """A day for a table row: `Fri 24 July`."""
    return f"{_WEEKDAYS[date_.weekday()]} {day(date_)}"


def month(date_: date) -> str:
    """A month with its year: `July 2026`."""
    return f"{_MONTHS[date_.month - 1]} {date_.year}"


def period(start: date, end: date) -> str:
    """The days from `start` up to, not with, `end`: `1 to 24 July 2026`, `June 2026`."""
    last = end - timedelta(days=1)
    if last <= start:
        return f"{day(start)} {start.year}"
    if _is_whole_month(start, end):
        return month(start)
    if start.year != last.year:
        return f"{day(start)} {start.year} to {day(last)} {last.year}"
    if start.month != last.month:
        return f"{day(start)} to {day(last)} {last.year}"
    return f"{start.day} to {day(last)} {last.year}"


def _is_whole_month(start: date, end: date) -> bool:
    next_month = (start.replace(day=1) + timedelta(days=32)).replace(day=1)
    return start.day == 1 and end == next_month


def _two_largest(seconds: int) -> str:
    for index, (length, unit) in enumerate(_SPANS):
        if seconds >= length:
            first = f"{seconds // length} {unit}"
            remainder = seconds % length
            if index + 1 == len(_SPANS):
                return first
            next_length, next_unit = _SPANS[index + 1]
            second = remainder // next_length
            return f"{first} {second} {next_unit}" if second else first
    return "0 s"
