"""The pages of budgets: the list and one of them in words, set and changed after a look, and whose they are."""

import csv
import io
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.economics.hours import HOUR
from apps.ledger.models import ApiHour
from apps.planning import actions
from apps.planning.actions.requests import approve_capacity_request
from apps.planning.queries.budgets import BudgetStep, budgets
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.forecasting import forecast_fields
from apps.pricing.models import ApiVendor
from apps.workloads.actions.workloads import add_workload
from tests import make
from tests.apps.console.people import confirmed, signed_in, text_of
from tests.apps.ledger import scene
from tests.apps.planning.capacity_scene import raised

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 10, 10, tzinfo=UTC)
ENTERED = {
    "name": "Blue, GPU-hours",
    "of": "organisation:",
    "measure": "gpu_hours",
    "recurrence": "monthly",
    "first_day": "2026-01-01",
    "amount": "1000",
    "later": "2026-04 1500",
}


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture(scope="module")
def world(of_module: None) -> dict[str, int]:
    """A team that holds four GPUs for an hour, with a forecast of ten dollars an hour, and three budgets."""
    make.make_organisation()
    pool_id = make.make_pool("h100")
    node_id = scene.make_priced_node(pool_id=pool_id)
    red = make.make_team("Red")
    scene.make_rule("red", red)
    scene.make_job("1", node_id, gpus=4, account="red")
    scene.settle(at=scene.TEN + timedelta(days=3), ends_at=scene.TEN + HOUR)
    points = [(AT - hour * HOUR, 10.0) for hour in range(1, 20 * 24)]
    series = SeriesKey("spend", "team", str(red))
    actions.import_history(series=series, points=points, at=AT)
    actions.make_forecasts(maker=forecast_fields, at=AT)
    ids = {
        "red": red,
        "pool": pool_id,
        "chat": add_workload(name="chat", team_id=red, kind="serving"),
    }
    for name, scope, key, amount in (
        ("Red, monthly", "team", str(red), 5_000),
        ("Everything", "organisation", "", 100_000),
        ("Chat", "service", str(ids["chat"]), 700),
    ):
        budget = actions.EnteredBudget(
            name, scope, key, "money", "monthly", date(2026, 1, 1), None,
            (BudgetStep(date(2026, 1, 1), Decimal(amount)),),
        )  # fmt: skip
        ids[name] = actions.add_budget(budget=budget, at=AT)
    return ids


def read(client: Client, path: str, **given: Any) -> str:
    return text_of(client.get(path, given).content.decode())


def table(client: Client, path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(client.get(path).content.decode())))


def test_the_list_says_which_will_be_exceeded_and_adds_no_two(world) -> None:
    finance = signed_in("finance")
    text = read(finance, "/budgets")
    assert "1 of 3 budgets is exceeded or will be: Red, monthly" in text
    assert "they overlap, and are never added" in text
    assert "over 90 %" in text
    assert "not known" in text, "of the chat service nothing came yet, so nothing is expected"
    rows = {row["name"]: row for row in table(finance, "/budgets.csv")}
    red = rows["Red, monthly"]
    assert (red["amount"], red["spent"]) == ("5000.000000", "49.160000")
    rest = Decimal(red["rest_expected"])
    assert float(rest) == pytest.approx(5180, rel=0.005), "ten an hour, of which 518 are left"
    assert red["rest_from"] == "forecast"
    assert Decimal(red["headroom"]) == 5000 - Decimal("49.16") - rest
    assert red["chance_low"] == "0.900000"
    assert (red["first_day"], red["last_day"]) == ("2026-03-01", "2026-03-31")
    assert (rows["Chat"]["spent"], rows["Chat"]["headroom"]) == ("0.000000", "")
    assert rows["Everything"]["rest_from"] == "run_rate"


def test_one_budget_says_how_its_figures_came_to_be(world) -> None:
    finance = signed_in("finance")
    page = finance.get(f"/budgets/{world['Red, monthly']}").content.decode()
    text = text_of(page)
    months = table(finance, f"/budgets/{world['Red, monthly']}.csv")
    rest = Decimal(months[-1]["rest"])
    over = round(Decimal("49.16") + rest - 5000)
    assert f"Red, monthly will be exceeded by ${over} at forecast" in text
    assert "forecast by the hour to 24 Mar 2026, the last week again to 31 Mar 2026" in text
    assert "Its series spend:team=Red" in text
    assert "effective cost as charged" in text
    assert "The same costs count against Everything too: budgets are never added." in text
    assert '"Rest expected"' in page, "the rest is drawn on what came"
    assert [row["month"] for row in months] == ["2026-01", "2026-02", "2026-03"]
    assert [row["spent"] for row in months] == ["0.000000", "0.000000", "49.160000"]
    assert [row["rest"] for row in months[:2]] == ["", ""]
    assert float(rest) == pytest.approx(5180, rel=0.005)


def test_calls_without_a_price_are_said_where_they_are_missing(world) -> None:
    called = {"vendor": "openai", "model": "house-blend", "team_id": world["red"]}
    ApiHour.objects.create(hour=AT - HOUR, requests=7, unpriced_requests=7, **called)
    ApiHour.objects.create(
        hour=AT - HOUR, requests=2, unpriced_requests=1, workload_id=world["chat"], **called
    )
    finance = signed_in("finance")
    for name, said in (
        ("Red, monthly", "8 calls to model APIs have no price and are in no amount."),
        ("Everything", "8 calls to model APIs have no price and are in no amount."),
        ("Chat", "1 call to model APIs has no price and is in no amount."),
    ):
        assert said in read(finance, f"/budgets/{world[name]}")
    ApiVendor.objects.create(vendor="openai", booked_by="bill")
    assert "to model APIs" not in read(finance, f"/budgets/{world['Everything']}")


def test_approved_requests_are_listed_and_in_what_is_committed(world) -> None:
    finance, by = signed_in("finance"), make.make_person("fin@example.org", role="finance")
    starts_at = AT + timedelta(days=1)
    for where in ({"pool_id": world["pool"]}, {"gpu_model": "B200"}):
        request_id = raised(world["red"], gpus=2, starts_at=starts_at, at=AT,
                            ends_at=starts_at + timedelta(days=1), **where)  # fmt: skip
        approve_capacity_request(capacity_request_id=request_id, by=by, reason="agreed", at=AT)
    path = f"/budgets/{world['Red, monthly']}"
    page = finance.get(path).content.decode()
    text = text_of(page)
    assert "$590 on top of the rest expected, by 2 requests that are not delivered yet" in text
    assert (
        "48.0 GPU-hours of approved requests have no price and are in no amount: less is left."
        in text
    )
    assert '"Approved requests"' in page, "they are drawn on the rest"
    assert f'href="/capacity-requests/{request_id}' in page
    assert "2 × B200" in text
    rows = {row["name"]: row for row in table(finance, "/budgets.csv")}
    red = rows["Red, monthly"]
    assert (red["committed"], red["committed_by_requests"]) == ("589.920000", "589.920000")
    assert red["unpriced_request_gpu_hours"] == "48.000000"
    left = 5000 - Decimal("49.16") - Decimal(red["rest_expected"]) - Decimal("589.92")
    assert Decimal(red["headroom"]) == left
    assert rows["Chat"]["committed"] == "0.000000"
    months = table(finance, f"{path}.csv")
    assert [row["approved_requests"] for row in months] == ["", "", "589.920000"]


def test_a_budget_is_set_after_a_look_changed_and_removed_with_its_history(world) -> None:
    finance = signed_in("finance")
    looked = read(finance, "/budgets/new", **ENTERED)
    assert (
        "The organisation may come to 1,000 GPU-hours, each month, from January 2026 on." in looked
    )
    assert "will be left at forecast" in looked
    done = text_of(confirmed(finance, "/budgets/new", ENTERED, follow=True).content.decode())
    assert "Blue, GPU-hours is set." in done
    (fact,) = [each for each in budgets(None) if each.name == ENTERED["name"]]
    assert [step.amount for step in fact.steps] == [1000, 1500]
    form = finance.get(f"/budgets/{fact.id}/change").content.decode()
    assert "2026-04 1500" in form
    path, tighter = f"/budgets/{fact.id}/change", ENTERED | {"amount": "900"}
    assert "It was 1,000 GPU-hours" in read(finance, path, **tighter)
    done = text_of(confirmed(finance, path, tighter, follow=True).content.decode())
    assert re.search(r"amounts: 1000\S*, 1500\S* → 900\S*, 1500\S* Finance", done)
    gone = confirmed(finance, f"/budgets/{fact.id}/remove", {"look": "yes"}, follow=True)
    assert "Blue, GPU-hours is removed." in text_of(gone.content.decode())
    assert fact.id not in [each.id for each in budgets(None)]


@pytest.mark.parametrize(
    ("entered", "said"),
    [
        ({"name": "Everything"}, "There is a budget named 'Everything' already."),
        ({"first_day": "2026-01-02"}, "A monthly budget begins with a month."),
        ({"later": "soon 5"}, "Say a month and an amount on each line"),
        ({"later": "2025-04 5"}, "each later one from a later month"),
        ({"amount": "-1"}, "-1 is not above 0"),
        ({"amount": ""}, "Say an amount in figures"),
        ({"tag": "project=a"}, "A tag is named only where the budget is of a tag."),
        ({"of": "team:99"}, "Choose one of the list."),
    ],
)
def test_what_is_wrong_is_said_at_its_field(world, entered: dict[str, str], said: str) -> None:
    assert said in read(signed_in("finance"), "/budgets/new", **ENTERED | entered)


def test_changing_nothing_is_refused(world) -> None:
    path = f"/budgets/{world['Everything']}/change"
    same = {"name": "Everything", "of": "organisation:", "measure": "money", "recurrence": "monthly",
            "first_day": "2026-01-01", "amount": "100000"}  # fmt: skip
    assert "Nothing of it is different." in read(signed_in("finance"), path, **same)


def test_a_lead_sees_their_own_teams_budgets_and_changes_none(world) -> None:
    lead = signed_in("lead", world["red"])
    text = read(lead, "/budgets")
    assert "Red, monthly" in text
    assert "Everything" not in text
    assert "Add a budget" not in text
    assert {row["name"] for row in table(lead, "/budgets.csv")} == {"Red, monthly", "Chat"}
    for path in ("", ".csv"):
        assert lead.get(f"/budgets/{world['Everything']}{path}").status_code == 404
        assert lead.get(f"/budgets/{world['Red, monthly']}{path}").status_code == 200
    assert "Everything" not in read(lead, f"/budgets/{world['Red, monthly']}")
    for path in ("new", f"{world['Chat']}/change", f"{world['Chat']}/remove"):
        assert lead.get(f"/budgets/{path}").status_code == 403
    assert signed_in("finance").get("/budgets/999999/change").status_code == 404


def test_without_a_budget_the_page_says_what_one_is_for(world) -> None:
    text = read(signed_in("viewer", make.make_team("Blue")), "/budgets")
    assert "No budget of your teams" in text
    assert "Somebody of the role finance adds it" in text


def outlook(client: Client, team_id: int) -> str:
    answer = client.get(f"/costs/teams/{team_id}/outlook")
    assert answer.status_code == 200
    return text_of(answer.content.decode())


def test_a_team_with_a_budget_of_its_own_does_not_show_the_organisations(
    world: dict[str, int],
) -> None:
    text = outlook(signed_in("finance"), world["red"])
    assert "Red: 1 of 2 budgets is exceeded or will be: Red, monthly" in text
    assert "Red, monthly" in text
    assert "Everything" not in text
    assert "Budgets above it" not in text


def test_a_team_without_one_shows_those_above_it_to_whoever_may_see_them(
    world: dict[str, int],
) -> None:
    below, beside = make.make_team("Rose", parent_id=world["red"]), make.make_team("Blue")
    finn = signed_in("finance")
    text = outlook(finn, below)
    assert "Rose: no budget is its own; above it 1 of 2 budgets is exceeded or will be: Red" in text
    assert "Budgets above it none is of this team; its costs are a part of what these cover" in text
    assert "Red, monthly" in text
    assert "Chat" not in text
    text = outlook(finn, beside)
    assert "Blue: no budget is its own; above it 1 budget of 1 will hold" in text
    assert "Everything" in text
    rows = finn.get(f"/costs/teams/{beside}/outlook.csv?table=budgets").content.decode()
    assert [row["name"] for row in csv.DictReader(io.StringIO(rows))] == ["Everything"]


def test_a_lead_who_may_not_see_budgets_above_theirs_reads_only_that_none_is_of_this_team(
    world: dict[str, int],
) -> None:
    below = make.make_team("Rose", parent_id=world["red"])
    text = outlook(signed_in("lead", below), below)
    assert "Rose: no budget is of this team, so nothing says what is too much" in text
    assert "No running budget is of this team" in text
    assert "Red, monthly" not in text
    assert "Everything" not in text
    assert "covers" not in text
