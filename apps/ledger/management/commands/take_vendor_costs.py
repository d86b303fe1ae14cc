"""Take in a vendor's own report of what its model API cost, to compare it with the calls."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.economics.vendor_names import vendor_named
from apps.files.limits import LARGEST, BodyKind
from apps.files.lines import FileUnreadable
from apps.files.unpacking import read_small_file
from apps.ledger.actions.vendor_costs import (
    VendorCostsNotUnderstood,
    report_of,
    take_vendor_costs,
)


class Command(BaseCommand):
    """`manage.py take_vendor_costs openai costs.json`: its days take the place of those told before."""

    help = "Take OpenAI's /organization/costs or Anthropic's cost_report; nothing is booked."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The vendor, and the file as the vendor answered it."""
        parser.add_argument("vendor")
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        """Keep it and say how many rows it had."""
        try:
            report = report_of(read_small_file(options["file"], LARGEST[BodyKind.VENDOR_COSTS]))
            vendor = vendor_named(options["vendor"])
            rows = take_vendor_costs(vendor=vendor, report=report, at=timezone.now())
        except (OSError, FileUnreadable, VendorCostsNotUnderstood) as refusal:
            raise CommandError(str(refusal)) from refusal
        print(f"{rows} rows of {vendor} kept")
