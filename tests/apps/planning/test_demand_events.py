"""Events: their days before are not learnt from as ordinary, what they do is put on days ahead, forecasts say so."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.economics.hours import HOUR
from apps.planning import actions
from apps.planning.actions.events import EventNotClear, check_demand_event
from apps.planning.models import DemandEvent, Forecast, ForecastSeries
from apps.planning.queries.events import DemandEventFact, demand_events
from apps.planning.queries.forecasts import BY_DAY, ForecastFact, forecast_hours, forecasts
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.daily_forecasting import daily_forecast_fields
from apps.planning.solvers.forecasting import forecast_fields
from tests import make

pytestmark = pytest.mark.django_db

DAY_ONE = datetime(2026, 3, 2, tzinfo=UTC)
DAYS = 35
NEXT = date(2026, 4, 6)
AT = DAY_ONE + timedelta(days=DAYS, hours=5)
WHOLE = SeriesKey("gpu_hours")
TENFOLD = range(20 * 24, 22 * 24)
LAUNCH = DemandEventFact(
    0, "Launch", "launch", NEXT + timedelta(days=3), NEXT + timedelta(days=4), "", "", "",
    "factor", 1.5, None,
)  # fmt: skip


@pytest.fixture(scope="module")
def pool(of_module: None) -> SeriesKey:
    """Five weeks of a pool and of the whole, of which two days were ten times the others."""
    make.make_organisation()
    pool = SeriesKey("gpu_hours", "pool", str(make.make_pool("h100")))
    for series in (WHOLE, pool):
        points = [(DAY_ONE + hour * HOUR, value_of(hour)) for hour in range(DAYS * 24)]
        actions.import_history(series=series, points=points, at=AT)
    return pool


def value_of(hour: int) -> float:
    return (40.0 + hour % 24) * (10 if hour in TENFOLD else 1)


def made(series: SeriesKey = WHOLE, granularity: str = "hour") -> tuple[ForecastFact, list[float]]:
    """The newest forecast after a pass, and its values."""
    actions.make_forecasts(maker=forecast_fields, daily=daily_forecast_fields, at=AT)
    newest = forecasts(None, series, granularity)[0]
    hours = forecast_hours(newest.id, None)
    assert hours is not None
    return newest, [hour.value for hour in hours.hours]


def test_a_factor_is_put_on_its_days_ahead_and_on_no_others(pool: SeriesKey) -> None:
    _, plain = made()
    before, ordinary = made(granularity=BY_DAY)
    actions.add_demand_event(event=LAUNCH, at=AT)
    newest, values = made()
    assert values[: 3 * 24] + values[5 * 24 :] == plain[: 3 * 24] + plain[5 * 24 :]
    launched = values[3 * 24 : 5 * 24]
    assert launched == pytest.approx([1.5 * value for value in plain[3 * 24 : 5 * 24]])
    (known,) = newest.events
    assert (known.name, known.days_before, known.days_ahead) == ("Launch", 0, 2)
    daily, days = made(granularity=BY_DAY)
    assert daily.events[0].days_ahead == 2
    assert days[3:5] == pytest.approx([1.5 * value for value in ordinary[3:5]])
    assert daily.months[0].month == date(2026, 4, 1)
    assert daily.months[0].value > before.months[0].value
    assert daily.months[1].quantiles == pytest.approx(before.months[1].quantiles)


def test_days_before_are_what_they_would_have_been_or_left_out(pool: SeriesKey) -> None:
    were = replace(LAUNCH, first_day=date(2026, 3, 22), last_day=date(2026, 3, 23), factor=10.0)
    event_id = actions.add_demand_event(event=were, at=AT)
    newest, adjusted = made()
    ordinary = [40.0 + hour % 24 for hour in range(DAYS * 24)]
    assert adjusted == pytest.approx(forecast_fields(ordinary)["points"])
    assert (newest.events[0].days_before, newest.events[0].days_ahead) == (2, 0)
    unknown = replace(were, id=event_id, effect="unknown", factor=None)
    actions.change_demand_event(event=unknown)
    _, left_out = made()
    missing = [None if hour in TENFOLD else ordinary[hour] for hour in range(DAYS * 24)]
    assert left_out == forecast_fields(missing)["points"]


def test_an_amount_more_of_a_part_is_as_much_more_of_the_whole_and_a_factor_is_not(
    pool: SeriesKey,
) -> None:
    plain, plain_of_pool = made()[1], made(pool)[1]
    more = replace(
        LAUNCH, measure="gpu_hours", dimension="pool", key=pool.key, effect="added", factor=None,
        added=48.0,
    )  # fmt: skip
    event_id = actions.add_demand_event(event=more, at=AT)
    for values, before in ((made()[1], plain), (made(pool)[1], plain_of_pool)):
        assert values[72] == pytest.approx(before[72] + 2)
        assert values[71] == before[71]
    factor = replace(more, id=event_id, effect="factor", factor=2.0, added=None)
    actions.change_demand_event(event=factor)
    assert made()[1] == plain
    assert made(pool)[1][72] == pytest.approx(2 * plain_of_pool[72])
    actions.change_demand_event(event=replace(more, id=event_id, added=-24_000.0))
    assert made(pool)[1][72] == made(pool, BY_DAY)[1][3] == 0, "no pool holds less than nothing"
    actions.remove_demand_event(event_id=event_id)
    assert made(pool)[1] == plain_of_pool


def test_a_forecast_is_made_again_at_the_next_sweep_where_its_events_changed(
    pool: SeriesKey,
) -> None:
    made()
    due: dict[str, Any] = {"maker": forecast_fields, "at": AT + HOUR, "zone": "UTC"}
    assert actions.make_forecasts_if_due(**due) == 0
    actions.add_demand_event(event=replace(LAUNCH, dimension="pool", key=pool.key), at=AT)
    assert list(ForecastSeries.objects.filter(looked_at=None).values_list("key")) == [(pool.key,)]
    assert actions.make_forecasts_if_due(**due) == 1
    assert Forecast.objects.filter(granularity="hour").count() == 2, "in the place of the other"


def test_an_event_that_is_entered_while_forecasts_are_made_is_in_the_next_ones(
    pool: SeriesKey,
) -> None:
    def entering(values: Sequence[float | None]) -> dict[str, Any]:
        if not demand_events():
            actions.add_demand_event(event=LAUNCH, at=AT)
        return forecast_fields(values)

    actions.make_forecasts(maker=entering, at=AT)
    assert forecasts(None, WHOLE)[0].events == ()
    due: dict[str, Any] = {"maker": forecast_fields, "at": AT + HOUR, "zone": "UTC"}
    assert actions.make_forecasts_if_due(**due) == 2
    assert forecasts(None, WHOLE)[0].events[0].name == "Launch"
    assert actions.make_forecasts_if_due(**due) == 0


def test_where_every_hour_is_of_an_event_nobody_knows_the_history_stands_as_it_is(
    pool: SeriesKey,
) -> None:
    always = replace(
        LAUNCH, first_day=date(2026, 1, 1), last_day=None, effect="unknown", factor=None
    )
    _, plain = made()
    actions.add_demand_event(event=always, at=AT)
    newest, values = made()
    assert values == plain
    assert newest.events[0].days_ahead == 14


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"name": " "}, "name"),
        ({"kind": "party"}, "kind"),
        ({"last_day": date(2026, 4, 1)}, "last_day"),
        ({"first_day": date(1066, 10, 14)}, "first_day"),
        ({"measure": "watts"}, "measure"),
        ({"measure": "tokens", "dimension": "pool", "key": "1"}, "series"),
        ({"effect": "magic"}, "effect"),
        ({"factor": None}, "factor"),
        ({"factor": -1.0}, "factor"),
        ({"factor": float("nan")}, "factor"),
        ({"added": 3.0}, "added"),
        ({"effect": "added", "factor": None, "added": 3.0}, "measure"),
        ({"effect": "added", "factor": None, "added": 3.0, "measure": "queue_wait"}, "measure"),
        ({"effect": "added", "factor": None, "added": 3.0, "measure": "tokens"}, "series"),
        ({"effect": "added", "factor": None, "added": 1e300, "measure": "spend"}, "added"),
    ],
)
def test_what_is_not_clear_is_refused_by_its_field(said: dict[str, Any], field: str) -> None:
    with pytest.raises(EventNotClear) as refused:
        check_demand_event(replace(LAUNCH, **said))
    assert refused.value.field == field


def test_rest_keeps_changes_and_removes_events_each_seen_by_those_it_concerns(
    pool: SeriesKey,
) -> None:
    red = make.make_team("Red")
    manager = client_of(make.make_token("read", "manage", name="all").secret)
    of_red = client_of(make.make_token("read", name="red", team_id=red).secret)
    body = {
        "name": "Sprint", "kind": "other", "first_day": "2026-04-10", "series": "pool=h100",
        "measure": "gpu_hours", "effect": "added", "added": 24.0,
    }  # fmt: skip
    sent = manager.post("/api/v1/demand-events", body, format="json")
    assert sent.status_code == 201
    event = sent.json()
    assert (event["series"], event["last_day"], event["added"]) == ("pool=h100", None, 24.0)
    here = f"/api/v1/demand-events/{event['id']}"
    assert of_red.get(here).status_code == 404
    assert of_red.get("/api/v1/demand-events").json()["results"] == []
    changed = {**body, "effect": "factor", "factor": 2, "added": None, "series": "team=Red"}
    changed["measure"] = ""
    assert manager.put(here, changed, format="json").json()["series"] == "team=Red"
    assert of_red.get(here).json()["factor"] == 2
    assert of_red.put(here, changed, format="json").status_code == 403
    for wrong, field in (
        ({**changed, "factor": None}, "factor"),
        ({**changed, "series": "team=Blue"}, "series"),
        ({**changed, "series": "h100"}, "series"),
        ({**changed, "first_day": "soon"}, "first_day"),
        ({**changed, "colour": "green"}, "colour"),
    ):
        answer = manager.put(here, wrong, format="json")
        assert answer.status_code == 400
        assert [each["field"] for each in answer.json()["errors"]] == [field]
    assert manager.delete(here).json()["name"] == "Sprint"
    assert manager.get(here).status_code == 404
    assert (demand_events(), DemandEvent.objects.count()) == ([], 0)


def client_of(secret: str) -> APIClient:
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")
