"""Months that were closed, and a fact that came after."""

from collections.abc import Iterator
from datetime import date, timedelta

from apps.accounts.queries import person_of_address
from apps.economics.ownership import Rule
from apps.ledger.actions.close import CloseAsked, close_month, post_corrections
from apps.ledger.queries.closes.checklist import checklist
from apps.workloads.actions.rules import add_rule
from apps.workloads.actions.workloads import add_workload
from apps.workloads.queries import RuleFact
from controlplane.demo.company import Company
from controlplane.demo.database import SIGN_IN


def close_months(company: Company) -> None:
    """Finance closes every month that is over, and waives what stays unknown."""
    finance = person_of_address(SIGN_IN)
    for month in _months_over(company):
        open_items = {item.code for item in checklist(month) if item.count and not item.is_blocking}
        note = "Closed with the cloud's bill; what stays unknown is listed."
        close_month(asked=CloseAsked(month, finance, open_items, note), at=company.week.at)


def own_late(company: Company) -> None:
    """Somebody says whose the account was that nobody owned: the closed month is corrected."""
    team_id = company.team("Data science")
    workload_id = add_workload(name="side-project", team_id=team_id, kind="training")
    rule = Rule(
        priority=60,
        team_id=team_id,
        workload_id=workload_id,
        cluster_id=company.cluster("atlas"),
        account="skunkworks",
    )
    # Until the last week: of that one nobody has said it yet.
    fact = RuleFact(rule, company.since, company.week.starts_at)
    add_rule(rule=fact, at=company.week.at)
    for month in _months_over(company):
        post_corrections(month=month, at=company.week.at)


def _months_over(company: Company) -> Iterator[date]:
    """The first day of each month that has ended, of those that the demo has."""
    month = company.since.date().replace(day=1)
    while month < company.week.at.date().replace(day=1):
        yield month
        month = (month + timedelta(days=31)).replace(day=1)
