"""What to buy for what comes."""

from apps.planning import actions as planning
from apps.planning.tasks import answer_portfolios
from controlplane.demo.company import Company

ASKED = {"scenarios": 12, "growth_spread": 0.02}
"""Demand grows as it is forecast, give or take; twelve scenarios are answered in seconds."""


def ask_for_a_portfolio(company: Company) -> None:
    """What to own, reserve, buy on demand and run on spot for the next twelve months."""
    planning.request_portfolio(overlay=ASKED, asked_by_id=None, at=company.week.at, is_weekly=True)
    answer_portfolios()
