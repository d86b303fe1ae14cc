"""What did a team spend on a model last month, how much of it worked, will it exceed, what to do.

Each answer is three clicks or fewer from the Overview, a choice of the period counted as one; for who may
see the team, and for nobody else.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from apps.accounts.models import Team
from apps.ledger.models import ApiHour
from apps.planning.actions import EnteredBudget, add_budget
from apps.planning.queries.budgets import BudgetStep
from apps.review.actions import AlertMatter, raise_alert
from apps.review.models import AlertKind
from tests import make
from tests.apps.console.people import client_of
from tests.browser.conftest import opened
from tests.browser.spending import Spending, make_spending

pytestmark = [pytest.mark.browser, pytest.mark.django_db]
MOST_CLICKS = 3
PEOPLE = ("finn", "petra", "ada")


@pytest.fixture(scope="module")
def spending(committed: None) -> Spending:
    """Research, led by Ada, used H100s and called a model API last month; it has a budget that it exceeded."""
    made, now = make_spending(), datetime.now(UTC)
    for name, role in (("finn", "finance"), ("petra", "platform"), ("vera", "viewer")):
        make.make_person(f"{name}@example.org", name=name.title(), role=role)
    ada = make.make_person("ada@example.org", name="Ada", role="lead")
    Team.objects.filter(id=made.research).update(owner_id=ada)
    ApiHour.objects.create(
        hour=made.began_at, vendor="openai", model="gpt-4.1", team_id=made.research, feature="",
        requests=10, rate_limited=2, input_tokens=700, output_tokens=90, micros=4_130_000,
        list_micros=4_130_000, reason="",
    )  # fmt: skip
    first = made.began_at.date().replace(day=1)
    steps = (BudgetStep(first, Decimal(40)),)
    research = EnteredBudget(
        "Research project", "team", str(made.research), "money", "project",
        first, date(now.year + 1, 12, 31), steps,
    )  # fmt: skip
    budget_id = add_budget(budget=research, at=now)
    told = AlertMatter(
        matter="research", kind=AlertKind.BUDGET_THRESHOLD, severity="critical", level=100,
        title="Research project has used 246 % of its amount", facts=[], link=f"/budgets/{budget_id}",
        team_id=made.research,
    )  # fmt: skip
    raise_alert(alert_matter=told, at=now)
    return made


class Walk:
    """A way from the Overview on, which counts its clicks."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks = page, 0

    def follow(self, name: str, *, of: Any = None) -> None:
        self.clicks += 1
        (of or self.page).get_by_role("link", name=name, exact=True).first.click()

    def choose(self, name: str, value: str) -> None:
        self.clicks += 1
        self.page.get_by_role("combobox", name=name).select_option(value)

    def row(self, table: str, of: str) -> Any:
        region = self.page.locator(f"#{table}")
        return region.get_by_role("row").filter(has_text=of)


@pytest.fixture
def walk(live_server: Any, spending: Spending, page: Page) -> Callable[[str], Walk]:
    def from_the_overview(name: str) -> Walk:
        return Walk(opened(page, live_server.url, name))

    return from_the_overview


@pytest.mark.parametrize("name", PEOPLE)
def test_each_answer_is_three_clicks_from_the_overview_or_fewer(
    walk: Callable[[str], Walk], name: str
) -> None:
    spent = walk(name)
    spent.choose("Period", "lastmonth")
    spent.follow("Research")
    gpus, calls = spent.row("by-gpu-model", "H100"), spent.row("api-models", "gpt-4.1")
    expect(gpus).to_contain_text("$98.32")
    expect(gpus).to_contain_text("50 % active")
    expect(calls).to_contain_text("$4.13")
    expect(calls).to_contain_text("80 %")
    assert spent.clicks <= MOST_CLICKS

    coming = walk(name)
    coming.choose("Period", "lastmonth")
    coming.follow("Research")
    coming.follow("Budget and what to do")
    title = coming.page.get_by_role("heading", level=1)
    expect(title).to_contain_text("1 of 1 budget is exceeded or will be: Research project")
    expect(coming.row("budgets", "Research project")).to_contain_text("exceeded already")

    expect(title).to_contain_text("1 thing to do")
    expect(coming.row("next-steps", "Research project has used 246 %")).to_contain_text("Alert")
    assert coming.clicks <= MOST_CLICKS


def test_who_is_no_member_sees_nothing_of_it(spending: Spending) -> None:
    places = ("", "/outlook", ".csv?table=by-gpu-model", ".csv?table=api-models",
              "/outlook.csv?table=budgets", "/outlook.csv?table=next-steps")  # fmt: skip
    for place in places:
        address = f"/costs/teams/{spending.research}{place}"
        assert client_of("vera").get(address).status_code == 404
        assert Client().get(address)["Location"].startswith("/sign-in")
