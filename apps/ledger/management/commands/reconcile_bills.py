"""Reconcile bills with node-hours, now."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.ledger.actions.reconcile import reconcile_waiting, wake_open_bills
from apps.ledger.queries.bills.deliveries import bills_failed
from apps.marks.actions import expand_ranges


class Command(BaseCommand):
    """`manage.py reconcile_bills`: the worker does it by itself, within a minute."""

    help = "Reconcile the bills that changed; --all: every bill of an open month."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which bills."""
        parser.add_argument("--all", action="store_true", help="every bill of an open month")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Reconcile them and print what changed; at the end tell which could not be."""
        if options["all"]:
            wake_open_bills(at=timezone.now())
        while expand_ranges():
            pass
        done: list[dict[str, object]] = [asdict(bill) for bill in reconcile_waiting(timezone.now)]
        refusals = []
        for bill_id, failure in bills_failed():
            done.append({"bill_id": bill_id, "refused": failure})
            refusals.append(f"bill {bill_id}: {failure}")
        done.sort(key=lambda bill: str(bill["bill_id"]).zfill(20))
        if options["json"]:
            print(json.dumps({"bills": done}))
        else:
            for bill_result in done:
                print(" ".join(f"{name}={value}" for name, value in bill_result.items()))
        if refusals:
            raise CommandError("; ".join(refusals))
