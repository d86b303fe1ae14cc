"""Hours belong to the local day and month they start in: half-hour zones, days of 23 and 25 hours."""

import itertools
from datetime import UTC, date, datetime, timedelta

import pytest

from apps.economics.hours import first_hour
from apps.ledger import queries
from apps.ledger.models import LedgerDay, Line
from apps.ledger.queries.calendar import day_span, month_span, posting_month
from apps.ledger.queries.cube import CubeQuestion
from tests import make
from tests.apps.ledger import scene

HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("zone", "day", "starts_at", "hours"),
    [
        ("UTC", date(2026, 3, 2), datetime(2026, 3, 2, tzinfo=UTC), 24),
        ("Europe/Berlin", date(2026, 3, 29), datetime(2026, 3, 28, 23, tzinfo=UTC), 23),
        ("Europe/Berlin", date(2026, 10, 25), datetime(2026, 10, 24, 22, tzinfo=UTC), 25),
        # Local midnight is 18:30 UTC: the hour it cuts still belongs to the day before.
        ("Asia/Kolkata", date(2026, 3, 2), datetime(2026, 3, 1, 19, tzinfo=UTC), 24),
        # Lord Howe moves its clocks by half an hour.
        ("Australia/Lord_Howe", date(2026, 4, 5), datetime(2026, 4, 4, 13, tzinfo=UTC), 25),
        # Santiago's clocks jump from midnight to 1:00.
        ("America/Santiago", date(2026, 9, 6), datetime(2026, 9, 6, 4, tzinfo=UTC), 23),
    ],
)
def test_a_local_day_has_the_hours_that_start_in_it(
    zone: str, day: date, starts_at: datetime, hours: int
) -> None:
    span = day_span(day, zone)

    assert (span.starts_at, span.hours) == (starts_at, hours)


@pytest.mark.parametrize(
    "zone", ["UTC", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "America/Santiago"]
)
def test_every_hour_of_a_year_is_in_exactly_one_day_and_month(zone: str) -> None:
    first = first_hour(date(2026, 1, 1), zone)
    last = first_hour(date(2027, 1, 1), zone)
    days = [day_span(date(2026, 1, 1) + timedelta(days=k), zone) for k in range(365)]

    assert days[0].starts_at == first
    assert days[-1].ends_at == last
    assert all(one.ends_at == two.starts_at for one, two in itertools.pairwise(days))
    months = [month_span(date(2026, month, 1), zone) for month in range(1, 13)]
    assert sum(month.hours for month in months) == (last - first) // HOUR
    hour = last - HOUR
    assert posting_month(hour, zone) == date(2026, 12, 1)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("zone", "last_hour"),
    [
        # 18:00 to 19:00 UTC is 23:30 to 0:30 in Kolkata: still March, by its start.
        ("Asia/Kolkata", datetime(2026, 3, 31, 18, tzinfo=UTC)),
        ("Europe/Berlin", datetime(2026, 3, 31, 21, tzinfo=UTC)),
    ],
)
def test_lines_are_posted_to_the_month_the_hour_starts_in(zone: str, last_hour: datetime) -> None:
    make.make_organisation(zone=zone)
    scene.make_priced_node(started_at=last_hour, at=last_hour + 2 * HOUR)

    scene.settle(last_hour + 2 * HOUR, starts_at=last_hour, ends_at=last_hour + 2 * HOUR)

    posted = dict(Line.objects.values_list("hour", "posting_month"))
    assert posted == {last_hour: date(2026, 3, 1), last_hour + HOUR: date(2026, 4, 1)}
    days = dict(LedgerDay.objects.values_list("day", "effective_micros"))
    assert days == {date(2026, 3, 31): 98_320_000, date(2026, 4, 1): 98_320_000}


@pytest.mark.django_db
@pytest.mark.parametrize(("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25)])
def test_a_day_of_the_clock_change_costs_its_hours(day: date, hours: int) -> None:
    make.make_organisation(zone="Europe/Berlin")
    span = day_span(day, "Europe/Berlin")
    scene.make_priced_node(started_at=span.starts_at - HOUR, at=span.ends_at + HOUR)

    scene.settle(span.ends_at + HOUR, starts_at=span.starts_at - HOUR, ends_at=span.ends_at + HOUR)

    window = queries.window_of(day.isoformat(), queries.Calendar("Europe/Berlin", 1, day))
    (total,) = queries.cost_groups(CubeQuestion(window))
    assert total.sums.micros == hours * 98_320_000
    assert total.sums.gpu_milliseconds == hours * 8 * 3_600_000


TODAY = date(2026, 3, 4)
WEDNESDAY = queries.Calendar("Asia/Kolkata", 7, TODAY)


@pytest.mark.parametrize(
    ("text", "first_day", "end_day"),
    [
        ("today", TODAY, date(2026, 3, 5)),
        ("yesterday", date(2026, 3, 3), TODAY),
        ("7d", date(2026, 2, 26), date(2026, 3, 5)),
        ("week", date(2026, 3, 1), date(2026, 3, 8)),
        ("month", date(2026, 3, 1), date(2026, 4, 1)),
        ("lastmonth", date(2026, 2, 1), date(2026, 3, 1)),
        ("2026-02", date(2026, 2, 1), date(2026, 3, 1)),
        ("2026-02-14", date(2026, 2, 14), date(2026, 2, 15)),
        ("2026-02-14/2026-02-16", date(2026, 2, 14), date(2026, 2, 16)),
        ("2026-02-13T18:30:00Z/2026-02-15T18:30:00Z", date(2026, 2, 14), date(2026, 2, 16)),
        ("2026-02-13T19:00:00Z/2026-02-16", date(2026, 2, 14), date(2026, 2, 16)),
    ],
)
def test_windows_are_whole_local_days(text: str, first_day: date, end_day: date) -> None:
    window = queries.window_of(text, WEDNESDAY)

    assert (window.first_day, window.end_day) == (first_day, end_day)


@pytest.mark.parametrize("text", ["", "0d", "soon", "2026-2", "2026-02-30", "/", "a/b", "9999-12"])
def test_other_texts_name_no_window(text: str) -> None:
    with pytest.raises(queries.WindowNotUnderstood, match="window"):
        queries.window_of(text, WEDNESDAY)


def test_a_window_that_cuts_a_day_is_refused() -> None:
    with pytest.raises(queries.WindowCutsADay, match="Asia/Kolkata"):
        queries.window_of("2026-02-14T00:00:00Z/2026-02-16", WEDNESDAY)


def test_the_span_before_a_month_is_the_month_before() -> None:
    window = queries.window_of("2026-03", WEDNESDAY).before()

    assert (window.first_day, window.end_day) == (date(2026, 2, 1), date(2026, 3, 1))


def test_the_span_before_days_is_as_many_days() -> None:
    window = queries.window_of("7d", WEDNESDAY).before()

    assert (window.first_day, window.end_day) == (date(2026, 2, 19), date(2026, 2, 26))
