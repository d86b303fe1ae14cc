"""Costs of a budget so far: effective ones, as charged, over whole local days; GPU-hours that jobs held."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from apps.economics.money import sum_of_known
from apps.ledger.queries.api_spend import SpendQuery, spend
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.cube.question import Key
from apps.ledger.queries.cube.states import StateSum, state_sums
from apps.ledger.queries.windows import Window
from apps.planning.queries.budgets import GPU_HOURS, SERVICE, TAG, TEAM, WORKLOAD, BudgetFact
from apps.pricing.queries.api_prices import vendors_booked_by_bill

StatesByKey = dict[tuple[Key, Key], tuple[StateSum, ...]]
"""By the key of a budget's scope (None: the organisation), and by a day or month (None: all together)."""


@dataclass(frozen=True, slots=True)
class SpentSoFar:
    """The cost or use that came: `amount` in micro-units or GPU-milliseconds, None where no price of it is known.

    `provisional` is the part that is not settled yet, `unpriced_milliseconds` the GPU time without a
    price, which is in no amount; both are of money alone.
    """

    amount: int | None = 0
    provisional: int = 0
    unpriced_milliseconds: int = 0

    @property
    def is_nothing(self) -> bool:
        """Whether nothing came, priced or not."""
        return self == SpentSoFar()


def states_by(
    budgets: Sequence[BudgetFact], windows: Mapping[int, Window], more: str = ""
) -> dict[int, StatesByKey]:
    """Of each budget, by id, its costs by key and by `more` (`day`, `month`).

    Those of one dimension and window are asked for in one statement.
    """
    grouped_budgets: dict[tuple[str, Window], list[BudgetFact]] = defaultdict(list)
    for budget in budgets:
        grouped_budgets[_dimension_of(budget)[0], windows[budget.id]].append(budget)
    states_by_budget: dict[int, StatesByKey] = {}
    for (dimension, window), together in grouped_budgets.items():
        keys = {budget.id: _dimension_of(budget)[1] for budget in together}
        groups = tuple(name for name in (dimension, more) if name)
        question = CubeQuestion(window, groups, is_bounded=False)
        if dimension:
            question = question.of(**{dimension: frozenset[Key]().union(*keys.values())})
        sums: StatesByKey = {
            (group[0] if dimension else None, group[-1] if more else None): states
            for group, states in state_sums(question).items()
        }
        for budget_id, key in keys.items():
            states_by_budget[budget_id] = {
                group: states for group, states in sums.items() if not dimension or group[0] in key
            }
    return states_by_budget


def spent_of(states: Iterable[StateSum], budget: BudgetFact) -> SpentSoFar:
    """The sum of these, as the budget measures."""
    sums = list(states)
    if budget.measure == GPU_HOURS:
        return SpentSoFar(sum(state.held_milliseconds for state in sums))
    if not sums:
        return SpentSoFar()
    return SpentSoFar(
        sum_of_known(state.micros for state in sums),
        sum(state.provisional_micros or 0 for state in sums),
        sum(state.unpriced_milliseconds for state in sums),
    )


def unpriced_calls(budget: BudgetFact, window: Window) -> int:
    """Calls to model APIs of its scope that have no price, and so are in no amount of it.

    0 of a budget of GPU-hours and of tags, which calls do not have.
    """
    if budget.measure == GPU_HOURS or budget.scope == TAG:
        return 0
    team_ids = budget.team_ids if budget.scope == TEAM else None
    question = SpendQuery(window.starts_at, window.ends_at, window.zone, team_ids)
    workload_id = int(budget.key) if budget.scope in (WORKLOAD, SERVICE) else None
    called = {
        row.key: row.unpriced
        for row in spend(question, ("vendor", "workload"))
        if row.unpriced and workload_id in (None, row.key[1])
    }
    booked = vendors_booked_by_bill() if called else frozenset()
    return sum(unpriced for (vendor, _), unpriced in called.items() if vendor not in booked)


def _dimension_of(budget: BudgetFact) -> tuple[str, frozenset[Key]]:
    """Return the dimension of the cube that a budget is of, and its keys there; both empty of the organisation."""
    if budget.scope == TEAM:
        return "team", frozenset(budget.team_ids)
    if budget.scope in (WORKLOAD, SERVICE):
        return "workload", frozenset([int(budget.key)])
    if budget.scope == TAG:
        name, _, value = budget.key.partition("=")
        return f"tag.{name}", frozenset([value])
    return "", frozenset()
