"""Take in a provider's bill."""

import json
from argparse import ArgumentParser
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.economics.focus.columns import NotABill
from apps.ledger.actions.bill_taking import take_bill
from apps.ledger.actions.bills import DeliveryRefused, Taken
from apps.ledger.providers.bill_file import BillBreaksOff, open_bill
from apps.ledger.queries.bills.twins import open_twins


class Command(BaseCommand):
    """`manage.py import_focus FILE`: safe to run again; a corrected file replaces its period."""

    help = "Import a bill: FOCUS 1.0 to 1.4 or an AWS Cost and Usage Report (CSV, gzip, Parquet)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The file, and whether it is one of several."""
        parser.add_argument("file", metavar="FILE")
        parser.add_argument(
            "--add",
            action="store_true",
            help="one of several files of its period: replace nothing that was delivered before",
        )
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the file and print what came of it."""
        try:
            with open_bill(Path(options["file"])) as file:
                taken = take_bill(file=file, is_addition=options["add"], clock=timezone.now)
        except (NotABill, BillBreaksOff, DeliveryRefused, OSError) as refused:
            raise CommandError(str(refused)) from refused
        figures = _taken_figures(taken)
        if options["json"]:
            print(json.dumps(figures))
        else:
            for name, value in figures.items():
                print(f"{name:12} {value}")
        if taken.is_held:
            is_twin = any(open_twin.delivery_id == taken.import_id for open_twin in open_twins())
            command = "bill_twins" if is_twin else "accept_bill"
            raise CommandError(f"nothing of it counts yet: {taken.flags[-1]} ({command})")


def _taken_figures(taken: Taken) -> dict[str, object]:
    """Sums are of one currency, or by currency where a file has several."""
    totals = taken.totals
    if len(totals) == 1:
        (only,) = totals.values()
        sums: dict[str, object] = dict(only)
    else:
        names = ("billed", "effective", "list", "contracted")
        sums = {name: {total: totals[total][name] for total in totals} for name in names}
    return {
        "rows": taken.rows,
        "imported": taken.imported,
        "unchanged": taken.unchanged,
        "replaced": taken.replaced,
        "rejected": taken.rejected,
        "held": taken.is_held,
        **{name: sums.get(name, str(Decimal(0))) for name in ("billed", "effective", "list")},
        "contracted": sums.get("contracted", "0"),
        "currencies": sorted(totals),
        "flags": list(taken.flags),
        "import": taken.import_id,
    }
