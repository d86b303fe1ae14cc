"""The facts of a budget alert as of now: its own words stay as they were raised."""

from datetime import datetime

from apps.accounts.queries import organisation
from apps.economics.budget_alerts import threshold_reached
from apps.planning.queries.budget_figures import BudgetFigures, figures_of
from apps.planning.queries.budgets import budgets
from apps.review.models import AlertKind
from apps.review.queries.alerts import AlertFact
from apps.review.queries.budget_alert_words import Facts, forecast_facts, used_facts

THRESHOLD, FORECAST = "threshold", "forecast"


def matter_of(figures: BudgetFigures, what: str) -> str:
    """The key of an alert of a budget in its period, of what was used (THRESHOLD) or is expected (FORECAST)."""
    return f"budget:{figures.budget.id}:{figures.first_day.isoformat()}:{what}"


def facts_now(fact: AlertFact, team_ids: frozenset[int] | None, at: datetime) -> Facts:
    """Return the facts of an alert as of `at`; none of other kinds, of a budget that these teams may not see or that is gone, or of a period that is over."""
    if fact.kind not in (AlertKind.BUDGET_THRESHOLD, AlertKind.BUDGET_FORECAST):
        return []
    about = [
        budget for budget in budgets(team_ids) if fact.matter.startswith(f"budget:{budget.id}:")
    ]
    ours = organisation()
    for figures in figures_of(about, at):
        if fact.matter == matter_of(figures, FORECAST):
            passed = figures.exceeds_at(at)
            return forecast_facts(figures, passed, ours.zone, ours.currency)
        if fact.matter == matter_of(figures, THRESHOLD):
            reached = threshold_reached(figures.share_used) or 0
            return used_facts(figures, reached, ours.currency)
    return []
