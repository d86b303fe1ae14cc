"""State what a month's money of another currency is worth."""

import json
from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import organisation
from apps.economics.typed import parse_month
from apps.ledger.actions.exchanging import state_rate
from apps.pricing.actions import ExchangeRateNotUnderstood, NewExchangeRate


class Command(BaseCommand):
    """`manage.py add_exchange_rate EUR 1.0834 --month 2026-07`: one rate per month and currency."""

    help = "State a month's rate of exchange into the organisation's currency."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The currency, what one unit of it is worth, and in which month."""
        parser.add_argument("currency", metavar="CODE")
        parser.add_argument("rate", metavar="RATE", help="of one unit, in our currency")
        parser.add_argument("--month", required=True, type=parse_month, metavar="YYYY-MM")
        parser.add_argument("--source", default="", help="where the figure comes from")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Keep it, and say how many bills it converts."""
        try:
            rate = NewExchangeRate(
                month=options["month"],
                from_currency=options["currency"].upper(),
                to_currency=organisation().currency,
                rate=Decimal(options["rate"]),
                source=options["source"],
            )
            bills = state_rate(rate=rate, at=timezone.now())
        except (InvalidOperation, ValueError) as refused:
            message = str(refused) if isinstance(refused, ExchangeRateNotUnderstood) else ""
            raise CommandError(message or "a rate such as 1.0834") from None
        if options["json"]:
            print(json.dumps({"bills": bills}))
        else:
            print(f"{bills} bills are converted by it.")
