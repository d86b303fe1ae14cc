"""What can be held ahead: GPUs in service and those entered to come; of what scales the quota; demand beyond it waits."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.economics.gates import GateName
from apps.economics.hours import HOUR
from apps.fleet.queries import pools
from apps.planning import actions
from apps.planning.queries.ahead import series_ahead
from apps.planning.queries.forecasts import forecast_hours, forecasts
from apps.planning.queries.room import RoomAhead
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.daily_forecasting import daily_forecast_fields
from apps.planning.solvers.forecasting import forecast_fields
from tests import make

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 10, 10, tzinfo=UTC)


@pytest.fixture
def pool() -> int:
    """Two nodes of eight GPUs; a third comes in three days, one of the two goes in five."""
    make.make_organisation()
    pool_id = make.make_pool("h100", purchase_option="reserved")
    for name in ("gpu-01", "gpu-02"):
        make.make_node(name, pool_id=pool_id, units=8, started_at=AT - timedelta(days=60), at=AT)
    return pool_id


def of_pool(pool_id: int) -> SeriesKey:
    return SeriesKey("gpu_hours", "pool", str(pool_id))


def test_what_can_be_held_is_what_is_in_service_and_what_is_entered_to_come(pool: int) -> None:
    make.make_node("gpu-03", pool_id=pool, units=8, started_at=AT + 3 * HOUR, at=AT)
    room = RoomAhead(AT)
    assert room.of_hours(of_pool(pool), AT, 5) == [16, 16, 16, 24, 24]
    assert room.of_hours(SeriesKey("gpu_hours"), AT, 2) == [16, 16]
    begins = [AT + 24 * day * HOUR for day in range(3)]
    assert room.of_days(of_pool(pool), begins) == [16 * 24, 24 * 24]


def test_of_what_scales_the_quota_bounds_it_and_else_nothing(pool: int) -> None:
    spot = make.make_pool("spot", purchase_option="spot")
    make.make_node("new", pool_id=spot, started_at=AT - HOUR, at=AT)
    room = RoomAhead(AT)
    assert room.of_hours(SeriesKey("spend"), AT, 2) == []
    assert room.of_hours(of_pool(spot), AT, 2) == []
    assert room.of_hours(SeriesKey("gpu_hours"), AT, 2) == [], "a part of the whole is not bounded"
    assert room.of_hours(of_pool(pool), AT, 2) == [16, 16]
    fact = pools()[spot]
    asked = actions.EnteredGpuQuota(fact.provider, fact.region, fact.gpu_model, 24, 7)
    actions.add_gpu_quota(quota=asked, at=AT)
    assert RoomAhead(AT).of_hours(of_pool(spot), AT, 2) == [24, 24]
    assert RoomAhead(AT).of_hours(SeriesKey("gpu_hours"), AT, 2) == [40, 40]


@pytest.fixture
def busy(pool: int) -> SeriesKey:
    """30 GPUs are asked for where 16 are: imported, as jobs held and waited for them."""
    series = of_pool(pool)
    points = [(AT - hour * HOUR, 30.0) for hour in range(1, 60 * 24)]
    actions.import_history(series=series, points=points, at=AT)
    actions.make_forecasts(maker=forecast_fields, daily=daily_forecast_fields, at=AT)
    return series


def test_no_forecast_is_above_what_is_there_and_the_rest_waits(busy: SeriesKey) -> None:
    (hourly,) = forecasts(None, busy)
    found = forecast_hours(hourly.id, None)
    assert found is not None
    assert {(hour.value, hour.waiting) for hour in found.hours} == {(16.0, 14.0)}
    assert all(level <= 16 for hour in found.hours for level in hour.quantiles if level is not None)
    day, week, _ = hourly.totals
    assert (day.value, day.waiting) == (pytest.approx(16 * 24), pytest.approx(14 * 24))
    assert (week.low, week.high) == (pytest.approx(16 * 168), pytest.approx(16 * 168))
    (gate,) = [each for each in hourly.gates if each.name is GateName.CAPACITY]
    assert (gate.is_passed, gate.fallback) == (False, "what is there is held, the rest waits")
    (daily,) = forecasts(None, busy, "day")
    assert all(month.value <= 16 * 24 * month.days + 1e-6 for month in daily.months)
    assert all(month.waiting > 0 for month in daily.months)


def test_what_decides_on_capacity_reads_demand_and_what_is_added_up_is_held(
    busy: SeriesKey,
) -> None:
    ahead = series_ahead({busy: AT + timedelta(days=20)}, AT)[busy].hours
    assert ahead.points[0] == pytest.approx(30)
    assert max(ahead.adding_up) == pytest.approx(16)


def test_where_nothing_is_left_all_demand_waits_and_where_nothing_was_said_nothing_bounds_it(
    pool: int,
) -> None:
    gone = make.make_pool("gone", purchase_option="reserved")
    make.make_node(
        "old",
        pool_id=gone,
        units=8,
        started_at=AT - timedelta(days=90),
        ended_at=AT - timedelta(days=60),
        at=AT,
    )
    unknown = make.make_pool("unknown", purchase_option="reserved")
    room = RoomAhead(AT)
    assert room.of_hours(of_pool(gone), AT, 3) == [0, 0, 0]
    assert room.of_hours(of_pool(unknown), AT, 3) == []
    series = of_pool(gone)
    points = [(AT - hour * HOUR, 5.0) for hour in range(1, 60 * 24)]
    actions.import_history(series=series, points=points, at=AT)
    actions.make_forecasts(maker=forecast_fields, daily=daily_forecast_fields, at=AT)
    (hourly,) = forecasts(None, series)
    assert (hourly.totals[0].value, hourly.totals[0].waiting) == (0, pytest.approx(5 * 24))
    (daily,) = forecasts(None, series, "day")
    assert {month.value for month in daily.months} == {0.0}
    assert all(month.waiting == pytest.approx(120 * month.days) for month in daily.months)


def test_a_month_is_the_sum_of_what_can_be_held_of_each_of_its_days(pool: int) -> None:
    """Weekdays ask for more than there is, weekends for less: their room is not that of weekdays."""
    series = of_pool(pool)
    hours = [AT - hour * HOUR for hour in range(1, 60 * 24)]
    points = [(hour, 30.0 if hour.weekday() < 5 else 4.0) for hour in hours]
    actions.import_history(series=series, points=points, at=AT)
    actions.make_forecasts(maker=forecast_fields, daily=daily_forecast_fields, at=AT)
    (daily,) = forecasts(None, series, "day")
    found = forecast_hours(daily.id, None)
    assert found is not None
    first = 0
    for month in daily.months:
        days = found.hours[first : first + month.days]
        assert month.value == pytest.approx(sum(day.expected or 0.0 for day in days))
        first += month.days
    whole = daily.months[1]
    assert whole.value < 16 * 24 * whole.days * 0.9
    assert whole.waiting > 0
