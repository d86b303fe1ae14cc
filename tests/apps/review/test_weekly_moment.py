"""A week's review is of its own moment: made weeks later it says the same, and names what the ledger restated since."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pgtrigger
import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from apps.planning import actions as planning
from apps.planning.actions import requests as requesting
from apps.planning.queries.budget_figures import figures_of
from apps.planning.queries.budget_requests import approved_requests
from apps.planning.queries.budgets import BudgetStep, budgets, budgets_as_of
from apps.review import actions
from apps.review.models import AlertKind, RecommendationVerb
from apps.review.queries.alerts import waiting_alerts
from apps.review.queries.recommendations import open_recommendations
from apps.review.queries.weekly.content import (
    BudgetsWeek,
    EarlierEdition,
    Restated,
    ReviewedBudget,
    WeeklyContent,
)
from apps.review.queries.weekly.making import make_content
from apps.review.queries.weekly.moment_words import describe_later_recommendations, edition_words
from apps.review.queries.weekly.narrowed import narrowed
from apps.review.queries.weekly.restated import restated
from apps.review.queries.weekly.stored_reviews import newest_review
from apps.workloads.actions.returns import state_score, state_value
from apps.workloads.queries.returns import EnteredScore, EnteredValue, values_on
from tests import make
from tests.apps.planning.capacity_scene import raised
from tests.apps.review.recommended import looked, proposal
from tests.apps.review.review_weeks import DOLLAR, HELD_IDLE, MONDAY, WEEK, Company, plant_cell
from tests.apps.review.reviews import content, team, workload

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
END = WEEK.window("UTC").ends_at
LATER = MONDAY + 40 * DAY


def told(matter: str, title: str, level: int = 0) -> actions.AlertMatter:
    return actions.AlertMatter(
        matter, AlertKind.BUDGET_THRESHOLD, "warning", title, [], "/budgets", None, level
    )


@pytest.fixture
def company() -> Company:
    """Six weeks of it up to the week, its budget from January on, an alert and two recommendations of its Monday."""
    found = Company()
    found.plant()
    value = EnteredValue(
        found.chat, "thousand_requests", Decimal("0.1"), Decimal("0.2"), date(2026, 1, 1)
    )
    state_value(value=value, by=found.petra, at=MONDAY - DAY)
    score = EnteredScore(found.chat, "helpful", 0.8, True, WEEK.first_day)
    state_score(score=score, by=found.petra, at=MONDAY - DAY, today=MONDAY.date() - DAY)
    step = BudgetStep(date(2026, 1, 1), Decimal(10_000))
    budget = planning.EnteredBudget(
        "All", "organisation", "", "money", "monthly", date(2026, 1, 1), None, steps=(step,)
    )
    planning.add_budget(budget=budget, at=MONDAY - 40 * DAY)
    actions.raise_alert(alert_matter=told("used", "Half is used", 50), at=END - DAY)
    looked(proposal("a", 900), proposal("b", 700), at=END + timedelta(hours=5))
    return found


def spend_more(company: Company) -> None:
    for place in range(20):
        plant_cell(
            WEEK.end_day + place * DAY,
            company.ads,
            company.pool,
            hours=900,
            workload_id=company.train,
        )


def alert_later(_: Company) -> None:
    actions.raise_alert(alert_matter=told("late", "Told later"), at=MONDAY + 6 * DAY)


def go_further(_: Company) -> None:
    actions.raise_alert(alert_matter=told("used", "All is used", 100), at=MONDAY + 7 * DAY)


def resolve(company: Company) -> None:
    (alert,) = [each for each in waiting_alerts(LATER) if each.matter == "used"]
    actions.resolve_alert(alert_id=alert.id, reason="paid", by=company.petra, at=MONDAY + 8 * DAY)


def tell_anew(_: Company) -> None:
    looked(proposal("a", 300), proposal("c", 5_000), at=END + 7 * DAY + timedelta(hours=5))


def claim(company: Company) -> None:
    first = open_recommendations(MONDAY)[0]
    answer = actions.RecommendationAnswer(
        RecommendationVerb.CLAIMED, owner_id=company.petra.person_id, due_on=date(2026, 3, 30)
    )
    actions.answer_recommendation(
        recommendation_id=first.id, answer=answer, by=company.petra, at=MONDAY + DAY
    )


def set_budget(_: Company) -> None:
    step = BudgetStep(date(2026, 1, 1), Decimal(5))
    budget = planning.EnteredBudget(
        "Later", "organisation", "", "money", "monthly", date(2026, 1, 1), None, steps=(step,)
    )
    planning.add_budget(budget=budget, at=MONDAY + DAY)


def written(label: str, at: datetime) -> None:
    """The audit trail has it from then, whatever the clock of the machine is."""
    with pgtrigger.ignore(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE planning_budgetevent SET pgh_created_at = %s WHERE pgh_label = %s", [at, label]
        )


def all_of(amount: int, name: str = "All") -> planning.EnteredBudget:
    return planning.EnteredBudget(
        name, "organisation", "", "money", "monthly", date(2026, 1, 1), None,
        steps=(BudgetStep(date(2026, 1, 1), Decimal(amount)),),
    )  # fmt: skip


def amend_budget(_: Company) -> None:
    (budget,) = [each for each in budgets(None) if each.name == "All"]
    planning.replace_budget(budget_id=budget.id, budget=all_of(77, "Everything"))
    written("update", MONDAY + DAY)


def remove_budget(_: Company) -> None:
    for each in budgets(None):
        planning.remove_budget(budget_id=each.id)
    written("delete", MONDAY + 2 * DAY)


def state_later(company: Company) -> None:
    value = EnteredValue(
        company.chat, "thousand_requests", Decimal(90), Decimal(95), date(2026, 1, 1)
    )
    state_value(value=value, by=company.petra, at=MONDAY + DAY)


def score_later(company: Company) -> None:
    """Of a day of the week, and of a name that had been scored before."""
    for name, score in (("helpful", 0.1), ("new", 0.9)):
        said = EnteredScore(company.chat, name, score, True, WEEK.first_day + 2 * DAY)
        state_score(score=said, by=company.petra, at=MONDAY + DAY, today=MONDAY.date() + DAY)


def review_the_week_before(_: Company) -> None:
    actions.make_review(week=WEEK.back(1), at=MONDAY + 2 * DAY, reason="again")


AFTERWARDS: tuple[Callable[[Company], None], ...] = (
    spend_more,
    alert_later,
    go_further,
    resolve,
    claim,
    tell_anew,
    set_budget,
    amend_budget,
    remove_budget,
    state_later,
    score_later,
    review_the_week_before,
)


def beside_its_making(found: WeeklyContent) -> WeeklyContent:
    return replace(found, made_at="", earlier=None)


def test_a_review_made_again_weeks_later_says_what_the_first_said(company: Company) -> None:
    """Whatever came since: costs of later days, alerts, answers, looks, budgets, editions of other weeks."""
    actions.make_review(week=WEEK.back(1), at=MONDAY - 7 * DAY)
    actions.make_review(week=WEEK, at=MONDAY)
    kept = newest_review(WEEK.name)
    assert kept is not None
    first = kept.content
    assert [each.title for each in first.matters] == ["Half is used"]
    assert len(first.recommendations.recommendations) == 2
    assert first.budgets.budgets[0].spent
    for happens in AFTERWARDS:
        happens(company)
        again = make_content(WEEK, LATER)
        assert beside_its_making(again) == beside_its_making(first), happens.__name__
        assert again.earlier is not None
        assert again.earlier.restated == (), happens.__name__
        assert "same figures" in " ".join(edition_words(again))


def test_a_further_edition_is_of_the_moment_of_the_first(company: Company) -> None:
    """Also where the week's recommendations were late, and looked for after it was made by hand."""
    soon = END + timedelta(hours=1)
    actions.make_review(week=WEEK, at=soon)
    kept = newest_review(WEEK.name)
    assert kept is not None
    assert kept.content.recommendations.recommendations == ()
    again = make_content(WEEK, LATER)
    assert again.stands_at == kept.content.stands_at == soon.isoformat()
    assert beside_its_making(again) == beside_its_making(kept.content)


def test_one_that_is_first_made_weeks_later_is_of_its_week_too(company: Company) -> None:
    """What the history does not keep it says as known later, and says so; all else is of its moment."""
    at_once = make_content(WEEK, MONDAY)
    for happens in AFTERWARDS[:-1]:
        happens(company)
    late = make_content(WEEK, LATER)
    assert late.stands_at == at_once.stands_at
    assert (late.budgets, late.matters, late.cost) == (
        at_once.budgets,
        at_once.matters,
        at_once.cost,
    )
    listed = {each.title: each for each in late.recommendations.recommendations}
    assert {each.state for each in listed.values()} == {"open"}
    (said,) = describe_later_recommendations(late)
    assert said.startswith("1 recommendation of the week: title and saving as known on Mon 23 Feb")
    assert not list(describe_later_recommendations(at_once))


def test_what_the_ledger_restates_is_named_figure_by_figure(company: Company) -> None:
    actions.make_review(week=WEEK, at=MONDAY)
    day = WEEK.first_day
    posted = {"posting_month": date(2026, 3, 1)}
    plant_cell(day, company.ads, company.pool, hours=10, workload_id=company.train, **posted)
    again = make_content(WEEK, LATER)
    assert again.earlier is not None
    moved = {(each.part, each.name, each.figure): each for each in again.earlier.restated}
    cost = moved["organisation", "", "cost.micros"]
    assert isinstance(cost.after, int)
    assert isinstance(cost.before, int)
    assert cost.after - cost.before == 20 * DOLLAR
    assert {key[:2] for key in moved} == {
        ("organisation", ""), ("team", "ads"), ("workload", "train"), ("budget", "All"),
    }  # fmt: skip
    assert again.earlier.posted_micros == {"2026-03-01": 20 * DOLLAR}
    (said,) = edition_words(again)
    assert "cost $" in said
    assert "posted in March 2026: +$20" in said
    lead = narrowed(again, frozenset({company.search})).earlier
    assert lead is not None
    assert (lead.restated, lead.posted_micros) == ((), {})


def test_a_budget_counts_what_came_until_its_moment(company: Company) -> None:
    facts = budgets(None)
    (before,) = figures_of(facts, END)
    spend_more(company)
    (after,) = figures_of(facts, END)
    assert after == before
    days_of_february = 15
    a_day = (100 + 24 + 3) * 2 * DOLLAR
    idle = 7 * 24 * 3 * DOLLAR
    assert before.spent.amount == days_of_february * a_day + idle
    (within,) = figures_of(facts, END + 3 * DAY)
    assert within.spent.amount == before.spent.amount + 3 * 1_800 * DOLLAR


def test_budgets_are_known_as_they_were_set_at_a_moment(company: Company) -> None:
    """Each edition of the trail holds from when it was written; one that is removed was there before."""
    set_budget(company)
    amend_budget(company)
    remove_budget(company)
    told = {
        days: [
            (each.name, int(each.steps[0].amount)) for each in budgets_as_of(MONDAY + days * DAY)
        ]
        for days in (-41, -40, 0, 1, 2)
    }
    assert told == {
        -41: [],
        -40: [("All", 10_000)],
        0: [("All", 10_000)],
        1: [("Everything", 77), ("Later", 5)],
        2: [],
    }


def test_what_was_stated_later_is_in_no_earlier_review(company: Company) -> None:
    """It counts from its day on in reviews that are made for the first time after it was stated."""
    state_later(company)
    chat = next(
        each for each in make_content(WEEK, LATER).workloads if each.workload_id == company.chat
    )
    assert chat.returned is not None
    assert chat.returned.low_micros == DOLLAR // 10
    assert values_on(WEEK.first_day)[company.chat].low == Decimal(90)


def test_a_score_that_was_stated_later_is_in_no_earlier_review(company: Company) -> None:
    """It is of a day of the week, and counts in no edition of what was known before it was stated."""
    score_later(company)
    chat = next(
        each for each in make_content(WEEK, LATER).workloads if each.workload_id == company.chat
    )
    assert [(score.name, score.value) for score in chat.scores] == [("helpful", 0.8)]


def budget_of(name: str, measure: str, *team_ids: int) -> ReviewedBudget:
    return ReviewedBudget(
        max(team_ids), name, measure, team_ids, "2026-07-01/2026-08-01",
        amount=10_000_000, spent=5_000_000, expected=None, headroom=None,
        chance_low=None, chance_high=None, method="unknown",
    )  # fmt: skip


def test_a_budget_that_was_restated_is_named_in_its_measure_to_all_who_see_it() -> None:
    listed = (budget_of("Red", "money", 1), budget_of("Hours", "gpu_hours", 2))
    before = content(teams=(team(1), team(2)), budgets=BudgetsWeek(budgets=listed))
    moved = (replace(listed[0], spent=7_000_000), replace(listed[1], amount=7_200_000_000))
    after = replace(before, budgets=BudgetsWeek(budgets=moved))
    earlier = EarlierEdition(1, "", "2026-07-27T05:00:00+00:00", tuple(restated(before, after)))
    whole = replace(after, earlier=earlier)
    (said,) = edition_words(whole)
    assert "Red, spent $5.00 → $7.00" in said
    assert "Hours, amount 3 GPU-hours → 2,000 GPU-hours" in said
    (lead,) = edition_words(narrowed(whole, frozenset({1})))
    assert "Red, spent $5.00 → $7.00" in lead
    assert "Hours" not in lead


def test_a_request_binds_a_budget_from_its_approval_until_it_is_delivered() -> None:
    make.make_organisation()
    finance = make.make_person("fin@example.org", role="finance")
    request_id = raised(make.make_team("red"), gpu_model="H100")
    approved_at, delivered_at = (datetime(2026, 3, day, 12, tzinfo=UTC) for day in (5, 9))
    said: dict[str, Any] = {"capacity_request_id": request_id, "by": finance, "reason": "agreed"}
    requesting.approve_capacity_request(**said, at=approved_at)
    requesting.deliver_capacity_request(**said, at=delivered_at)
    assert approved_requests(approved_at - DAY) == []
    assert [each.id for each in approved_requests(approved_at + DAY)] == [request_id]
    assert approved_requests(delivered_at) == []


def test_what_it_returned_stands_beside_what_the_same_weeks_cost(company: Company) -> None:
    made = make_content(WEEK, MONDAY)
    chat = next(each for each in made.workloads if each.workload_id == company.chat)
    assert chat.returned is not None
    assert chat.verdict.weeks == 4
    assert chat.verdict.cost_micros == 4 * 7 * 100 * 2 * DOLLAR
    assert chat.cost.micros == 7 * 100 * 2 * DOLLAR


def test_hours_that_are_not_settled_keep_a_workload_from_earning(company: Company) -> None:
    """What it returned is of all of its time, and the cost of a part of it."""
    value = EnteredValue(
        company.chat, "thousand_requests", Decimal(50), Decimal(60), date(2026, 1, 2)
    )
    state_value(value=value, by=company.petra, at=MONDAY - DAY)
    earning = next(
        each for each in make_content(WEEK, MONDAY).workloads if each.workload_id == company.chat
    )
    assert earning.verdict.verdict == "earns"
    for place in range(7):
        plant_cell(
            WEEK.first_day + place * DAY, company.search, company.pool,
            hours=400, workload_id=company.chat, state=HELD_IDLE, status="provisional",
        )  # fmt: skip
    open_still = next(
        each for each in make_content(WEEK, MONDAY).workloads if each.workload_id == company.chat
    )
    assert open_still.verdict.verdict == "unknown"
    assert "is settled and has a price" in open_still.verdict.reason


@given(micros=st.integers(0, 10**15), waste=st.none() | st.integers(0, 10**15), gone=st.booleans())
@pytest.mark.django_db(transaction=False)
def test_two_editions_differ_in_nothing_but_what_is_named(
    micros: int, waste: int | None, gone: bool
) -> None:
    before = content(workload(1, 1), workload(2, 1), teams=(team(1),))
    moved = replace(workload(1, 1), cost=replace(workload(1, 1).cost, micros=micros))
    after = content(
        moved, *(() if gone else (workload(2, 1),)), teams=(team(1, waste_micros=waste),)
    )
    named = set(restated(before, after))
    expected = {
        Restated("workload", "workload 1", 1, "cost.micros", 10_000_000, micros),
        Restated("team", "team 1", 1, "waste_micros", 1_000_000, waste),
        *([Restated("workload", "workload 2", 1, "listed", True, False)] if gone else ()),
    }
    assert named == {each for each in expected if each.before != each.after}
