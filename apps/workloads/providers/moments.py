"""Times and lengths of time as schedulers write them, read into aware UTC and exact seconds."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction

from apps.economics.hours import EPOCH
from apps.workloads.providers.job_record import FieldUnreadable

NO_VALUE = frozenset({"", "Unknown", "None", "NONE", "N/A", "null", "NULL"})
_LENGTH = re.compile(r"^(?:(\d+)-)?(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d+)?)$")
_ONE_MICROSECOND = Fraction(1, 1_000_000)


def read_moment(text: str, *, zone: tzinfo, field_name: str) -> datetime | None:
    """An ISO time, in `zone` where it names none, or seconds since 1970; None where unknown.

    Of the two readings of an hour that a clock change repeats, the first is taken.
    """
    text = text.strip()
    if text in NO_VALUE:
        return None
    if text.isdecimal():
        return after_epoch(Fraction(text), field_name=field_name)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise FieldUnreadable(field_name, f"{text!r} is not a time") from None
    return in_utc(moment, zone=zone, field_name=field_name)


def read_like(pattern: str, text: str, *, zone: tzinfo, field_name: str) -> datetime:
    """The time written as the strptime `pattern` says, in `zone` where that has no %z."""
    try:
        if "%z" in pattern:
            return datetime.strptime(text, pattern).astimezone(UTC)
        return datetime.strptime(text, pattern).replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        raise FieldUnreadable(field_name, f"{text!r} is not a time like {pattern}") from None


def in_utc(moment: datetime, *, zone: tzinfo, field_name: str) -> datetime:
    """`moment` in UTC; one without a zone is read in `zone`."""
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        raise FieldUnreadable(field_name, f"{moment} is out of range") from None


def after_epoch(seconds: Fraction, *, field_name: str, base: datetime = EPOCH) -> datetime:
    """The moment so many seconds after `base`, to the microsecond."""
    try:
        return base + timedelta(microseconds=round(seconds / _ONE_MICROSECOND))
    except OverflowError:
        raise FieldUnreadable(field_name, f"{float(seconds):g} seconds is out of range") from None


def read_length(text: str, *, field_name: str) -> Fraction | None:
    """Seconds of `[days-][[hours:]minutes:]seconds`; None where unknown."""
    text = text.strip()
    if text in NO_VALUE:
        return None
    match = _LENGTH.match(text)
    if match is None:
        raise FieldUnreadable(field_name, f"{text!r} is not a length of time")
    days, hours, minutes = (int(part or 0) for part in match.groups()[:3])
    return Fraction(match[4]) + 60 * (minutes + 60 * (hours + 24 * days))
