"""What a workload's verdict is: worked examples, and what no figures can ever make of it."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.economics.portfolio_verdict import (
    Verdict,
    VerdictCause,
    VerdictThresholds,
    WorkloadFacts,
    judge,
)

LIMITS = VerdictThresholds(shrink_waste=0.4, retire_waste=0.95, least_coverage=0.95)
DOLLAR = 1_000_000


def facts(**given: Any) -> WorkloadFacts:
    """$1,000, a tenth of it waste, all priced, worth 1,500 to 2,000."""
    values: dict[str, Any] = {
        "cost": 1_000 * DOLLAR,
        "waste": 100 * DOLLAR,
        "coverage": 1.0,
        "worth": (1_500 * DOLLAR, 2_000 * DOLLAR),
        "has_value": True,
    }
    return WorkloadFacts(**values | given)


WORKED = [
    # It returns at least 1,500 for 1,000.
    ({}, "earns", "worth_more"),
    # At most 800 for 1,000, and its waste is 100: even without that it costs 900.
    ({"worth": (500 * DOLLAR, 800 * DOLLAR)}, "retire", "worth_less"),
    # At most 800, but 300 are waste: without it costs 700.
    (
        {"worth": (500 * DOLLAR, 800 * DOLLAR), "waste": 300 * DOLLAR},
        "shrink",
        "worth_less_by_its_waste",
    ),
    # All of it was waste: there is nothing left that could be worth it.
    ({"worth": (0, 800 * DOLLAR), "waste": 1_000 * DOLLAR}, "retire", "worth_less"),
    # 960 of 1,000 were waste: that 40 would be worth it does not save it, as nothing else does.
    ({"worth": (0, 60 * DOLLAR), "waste": 960 * DOLLAR}, "retire", "worth_less"),
    # 800 to 1,200 for 1,000: nobody can say.
    ({"worth": (800 * DOLLAR, 1_200 * DOLLAR)}, "unknown", "cost_within_worth"),
    # Half is waste, and it returns more than it costs: that alone is no reason to hold less. Where it may not, it is.
    ({"waste": 500 * DOLLAR}, "earns", "worth_more"),
    ({"waste": 960 * DOLLAR}, "earns", "worth_more"),
    (
        {"waste": 500 * DOLLAR, "worth": (800 * DOLLAR, 1_200 * DOLLAR)},
        "shrink",
        "much_waste",
    ),
    ({"worth": None, "waste": 400 * DOLLAR}, "shrink", "much_waste"),
    ({"worth": None, "waste": 960 * DOLLAR, "has_value": False}, "retire", "nothing_came"),
    # Of a fifth of its time the price is not known: 1,000 is what it cost at least.
    ({"coverage": 0.8}, "unknown", "cost_not_whole"),
    ({"coverage": 0.8, "worth": (0, 900 * DOLLAR)}, "shrink", "worth_less_by_its_waste"),
    ({"worth": None}, "unknown", "units_unknown"),
    ({"worth": None, "has_value": False}, "unknown", "no_value"),
    ({"cost": None, "waste": None}, "unknown", "cost_unknown"),
    ({"cost": 0, "waste": 0}, "unknown", "cost_unknown"),
    # Nobody knows its waste: it is not taken for none when it would be worth less.
    ({"waste": None, "worth": (0, 800 * DOLLAR)}, "retire", "worth_less"),
]


@pytest.mark.parametrize(("known", "verdict", "why"), WORKED)
def test_worked_examples(known: dict[str, Any], verdict: str, why: str) -> None:
    assert judge(facts(**known), LIMITS) == (Verdict(verdict), VerdictCause(why))


amounts = st.integers(0, 10**13)
known_facts = st.builds(
    WorkloadFacts,
    cost=st.none() | amounts,
    waste=st.none() | amounts,
    coverage=st.none() | st.floats(0, 1),
    worth=st.none() | st.tuples(amounts, amounts).map(lambda both: (min(both), max(both))),
    has_value=st.booleans(),
)


@given(known_facts)
def test_nothing_earns_without_a_stated_value_that_covers_its_cost(known: WorkloadFacts) -> None:
    verdict, _ = judge(known, LIMITS)
    covers = known.worth is not None and known.cost is not None and known.worth[0] >= known.cost
    assert verdict is not Verdict.EARNS or covers


@given(known_facts, amounts)
@example(WorkloadFacts(230, 228, None, (0, 64), has_value=True), 222)
def test_more_worth_never_makes_a_verdict_worse(known: WorkloadFacts, more: int) -> None:
    order = (Verdict.RETIRE, Verdict.SHRINK, Verdict.UNKNOWN, Verdict.EARNS)
    low, high = known.worth or (0, 0)
    poor = WorkloadFacts(known.cost, known.waste, known.coverage, (low, high), True)
    rich = WorkloadFacts(known.cost, known.waste, known.coverage, (low + more, high + more), True)
    assert order.index(judge(rich, LIMITS)[0]) >= order.index(judge(poor, LIMITS)[0])
