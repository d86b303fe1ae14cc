"""The day's forecasts are made once, kept as they were made, and held against what came."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import sin
from typing import Any

import pytest

from apps.economics.hours import HOUR
from apps.planning import actions
from apps.planning.models import Forecast, ForecastSeries
from apps.planning.queries.forecasts import forecast_hours, forecasts
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.forecasting import forecast_fields
from apps.planning.tasks import make_forecasts
from tests import make

pytestmark = pytest.mark.django_db

DAY_ONE = datetime(2026, 3, 2, tzinfo=UTC)
DAYS = 12
MADE_AT = DAY_ONE + timedelta(days=DAYS, hours=5)
SPEND = SeriesKey("spend")


@pytest.fixture(scope="module", autouse=True)
def organisation(of_module: None) -> None:
    make.make_organisation()


def level(hour: int) -> float:
    return 50 + 20 * sin(hour / 4) + hour * 7 % 5


def bring(first: int, hours: int, series: SeriesKey = SPEND) -> None:
    points = [(DAY_ONE + hour * HOUR, level(hour)) for hour in range(first, first + hours)]
    actions.import_history(series=series, points=points, at=DAY_ONE + timedelta(days=60))


def pass_at(at: datetime) -> int:
    return actions.make_forecasts_if_due(maker=forecast_fields, at=at, zone="UTC")


def test_a_day_has_one_forecast_of_a_series_from_its_first_unknown_hour_on() -> None:
    bring(0, DAYS * 24)
    assert pass_at(MADE_AT) == 1
    assert pass_at(MADE_AT + HOUR) == 0
    (kept,) = forecasts(None)
    assert (kept.name, kept.method, kept.horizon) == ("spend", "weighted_median", 336)
    assert (kept.starts_at, kept.made_at) == (DAY_ONE + timedelta(days=DAYS), MADE_AT)
    assert (kept.observed_hours, kept.imported_hours, kept.queue) == (DAYS * 24, DAYS * 24, "")
    expected = forecast_fields([level(hour) for hour in range(DAYS * 24)])
    hours = forecast_hours(kept.id, None)
    assert hours is not None
    assert [hour.value for hour in hours.hours] == expected["points"]
    assert hours.recent[-1] == (kept.starts_at - HOUR, level(DAYS * 24 - 1))
    backtest = kept.backtest_of(24)
    assert backtest is not None
    assert backtest.origins == 10
    assert backtest.best_baseline in expected["backtests"][0]["mase"]


def test_a_new_series_has_its_forecast_at_the_next_sweep() -> None:
    bring(0, 60)
    assert pass_at(MADE_AT) == 1
    bring(0, 60, SeriesKey("gpu_hours"))
    assert pass_at(MADE_AT + HOUR) == 1


def test_before_four_in_the_morning_the_day_before_is_not_settled() -> None:
    bring(0, DAYS * 24)
    pass_at(MADE_AT)
    bring(DAYS * 24, 24)
    assert pass_at(MADE_AT + timedelta(hours=22)) == 0
    assert pass_at(MADE_AT + timedelta(hours=23)) == 1


def test_without_a_new_hour_no_forecast_is_made_again() -> None:
    bring(0, 60)
    pass_at(MADE_AT)
    assert pass_at(MADE_AT + timedelta(days=1)) == 0
    assert Forecast.objects.count() == 1


def test_what_came_since_is_held_against_the_forecast_and_the_forecast_stays() -> None:
    bring(0, DAYS * 24)
    pass_at(MADE_AT)
    (before,) = forecasts(None)
    bring(DAYS * 24, 20)
    pass_at(MADE_AT + timedelta(days=1))
    newest, first = forecasts(None, SPEND)
    assert newest.starts_at == first.starts_at + 20 * HOUR
    hours = forecast_hours(first.id, None)
    assert hours is not None
    came = [(hour, hour.observed) for hour in hours.hours if hour.observed is not None]
    assert [observed for _, observed in came] == [
        level(hour) for hour in range(DAYS * 24, DAYS * 24 + 20)
    ]
    errors = [abs(hour.value - observed) for hour, observed in came]
    assert first.realised_hours == 20
    assert first.realised_error == pytest.approx(sum(errors) / 20)
    inside = [hour.quantiles[0] <= observed <= hour.quantiles[-1] for hour, observed in came]
    assert first.realised_coverage == sum(inside) / 20
    assert first.realised_mase == pytest.approx(sum(errors) / 20 / first.scale)
    assert (first.digest, first.made_at) == (before.digest, before.made_at)


def test_a_pass_that_breaks_off_goes_on_with_what_is_left() -> None:
    bring(0, 60)
    bring(0, 60, SeriesKey("gpu_hours"))

    calls = []

    def breaking(values: Sequence[float | None]) -> dict[str, Any]:
        calls.append(values)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return forecast_fields(values)

    with pytest.raises(KeyboardInterrupt):
        actions.make_forecasts_if_due(maker=breaking, at=MADE_AT, zone="UTC")
    assert Forecast.objects.count() == 1
    assert pass_at(MADE_AT + HOUR) == 1
    assert Forecast.objects.count() == 2


def test_forecasts_of_over_400_days_ago_are_dropped() -> None:
    bring(0, 60)
    pass_at(MADE_AT)
    Forecast.objects.update(made_at=MADE_AT - timedelta(days=400))
    bring(60, 1)
    pass_at(MADE_AT + timedelta(days=1))
    assert [kept.made_at for kept in forecasts(None, SPEND)] == [MADE_AT + timedelta(days=1)]


def test_the_workers_sweep_makes_them() -> None:
    bring(0, 60)
    assert make_forecasts() == 2, "by the hour, and by day"
    assert ForecastSeries.objects.filter(looked_at=None).count() == 0
    assert make_forecasts() == 0
