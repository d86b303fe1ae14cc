"""A rate of exchange, and the bills and hours that it converts."""

from datetime import datetime

from django.db import transaction

from apps.accounts import queries as accounts
from apps.economics.hours import first_hour
from apps.ledger.actions.calls import mark_calls
from apps.ledger.actions.reconcile import reconcile_again
from apps.ledger.models import Bill
from apps.ledger.queries.api_calls import hours_of_calls
from apps.logs.changes import answered, logged_change
from apps.pricing.actions import NewExchangeRate, mark_converted, state_exchange_rate


@logged_change(count=answered)
@transaction.atomic
def state_rate(*, rate: NewExchangeRate, at: datetime) -> int:
    """Keep a month's rate of exchange; how many bills are converted anew by it.

    Those of later months too: until theirs is stated they go by the last one that is. Hours in
    which rates, shared costs or commitments of the currency hold are charged again, and calls to
    model APIs priced again; those of closed months wait there. Refuses ExchangeRateNotUnderstood.
    """
    month = rate.month.replace(day=1)
    if not state_exchange_rate(rate=rate, at=at):
        return 0
    mark_converted(rate=rate, at=at)
    since = first_hour(month, accounts.organisation().zone)
    mark_calls(hours=hours_of_calls(since, None))
    bills = Bill.objects.filter(currency=rate.from_currency, ends_at__gt=since)
    return reconcile_again(bills=bills, at=at)
