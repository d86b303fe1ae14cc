"""/api/v1/crossovers: whose scenarios one sees and keeps, what is refused by name, answers at once."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.planning import actions
from apps.planning.models import KeptScenario
from apps.planning.queries.scenario_text import scenario_tables
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.planning.crossover_scene import API, DAY_AFTER, OFFER, STATED, make_served_team

pytestmark = pytest.mark.django_db

TABLES = scenario_tables(STATED)


@pytest.fixture(scope="module")
def team(of_module: None) -> int:
    """A team with a service; a scenario of it and one of the organisation, both run."""
    make.make_organisation()
    team, chat = make_served_team()
    for entry in (
        actions.ScenarioEntry(OFFER, service_id=chat),
        actions.ScenarioEntry(STATED),
    ):
        actions.keep_scenario(entry=entry, owner_id=None, at=DAY_AFTER)
    actions.run_due_scenarios(at=DAY_AFTER)
    return team


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: DAY_AFTER + timedelta(hours=1))


def token(*scopes: str, **given: Any) -> APIClient:
    secret = make.make_token(*scopes, name="asks", **given).secret
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")


def sent(client: Any, method: str, path: str, body: Any) -> Any:
    return getattr(client, method)(f"/api/v1/crossovers{path}", body, format="json")


def fields_of(answer: Any) -> list[str]:
    return [error["field"] for error in answer.json()["errors"]]


def test_a_team_reads_its_own_and_runs_say_what_they_came_to(team) -> None:
    everything, own = token("read"), token("read", team_id=team)
    names = [each["name"] for each in everything.get("/api/v1/crossovers").json()["results"]]
    assert names == ["all stated", "chat against an API"]
    (listed,) = own.get("/api/v1/crossovers").json()["results"]
    assert (listed["service"]["name"], listed["team"]["name"]) == ("chat-api", "Research")
    whole = own.get(f"/api/v1/crossovers/{listed['id']}").json()
    assert whole["scenario"]["api"]["prices"][0]["starts_on"] == "2026-01-01"
    assert whole["answer"]["advice"] == listed["advice"]
    (run,) = own.get(f"/api/v1/crossovers/{listed['id']}/runs").json()["results"]
    assert run["self_host_per_million"] == pytest.approx(run["ledger_per_million"], rel=0.05)
    others = KeptScenario.objects.get(name="all stated").id
    assert own.get(f"/api/v1/crossovers/{others}").status_code == 404
    csv = own.get("/api/v1/crossovers", HTTP_ACCEPT="text/csv").content.decode().splitlines()
    assert csv[0].startswith("id,name,owner_id,owner,")
    assert len(csv) == 2


def test_it_is_kept_replaced_run_and_removed_by_those_whose_it_is(team) -> None:
    manages = token("manage")
    body = {"scenario": TABLES | {"name": "another"}, "team": "Research"}
    made = sent(manages, "post", "", body)
    assert made.status_code == 201
    assert (made.json()["is_waiting"], made.json()["answer"]) == (True, None)
    path = f"/{made.json()['id']}"
    assert sent(manages, "post", "", body).status_code == 409
    lead = signed_in("lead", team)
    changed = {"scenario": TABLES | {"name": "renamed"}, "service": "chat-api"}
    put = lead.put(f"/api/v1/crossovers{path}", changed, content_type="application/json")
    assert (put.status_code, put.json()["name"]) == (200, "renamed")
    assert sent(manages, "post", f"{path}/runs", {}).status_code == 202
    for client in (token("read"), token("manage", team_id=team)):
        assert sent(client, "put", path, changed).status_code == 403
        assert sent(client, "post", "", body).status_code == 403
        assert sent(client, "delete", path, None).status_code == 403
    removed = sent(manages, "delete", path, None)
    assert (removed.status_code, removed.json()["name"]) == (200, "renamed")
    assert sent(manages, "delete", path, None).status_code == 404


def test_a_lead_keeps_for_their_own_team_alone(team) -> None:
    lead, viewer = signed_in("lead", team), signed_in("viewer", team)
    make.make_team("Blue")

    def kept(client: Any, **given: Any) -> int:
        body = {"scenario": TABLES | {"name": "by a lead"}, **given}
        return client.post("/api/v1/crossovers", body, content_type="application/json").status_code

    assert kept(lead) == 403, "one of the organisation is finance's and platform's"
    assert kept(lead, team="Blue") == 400, "a team of others is as if there were none"
    assert kept(viewer, team="Research") == 403
    assert kept(lead, team="Research") == 201


def test_a_scenario_is_answered_at_once_and_nothing_is_kept(team) -> None:
    before = KeptScenario.objects.count()
    answer = sent(token("read"), "post", "/evaluate", {"scenario": TABLES | {"draws": 5000}})
    assert answer.status_code == 200
    told = answer.json()
    assert (told["draws"], told["on"]) == (200, "2026-03-03")
    assert told["break_even"]["durable_million_tokens"] > 0
    assert {gate["name"]: gate["is_passed"] for gate in told["gates"]}["parts"] is True
    assert told["uncertainty"]["savings"]["p10"] < told["uncertainty"]["savings"]["p90"]
    assert KeptScenario.objects.count() == before


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "scenario"),
        ({"scenario": "name = 'x'"}, "scenario"),
        ({"scenario": scenario_tables(API)}, "name"),
        ({"scenario": TABLES | {"draws": 10}}, "draws"),
        ({"scenario": TABLES | {"draws": None}}, "draws"),
        ({"scenario": TABLES | {"api": {"name": "x", "prices": []}}}, "api.prices"),
        ({"scenario": TABLES | {"demand": {"million_tokens": 1e300}}}, "demand.million_tokens"),
        ({"scenario": TABLES, "service": "nobody"}, "service"),
        ({"scenario": TABLES, "team": "nobody"}, "team"),
        ({"scenario": TABLES, "colour": "green"}, "colour"),
    ],
)
def test_what_is_not_understood_is_refused_by_its_name(team, body, field) -> None:
    answer = sent(token("manage"), "post", "", body)
    assert answer.status_code == 400, answer.content
    assert fields_of(answer) == [field]


def test_numbers_too_far_apart_are_refused_and_no_error_of_the_server(team) -> None:
    far = [{"name": f"lever {each}", "output_factor": 1e15} for each in range(30)]
    answer = sent(token("read"), "post", "/evaluate", {"scenario": TABLES | {"levers": far}})
    assert answer.status_code == 400
    assert "there is no answer" in answer.json()["detail"]
