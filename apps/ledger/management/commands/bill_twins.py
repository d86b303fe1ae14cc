"""Bills that may be the same money: which of each two counts."""

import json
from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries.people import person_of_address
from apps.economics.refusal import Refusal
from apps.ledger.actions import bills
from apps.ledger.actions.bill_twins import TWIN_CHOICES, TwinDecided, decide_twin, notice_twins
from apps.ledger.queries.bills.deliveries import BillFact
from apps.ledger.queries.bills.twins import TwinFact, open_twins

REFUSALS = (TwinDecided, bills.DeliveryNotNewest, bills.ReasonMissing, ObjectDoesNotExist, Refusal)


class Command(BaseCommand):
    """`manage.py bill_twins`; `manage.py bill_twins 3 --count new --by fay@example.org --reason "…"`."""

    help = "List bills that may be the same money, or say which of two counts."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which pair, and what of it counts."""
        parser.add_argument("twin", type=int, nargs="?", metavar="ID", help="as the list has it")
        parser.add_argument("--count", choices=TWIN_CHOICES, help="which counts from now on")
        parser.add_argument("--by", default="", metavar="EMAIL", help="who says so")
        parser.add_argument("--reason", default="", help="kept with the pair")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """List them, or decide."""
        if options["twin"] is None:
            notice_twins(at=timezone.now())
            twins = open_twins()
            print(
                json.dumps([_figures(open_twin) for open_twin in twins])
                if options["json"]
                else _list(twins)
            )
            return
        if options["count"] is None:
            raise CommandError("--count: say which counts: new, old or both")
        person_id = person_of_address(options["by"])
        if person_id is None:
            raise CommandError(f"--by: nobody here has the address {options['by']!r}")
        try:
            decide_twin(
                twin_id=options["twin"],
                choice=options["count"],
                person_id=person_id,
                reason=options["reason"],
                at=timezone.now(),
            )
        except REFUSALS as refused:
            raise CommandError(str(refused)) from refused
        print(f"of pair {options['twin']} {options['count']} counts from now on")


def _figures(twin: TwinFact) -> dict[str, object]:
    return {
        "id": twin.id,
        "why": twin.why,
        "new": _bill_words(twin.bill),
        "old": _bill_words(twin.other),
        "import": twin.delivery_id,
        "both_count": twin.both_count,
        "new_billed": _amount(twin.new_billed),
        "old_billed": _amount(twin.other.sums.billed),
        "currency": twin.bill.currency,
    }


def _amount(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount.normalize():f}"


def _bill_words(bill: BillFact) -> str:
    return f"{bill.issuer} {bill.account}, {bill.starts_at:%Y-%m-%d} to {bill.ends_at:%Y-%m-%d}"


def _list(twins: list[TwinFact]) -> str:
    if not twins:
        return "No bills that may be the same money wait for somebody."
    lines = []
    for twin in twins:
        figures = _figures(twin)
        import_note = f" (import {twin.delivery_id}, held)" if twin.delivery_id else ""
        lines += [
            f"{twin.id}: {twin.why}{'; both count: their month is closed' if twin.both_count else ''}",
            f"  new: {figures['new']}{import_note}: {figures['new_billed']} {figures['currency']} billed",
            f"  old: {figures['old']}: {figures['old_billed']} {figures['currency']} billed",
        ]
    return "\n".join(lines)
