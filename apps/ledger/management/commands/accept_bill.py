"""Accept a bill import without the rows that could not be read."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries.people import person_of_address
from apps.ledger.actions import bills
from apps.ledger.actions.bill_acceptance import accept_unread_rows

REFUSALS = (
    bills.DeliveryNotNewest,
    bills.NothingToAccept,
    bills.ReasonMissing,
    ObjectDoesNotExist,
)


class Command(BaseCommand):
    """`manage.py accept_bill 7 --by fay@example.org --reason "two rows of nothing"`."""

    help = "Accept a bill import with rows that could not be read; its months may be closed then."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which delivery, who says so, and why."""
        parser.add_argument(
            "delivery", type=int, metavar="IMPORT", help="its id, as import_focus prints it"
        )
        parser.add_argument("--by", required=True, metavar="EMAIL", help="who accepts it")
        parser.add_argument("--reason", required=True, help="kept with the bill import")

    def handle(self, *args: Any, **options: Any) -> None:
        """Keep it; a delivery that was held takes its place."""
        person_id = person_of_address(options["by"])
        if person_id is None:
            raise CommandError(f"nobody here has the address {options['by']}")
        try:
            accept_unread_rows(
                import_id=options["delivery"],
                person_id=person_id,
                reason=options["reason"],
                at=timezone.now(),
            )
        except REFUSALS as refused:
            raise CommandError(str(refused)) from refused
        print(f"bill import {options['delivery']} is accepted as it is")
