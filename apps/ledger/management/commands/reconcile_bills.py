"""Reconcile bills with node-hours, now."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.ledger.actions.closed import MonthAlreadyClosed
from apps.ledger.actions.reconcile import bills_due, note_failure, reconcile_bill
from apps.ledger.queries.bills.comparing import all_bills
from apps.ledger.queries.conversion import RateOfExchangeMissing


class Command(BaseCommand):
    """`manage.py reconcile_bills`: the worker does it by itself, within a minute."""

    help = "Reconcile the bills that changed; --all: every bill, as after nodes were renamed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which bills."""
        parser.add_argument("--all", action="store_true", help="every bill of an open month")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Reconcile them and print what changed; at the end tell which could not be."""
        done: list[dict[str, object]] = []
        refusals: list[str] = []
        for bill_id in all_bills() if options["all"] else bills_due():
            try:
                done.append(asdict(reconcile_bill(bill_id=bill_id, at=timezone.now())))
            except (RateOfExchangeMissing, MonthAlreadyClosed) as refused:
                done.append({"bill_id": bill_id, "refused": str(refused)})
                # Of every bill, those of closed months are not meant.
                if not (options["all"] and isinstance(refused, MonthAlreadyClosed)):
                    note_failure(bill_id=bill_id, failure=str(refused))
                    refusals.append(f"bill {bill_id}: {refused}")
        if options["json"]:
            print(json.dumps({"bills": done}))
        else:
            for each in done:
                print(" ".join(f"{name}={value}" for name, value in each.items()))
        if refusals:
            raise CommandError("; ".join(refusals))
