"""/api/v1/budgets: set, replaced and removed by who may, and the headroom that a scheduler asks for."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.economics.hours import HOUR
from apps.planning import actions
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.forecasting import forecast_fields
from apps.workloads.actions.workloads import add_workload
from tests import make
from tests.apps.ledger import scene
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 10, 10, tzinfo=UTC)
BODY: dict[str, Any] = {
    "name": "Red, monthly",
    "scope": "team",
    "of": "Red",
    "measure": "money",
    "recurrence": "monthly",
    "first_day": "2026-01-01",
    "amounts": [{"amount": "5000"}, {"from_day": "2026-06-01", "amount": "6000.5"}],
}


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture(scope="module")
def red(of_module: None) -> int:
    """A team that holds four GPUs for an hour, with a forecast of ten dollars an hour."""
    make.make_organisation()
    node_id = scene.make_priced_node(pool_id=make.make_pool("h100"))
    red = make.make_team("Red")
    scene.make_rule("red", red)
    scene.make_job("1", node_id, gpus=4, account="red")
    scene.settle(at=scene.TEN + timedelta(days=3), ends_at=scene.TEN + HOUR)
    points = [(AT - hour * HOUR, 10.0) for hour in range(1, 20 * 24)]
    series = SeriesKey("spend", "team", str(red))
    actions.import_history(series=series, points=points, at=AT)
    actions.make_forecasts(maker=forecast_fields, at=AT)
    return red


def made(caller: Caller, **given: Any) -> dict[str, Any]:
    answer = caller.post("budgets", BODY | given)
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def test_a_budget_is_set_read_replaced_and_removed(red: int) -> None:
    manages = with_token("manage")
    budget = made(manages)
    assert budget["amounts"] == [
        {"from_day": "2026-01-01", "amount": "5000.000000"},
        {"from_day": "2026-06-01", "amount": "6000.500000"},
    ]
    assert (budget["of"], budget["key"], budget["unit"]) == ("Red", str(red), "USD")
    path = f"budgets/{budget['id']}"
    assert manages.get(path).json() == budget
    assert manages.get("budgets").json()["results"] == [budget]
    assert "Red, monthly" in manages.get("budgets", accept="text/csv").content.decode()
    again = manages.post("budgets", BODY)
    assert (again.status_code, again.json()["errors"][0]["field"]) == (409, "name")
    put = {"content_type": "application/json", "headers": manages.headers}
    changed = BODY | {"measure": "gpu_hours", "amounts": [{"amount": "800"}]}
    replaced = manages.client.put(f"/api/v1/{path}", changed, **put).json()
    assert (replaced["unit"], replaced["id"]) == ("GPU-hours", budget["id"])
    removed = manages.client.delete(f"/api/v1/{path}", headers=manages.headers)
    assert removed.json() == replaced
    assert manages.get(path).status_code == 404


def test_headroom_is_the_budget_less_what_came_and_what_is_expected(red: int) -> None:
    manages = with_token("manage")
    answer = manages.get(f"budgets/{made(manages)['id']}/headroom").json()
    assert answer["amount"] == "5000.000000"
    assert answer["spent"] == "49.160000", "half of 98.32 for eight"
    rest = Decimal(answer["rest_expected"])
    assert float(rest) == pytest.approx(5180, rel=0.005), "ten an hour, of which 518 are left"
    assert Decimal(answer["headroom"]) == 5000 - Decimal("49.16") - rest
    assert (answer["is_exceeding"], answer["basis"], answer["rest_from"]) == (
        True, "effective", "forecast",
    )  # fmt: skip
    assert answer["rest_source"] == "spend:team=Red"
    assert (answer["chance_low"], answer["chance_high"]) == (0.9, 1.0)
    assert (answer["status"], answer["last_day"]) == ("running", "2026-03-31")
    assert (answer["committed"], answer["committed_by_requests"]) == ("0.000000", "0.000000")
    assert answer["committed_by_commitments"] is None, "of the organisation's money alone"
    hours = made(manages, name="hours", measure="gpu_hours", amounts=[{"amount": "100"}])
    answer = manages.get(f"budgets/{hours['id']}/headroom").json()
    assert (answer["spent"], answer["basis"], answer["provisional"]) == ("4.000000", "held", None)


def test_a_service_of_two_teams_is_told_apart_by_its_team(red: int) -> None:
    manages = with_token("manage")
    chat = add_workload(name="chat", team_id=red, kind="serving")
    add_workload(name="chat", team_id=make.make_team("Blue"), kind="serving")
    refused = manages.post("budgets", BODY | {"scope": "service", "of": "chat"})
    assert refused.json()["errors"][0]["message"] == "several are named 'chat'; say TEAM/NAME"
    assert made(manages, scope="service", of="Red/chat")["key"] == str(chat)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("of", {"of": "Nobody"}),
        ("of", {"scope": "organisation"}),
        ("amounts", {"amounts": []}),
        ("amounts.0.amount", {"amounts": [{"amount": "-5"}]}),
        ("first_day", {"first_day": "2026-01-15"}),
        ("recurrence", {"recurrence": "daily"}),
        ("measure", {"measure": "half of a pair: \ud800"}),
        ("last_day", {"last_day": "9999-12-31"}),
        ("colour", {"colour": "green"}),
    ],
)
def test_what_is_wrong_is_refused_by_its_field(red: int, field: str, given: dict[str, Any]) -> None:
    answer = with_token("manage").post("budgets", BODY | given)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_teams_read_their_own_and_only_finance_and_managers_set_any(red: int) -> None:
    manages = with_token("manage")
    own, whole = made(manages)["id"], made(manages, name="all", scope="organisation", of="")["id"]
    reads = with_token("read", name="red", team_id=red)
    assert [each["id"] for each in reads.get("budgets").json()["results"]] == [own]
    assert reads.get(f"budgets/{own}/headroom").status_code == 200
    for path in (f"budgets/{whole}", f"budgets/{whole}/headroom"):
        assert reads.get(path).status_code == 404
    assert reads.post("budgets", BODY).status_code == 403
    assert with_token("read", name="all").post("budgets", BODY).status_code == 403
    finance, _ = signed_in("fin@example.org", "finance")
    assert finance.post("budgets", BODY | {"name": "by finance"}).status_code == 201
    lead, _ = signed_in("lead@example.org", "lead")
    assert lead.post("budgets", BODY).status_code == 403
