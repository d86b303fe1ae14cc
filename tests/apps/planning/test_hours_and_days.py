"""By the hour and by the day a figure is one: hours add up to their days, days to weeks and months, wherever it is read."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from apps.economics.hours import HOUR
from apps.planning import actions
from apps.planning.models import Forecast
from apps.planning.queries.ahead import series_ahead
from apps.planning.queries.capacity_places import forecast_paths
from apps.planning.queries.events import DemandEventFact
from apps.planning.queries.forecasts import BY_DAY, forecast_hours, forecasts
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.daily_forecasting import daily_forecast_fields
from apps.planning.solvers.forecasting import forecast_fields
from tests import make

pytestmark = pytest.mark.django_db

FIRST = datetime(2026, 1, 5, tzinfo=UTC)
WEEKS = 9
AT = FIRST + timedelta(weeks=WEEKS, hours=5)
COUNT = WEEKS * 168 + 5
HOURS = np.arange(COUNT)
OFFICE = (HOURS // 24 % 7 < 5) & (HOURS % 24 >= 9) & (HOURS % 24 < 18)


def seldom(draw: np.random.Generator) -> np.ndarray:
    return np.where(OFFICE & (draw.random(COUNT) < 0.45), 8.0, 0.0)


def rare_days(draw: np.random.Generator) -> np.ndarray:
    return np.repeat(np.where(draw.random(COUNT // 24 + 1) < 0.2, 8.0, 0.0), 24)[:COUNT]


def every_second_week(draw: np.random.Generator) -> np.ndarray:
    return np.where(HOURS // 168 % 2 == 1, 6.0 + draw.integers(0, 3, COUNT), 0.0)


def curve(draw: np.random.Generator) -> np.ndarray:
    return 40 + 10 * np.sin(HOURS * 2 * np.pi / 24) + draw.normal(0, 2, COUNT)


def stepped(draw: np.random.Generator) -> np.ndarray:
    return np.where(HOURS < COUNT - 100, 20.0, 35.0) + draw.integers(0, 2, COUNT)


def bounded(draw: np.random.Generator) -> np.ndarray:
    """More by day than the sixteen GPUs there are, less by night, so that the day as a whole has room."""
    return 12 + 10 * np.sin(HOURS * 2 * np.pi / 24) + draw.normal(0, 1, COUNT)


PLANTED = (bounded, seldom, rare_days, every_second_week, curve, stepped)


@pytest.mark.parametrize("make_values", PLANTED)
def test_hours_add_up_to_days_and_days_to_months(
    make_values: Callable[[np.random.Generator], np.ndarray],
) -> None:
    make.make_organisation(zone="Europe/Berlin")
    pool_id = make.make_pool("h100", purchase_option="reserved")
    for name in ("gpu-01", "gpu-02"):
        make.make_node(name, pool_id=pool_id, units=8, started_at=AT - timedelta(days=60), at=AT)
    series = SeriesKey("gpu_hours", "pool", str(pool_id))
    values = make_values(np.random.default_rng(7)).tolist()
    points = [(FIRST + place * HOUR, value) for place, value in enumerate(values)]
    actions.import_history(series=series, points=points, at=AT)
    event = DemandEventFact(
        0, "Launch", "launch", date(2026, 3, 12), date(2026, 3, 13), "", "", "", "factor", 1.5, None,
    )  # fmt: skip
    actions.add_demand_event(event=event, at=AT)
    actions.make_forecasts(maker=forecast_fields, daily=daily_forecast_fields, at=AT)
    (hourly,), (daily,) = forecasts(None, series), forecasts(None, series, BY_DAY)
    hours, days = forecast_hours(hourly.id, None), forecast_hours(daily.id, None)
    assert hours is not None
    assert days is not None
    assert hourly.totals[1].waiting > 0 or make_values not in (bounded, curve, stepped)
    known = {hour: min(value, 16.0) for hour, value in points} | {
        hour.hour: hour.expected for hour in hours.hours
    }
    both = [
        (day.expected, sum(known[day.hour + place * HOUR] for place in range(24)))
        for day in days.hours[:13]
    ]
    for by_day, by_hour in both:
        assert by_day == pytest.approx(by_hour, rel=1e-6, abs=1e-6)
    assert hourly.totals[1].value == pytest.approx(
        sum(hour.expected or 0.0 for hour in hours.hours[:168])
    )
    first = 0
    for month in daily.months:
        of_month = days.hours[first : first + month.days]
        assert month.value == pytest.approx(sum(day.expected or 0.0 for day in of_month))
        first += month.days


def test_days_after_the_hours_join_on_without_a_jump_and_plans_stand_on_the_same_paths() -> None:
    make.make_organisation()
    series = SeriesKey("gpu_hours", "pool", str(make.make_pool("h100")))
    values = stepped(np.random.default_rng(1)).tolist()
    points = [(FIRST + place * HOUR, value) for place, value in enumerate(values)]
    actions.import_history(series=series, points=points, at=AT)
    actions.make_forecasts(maker=forecast_fields, daily=daily_forecast_fields, at=AT)
    (daily,) = forecasts(None, series, BY_DAY)
    days = forecast_hours(daily.id, None)
    assert days is not None
    expected = np.array([day.expected for day in days.hours])
    assert expected[14:21].mean() == pytest.approx(expected[7:14].mean(), rel=0.1)
    paths = forecast_paths(Forecast.objects.get(pk=daily.id))
    assert paths is not None
    assert paths.mean(axis=0) == pytest.approx(expected, rel=1e-6)
    ahead = series_ahead({series: AT + timedelta(days=30)}, AT)[series].hours
    spread = np.diff([ahead.spreads[0.9][place] for place in range(len(ahead.ends))])
    assert (spread >= 0).all()


def test_each_new_forecast_by_the_hour_has_its_days() -> None:
    make.make_organisation()
    series = SeriesKey("gpu_hours", "pool", str(make.make_pool("h100")))
    values = curve(np.random.default_rng(3)).tolist()
    points = [(FIRST + place * HOUR, value) for place, value in enumerate(values)]
    until = COUNT - 72
    actions.import_history(series=series, points=points[:until], at=AT - 72 * HOUR)
    for day in range(4):
        at = AT + (24 * day - 72) * HOUR
        actions.import_history(series=series, points=points[: until + 24 * day], at=at)
        actions.make_forecasts(maker=forecast_fields, daily=daily_forecast_fields, at=at)
        hourly, daily = forecasts(None, series)[0], forecasts(None, series, BY_DAY)[0]
        hours, days = forecast_hours(hourly.id, None), forecast_hours(daily.id, None)
        assert hours is not None
        assert days is not None
        second = days.hours[1]
        of_day = [
            hour.expected or 0.0
            for hour in hours.hours
            if second.hour <= hour.hour < second.hour + 24 * HOUR
        ]
        assert second.expected == pytest.approx(sum(of_day))
    rows = Forecast.objects.filter(granularity=BY_DAY)
    assert rows.count() == 2, "the first, and the newest, which moved along"
