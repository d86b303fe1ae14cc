"""The pages of forecasts: what is expected in words, how far to trust it, what came, and whose it is."""

import csv
import io
from datetime import UTC, datetime, timedelta
from math import sin

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.economics.hours import HOUR
from apps.planning import actions
from apps.planning.models import Forecast, ForecastSeries
from apps.planning.queries.forecasts import forecasts
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.daily_forecasting import daily_forecast_fields
from apps.planning.solvers.forecasting import forecast_fields
from apps.planning.solvers.reconciling import RECONCILERS
from tests import make
from tests.apps.console.people import signed_in, text_of

pytestmark = pytest.mark.django_db

DAY_ONE = datetime(2026, 2, 2, tzinfo=UTC)
DAYS = 21
AT = DAY_ONE + timedelta(days=DAYS, hours=5)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT + timedelta(hours=10))


@pytest.fixture(scope="module")
def team(of_module: None) -> int:
    """Three weeks of GPU-hours and of a team's spend, then half a day more of them; a new short series."""
    make.make_organisation()
    red = make.make_team("Red")
    whole, spend = SeriesKey("gpu_hours"), SeriesKey("spend", "team", str(red))
    for day, hours in ((0, DAYS * 24), (1, DAYS * 24 + 12)):
        for series in (whole, spend):
            points = [(DAY_ONE + hour * HOUR, 60 + 20 * sin(hour / 4)) for hour in range(hours)]
            actions.import_history(series=series, points=points, at=AT + timedelta(days=1))
        if day:
            short = SeriesKey("gpu_hours", "gpu_model", "H100")
            points = [(AT - hour * HOUR - timedelta(hours=5), 8.0) for hour in range(1, 31)]
            actions.import_history(series=short, points=points, at=AT)
        actions.make_forecasts(maker=forecast_fields, at=AT + timedelta(days=day))
    return red


def test_the_list_says_what_is_expected_and_how_far_to_trust_it(team: int) -> None:
    finn = signed_in("finance")
    answer = finn.get("/forecasts")
    (whole,) = [each for each in forecasts(None) if each.name == "gpu_hours"]
    text = text_of(answer.content.decode())
    assert f"About {round(whole.day_ahead):,} GPU-hours expected in the next 24 hours" in text
    assert "3 series; errors and coverage as measured 24 hours ahead" in text
    assert "GPU-hours of the organisation" in text
    assert "Spend of team Red" in text
    table = list(csv.DictReader(io.StringIO(finn.get("/forecasts.csv").content.decode())))
    assert {row["name"]: float(row["day_ahead"]) for row in table}["gpu_hours"] == whole.day_ahead
    assert float(table[0]["mase"]) > 0


def test_a_forecast_shows_its_fan_its_hours_and_what_it_was_made_from(team: int) -> None:
    finn = signed_in("finance")
    (newest, first) = forecasts(None, SeriesKey("spend", "team", str(team)))
    page = finn.get(f"/forecasts/{first.id}").content.decode()
    text = text_of(page)
    assert "Spend of team Red: about $1,4" in text
    assert "expected in the 24 hours from 23 February 2026, 00:00 UTC" in text
    assert "than a day of the two weeks before it" in text
    assert "504 known hours, 504 of them imported" in text
    assert f"an hour, mean of {first.realised_hours}" in text
    assert first.digest in text
    assert '"Came"' in page, "what came is drawn over it"
    assert f'href="/forecasts/{newest.id}"' in page
    rows = list(
        csv.DictReader(io.StringIO(finn.get(f"/forecasts/{first.id}.csv").content.decode()))
    )
    assert len(rows) == 336
    assert [row["observed"] != "" for row in rows[:13]] == [True] * 12 + [False]
    assert float(rows[0]["q10"]) <= float(rows[0]["value"]) <= float(rows[0]["q90"])
    earlier = finn.get(f"/forecasts/{newest.id}.csv?table=earlier").content.decode()
    assert [row["realised_hours"] for row in csv.DictReader(io.StringIO(earlier))] == ["0", "12"]


def test_an_error_that_says_little_is_said_to_be_large_and_is_exact_in_csv(team: int) -> None:
    """Of a history that nearly repeats itself: a thousand times as much, of next to nothing."""
    (first, _) = forecasts(None, SeriesKey("spend", "team", str(team)))
    row = Forecast.objects.get(pk=first.id)
    for each in row.backtests:
        each["mase"] = {name: score and score * 1000 for name, score in each["mase"].items()}
    row.save()
    finn = signed_in("finance")
    one = text_of(finn.get(f"/forecasts/{first.id}").content.decode())
    assert "> 10 MASE; best baseline > 10" in one
    assert "the history nearly repeats itself, so that this says little" in one
    listed = finn.get("/forecasts").content.decode()
    assert "&gt; 10" in listed
    table = csv.DictReader(io.StringIO(finn.get("/forecasts.csv").content.decode()))
    assert max(float(each["mase"] or 0) for each in table) > 100


def test_too_little_history_is_said_where_the_forecast_stands(team: int) -> None:
    (short,) = forecasts(None, SeriesKey("gpu_hours", "gpu_model", "H100"))
    text = text_of(signed_in("finance").get(f"/forecasts/{short.id}").content.decode())
    assert "No method could be chosen: 30 hours are observed in the 90 days before" in text
    assert "The last value, as a fallback" in text
    assert "Not known" in text


def test_the_list_by_day_names_what_is_forecast_by_the_hour_alone(team: int) -> None:
    actions.make_forecasts(
        maker=forecast_fields, daily=daily_forecast_fields, at=AT + timedelta(days=2)
    )
    ForecastSeries.objects.get(dimension="team").forecasts.filter(granularity="day").delete()
    text = text_of(signed_in("finance").get("/forecasts/days").content.decode())
    assert "2 series; totals of the next whole month" in text
    assert "Not forecast by the day: Spend of team Red: of no day of it" in text


def test_a_team_sees_its_own_series_and_no_others(team: int) -> None:
    lead = signed_in("lead", team)
    text = text_of(lead.get("/forecasts").content.decode())
    assert "1 series forecast two weeks ahead" in text
    assert "GPU-hours of the organisation" not in text
    (whole,) = forecasts(None, SeriesKey("gpu_hours"))[:1]
    for end in ("", ".csv", ".csv?table=earlier", ".csv?table=ways"):
        assert lead.get(f"/forecasts/{whole.id}{end}").status_code == 404


@pytest.fixture
def divided(team: int) -> None:
    """Two GPU models make up the organisation; a team has some of it, another more than there is."""
    for key, share in (("A10", 0.25), ("L4", 0.75)):
        model = SeriesKey("gpu_hours", "gpu_model", key)
        bring_share(model, share)
    bring_share(SeriesKey("gpu_hours", "team", str(team)), 0.5)
    bring_share(SeriesKey("gpu_hours", "workload_class", "training"), 1.5)
    at = AT + timedelta(days=2)
    actions.make_forecasts(maker=forecast_fields, reconcilers=RECONCILERS, at=at)


def bring_share(series: SeriesKey, share: float) -> None:
    points = [
        (DAY_ONE + hour * HOUR, share * (60 + 20 * sin(hour / 4))) for hour in range(DAYS * 24 + 12)
    ]
    actions.import_history(series=series, points=points, at=AT + timedelta(days=1))


def test_the_organisations_page_says_what_its_parts_add_up_to_and_what_does_not(
    divided: None, team: int
) -> None:
    finn = signed_in("finance")
    (whole, *_) = forecasts(None, SeriesKey("gpu_hours"))
    text = text_of(finn.get(f"/forecasts/{whole.id}").content.decode())
    assert "Hierarchical reconciliation" in text
    assert "in the first 24 hours that all have" in text
    assert "of no team, or waiting in a queue" in text
    assert "come to more than the whole’s" in text
    answer = finn.get(f"/forecasts/{whole.id}.csv?table=ways").content.decode()
    ways = {row["dimension"]: row for row in csv.DictReader(io.StringIO(answer))}
    assert float(ways["GPU models"]["reconciled"]) == pytest.approx(whole.day_ahead_reconciled)
    assert float(ways["Teams"]["reconciled"]) == pytest.approx(whole.day_ahead_reconciled)
    assert ways["Workload classes"]["reconciled"] == ""
    assert "GPU model H100: " in ways["GPU models"]["why"]
    table = csv.DictReader(io.StringIO(finn.get("/forecasts.csv").content.decode()))
    added_up = {row["name"]: row["day_ahead_reconciled"] for row in table}
    models = [added_up[f"gpu_hours:gpu_model={key}"] for key in ("A10", "L4")]
    assert sum(map(float, models)) <= float(added_up["gpu_hours"]) * 1.000001
    (of_team, *_) = forecasts(None, SeriesKey("gpu_hours", "team", str(team)))
    text = text_of(finn.get(f"/forecasts/{of_team.id}").content.decode())
    assert "so that all parts add up to the whole" in text


def test_without_a_forecast_the_page_says_from_when_on_there_is_one(team: int) -> None:
    text = text_of(signed_in("viewer", make.make_team("Blue")).get("/forecasts").content.decode())
    assert "No forecast yet" in text
    assert "from 48 settled hours on" in text
    assert "Somebody of the role platform imports it" in text
