"""Time reads in the organisation's zone, and says UTC beside it."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from apps.show import time

AT = datetime(2026, 7, 24, 14, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(days=3, hours=4, minutes=59), "3 d 4 h"),
        (timedelta(days=3, minutes=5), "3 d"),
        (timedelta(hours=7, minutes=12), "7 h 12 min"),
        (timedelta(minutes=5), "5 min"),
        (timedelta(seconds=61), "1 min 1 s"),
        (timedelta(seconds=9), "9 s"),
        (timedelta(milliseconds=420), "420 ms"),
        (timedelta(0), "0 s"),
        (timedelta(hours=-2), "−2 h"),
        (None, "–"),
    ],
)
def test_a_duration_is_said_in_its_two_largest_units(span, text):
    assert time.duration(span) == text


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "24 July 2026, 14:00 UTC"),
        ("Europe/Berlin", "24 July 2026, 16:00 CEST"),
        ("Asia/Kolkata", "24 July 2026, 19:30 IST"),
        ("Asia/Kathmandu", "24 July 2026, 19:45 UTC+05:45"),
        ("America/Sao_Paulo", "24 July 2026, 11:00 UTC-03:00"),
    ],
)
def test_a_moment_is_said_in_the_organisations_zone(zone, text):
    assert time.instant(AT, ZoneInfo(zone)) == text


def test_a_moment_is_said_in_utc_for_the_tooltip_and_for_machines():
    berlin = AT.astimezone(ZoneInfo("Europe/Berlin"))
    assert time.utc(berlin) == "2026-07-24 14:00:00 UTC"
    assert time.machine(berlin) == "2026-07-24T14:00:00Z"
    assert time.clock(AT, ZoneInfo("Europe/Berlin")) == "16:00 CEST"


def test_an_unknown_moment_is_a_dash():
    assert time.instant(None, UTC) == "–"
    assert time.clock(None, UTC) == "–"
    assert time.utc(None) == "–"


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (date(2026, 7, 1), date(2026, 7, 25), "1 to 24 July 2026"),
        (date(2026, 6, 28), date(2026, 7, 5), "28 June to 4 July 2026"),
        (date(2025, 12, 28), date(2026, 1, 4), "28 December 2025 to 3 January 2026"),
        (date(2026, 7, 24), date(2026, 7, 25), "24 July 2026"),
        (date(2026, 7, 1), date(2026, 8, 1), "July 2026"),
        (date(2026, 12, 1), date(2027, 1, 1), "December 2026"),
        (date(2026, 7, 1), date(2026, 9, 1), "1 July to 31 August 2026"),
    ],
)
def test_a_period_is_said_by_its_first_and_last_day(start, end, text):
    assert time.period(start, end) == text


def test_days_are_labelled_for_axes_and_rows():
    assert time.short_day(date(2026, 7, 24)) == "24 Jul"
    assert time.weekday(date(2026, 7, 24)) == "Fri 24 July"
