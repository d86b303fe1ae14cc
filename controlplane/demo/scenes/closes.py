"""Months that were closed, and a fact that came after."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from apps.accounts.queries import person_of_address
from apps.economics.ownership import Rule
from apps.ledger.actions.close import CloseRequest, close_month, post_corrections
from apps.ledger.queries.closes.checklist import checklist
from apps.ledger.queries.closes.months import closes
from apps.workloads.actions.rules import add_rule
from apps.workloads.actions.workloads import add_workload
from apps.workloads.queries import RuleFact
from controlplane.demo.company import Company
from controlplane.demo.database import SIGN_IN


def close_months(company: Company) -> None:
    """Finance closes every month that is over and final, and waives what stays unknown."""
    finance = person_of_address(SIGN_IN)
    for month in _months_over(company):
        items = [item for item in checklist(month) if item.count]
        if any(item.is_blocking for item in items):
            # In its first days the last month has hours that are provisional.
            continue
        open_items = {item.code for item in items}
        note = "Closed with the cloud's bill; what stays unknown is listed."
        close_month(request=CloseRequest(month, finance, open_items, note), at=company.week.at)


def own_late(company: Company) -> None:
    """Somebody says late whose speech recognition was in a month that is closed: it is corrected."""
    months = [close.month for close in closes() if close.reopened_at is None]
    if not months:
        return
    last = max(months)
    team_id = company.team("Search")
    rule = Rule(
        priority=1,
        team_id=team_id,
        workload_id=add_workload(name="spoken-index", team_id=team_id, kind="batch"),
        cluster_id=company.cluster("harbor"),
        namespace="speech",
    )
    since, until = (
        datetime(month.year, month.month, 1, tzinfo=UTC) for month in (last, company.week.at.date())
    )
    add_rule(rule=RuleFact(rule, since, until), at=company.week.at)
    post_corrections(month=last, at=company.week.at)


def _months_over(company: Company) -> Iterator[date]:
    """The first day of each month that has ended, of those that the demo has."""
    month = company.since.date().replace(day=1)
    while month < company.week.at.date().replace(day=1):
        yield month
        month = (month + timedelta(days=31)).replace(day=1)
