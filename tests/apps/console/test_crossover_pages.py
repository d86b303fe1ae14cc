"""The pages of crossover: what each scenario says, what it would say with other inputs, and who changes it."""

import csv
import html
import io
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.planning import actions
from apps.planning.models import Forecast, ForecastSeries, KeptScenario
from apps.planning.queries.crossover import saved_scenario, scenario_runs
from tests import make
from tests.apps.console.people import confirmed, signed_in, text_of
from tests.apps.planning.crossover_scene import DAY_AFTER, OFFER, STATED, make_served_team

pytestmark = pytest.mark.django_db

WEEK = timedelta(days=7)
FLIPPING = STATED.replace(
    "prices = [{", "prices = [{ starts_on = 2026-03-09, input = 0.1, output = 0.4 }, {"
).replace("all stated", "price cut")


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: DAY_AFTER + WEEK + timedelta(hours=1))


@pytest.fixture(scope="module")
def ids(of_module: None) -> dict[str, int]:
    """A scenario of a team's service, one all stated, and one that a price cut flips; each run in two weeks."""
    make.make_organisation()
    team, chat = make_served_team()
    found = {"team": team, "chat": chat}
    for name, entry in {
        "of_service": actions.ScenarioEntry(OFFER, service_id=chat),
        "stated": actions.ScenarioEntry(STATED),
        "flipping": actions.ScenarioEntry(FLIPPING),
    }.items():
        found[name] = actions.keep_scenario(entry=entry, owner_id=None, at=DAY_AFTER)
    for week in (0, 1):
        actions.run_due_scenarios(at=DAY_AFTER + week * WEEK)
    return found


def page(client: Any, path: str, **given: Any) -> str:
    answer = client.get(path, given)
    assert answer.status_code == 200
    markup: str = answer.content.decode()
    return markup


def rows_of(client: Any, path: str, **given: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(page(client, path, **given))))


def test_the_list_says_what_flipped_and_what_each_costs(ids) -> None:
    finn = signed_in("finance")
    text = text_of(page(finn, "/crossover"))
    assert (
        "price cut: recommendation changed from “serve it yourself” to “buy it from the API”"
        in text
    )
    assert "3 scenarios" in text
    table = {row["name"]: row for row in rows_of(finn, "/crossover.csv")}
    stated = saved_scenario(ids["stated"], None).answered
    assert float(table["all stated"]["api_per_million"]) == stated.figure(
        "costs", "api_per_million"
    )
    assert table["chat against an API"]["advice"] == "Buy it from the API"


def test_a_scenario_shows_both_sides_where_they_cross_and_how_it_came_to_be(ids) -> None:
    finn = signed_in("finance")
    path = f"/crossover/{ids['stated']}"
    markup = page(finn, path)
    text = text_of(markup)
    answer = saved_scenario(ids["stated"], None).answered
    durable = answer.figure("break_even", "durable_million_tokens")
    assert "A million tokens cost $" in text
    assert f"self-hosting breaks even at {durable:,.0f} million tokens a month" in text
    assert "(P10 to P90)" in text
    assert "Its parts Passed: its parts come to" in text
    assert "of 200 draws" in text
    assert '"Yourself"' in markup
    assert '"API, highest"' in markup
    assert "Million tokens a month matters most, and" in text
    assert '"At its lowest"' in markup
    assert "For good: You are beyond it" in text
    assert "Price of a GPU-hour" in text
    assert "FP8 weights" in text
    assert answer.digest in text
    crossings = rows_of(finn, f"{path}.csv", table="crossings")
    assert float(crossings[-1]["million_tokens"]) == durable
    assert 0 < float(crossings[-1]["utilization"]) < 1
    for part, column in (
        ("curve", "self_host_low"), ("tornado", "swing"), ("needed", "needed"),
        ("levers", "durable"), ("costs", "month"), ("pools", "utilization"), ("ways", "way"),
    ):  # fmt: skip
        table = page(finn, f"{path}.csv", table=part).splitlines()
        assert column in table[0].split(",")
    assert finn.get(f"{path}.csv", table="else").status_code == 404


def test_what_was_measured_stands_beside_the_ledgers_own_figure(ids) -> None:
    text = text_of(page(signed_in("lead", ids["team"]), f"/crossover/{ids['of_service']}"))
    assert "Measured of chat-api 24 hours from 2026-02-" in text
    assert "the ledger has $11.9 (0 % apart)" in text


def test_the_forecast_says_when_its_tokens_reach_the_break_even(ids) -> None:
    team, chat = ids["team"], ids["chat"]
    dear = OFFER.replace("input = 1.0, output = 4.0", "input = 20.0, output = 60.0")
    entry = actions.ScenarioEntry(dear.replace("chat against", "chat beside"), service_id=chat)
    kept = actions.keep_scenario(entry=entry, owner_id=None, at=DAY_AFTER)
    actions.run_due_scenarios(at=DAY_AFTER + WEEK)
    durable = saved_scenario(kept, None).answered.figure("break_even", "durable_million_tokens")
    months = [
        {"month": f"2026-{number:02}-01", "days": days, "value": factor * durable * days / 730 * 24e6,
         "quantiles": [factor * durable * days / 730 * 24e6] * 3}
        for number, days, factor in ((4, 30, 0.5), (5, 31, 0.99), (6, 30, 1.01))
    ]  # fmt: skip
    series = ForecastSeries.objects.create(measure="tokens", dimension="service", key=str(chat))
    Forecast.objects.create(
        series=series, granularity="day", made_at=DAY_AFTER, starts_at=DAY_AFTER, horizon=540,
        method="last_value", digest="", history_from=DAY_AFTER, observed_hours=1, imported_hours=0,
        left_out_hours=0, recent=[], points=[1.0] * 540, quantiles=[], months=months,
    )  # fmt: skip
    lead = signed_in("lead", team)
    assert "by the forecast in June 2026" in text_of(page(lead, f"/crossover/{kept}"))
    rows = rows_of(lead, f"/crossover/{kept}.csv?table=months")
    assert [row["month"] for row in rows] == ["2026-04", "2026-05", "2026-06"]
    assert [float(row["million_tokens"]) / durable for row in rows] == pytest.approx(
        [0.5, 0.99, 1.01]
    )
    assert rows[2]["cheaper"] == "self-hosting"


def test_a_flip_stands_above_with_its_day_and_what_moved(ids) -> None:
    finn = signed_in("finance")
    text = text_of(page(finn, f"/crossover/{ids['flipping']}"))
    assert (
        "Recommendation changed 10 March 2026, 09:00 UTC from “serve it yourself” to “buy it from the API”"
        in text
    )
    assert "What moved most: The API’s prices, as of 2026-03-03 → 2026-03-10" in text
    (moved,) = rows_of(finn, f"/crossover/{ids['flipping']}.csv?table=moves")
    assert (moved["input"], moved["before"], moved["now"]) == ("on", "2026-03-03", "2026-03-10")
    runs = rows_of(finn, f"/crossover/{ids['flipping']}.csv?table=runs")
    assert [row["advice"] for row in runs] == ["Buy it from the API", "Serve it yourself"]


def test_sliders_answer_anew_without_javascript_too(ids) -> None:
    finn = signed_in("finance")
    path = f"/crossover/{ids['stated']}"
    as_it_is = page(finn, path)
    (now,) = re.findall(r'name="gpu_hour" type="range"[^>]* value="([^"]*)"', as_it_is)
    same = page(finn, path, gpu_hour=now)
    assert "with what you moved" not in text_of(same)
    dearer = page(finn, path, gpu_hour=str(float(now) * 3.9))
    assert "buy it from the API, with what you moved" in text_of(dearer)
    assert "$9.75" in text_of(dearer), "the slider says where it is"
    moved = rows_of(finn, f"{path}.csv", table="costs", gpu_hour=str(float(now) * 2))
    kept = rows_of(finn, f"{path}.csv", table="costs")
    assert float(moved[1]["month"]) == pytest.approx(2 * float(kept[1]["month"]))
    wrong = text_of(page(finn, path, headroom="7"))
    assert "Say a number from" in wrong
    assert "with what you moved" not in wrong
    for part in ("hx-select-oob", 'id="picture-part"', 'id="answer-part"', 'id="figures"'):
        assert part in as_it_is


def test_a_scenario_of_a_service_is_made_of_prices_and_looked_at_first(ids) -> None:
    lead = signed_in("lead", ids["team"])
    entered = {
        "service": str(ids["chat"]), "api": 'the "best" API', "starts_on": "2026-03-01",
        "input": "2.5", "output": "10", "cached": "", "engineering": "0", "name": "", "source": "",
    }  # fmt: skip
    looked = text_of(page(lead, "/crossover/of-service", **entered))
    assert "Measured of chat-api: 24 hours from" in looked
    assert "Today it says: buy it from the API" in looked
    made = confirmed(lead, "/crossover/of-service", entered, follow=True)
    assert "is saved, and is run within the minute" in text_of(made.content.decode())
    scenario = KeptScenario.objects.get(name='chat-api against the "best" API')
    assert (scenario.team_id, scenario.service_id) == (ids["team"], ids["chat"])
    assert scenario.owner.name == "Lead"
    assert "has no answer yet" in made.content.decode()
    assert "every 5s" in made.content.decode()


def test_a_long_scenario_is_looked_at_by_a_post_changed_run_and_deleted(ids) -> None:
    finn = signed_in("finance")
    long = STATED.replace("# Made up", "# " + "why " * 2_000).replace("all stated", "long")
    entered = {"text": long.replace("\n", "\r\n"), "service": "", "team": ""}
    looked = finn.post("/crossover/new", {**entered, "look": "yes"})
    assert looked.status_code == 200
    assert "Nothing is done that was not looked at" not in looked.content.decode()
    (seen,) = re.findall(r'name="seen" value="(\w+)"', looked.content.decode())
    assert finn.post("/crossover/new", {**entered, "seen": seen}).status_code == 302
    scenario = KeptScenario.objects.get(name="long")
    assert scenario.text == long.strip()
    path = f"/crossover/{scenario.id}"
    assert "why why" in page(finn, f"{path}/change")
    changed = {**entered, "text": long.replace('"long"', '"longer"')}
    looked = finn.post(f"{path}/change", {**changed, "look": "yes"}).content.decode()
    (seen,) = re.findall(r'name="seen" value="(\w+)"', looked)
    finn.post(f"{path}/change", {**changed, "seen": seen})
    actions.run_due_scenarios(at=DAY_AFTER + WEEK + timedelta(hours=2))
    assert finn.post(f"{path}/run").status_code == 302
    assert saved_scenario(scenario.id, None).name == "longer"
    assert len(scenario_runs(scenario.id)) == 1
    assert confirmed(finn, f"{path}/delete", {"look": "yes"}).status_code == 302
    assert finn.get(path).status_code == 404


def test_a_new_scenario_begins_as_an_example_that_can_be_answered(ids) -> None:
    finn = signed_in("finance")
    opened = html.unescape(page(finn, "/crossover/new"))
    (text,) = re.findall(r"<textarea[^>]*>(.*?)</textarea>", opened, re.DOTALL)
    entered = {"text": text, "service": "", "team": "", "look": "yes"}
    looked = finn.post("/crossover/new", entered).content.decode()
    assert "Our model or an API is saved and run every week" in text_of(looked)
    assert "Today it says: " in text_of(looked)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "Is not TOML"),
        (STATED.replace("0.8", "8"), "At demand.input_share: 8 must be at most 1"),
        (OFFER, "At demand: is missing"),
        ("", "Say a scenario."),
    ],
)
def test_what_cannot_be_read_is_said_at_the_text(ids, text, message) -> None:
    answer = signed_in("finance").post(
        "/crossover/new", {"text": text, "service": "", "team": "", "look": "yes"}
    )
    assert answer.status_code == 400
    assert message in text_of(answer.content.decode())
    assert KeptScenario.objects.count() == 3


def test_a_team_sees_and_changes_its_own_and_a_viewer_changes_nothing(ids) -> None:
    lead, viewer = signed_in("lead", ids["team"]), signed_in("viewer", ids["team"])
    petra = signed_in("platform")
    assert "all stated" not in page(lead, "/crossover")
    assert lead.get(f"/crossover/{ids['stated']}").status_code == 404
    own = f"/crossover/{ids['of_service']}"
    assert "Change scenario" in page(lead, own)
    assert "Change scenario" not in page(viewer, own)
    assert "Run now" not in page(viewer, own)
    for change in ("change", "delete", "run"):
        assert viewer.post(f"{own}/{change}").status_code == 403
        assert lead.post(f"/crossover/{ids['stated']}/{change}").status_code == 404
    assert "Change scenario" in page(petra, f"/crossover/{ids['stated']}")


def test_without_a_scenario_the_page_says_what_one_is(ids) -> None:
    KeptScenario.objects.all().delete()
    text = text_of(page(signed_in("platform"), "/crossover"))
    assert "No scenario yet" in text
    assert "From a service of yours" in text
