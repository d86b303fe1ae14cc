"""Portfolios over REST: asked for with assumptions, looked at while they run, called off, and whose they are."""

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.planning import actions
from apps.planning.solvers.portfolio import series_answer
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.planning.portfolio_scene import AT, FAMILY, QUICK, make_portfolio_world
from tests.rest import with_token
from tests.table_lists import assert_listed_as_on_page

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture(scope="module")
def manages(of_module: None) -> dict[str, str]:
    make_portfolio_world()
    return {"Authorization": f"Bearer {make.make_token('read', 'manage').secret}"}


def answer_all() -> None:
    actions.answer_portfolios(solver=series_answer, clock=lambda: AT)


def asked(manages: dict[str, str], body: dict[str, Any]) -> Any:
    return Client().post("/api/v1/portfolio/runs", body, "application/json", headers=manages)


def told(manages: dict[str, str], path: str) -> Any:
    return Client().get(f"/api/v1/portfolio{path}", headers=manages)


def test_a_portfolio_is_asked_for_answered_and_read(manages) -> None:
    assert told(manages, "").status_code == 404
    answer = asked(manages, QUICK | {"families": [{"name": FAMILY, "on_demand": 14.0}]})
    assert answer.status_code == 202
    run = answer.json()
    assert (run["state"], run["asked_by"]) == ("waiting", None)
    assert answer.headers["Location"] == run["address"] == f"/api/v1/portfolio/runs/{run['id']}"
    assert told(manages, f"/runs/{run['id']}").json()["answer"] is None
    answer_all()
    whole = told(manages, "").json()
    assert whole == told(manages, f"/runs/{run['id']}").json()
    assert whole["answer"]["chosen"]["lots"] == {"one p5 (renewal)": 1}
    assert whole["answer"]["question"]["families"][0]["on_demand"] == 14.0
    assert len(whole["answer"]["held_out"]["choices"]) == 4
    (listed,) = told(manages, "/runs").json()["results"]
    assert listed["digest"] == whole["digest"]
    assert "answer" not in listed
    asked(manages, QUICK)
    assert_listed_as_on_page(
        with_token("read"),
        "portfolio/runs",
        page=signed_in("finance"),
        file="/portfolio.csv?table=runs&runs=state",
        sort="state",
        compared="id",
    )


def test_a_run_is_called_off_once(manages) -> None:
    address = asked(manages, QUICK).json()["address"]
    first, second = (
        Client().post(f"{address}/cancel", {}, "application/json", headers=manages)
        for _ in range(2)
    )
    assert (first.status_code, first.json()["state"]) == (200, "cancelled")
    assert (second.status_code, second.json()["detail"]) == (409, "this run is over already")
    assert Client().post("/api/v1/portfolio/runs/99/cancel", headers=manages).status_code == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ('{"months": 0}', 400),
        ('{"tail": 1}', 400),
        ('{"risk_weight": "nan"}', 400),
        ('{"budget": 1e400}', 400),
        ('{"colour": "green"}', 400),
        ('{"families": "all"}', 400),
        ('{"offers": [{"name": "x", "hourly": NaN}]}', 400),
        ('{"offers": [{"name": "x", "hourly": 1e400}]}', 400),
        ('{"offers": [{"name": "\\u0000"}]}', 400),
        ('{"held": [{"name": ["x"], "family": {}, "gpus": 1, "rate": 1}]}', 202),
    ],
)
def test_nonsense_is_refused_at_once_or_by_the_run_and_never_breaks_it(
    manages, body, status
) -> None:
    answer = Client().post("/api/v1/portfolio/runs", body, "application/json", headers=manages)
    assert answer.status_code == status, answer.content
    if status == 202:
        answer_all()
        run = told(manages, f"/runs/{answer.json()['id']}").json()
        assert run["state"] == "refused"
        assert "the log of the worker" not in run["refusal"]


@pytest.mark.parametrize(
    "overlay",
    [
        {"months": 60, "on": "9999-12-31"},
        {"on": 7, "held": [{"name": "x", "family": FAMILY, "gpus": 1, "rate": 1}]},
        {"families": [{"name": FAMILY, "on_demand": 10**400}]},
        {"families": [{"name": FAMILY, "demand": 3}]},
        {"families": [3]},
        {"families": [{"name": {"a": 1}, "on_demand": 1}]},
        {"offers": [{"name": "x", "family": FAMILY, "kind": "reserved", "term_months": 1, "upfront": 1e9,
                     "lot": 100_000}], "upfront_budget": 1},
        {"budget": 1e15, "families": [{"name": FAMILY, "on_demand": 1e5, "on_demand_quota": 1e15,
                                       "shortage_cost": 1e5}], "most_blocked": 0},
        {"offers": [{"name": "x", "family": FAMILY, "kind": "reserved", "term_months": 120, "hourly": 1e-4}],
         "families": [{"name": FAMILY, "on_demand": 1e5}]},
    ],
)  # fmt: skip
def test_what_is_absurd_is_answered_or_refused_in_words(manages, overlay) -> None:
    run_id = actions.request_portfolio(overlay=QUICK | overlay, asked_by_id=None, at=AT)
    answer_all()
    run = told(manages, f"/runs/{run_id}").json()
    assert run["state"] in {"done", "refused"}
    assert "the log of the worker" not in run["refusal"], run["refusal"]


def test_what_cannot_be_kept_is_refused_for_what_it_is(manages) -> None:
    for body, said in (
        ('{"families": [{"name": "\\ud800"}]}', "'\\ud800' is no character"),
        (json.dumps({"families": [{"name": "x" * 400_000}]}), "over 400,000 characters"),
    ):
        answer = Client().post("/api/v1/portfolio/runs", body, "application/json", headers=manages)
        assert (answer.status_code, said in answer.json()["detail"]) == (400, True), answer.json()


def test_finance_platform_and_the_organisations_tokens_alone_may_ask(manages) -> None:
    for role, status in (("finance", 202), ("platform", 202), ("lead", 403), ("viewer", 403)):
        client = signed_in(role, make.make_team(role))
        answer = client.post("/api/v1/portfolio/runs", {}, "application/json")
        assert (role, answer.status_code) == (role, status)
        assert client.get("/api/v1/portfolio/runs").status_code == (200 if status == 202 else 403)
    reader = {"Authorization": f"Bearer {make.make_token('read').secret}"}
    assert asked(reader, {}).status_code == 403
    assert told(reader, "/runs").status_code == 200
