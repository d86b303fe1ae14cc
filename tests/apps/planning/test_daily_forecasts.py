"""Forecasts by day: made each week of whole local days, kept beyond 90 of them, added up by month, held against what came."""

import json
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from apps.console.pages.forecasts import words
from apps.economics.forecast.names import QUANTILE_LEVELS
from apps.economics.hours import HOUR
from apps.planning import actions
from apps.planning.actions.daily_forecasts import make_daily_forecast
from apps.planning.models import Forecast, ForecastPaths, ForecastSeries, HistoryDay
from apps.planning.queries.capacity_places import forecast_paths
from apps.planning.queries.days import daily_history
from apps.planning.queries.forecasts import BY_DAY, forecast_hours, forecasts
from apps.planning.queries.history import SeriesHistory
from apps.planning.queries.room import RoomAhead
from apps.planning.queries.series import QUEUE_WAIT, SeriesKey
from apps.planning.solvers.daily_forecasting import daily_forecast_fields
from apps.planning.solvers.forecasting import forecast_fields
from tests import make

pytestmark = pytest.mark.django_db

BERLIN = "Europe/Berlin"
FIRST = datetime(2026, 1, 4, 23, tzinfo=UTC)
"""Monday, the fifth, in Berlin."""
WEEKS = 11
SPEND = SeriesKey("spend")


@pytest.fixture(scope="module", autouse=True)
def organisation(of_module: None) -> None:
    make.make_organisation(zone=BERLIN)


def value_of(hour: int) -> float:
    day = hour // 24
    return 10.0 + hour % 24 / 10 + (4 if day % 7 < 5 else 0) + day * 7 % 3 / 10


def bring(first: int, hours: int, series: SeriesKey = SPEND) -> None:
    points = [(FIRST + hour * HOUR, value_of(hour)) for hour in range(first, first + hours)]
    actions.import_history(series=series, points=points, at=FIRST + timedelta(days=400))


def pass_at(at: datetime) -> int:
    return actions.make_forecasts(maker=forecast_fields, daily=daily_forecast_fields, at=at)


def daily_of(series: SeriesKey = SPEND) -> list[Any]:
    return forecasts(None, series, BY_DAY)


def test_eighteen_months_of_local_days_come_of_whole_ones_and_add_up_by_month() -> None:
    bring(0, WEEKS * 168 + 5)
    assert pass_at(FIRST + timedelta(weeks=WEEKS, hours=8)) == 2
    (made,) = daily_of()
    assert (made.method, made.horizon, made.refusal) == ("level_scenarios", 548, "")
    assert made.starts_at == FIRST + timedelta(weeks=WEEKS), "the day that has begun is not whole"
    assert made.observed_hours == WEEKS * 168
    found = forecast_hours(made.id, None, BY_DAY)
    assert found is not None
    assert found.recent[-1] == (
        made.starts_at - timedelta(days=1),
        pytest.approx(sum(value_of(WEEKS * 168 - 24 + hour) for hour in range(24))),
    )
    days = [hour.hour.astimezone(ZoneInfo(BERLIN)) for hour in found.hours]
    assert {day.hour for day in days} == {0}, "each begins at midnight, whatever the clock does"
    assert days[0].date() == date(2026, 3, 23)
    months = made.months
    assert [(months[0].days, months[0].is_whole), (months[1].days, months[1].is_whole)] == [
        (9, False),
        (30, True),
    ]
    assert sum(month.days for month in months) == 548
    april = [hour.value for hour in found.hours[9:39]]
    assert months[1].value == pytest.approx(sum(april), rel=0.02)
    assert months[1].quantiles[0] < months[1].value < months[1].quantiles[-1]
    since = words.inputs(made, ZoneInfo(BERLIN))
    assert since.startswith("77 known days since 5 January 2026, "), since
    backtest = made.backtest_of(28)
    assert backtest is not None
    assert backtest.best_baseline in {"naive", "seasonal_naive_7", "mean_28"}
    assert made.backtest_of(84) is None, "eleven weeks do not say how far to trust it 84 days ahead"


def test_one_is_made_each_week_and_what_came_is_held_against_those_before() -> None:
    bring(0, 9 * 168)
    first_day = FIRST + timedelta(weeks=9)
    pass_at(first_day + 8 * HOUR)
    bring(9 * 168, 6 * 24)
    pass_at(first_day + timedelta(days=6, hours=8))
    newest, made = daily_of()
    assert newest.starts_at == first_day + timedelta(days=6), "it begins with the hours' own days"
    assert made.realised_hours == 6 * 24
    assert made.realised_error is not None
    assert made.realised_error < 10
    bring((9 * 7 + 6) * 24, 24)
    pass_at(first_day + timedelta(days=7, hours=8))
    moved, earlier = daily_of()
    assert moved.id == newest.id, "that of a day ago is moved on"
    assert moved.starts_at == earlier.starts_at + timedelta(days=7)
    assert earlier.realised_hours == 7 * 24
    found = forecast_hours(earlier.id, None)
    assert found is not None
    assert [hour.observed is not None for hour in found.hours[:8]] == [True] * 7 + [False]


def test_under_four_weeks_the_mean_of_the_last_week_stands_in_and_is_called_so() -> None:
    bring(0, 20 * 24)
    pass_at(FIRST + timedelta(days=20, hours=8))
    (made,) = daily_of()
    assert (made.method, made.refusal) == (
        "last_week",
        "20 days are known in full; 28 are the least",
    )
    last_week = sum(value_of(hour) for hour in range(13 * 24, 20 * 24)) / 7
    found = forecast_hours(made.id, None)
    assert found is not None
    assert [day.value for day in found.hours[14:]] == pytest.approx([last_week] * 534)
    assert found.hours[0].quantiles == ()
    bring(20 * 24, 24)
    pass_at(FIRST + timedelta(days=21, hours=8))
    assert len(daily_of()) == 2, "the first stays, for what comes to be held against it"


def test_a_day_with_a_quarter_of_its_hours_missing_counts_as_its_known_ones_and_with_more_not() -> (
    None
):
    values: list[float | None] = [2.0] * 96
    values[24:30] = [None] * 6
    values[48:55] = [None] * 7
    whole = SeriesHistory(SPEND, FIRST, values, imported=0, left_out=0, queue="")
    days = daily_history(whole, BERLIN)
    assert days is not None
    assert days.values == [48.0, 48.0, None, 48.0]
    waits = SeriesHistory(SeriesKey(QUEUE_WAIT, "pool", "1"), FIRST, values[24:72], 0, 0, "")
    few = daily_history(waits, BERLIN)
    assert few is not None
    assert few.values == [2.0, 2.0], "an hour in which no job began has no wait"


def test_days_that_were_measured_are_kept_when_their_hours_are_gone() -> None:
    values: list[float | None] = [2.0] * 48
    measured = frozenset(FIRST + hour * HOUR for hour in range(24))
    before = SeriesHistory(SPEND, FIRST, values, 24, 0, "", measured)
    row = ForecastSeries.objects.create(measure="spend")
    at = FIRST + timedelta(days=3)
    make_daily_forecast(before, [], daily_forecast_fields, RoomAhead(at), BERLIN)
    assert list(HistoryDay.objects.values_list("day", "value")) == [(date(2026, 1, 5), 48.0)]
    later = SeriesHistory(SPEND, FIRST + timedelta(days=100), [3.0] * 24, 0, 0, "")
    days = daily_history(later, BERLIN)
    assert days is not None
    assert (days.first_day, len(days.values), days.values[0]) == (date(2026, 1, 5), 101, 48.0)
    assert days.values[1] is None
    assert row.days.count() == 1


def test_a_kept_day_stays_whole_when_the_hours_that_are_read_begin_within_it() -> None:
    row = ForecastSeries.objects.create(measure="spend")
    values: list[float | None] = [float(hour % 24) for hour in range(91 * 24)]
    for first in (0, 3):
        read = values[first : first + 90 * 24]
        hours = frozenset(FIRST + (first + place) * HOUR for place in range(len(read)))
        history = SeriesHistory(SPEND, FIRST + first * HOUR, read, 0, 0, "", hours)
        make_daily_forecast(history, [], daily_forecast_fields, RoomAhead(FIRST), BERLIN)
    assert row.days.get(day=date(2026, 1, 5)).value == sum(range(24))
    days = daily_history(history, BERLIN)
    assert days is not None
    assert (days.first_day, days.values[0]) == (date(2026, 1, 5), 276.0)


def test_the_scenarios_of_the_newest_forecast_of_a_place_are_kept_and_have_its_quantiles() -> None:
    series = SeriesKey("gpu_hours", "pool", "1")
    row = ForecastSeries.objects.create(measure="gpu_hours", dimension="pool", key="1")
    for days in (40, 47):
        values: list[float | None] = [value_of(hour) for hour in range(days * 24)]
        history = SeriesHistory(series, FIRST, values, 0, 0, "")
        assert make_daily_forecast(history, [], daily_forecast_fields, RoomAhead(FIRST), BERLIN)
    (kept,) = ForecastPaths.objects.all()
    newest = row.forecasts.latest("starts_at")
    assert kept.forecast_id == newest.id
    paths = forecast_paths(newest)
    assert paths is not None
    assert paths.shape == (200, 548)
    quantiles = np.quantile(paths, QUANTILE_LEVELS, axis=0)
    assert quantiles == pytest.approx(np.array(newest.quantiles), rel=1e-6)
    # Where they are missing, as of a forecast of before, they are made with the next pass.
    kept.delete()
    assert make_daily_forecast(history, [], daily_forecast_fields, RoomAhead(FIRST), BERLIN)
    assert forecast_paths(newest) is not None
    assert not make_daily_forecast(history, [], daily_forecast_fields, RoomAhead(FIRST), BERLIN)


def test_scenarios_of_what_no_plan_stands_on_are_not_kept() -> None:
    ForecastSeries.objects.create(measure="spend")
    history = SeriesHistory(SPEND, FIRST, [2.0] * 40 * 24, 0, 0, "")
    assert make_daily_forecast(history, [], daily_forecast_fields, RoomAhead(FIRST), BERLIN)
    assert not ForecastPaths.objects.exists()
    assert not make_daily_forecast(history, [], daily_forecast_fields, RoomAhead(FIRST), BERLIN)


def test_a_series_that_breaks_is_said_to_be_so_and_the_others_are_made(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bring(0, 60)
    bring(0, 60, SeriesKey("gpu_hours"))
    told = []

    def breaking(values: Any) -> dict[str, Any]:
        if not told:
            raise ZeroDivisionError
        return forecast_fields(values)

    made = actions.make_forecasts(
        maker=breaking,
        daily=daily_forecast_fields,
        at=FIRST + timedelta(days=3),
        progress=lambda done, count: told.append((done, count)),
    )
    assert made == 4
    assert told == [(1, 2), (2, 2)]
    broken, whole = forecasts(None)
    assert broken.refusal == (
        "the method broke on this history (ZeroDivisionError); the server's log has more"
    )
    assert (broken.method, whole.method) == ("last_value", "weighted_median")


def test_what_cannot_even_be_kept_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    bring(0, 60)
    bring(0, 60, SeriesKey("gpu_hours"))

    def unkept(values: Any) -> dict[str, Any]:
        return {**forecast_fields(values), "horizon": 0 if len(values) == 60 else 1}

    assert actions.make_forecasts(maker=unkept, at=FIRST + timedelta(days=3)) == 0
    assert not Forecast.objects.exists()
    assert not ForecastSeries.objects.filter(looked_at=None).exists()


def printed(*arguments: str) -> Any:
    out = StringIO()
    call_command("forecast", "--series", "spend", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue().splitlines()[-1])


def test_the_command_prints_days_and_months_and_keeps_nothing() -> None:
    bring(0, WEEKS * 168)
    found = printed("--horizon", "540d", "--at", (FIRST + timedelta(weeks=WEEKS)).isoformat())
    assert (found["granularity"], found["method"]) == ("day", "level_scenarios")
    assert [point["day"] for point in found["points"][:2]] == ["2026-03-23", "2026-03-24"]
    assert len(found["points"]) == 540
    assert found["points"][0]["q10"] < found["points"][0]["value"] < found["points"][0]["q90"]
    assert [month["month"] for month in found["months"][:2]] == ["2026-03", "2026-04"]
    assert not Forecast.objects.exists()
    out = StringIO()
    call_command("forecast", "--series", "spend", "--horizon", "40d", stdout=out)
    assert out.getvalue().splitlines()[-1].startswith("2026-05")
    for horizon in ("549d", "0d", "two weeks"):
        with pytest.raises(CommandError, match="from 1 to 336 hours, or 1d to 548d"):
            printed("--horizon", horizon)
