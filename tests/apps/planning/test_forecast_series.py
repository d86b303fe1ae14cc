"""History brought from a file is forecast as economics would, and from nothing that comes later."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from math import sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from apps.economics.forecast.backtest import backtest
from apps.planning.models import Forecast, ForecastSeries, HistoryPoint
from apps.planning.solvers.forecasting import forecast_fields
from tests import make

pytestmark = pytest.mark.django_db

DAY_ONE = datetime(2026, 3, 2, tzinfo=UTC)
NEXT_MONTH = datetime.now(UTC) + timedelta(days=30)
HOURS = 20 * 24
GAP = range(100, 130)
NAME, WAITS = "gpu_hours:pool=h100", "queue_wait:pool=h100"


@pytest.fixture(scope="module", autouse=True)
def world(of_module: None) -> None:
    make.make_organisation()
    make.make_pool("h100")


def level(hour: int) -> float:
    return 50 + 20 * sin(hour / 4) + hour * 7 % 5


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(["time,value", *lines]) + "\n")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Twenty days with a gap, and an hour whose value is empty."""
    lines = [
        f"{DAY_ONE + timedelta(hours=hour):%Y-%m-%d %H:%M},{'' if hour == 200 else level(hour)}"
        for hour in range(HOURS)
        if hour not in GAP
    ]
    return write(tmp_path / "gpus.csv", lines)


def printed(command: str, *arguments: str) -> Any:
    out = StringIO()
    call_command(command, *arguments, "--json", stdout=out)
    return json.loads(out.getvalue().splitlines()[-1])


def imported(path: Path, *arguments: str, series: str = NAME) -> Any:
    return printed("import_series", str(path), "--series", series, *arguments)


def forecast(*arguments: str, series: str = NAME) -> Any:
    return printed("forecast", "--series", series, *arguments)


def known_values() -> np.ndarray:
    values = np.array([level(hour) for hour in range(HOURS)])
    values[list(GAP)] = np.nan
    values[200] = np.nan
    return values


def test_the_same_file_again_changes_nothing_and_another_value_one_hour(file: Path) -> None:
    first = imported(file)
    assert first == {
        "series": NAME,
        "unit": "GPU-hours",
        "from": "2026-03-02T00:00:00+00:00",
        "to": "2026-03-21T23:00:00+00:00",
        "hours": HOURS - 31,
        "added": HOURS - 31,
        "changed": 0,
        "unknown": 31,
    }
    assert imported(file) | {"added": HOURS - 31} == first
    file.write_text(file.read_text().replace("2026-03-02 00:00,50.0", "2026-03-02 00:00,51.5"))
    again = imported(file)
    assert (again["added"], again["changed"]) == (0, 1)
    assert ForecastSeries.objects.count() == 1
    assert HistoryPoint.objects.get(hour=DAY_ONE).value == 51.5


def test_the_forecast_is_the_one_of_economics_and_a_gap_stays_a_gap(file: Path) -> None:
    imported(file)
    found = forecast("--horizon", "48")
    answered = forecast_fields(known_values().tolist(), 48)
    assert [point["value"] for point in found["points"]] == answered["points"]
    assert [point["q10"] for point in found["points"]] == answered["quantiles"][0]
    assert [gate for gate in found["gates"] if gate["name"] != "capacity"] == answered["gates"]
    assert found["totals"][-1]["value"] == pytest.approx(sum(answered["expected"]))
    assert found["points"][0]["hour"] == "2026-03-22T00:00:00+00:00"
    assert found["refusal"] == ""
    assert (found["observed_hours"], found["imported_hours"]) == (HOURS - 31, HOURS - 31)
    assert sum(found["weights"].values()) == pytest.approx(1, abs=1e-5)
    day, *_ = found["backtests"]
    scores = backtest(known_values(), 2 * 24, 24)
    assert day["origins"] == scores.origins
    assert day["mase"]["runrate"] == pytest.approx(scores.mase["runrate"], abs=1e-6)
    assert found["coverage_80"] == pytest.approx(scores.coverage_80, abs=0.03)
    assert forecast("--horizon", "48")["digest"] == found["digest"]


def test_a_forecast_as_of_a_time_knows_nothing_of_what_came_then(file: Path) -> None:
    imported(file)
    asked = ("--horizon", "24", "--at", "2026-03-12")
    before = forecast(*asked)
    assert before["points"][0]["hour"] == "2026-03-12T00:00:00+00:00"
    HistoryPoint.objects.filter(hour__gte=datetime(2026, 3, 12, tzinfo=UTC)).update(value=7)
    assert forecast(*asked) == before


def test_too_little_history_is_refused_and_the_last_value_named_as_fallback(tmp_path: Path) -> None:
    lines = [f"2026-03-02 {hour:02}:00,{level(hour)}" for hour in range(24)]
    imported(write(tmp_path / "gpus.csv", lines))
    found = forecast("--horizon", "3")
    assert found["method"] == "last_value"
    assert found["refusal"].startswith("24 hours are observed in the 90 days before")
    assert [point["value"] for point in found["points"]] == [level(23)] * 3
    assert found["points"][0]["q10"] is None
    out = StringIO()
    call_command("forecast", "--series", NAME, "--horizon", "3", stdout=out)
    assert "No method could be chosen: 24 hours are observed" in out.getvalue()


def test_amounts_are_summed_by_the_hour_and_units_are_brought_to_the_series_own(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "waits.csv", ["1772409600,90", "1772411400,30", "1772416800,60"])
    imported(path, "--unit", "minutes", series=WAITS)
    waits = HistoryPoint.objects.order_by("hour").values_list("hour__hour", "value")
    assert list(waits) == [(0, 1.0), (2, 1.0)], "means of what holds at a moment"
    path = write(
        tmp_path / "spend.csv", ["2026-03-02 01:00,-2", "2026-03-02 01:30,3", "2026-03-02 02:00,"]
    )
    assert imported(path, "--zone", "Europe/Berlin", series="spend")["hours"] == 1
    spend = HistoryPoint.objects.get(series__measure="spend")
    assert (spend.hour, spend.value) == (datetime(2026, 3, 2, tzinfo=UTC), 1.0)


@pytest.mark.parametrize(
    ("line", "series", "arguments", "message"),
    [
        ("2026-03-02 01:00,-4", NAME, (), "value: row 3: -4 is below 0"),
        ("2026-03-02 01:00,many", NAME, (), "value: row 3: 'many' is no number"),
        ("2026-03-02 00:00,4", NAME, (), "time: row 3: this moment is in row 2 already"),
        ("2999-03-02,4", NAME, (), "time: its moments are 9"),
        # Named by itself: two processes that collect this may be of two days.
        pytest.param(
            f"{NEXT_MONTH:%Y-%m-%d},4",
            *(NAME, (), "time: the hour of .* 00:00 UTC is not over yet"),
            id="next month",
        ),
    ],
)
def test_what_cannot_be_imported_is_named_by_column_and_row(
    tmp_path: Path, line: str, series: str, arguments: tuple[str, ...], message: str
) -> None:
    path = write(tmp_path / "gpus.csv", ["2026-03-02 00:00,3", line])
    with pytest.raises(CommandError, match=message):
        imported(path, *arguments, series=series)
    assert not HistoryPoint.objects.exists()


def test_an_hour_that_is_not_over_is_named(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    path = write(tmp_path / "gpus.csv", ["2026-03-02 00:00,3", f"{now:%Y-%m-%d %H:%M},4"])
    with pytest.raises(CommandError, match=r"time: the hour of .* is not over yet"):
        imported(path)


def days_of(count: int, value: float) -> list[str]:
    return [f"{DAY_ONE + timedelta(days=day):%Y-%m-%d},{value + day}" for day in range(count)]


def test_rows_a_day_apart_are_no_history_by_the_hour_unless_one_says_that_they_are_days(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "days.csv", list(reversed(days_of(40, 64))))
    with pytest.raises(CommandError, match=r"time: row 40 is 24 hours after row 41.*--rows days"):
        imported(path)
    found = imported(path, "--rows", "days", "--zone", "Europe/Berlin")
    assert found["hours"] == 40 * 24 - 1, "clocks are turned on 29 March"
    assert found["from"] == "2026-03-01T23:00:00+00:00"
    assert forecast("--horizon", "24")["points"][0]["value"] == 103
    by_day = forecast("--horizon", "7d")
    assert (by_day["method"], by_day["observed_hours"]) == ("level_scenarios", 39 * 24)


def test_an_amount_of_a_day_is_shared_by_its_hours_and_an_empty_one_is_unknown(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "spend.csv", ["2026-03-02,48", "2026-03-03,", "2026-03-04,24"])
    found = imported(path, "--rows", "days", series="spend")
    assert (found["hours"], found["unknown"]) == (48, 24)
    values = HistoryPoint.objects.order_by("hour").values_list("value", flat=True)
    assert list(values) == [2.0] * 24 + [1.0] * 24
    path = write(tmp_path / "twice.csv", ["2026-03-02,48", "2026-03-02 12:00,4"])
    with pytest.raises(CommandError, match="time: row 3: 2026-03-02 is in row 2 already"):
        imported(path, "--rows", "days", series="spend")


def test_a_series_without_a_known_hour_says_which_there_are(file: Path) -> None:
    imported(file)
    with pytest.raises(
        CommandError, match="no hour of spend is known; there are: gpu_hours:pool=h100"
    ):
        forecast(series="spend")
    with pytest.raises(CommandError, match="from 1 to 336 hours"):
        forecast("--horizon", "337")
    with pytest.raises(CommandError, match="--horizon is of one --series"):
        call_command("forecast", "--horizon", "24")


def test_without_a_series_the_command_makes_the_forecasts_of_all_and_keeps_them(file: Path) -> None:
    imported(file)
    assert printed("forecast") == {"made": 2}
    kept = Forecast.objects.get(granularity="hour")
    assert kept.digest == forecast("--horizon", "24")["digest"]
