"""Words of the alerts on a budget: how much is used, and when it will be exceeded."""

from datetime import datetime
from zoneinfo import ZoneInfo

from apps.planning.queries.budget_figures import FORECAST, BudgetFigures
from apps.planning.queries.budget_words import amount, chance_of, scope_of
from apps.show.amounts import per_cent
from apps.show.time import instant, period, weekday

Facts = list[tuple[str, str]]


def used_title(figures: BudgetFigures, reached: int, currency: str) -> str:
    """`Research has used 92 % of its $60,000 of November 2026, with 63 % of the time gone`."""
    budget, share = figures.budget, figures.share_used
    budget_words = f"{amount(budget, figures.amount, currency)} of {_period_of(figures)}"
    time_words = f"with {per_cent(figures.share_gone)} of the time gone"
    if share is None or figures.spent.amount is None:
        return f"{budget.name} has used {reached} % of its {budget_words}"
    if share > 1:
        over = amount(budget, figures.spent.amount - figures.amount, currency)
        return f"{budget.name} is exceeded by {over}: its {budget_words} are used, {time_words}"
    return f"{budget.name} has used {per_cent(share)} of its {budget_words}, {time_words}"


def used_facts(figures: BudgetFigures, reached: int, currency: str) -> Facts:
    """Return the facts that an alert on the used part of a budget is told from."""
    return [
        ("Threshold", f"{reached} % of the amount" if reached else "none is reached"),
        *_common_facts(figures, currency),
    ]


def forecast_title(figures: BudgetFigures, passed: datetime | None, zone: str) -> str:
    """`Research will exceed its budget of November 2026 on Sat 21 November (chance 87 %)`."""
    when = ""
    if passed is not None:
        when = f" on {weekday(passed.astimezone(ZoneInfo(zone)).date())}"
    chance = chance_of(figures)
    basis = f"chance {chance}" if chance else "by the run rate"
    return f"{figures.budget.name} will exceed its budget of {_period_of(figures)}{when} ({basis})"


def forecast_facts(
    figures: BudgetFigures, passed: datetime | None, zone: str, currency: str
) -> Facts:
    """Return the facts that an alert on the forecast of a budget is told from, and how it came to be."""
    budget, remainder = figures.budget, figures.rest
    kind = "the newest forecasts" if remainder.method == FORECAST else "the run rate"
    facts = [
        ("Expected of the whole period", amount(budget, figures.expected, currency)),
        ("The rest is from", f"{kind}: {remainder.source}"),
    ]
    if passed is not None:
        facts.append(("The amount is passed", instant(passed, ZoneInfo(zone))))
    return [*facts, *_common_facts(figures, currency)]


def budget_fact(figures: BudgetFigures, currency: str) -> tuple[str, str]:
    """How much of which period it is: what tells whether an alert is of the amount that holds now."""
    return "Budget", f"{amount(figures.budget, figures.amount, currency)} of {_period_of(figures)}"


def _common_facts(figures: BudgetFigures, currency: str) -> Facts:
    budget = figures.budget
    facts = [
        ("Of", scope_of(budget)),
        budget_fact(figures, currency),
        ("So far", amount(budget, figures.spent.amount, currency)),
        ("Time gone", per_cent(figures.share_gone)),
        ("Enforcement", "deny (hard)" if budget.is_hard else "warn (soft)"),
    ]
    if figures.spent.provisional:
        facts.append(("Of it provisional", amount(budget, figures.spent.provisional, currency)))
    return facts


def _period_of(figures: BudgetFigures) -> str:
    return period(figures.first_day, figures.end_day)
