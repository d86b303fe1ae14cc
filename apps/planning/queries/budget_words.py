"""A budget in words: whose costs, how much, how likely it is exceeded."""

from apps.planning.queries.budget_figures import BudgetFigures
from apps.planning.queries.budgets import MONEY, ORGANISATION, TEAM, BudgetFact
from apps.show.amounts import counted, gpu_hours, per_cent
from apps.show.money import rounded_amount

EXCEEDED = "exceeded already"


def amount(budget: BudgetFact, value: int | None, currency: str) -> str:
    """In a sentence: `$41,302` or `1,204 GPU-hours`."""
    if budget.measure == MONEY:
        return rounded_amount(value, currency)
    return f"{gpu_hours(value)} GPU-hours"


def scope_of(budget: BudgetFact) -> str:
    """Return whose costs a budget is of: `the organisation`, `team Red and 2 teams below it`, `tag project=atlas`."""
    if budget.scope == ORGANISATION:
        return "the organisation"
    below = len(budget.team_ids) - 1
    more = f" and {counted(below, 'team')} below it" if budget.scope == TEAM and below > 0 else ""
    return f"{budget.scope} {budget.of}{more}"


def chance_of(figures: BudgetFigures) -> str | None:
    """`34 %`, `under 10 %`, `over 90 %`, EXCEEDED; None where it is not known."""
    chance = figures.chance
    if chance is None:
        return None
    if chance.low == 1:
        return EXCEEDED
    if chance.low == chance.high:
        return per_cent(chance.low)
    return f"under {per_cent(chance.high)}" if chance.low == 0 else f"over {per_cent(chance.low)}"
