"""The pages of portfolios: what to buy as a title, how far a run is, asking again, and who may."""

import csv
import io
import re
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.planning import actions
from apps.planning.models import PortfolioRun
from apps.planning.queries.portfolio.runs import portfolio_run, portfolio_runs
from apps.planning.solvers.portfolio import series_answer
from tests import make
from tests.apps.console.people import signed_in, text_of
from tests.apps.planning.portfolio_scene import AT, FAMILY, HIGH_HOURS, QUICK, make_portfolio_world

pytestmark = pytest.mark.django_db
ENTERED = {"months": "2", "growth": "3", "risk": "50", "tail": "80", "budget": "", "blocked": "", "spread": ""}  # fmt: skip


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture(scope="module")
def run_id(of_module: None) -> int:
    """A portfolio that was answered, with a limit that nothing threatens."""
    make_portfolio_world()
    run_id = actions.request_portfolio(
        overlay=QUICK | {"most_blocked": 0.01}, asked_by_id=None, at=AT
    )
    answer_all()
    return run_id


def answer_all() -> None:
    actions.answer_portfolios(solver=series_answer, clock=lambda: AT)


def shown(path: str = "/portfolio", by: Client | None = None) -> str:
    answer = (by or signed_in("finance")).get(path)
    assert answer.status_code == 200
    return text_of(answer.content.decode())


def test_the_title_is_what_to_buy_and_what_that_saves(run_id) -> None:
    text = shown()
    saved = round(8 * 12.5 * HIGH_HOURS - 56 * 730)
    assert (
        f"Buy 8 GPUs of one p5 (renewal): about ${saved:,} a month less than buying nothing new"
        in text
    )
    assert "Blocked GPU-hours: 0 %, within the limit of 1.00 %" in text
    for title in (
        "Recommended purchases",
        f"{FAMILY}: load-duration curve by purchase option",
        "Strategies compared",
        "Back-test, last 730 h",
        "When to buy",
        "What would change it",
        "Effective savings rate, and what was attainable",
        "Ask again, with other assumptions",
        "Asked so far",
    ):
        assert title in text, title
    assert "Effective savings rate Not known" in text, "no month of the ledger is over"
    assert f"What of the work on {FAMILY} may be interrupted is not known" in text


def test_every_table_is_a_csv_of_what_is_shown(run_id) -> None:
    finance = signed_in("finance")

    def rows(name: str) -> list[dict[str, Any]]:
        answer = finance.get(f"/portfolio/{run_id}.csv?table={name}")
        assert answer.status_code == 200, name
        return list(csv.DictReader(io.StringIO(answer.content.decode())))

    (offer,) = rows("offers")
    assert (offer["lots"], offer["rate"], offer["break_even"]) == ("1", "7.000000000", "0.560000")
    for name in ("choices", "held-out", "families", "ladder", "changes", "sources", "savings"):
        rows(name)
    assert next(row["choice"] for row in rows("held-out")) == "What is found best"
    assert len(rows("duration-0")) == 100
    assert (
        len(
            list(csv.reader(io.StringIO(finance.get("/portfolio.csv?table=runs").content.decode())))
        )
        == 2
    )
    for wrong in (
        f"{run_id}.csv?table=nothing",
        f"{run_id}.csv?table=duration-7",
        "999",
        "999.csv",
    ):
        assert finance.get(f"/portfolio/{wrong}").status_code == 404


def test_the_form_asks_with_what_was_entered_and_shows_how_far_it_is(run_id) -> None:
    finance = signed_in("finance")
    more = '[[families]]\nname = "new"\non_demand = 1\n[families.demand]\nhours = [1, 2]'
    answer = finance.post("/portfolio/ask", ENTERED | {"more": more}, follow=True)
    text = text_of(answer.content.decode())
    assert "A portfolio is being answered" in text
    assert "It waits for the worker" in text
    asked = portfolio_runs()[0]
    assert asked.overlay == {
        "months": 2,
        "monthly_growth": 0.03,
        "risk_weight": 0.5,
        "tail": 0.8,
        "families": [{"name": "new", "on_demand": 1, "demand": {"hours": [1, 2]}}],
    }
    PortfolioRun.objects.filter(id=asked.id).update(state="running", found=3, of=8)
    assert "3 of 8 mixes found" in shown(by=finance)
    assert "This portfolio is under way" in shown(f"/portfolio/{asked.id}", finance)
    assert finance.post(f"/portfolio/{asked.id}/cancel").status_code == 302
    assert finance.post(f"/portfolio/{asked.id}/cancel").status_code == 409
    assert "This portfolio is called off" in shown(f"/portfolio/{asked.id}", finance)


def test_a_refusal_stands_above_the_answer_before_it(run_id) -> None:
    actions.request_portfolio(overlay={"budget": -1}, asked_by_id=make.make_person(), at=AT)
    answer_all()
    finance = signed_in("finance")
    text = shown(by=finance)
    assert "could not be answered: budget: -1 must be at least 0" in text
    assert "Buy 8 GPUs of one p5" in text
    assert "asked by Ada" in shown(f"/portfolio/{portfolio_runs()[0].id}", finance)


@pytest.mark.parametrize(
    ("entered", "said"),
    [
        ({"risk": "101"}, "It is from 0 to 100"),
        ({"months": "0"}, "It is from 1 to 60"),
        ({"budget": "1e400"}, "It is from 0 to 1,000,000,000,000,000"),
        ({"growth": "NaN"}, "Say an amount in figures"),
        ({"more": "x ="}, "What is entered is not TOML"),
        ({"more": "budget = nan"}, "A number that is not finite is no amount"),
    ],
)
def test_a_wrong_entry_is_said_at_its_field_and_nothing_is_asked(run_id, entered, said) -> None:
    before = len(portfolio_runs())
    answer = signed_in("finance").post("/portfolio/ask", ENTERED | {"more": ""} | entered)
    assert answer.status_code == 400
    assert said in text_of(answer.content.decode())
    assert len(portfolio_runs()) == before


def test_a_limit_that_cannot_be_held_is_said_above_all(run_id) -> None:
    short = {"name": FAMILY, "on_demand_quota": 0, "shortage_cost": 20.0}
    overlay = QUICK | {"most_blocked": 0.01, "families": [short],
                       "offers": [{"name": "one p5 (renewal)", "most_lots": 0}]}  # fmt: skip
    asked = actions.request_portfolio(overlay=overlay, asked_by_id=None, at=AT)
    answer_all()
    run = portfolio_run(asked)
    assert run is not None
    assert run.answer is not None
    text = shown(f"/portfolio/{asked}")
    assert "No choice of these offers keeps blocked GPU-hours to 1.00 %" in text
    assert "Buy nothing new" in text


def test_what_waits_beyond_the_gpus_that_are_there_stands_above_and_in_the_table(run_id) -> None:
    # Eight that are owed are there too.
    overlay = QUICK | {"families": [{"name": FAMILY, "room": [1], "waiting_cost": 3}]}
    asked = actions.request_portfolio(overlay=overlay, asked_by_id=None, at=AT)
    answer_all()
    text = shown(f"/portfolio/{asked}")
    assert re.search(
        rf"Not passed: {FAMILY}: at most \d+ GPUs at once, and 8 are there: demand up", text
    )
    run = portfolio_run(asked)
    assert run is not None
    assert run.answer is not None
    (family,) = run.answer["families"]
    assert family["waiting_cost"] == pytest.approx(3 * family["waiting_hours"])
    assert f"{family['waiting_hours']:,.0f} ${family['waiting_cost']:,.0f}" in text


def test_finance_and_platform_alone_see_it(run_id) -> None:
    for role in ("viewer", "lead"):
        assert signed_in(role, make.make_team(role)).get("/portfolio").status_code == 403
    assert signed_in("platform").get("/portfolio").status_code == 200


def test_before_the_first_the_page_says_what_it_takes(run_id) -> None:
    PortfolioRun.objects.all().delete()
    text = shown()
    assert "No portfolio yet" in text
    assert "It takes a settled GPU-hour and a price on demand" in text
    assert "Ask" in text
