"""The bills of each month."""

from datetime import date

from django.db.models import QuerySet

from apps.accounts import queries as accounts
from apps.ledger.models import Bill
from apps.ledger.queries.calendar import main_month
from apps.ledger.queries.closed_months import closed_months


def bills_of_month(month: date) -> list[int]:
    """The bills whose period is of a month, as its middle is, by id."""
    zone = accounts.organisation().zone
    periods = Bill.objects.order_by("id").values_list("id", "starts_at", "ends_at")
    return [
        bill_id
        for bill_id, starts_at, ends_at in periods
        if main_month(starts_at, ends_at, zone) == month
    ]


def open_bills(bills: QuerySet[Bill]) -> list[int]:
    """Those of these bills that lie in open months."""
    zone, closed = accounts.organisation().zone, closed_months()
    return [
        bill.id for bill in bills if main_month(bill.starts_at, bill.ends_at, zone) not in closed
    ]
