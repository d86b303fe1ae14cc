"""Say which record of a vendor's model API goes to the ledger: its calls, or its bill."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.actions.audit import changes_by
from apps.economics.vendor_names import vendor_named
from apps.ledger.actions.api_prices import book_vendor
from apps.pricing.actions.api_prices import BOOKED_BY, ApiPriceNotUnderstood


class Command(BaseCommand):
    """`manage.py book_api_vendor openai bill`: one dollar is never booked by both."""

    help = "Book a vendor of model APIs by its calls (as all are at first), or by its bill."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The vendor by any of its names, and which record."""
        parser.add_argument("vendor")
        parser.add_argument("booked_by", choices=BOOKED_BY)

    def handle(self, *args: Any, **options: Any) -> None:
        """Keep it; past hours are charged again."""
        vendor = vendor_named(options["vendor"])
        try:
            with changes_by(command="book_api_vendor"):
                book_vendor(vendor=vendor, booked_by=options["booked_by"])
        except ApiPriceNotUnderstood as refusal:
            raise CommandError(str(refusal)) from refusal
        print(f"{vendor} is booked by its {options['booked_by']}")
