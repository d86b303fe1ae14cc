"""The pages of forecasts by day, and of the events that people enter: previewed, kept, changed, removed."""

import csv
import io
from datetime import UTC, date, datetime, timedelta
from typing import Any, cast

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.economics.hours import HOUR
from apps.planning import actions
from apps.planning.models import ForecastSeries
from apps.planning.queries.events import demand_events
from apps.planning.queries.forecasts import BY_DAY, forecasts
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.daily_forecasting import daily_forecast_fields
from apps.planning.solvers.forecasting import forecast_fields
from apps.show.fan_chart import FanEvent, FanPoint, fan_chart
from tests import make
from tests.apps.console.people import signed_in, text_of
from tests.rest import with_token
from tests.table_lists import assert_listed_as_on_page

pytestmark = pytest.mark.django_db

DAY_ONE = datetime(2026, 1, 5, tzinfo=UTC)
DAYS = 84
AT = DAY_ONE + timedelta(days=DAYS, hours=5)
WHOLE = SeriesKey("gpu_hours")
HOLIDAY = {
    "name": "Easter", "kind": "holiday", "first_day": "2026-04-03", "last_day": "2026-04-06",
    "measure": "", "series": ":", "effect": "factor", "factor": "0.5", "added": "",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT + timedelta(hours=10))


@pytest.fixture(scope="module")
def team(of_module: None) -> int:
    """Twelve weeks of GPU-hours that rose by half in the ninth, and of a team's spend."""
    make.make_organisation()
    red = make.make_team("Red")
    for series in (WHOLE, SeriesKey("spend", "team", str(red))):
        points = [(DAY_ONE + hour * HOUR, value_of(hour)) for hour in range(DAYS * 24)]
        actions.import_history(series=series, points=points, at=AT)
    make_all()
    return red


def value_of(hour: int) -> float:
    day = hour // 24
    return (1.5 if day >= 56 else 1.0) * (60 + hour % 24 + day * 37 % 11 - 10 * (day % 7 > 4))


def make_all() -> None:
    actions.make_forecasts(maker=forecast_fields, daily=daily_forecast_fields, at=AT)


def page_of(client: Client, path: str) -> str:
    return text_of(client.get(path).content.decode())


def test_the_list_by_day_says_what_the_next_month_comes_to(team: int) -> None:
    (whole,) = forecasts(None, WHOLE, BY_DAY)
    april = next(month for month in whole.months if month.is_whole)
    finn = signed_in("finance")
    text = page_of(finn, "/forecasts/days")
    assert (
        f"About {round(april.value):,} GPU-hours expected in April 2026, with 80 % between" in text
    )
    assert "18 months ahead, last made" in text
    table = finn.get("/forecasts/days.csv").content.decode()
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(table))}
    assert float(rows["gpu_hours"]["month"]) == april.value
    assert float(rows["gpu_hours"]["month_q10"]) < april.value
    lead = text_of(signed_in("lead", team).get("/forecasts/days").content.decode())
    assert "Spend of team Red" in lead
    assert "GPU-hours of the organisation" not in lead


def test_a_forecast_by_day_has_its_months_its_measured_coverage_and_the_change_of_level(
    team: int,
) -> None:
    (whole,) = forecasts(None, WHOLE, BY_DAY)
    finn = signed_in("finance")
    page = finn.get(f"/forecasts/{whole.id}").content.decode()
    text = text_of(page)
    assert "GPU-hours of the organisation by the day: the half year before" in text
    assert "from 30 March 2026, 548 days ahead" in text
    assert "April 2026" in text
    assert "2 of its days" in text, "the month that has begun"
    assert whole.shift is not None
    assert whole.shift.effect == pytest.approx(0.5, abs=0.05)
    assert "higher since 2 March 2026: that step is taken for no trend" in text
    assert "84 known days since 5 January 2026" in text
    assert "28 days ahead" in text
    (by_hour,) = forecasts(None, WHOLE)
    assert f'href="/forecasts/{by_hour.id}"' in page
    assert "higher since 2 March 2026" in page_of(finn, f"/forecasts/{by_hour.id}")
    earlier = finn.get(f"/forecasts/{whole.id}.csv?table=earlier").content.decode()
    assert [row["realised_days"] for row in csv.DictReader(io.StringIO(earlier))] == ["0"]
    months = finn.get(f"/forecasts/{whole.id}.csv?table=months").content.decode()
    rows = list(csv.DictReader(io.StringIO(months)))
    assert (rows[0]["month"], rows[0]["days"]) == ("2026-03-01", "2")
    assert [float(row["value"]) for row in rows] == [month.value for month in whole.months]
    days = finn.get(f"/forecasts/{whole.id}.csv").content.decode()
    assert next(csv.DictReader(io.StringIO(days)))["day"] == "2026-03-30"
    machine = with_token("read", name="all")
    for path, forecast_id, table in (
        ("forecasts/{}/hours", by_hour.id, "hours"),
        ("forecasts/{}/days", whole.id, "days"),
        ("forecasts/{}/months", whole.id, "months"),
    ):
        assert_listed_as_on_page(
            machine,
            path.format(forecast_id),
            page=finn,
            file=f"/forecasts/{forecast_id}.csv?table={table}&{table}=-value",
            sort="-value",
        )


def test_an_event_is_looked_at_before_it_is_kept_and_then_drawn(team: int) -> None:
    finn = signed_in("finance")
    assert "No events yet" in page_of(finn, "/forecasts/events")
    looked = finn.get("/forecasts/events/new", HOLIDAY)
    text = text_of(looked.content.decode())
    assert (
        "made again within ten minutes: GPU-hours of the organisation and Spend of team Red" in text
    )
    assert "Days from today on: times 0.5." in text
    assert demand_events() == []
    confirm(finn, "/forecasts/events/new", HOLIDAY, looked)
    (event,) = demand_events()
    assert (event.name, event.factor, event.last_day) == ("Easter", 0.5, date(2026, 4, 6))
    make_all()
    for granularity in ("hour", BY_DAY):
        (made,) = forecasts(None, WHOLE, granularity)
        page = finn.get(f"/forecasts/{made.id}").content.decode()
        assert "Easter (holiday, 3 April 2026 to 6 April 2026, times 0.5): put on 4 days ahead" in (
            text_of(page)
        )
        assert '"name": "Easter: times 0.5"' in page or '"name":"Easter: times 0.5"' in page
    assert "1 event now or ahead, 0 over" in page_of(finn, "/forecasts/events")
    rows = csv.DictReader(io.StringIO(finn.get("/forecasts/events.csv").content.decode()))
    assert [row["effect"] for row in rows] == ["times 0.5"]
    confirm(finn, "/forecasts/events/new", {**HOLIDAY, "name": "Whitsun", "kind": "other"})
    assert_listed_as_on_page(
        with_token("read", name="all"),
        "demand-events",
        page=finn,
        file="/forecasts/events.csv?events=-name",
        sort="-name",
    )


def test_an_event_is_changed_to_an_unknown_effect_which_the_forecast_says_first(team: int) -> None:
    finn = signed_in("finance")
    confirm(finn, "/forecasts/events/new", HOLIDAY)
    (event,) = demand_events()
    here = f"/forecasts/events/{event.id}/change"
    assert 'value="0.5"' in finn.get(here).content.decode()
    unknown = {**HOLIDAY, "effect": "unknown", "factor": "", "first_day": "2026-03-20"}
    looked = finn.get(here, unknown)
    assert "10 days before today: left out of what is learnt." in text_of(looked.content.decode())
    confirm(finn, here, unknown, looked)
    make_all()
    (made,) = forecasts(None, WHOLE)
    text = page_of(finn, f"/forecasts/{made.id}")
    assert "Easter: nobody said what it does to 8 days ahead; they are taken as ordinary" in text
    gone = f"/forecasts/events/{event.id}/remove"
    confirm(finn, gone, {}, finn.get(gone))
    assert demand_events() == []
    assert finn.get(gone).status_code == 404


def test_what_is_not_clear_is_said_at_its_field_and_others_may_only_read(team: int) -> None:
    finn = signed_in("finance")
    wrong = finn.get("/forecasts/events/new", {**HOLIDAY, "factor": ""})
    assert "Say how much." in text_of(wrong.content.decode())
    confirm(finn, "/forecasts/events/new", HOLIDAY)
    lead = signed_in("lead", team)
    page = lead.get("/forecasts/events").content.decode()
    assert "Easter" in text_of(page)
    assert "/change" not in page
    assert lead.get("/forecasts/events/new").status_code == 403


def test_a_pass_that_is_under_way_says_how_far_it_is(team: int) -> None:
    finn = signed_in("finance")
    ForecastSeries.objects.filter(measure="spend").update(looked_at=None)
    assert "Today’s forecasts are being made: 1 of 2 series so far." in page_of(finn, "/forecasts")


def confirm(client: Any, path: str, entered: dict[str, str], looked: Any = None) -> None:
    """Confirm what was looked at."""
    looked = looked or client.get(path, entered)
    page = looked.content.decode()
    seen = page.split('name="seen" value="')[1].split('"')[0]
    answer = client.post(path, {**entered, "seen": seen})
    assert answer.status_code == 302, text_of(answer.content.decode())


def test_an_event_is_drawn_where_its_days_are_and_not_where_none_of_them_are() -> None:
    hours = [AT + hour * HOUR for hour in range(48)]
    points = [FanPoint(at, 5.0, None) for at in hours[24:]]
    line = [(at, 4.0) for at in hours[:24]]
    day = timedelta(days=1)
    before, within = (
        FanEvent(AT + days * day, AT + (days + 1) * day, f"on day {days}") for days in (-3, 1)
    )
    figure = fan_chart(line, points, [], str, str, [before, within])
    names = [trace["name"] for trace in cast("list[dict[str, Any]]", figure["data"])]
    assert names == ["Before", "Expected", "on day 1"]
