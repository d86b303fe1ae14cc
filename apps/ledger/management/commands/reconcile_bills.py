"""Reconcile bills with node-hours, now."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from apps.ledger.actions.reconcile import open_bills, reconcile_again, reconcile_waiting
from apps.ledger.models import Bill
from apps.marks.actions import expand_ranges


class Command(BaseCommand):
    """`manage.py reconcile_bills`: the worker does it by itself, within a minute."""

    help = "Reconcile the bills that changed; --all: every bill of an open month."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which bills."""
        parser.add_argument("--all", action="store_true", help="every bill of an open month")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Reconcile them and print what changed; at the end tell which could not be."""
        if options["all"]:
            with transaction.atomic():
                opens = Bill.objects.filter(id__in=open_bills(Bill.objects.all()))
                reconcile_again(bills=opens, at=timezone.now())
        while expand_ranges():
            pass
        done: list[dict[str, object]] = [asdict(each) for each in reconcile_waiting(timezone.now)]
        left = Bill.objects.filter(reconciled_at=None).exclude(failure="").order_by("id")
        refusals = []
        for bill_id, failure in left.values_list("id", "failure"):
            done.append({"bill_id": bill_id, "refused": failure})
            refusals.append(f"bill {bill_id}: {failure}")
        done.sort(key=lambda each: str(each["bill_id"]).zfill(20))
        if options["json"]:
            print(json.dumps({"bills": done}))
        else:
            for each in done:
                print(" ".join(f"{name}={value}" for name, value in each.items()))
        if refusals:
            raise CommandError("; ".join(refusals))
