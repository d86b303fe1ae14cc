"""Overview: what the period cost, what share of it worked, and where the rest went."""

from apps.console.pages.overview.values import Notice, OverviewPage, TeamRow, TeamTable
from apps.console.pages.overview.views import days_csv, overview, teams_csv

__all__ = [
    "Notice",
    "OverviewPage",
    "TeamRow",
    "TeamTable",
    "days_csv",
    "overview",
    "teams_csv",
]
