"""A rate of exchange, and the bills that it converts."""

from datetime import datetime

from django.db import transaction

from apps.accounts import queries as accounts
from apps.ledger.actions.closed import refuse_closed_month
from apps.ledger.models import Bill
from apps.ledger.queries.calendar import first_hour
from apps.ledger.queries.closes.months import closed_months
from apps.pricing.actions import NewExchangeRate, state_exchange_rate


@transaction.atomic
def state_rate(*, rate: NewExchangeRate, at: datetime) -> int:
    """Keep a month's rate of exchange; how many bills are converted anew by it.

    Those of later months too: until theirs is stated they go by the last one that is. Refuses
    ExchangeRateNotUnderstood, and MonthAlreadyClosed.
    """
    month = rate.month.replace(day=1)
    refuse_closed_month(months={month}, what="a rate of exchange")
    if not state_exchange_rate(rate=rate, at=at):
        return 0
    since = first_hour(month, accounts.organisation().zone)
    bills = Bill.objects.filter(currency=rate.from_currency, ends_at__gt=since)
    open_bills = [bill.id for bill in bills if not _is_closed(bill)]
    Bill.objects.filter(id__in=open_bills).update(changed_at=at, reconciled_at=None)
    return len(open_bills)


def _is_closed(bill: Bill) -> bool:
    return bill.starts_at.date().replace(day=1) in closed_months()
