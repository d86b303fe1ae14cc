"""Every number of a week's review is what plain SQL over the rows says: one that no statement here accounts for fails."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, LiteralString

import pytest
from django.db import connection

from apps.planning import actions as planning
from apps.planning.queries.budgets import BudgetStep
from apps.review.queries.weekly.json_text import as_json
from apps.review.queries.weekly.making import make_content
from apps.workloads.actions.returns import state_score, state_value
from apps.workloads.queries.returns import EnteredScore, EnteredValue
from tests.apps.review.recommended import looked, proposal
from tests.apps.review.review_weeks import HELD_IDLE, MONDAY, WEEK, Company, plant_cell

pytestmark = pytest.mark.django_db
DAY, WEEKS = timedelta(days=1), 8
FIRST, END = WEEK.first_day, WEEK.end_day
SETTLED: LiteralString = "status <> 'provisional'"
WASTED: LiteralString = "state IN (2, 4, 5, 6)"
ABOUT = ("_id", "schema", "owner", "stated_by")
"""Numbers that say which, and not how much."""
Numbers = dict[str, Any]


@pytest.fixture
def company() -> Company:
    """Six weeks up to the week; hours without a price and not settled, a value, a score, a budget, two recommendations."""
    found = Company()
    found.plant()
    day = WEEK.first_day
    plant_cell(day, found.ads, found.pool, hours=5, rate=None, workload_id=found.train)
    plant_cell(
        day + DAY, found.ads, found.pool, hours=7, workload_id=found.train, status="provisional"
    )
    plant_cell(
        day - 9 * DAY, found.ads, found.pool, hours=11, workload_id=found.train, state=HELD_IDLE
    )
    value = EnteredValue(
        found.chat, "thousand_requests", Decimal("0.1"), Decimal("0.2"), date(2026, 1, 1)
    )
    state_value(value=value, by=found.petra, at=MONDAY - timedelta(days=1))
    score = EnteredScore(found.chat, "accuracy", 0.75, True, day + 2 * DAY)
    state_score(score=score, by=found.petra, at=MONDAY - timedelta(days=1), today=END)
    step = BudgetStep(date(2026, 1, 1), Decimal(10_000))
    budget = planning.EnteredBudget(
        "All", "organisation", "", "money", "monthly", date(2026, 1, 1), None, steps=(step,)
    )
    planning.add_budget(budget=budget, at=MONDAY - 40 * DAY)
    looked(
        proposal("a", 900), proposal("b", 700), at=WEEK.window("UTC").ends_at + timedelta(hours=5)
    )
    return found


def one(query: LiteralString, **given: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(query, given)
        ((value,),) = cursor.fetchall()
    return int(value) if isinstance(value, Decimal) and value == int(value) else value


def of_days(
    what: LiteralString, where: LiteralString = "TRUE", *, first: date = FIRST, end: date = END
) -> Any:
    """A sum over the ledger's days `[first, end)`; None where there is nothing."""
    query: LiteralString = f"SELECT sum({what}) FROM ledger_ledgerday WHERE day >= %(first)s AND day < %(end)s AND {where}"  # noqa: S608
    return one(query, first=first, end=end)


def of_cost(where: LiteralString) -> Numbers:
    """What its week cost, how sure that is, and its eight weeks."""
    settled: LiteralString = f"{SETTLED} AND {where}"
    not_yet: LiteralString = f"NOT {SETTLED} AND {where}"
    trend = {
        f"trend.{place}": of_days(
            "effective_micros", settled, first=FIRST - back * 7 * DAY, end=END - back * 7 * DAY
        )
        for place, back in enumerate(reversed(range(WEEKS)))
    }
    return trend | {
        "cost.micros": of_days("effective_micros", settled),
        "cost.unpriced_ms": of_days("unpriced_milliseconds", settled),
        "cost.time_ms": of_days("unit_milliseconds", settled),
        "cost.provisional_micros": of_days("effective_micros", not_yet),
        "cost.provisional_ms": of_days("unit_milliseconds", not_yet) or 0,
    }


def of_team(where: LiteralString) -> Numbers:
    """Its cost, what of it was waste and idle, and between which sums its causes lie."""
    settled: LiteralString = f"{SETTLED} AND {where}"
    before = {"first": FIRST - 7 * DAY, "end": FIRST}
    idle = {
        f"idle.{measure}.{name}": of_days(what, f"{settled} AND state = {state}")
        for name, state in (("idle_while_allocated", "2"), ("unallocated", "6"))
        for measure, what in (("micros", "effective_micros"), ("gpu_ms", "unit_milliseconds"))
    }
    return of_cost(where) | idle | {
        "waste_micros": of_days("effective_micros", f"{settled} AND {WASTED}") or 0,
        "no_workload_micros": of_days("effective_micros", f"{settled} AND workload_id IS NULL") or 0,
        "variance.before_micros": of_days("effective_micros", settled, **before),
        "variance.after_micros": of_days("effective_micros", settled),
        "variance.unpriced_ms.0": of_days("unpriced_milliseconds", settled, **before),
        "variance.unpriced_ms.1": of_days("unpriced_milliseconds", settled),
    }  # fmt: skip


def of_workload(where: LiteralString) -> Numbers:
    """Its cost and waste in the week, and in the four that its verdict is of."""
    settled: LiteralString = f"{SETTLED} AND {where}"
    longer = {"first": END - 28 * DAY}
    idle: LiteralString = f"{settled} AND {WASTED}"
    cost, waste = of_days("effective_micros", settled), of_days("effective_micros", idle) or 0
    of_verdict = of_days("effective_micros", settled, **longer)
    wasted = of_days("effective_micros", idle, **longer) or 0
    return of_cost(where) | {
        "waste.parts.idle_while_allocated": of_days("effective_micros", f"{settled} AND state = 2"),
        "waste.micros": waste,
        "waste.ratio": round(waste / cost, 6),
        "verdict.weeks": 4,
        "verdict.cost_micros": of_verdict,
        "verdict.waste_ratio": round(wasted / of_verdict, 6),
    }


def of_chat(chat: int) -> Numbers:
    """What it answered, what a thousand cost, what it returned by its owner's word, and how good it was."""

    def answered(first: date, end: date, what: LiteralString = "sum(succeeded)") -> Any:
        query: LiteralString = (
            f"SELECT {what} FROM ledger_servicetotal WHERE workload_id = %(id)s"  # noqa: S608
            " AND measure = 'effective' AND day >= %(first)s AND day < %(end)s"
        )
        return one(query, id=chat, first=first, end=end)

    thousand: LiteralString = "round(sum(answered_micros) * 1000 / sum(succeeded))"
    trend = {
        f"unit_trend.{place}": answered(FIRST - back * 7 * DAY, END - back * 7 * DAY, thousand)
        for place, back in enumerate(reversed(range(WEEKS)))
    }
    returned = Decimal(answered(END - 28 * DAY, END)) / 1000
    cost = of_days("effective_micros", f"{SETTLED} AND workload_id = {chat}", first=END - 28 * DAY)
    return trend | {
        "units.count": float(Decimal(answered(FIRST, END)) / 1000),
        "units.micros": answered(FIRST, END, thousand),
        "returned.low_micros": 100_000,
        "returned.high_micros": 200_000,
        "returned.count": float(returned),
        "returned.returned_low_micros": round(100_000 * returned),
        "returned.returned_high_micros": round(200_000 * returned),
        "scores.0.value": 0.75,
        "scores.0.per_dollar": 0.75 / cost * 1_000_000,
    }


def of_train(train: int) -> Numbers:
    """Nobody counted what it put out: its unit is a GPU-hour that was active."""
    where: LiteralString = f"{SETTLED} AND workload_id = {train}"
    weeks = [(FIRST - back * 7 * DAY, END - back * 7 * DAY) for back in reversed(range(WEEKS))]
    active = [
        of_days("unit_milliseconds", f"{where} AND state = 1", first=first, end=end)
        for first, end in weeks
    ]
    costs = [of_days("effective_micros", where, first=first, end=end) for first, end in weeks]
    units = [
        None if not ms else round(Fraction(cost * 3_600_000, ms))
        for ms, cost in zip(active, costs, strict=True)
    ]
    return {f"unit_trend.{place}": value for place, value in enumerate(units)} | {
        "units.count": round(active[-1] / 3_600_000, 6),
        "units.micros": units[-1],
    }


def of_budget() -> Numbers:
    """What came of February by the end of the week, and the rest at the rate of the last 28 days."""
    amount, spent = 10_000_000_000, of_days("effective_micros", first=date(2026, 2, 1))
    since = END - 28 * DAY
    rate = Fraction(of_days("effective_micros", first=since), 28 * 24)
    expected = spent + round(rate * (date(2026, 3, 1) - END).days * 24)
    return {"amount": amount, "spent": spent, "expected": expected, "headroom": amount - expected}


def of_whole() -> Numbers:
    """What is of no team nor workload alone."""
    came, planned = of_days("effective_micros", SETTLED), 7 * (10_000_000_000 // 28)
    held, seen = (of_days(f"{name}_milliseconds", SETTLED) for name in ("held", "observed"))
    unpriced = of_days("unpriced_milliseconds", SETTLED)
    return {
        "budgets.week_budget_micros": planned,
        "budgets.against_budget.before_micros": planned,
        "budgets.against_budget.after_micros": came,
        "budgets.against_budget.causes.difference": came - planned,
        "budgets.against_budget.unpriced_ms.0": 0,
        "budgets.against_budget.unpriced_ms.1": 0,
        "budgets.forecast.came_micros": came,
        "data_quality.observed_ratio": round(seen / held, 6),
        "data_quality.priced_ratio": round(1 - unpriced / of_days("unit_milliseconds", SETTLED), 6),
        "data_quality.unpriced_ms": unpriced,
        "data_quality.unowned_micros": 0,
        "data_quality.no_workload_micros": of_days(
            "effective_micros", f"{SETTLED} AND workload_id IS NULL"
        ),
        "data_quality.provisional_ms": of_days("unit_milliseconds", f"NOT {SETTLED}"),
        "data_quality.pending_hours": one("SELECT count(*) FROM fleet_node"),
        "data_quality.silent_agents": one("SELECT count(*) FROM fleet_agent"),
        "data_quality.workloads_without_value": 1,
        "data_quality.workloads_without_score": 1,
    }


def of_recommendation(recommendation_id: int) -> Numbers:
    """As its look proposed it; how long it has waited."""
    saving = {
        f"{name}_micros": one(
            "SELECT (proposal #>> ARRAY['saving', %(name)s])::int8 FROM review_recommendation"
            " WHERE id = %(id)s",
            id=recommendation_id,
            name=name,
        )
        for name in ("low", "likely", "high")
    }
    waited = one(
        "SELECT %(end)s - first_week FROM review_recommendation WHERE id = %(id)s",
        id=recommendation_id,
        end=END,
    )
    return {**saving, "age_days": waited}


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number with its place; ids and the like aside."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            if not name.endswith(ABOUT):
                yield from numbers(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from numbers(each, f"{path}.{place}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def within(path: str, found: Numbers) -> Numbers:
    return {f"{path}.{name}": value for name, value in found.items()}


def test_every_number_of_a_review_is_what_the_rows_say(company: Company) -> None:
    content = as_json(make_content(WEEK, datetime.fromisoformat(MONDAY.isoformat())))
    expected = of_team("TRUE") | of_whole() | within("budgets.budgets.0", of_budget())
    for place, team in enumerate(content["teams"]):
        expected |= within(f"teams.{place}", of_team(f"team_id = {team['team_id']}"))
    for place, workload in enumerate(content["workloads"]):
        own = workload["workload_id"]
        more = of_chat(own) if own == company.chat else of_train(own)
        expected |= within(f"workloads.{place}", of_workload(f"workload_id = {own}") | more)
    listed = content["recommendations"]["recommendations"]
    for place, each in enumerate(listed):
        own = of_recommendation(each["recommendation_id"])
        expected |= within(f"recommendations.recommendations.{place}", own)
    said = dict(numbers(content))
    causes = {path for path in said if ".causes." in f".{path}" and "against" not in path}
    assert len(causes) >= 3 * 3, "of the whole and of two teams"
    assert {path: value for path, value in said.items() if path not in causes} == {
        path: value for path, value in expected.items() if value is not None
    }
    for prefix in ("variance", "teams.0.variance", "teams.1.variance"):
        moved = sum(said[path] for path in causes if path.startswith(f"{prefix}.causes."))
        assert moved == said[f"{prefix}.after_micros"] - said[f"{prefix}.before_micros"]
    assert len(said) > 120
