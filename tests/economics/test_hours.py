"""Hours of UTC and the first ones of local days."""

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from apps.economics.hours import first_hour, hour_from, hour_of, parse_month_text

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
KOLKATA = timezone(timedelta(hours=5, minutes=30))


@pytest.mark.parametrize("late", [timedelta(0), timedelta(microseconds=1), timedelta(minutes=59)])
def test_an_hour_is_of_utc_whatever_zone_the_moment_is_told_in(late):
    assert hour_of((NOON + late).astimezone(KOLKATA)) == NOON
    assert hour_of((NOON + late).astimezone(KOLKATA)).utcoffset() == timedelta(0)


def test_the_next_hour_is_the_moment_itself_where_it_begins_one():
    assert hour_from(NOON) == NOON
    assert hour_from(NOON.astimezone(KOLKATA)) == NOON
    assert hour_from(NOON + timedelta(microseconds=1)) == NOON + timedelta(hours=1)


def test_a_midnight_that_the_clock_shows_twice_begins_the_day_the_first_time():
    # Havana goes back from 01:00 to 00:00 on 1 November 2026.
    midnight = datetime(2026, 11, 1, tzinfo=ZoneInfo("America/Havana"))
    assert hour_from(midnight) == datetime(2026, 11, 1, 4, tzinfo=UTC)
    assert first_hour(date(2026, 11, 1), "America/Havana") == datetime(2026, 11, 1, 4, tzinfo=UTC)


def test_the_hour_that_local_midnight_cuts_belongs_to_the_day_before():
    assert first_hour(date(2026, 3, 2), "Asia/Kolkata") == datetime(2026, 3, 1, 19, tzinfo=UTC)


def test_a_month_is_within_two_centuries_and_written_in_one_way():
    assert parse_month_text("1990-01") == date(1990, 1, 1)
    assert parse_month_text("2199-12") == date(2199, 12, 1)
    for text in ("1989-12", "2200-01", "2026-13", "2026-7", "2026-07-01", "the-ides", ""):
        assert parse_month_text(text) is None
