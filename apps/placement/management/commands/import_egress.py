"""Enter what it costs to move data between regions."""

import csv
import io
from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.economics.refusal import Refusal
from apps.files.lines import FileUnreadable
from apps.files.unpacking import read_small_text
from apps.placement.actions import set_egress_prices

COLUMNS = ("src", "dest", "cost")


class Command(BaseCommand):
    """`manage.py import_egress FILE.csv --source WORDS`: columns src, dest (provider:region) and cost (USD per GB)."""

    help = "Enter prices of egress between regions (docs/guides/placement.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add arguments for the file, and who says so."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--source", required=True, help="where the figures are from")

    def handle(self, *args: Any, **options: Any) -> None:
        """Enter all rows or none."""
        try:
            prices = _read_prices(options["file"])
            changed = set_egress_prices(prices=prices, source=options["source"], at=timezone.now())
        except (Refusal, OSError) as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(f"{len(prices)} prices of egress read, {changed} new or changed")


def _read_prices(path: Path) -> dict[tuple[str, str], Decimal]:
    try:
        reader = csv.DictReader(io.StringIO(read_small_text(path), newline=""))
        if set(COLUMNS) - set(reader.fieldnames or ()):
            raise CommandError(f"{path}: it needs the columns {', '.join(COLUMNS)}")
        return {(row["src"], row["dest"]): Decimal(row["cost"]) for row in reader}
    except (InvalidOperation, TypeError) as refused:
        raise CommandError(f"{path}, line {reader.line_num}: cost is a number") from refused
    except (FileUnreadable, csv.Error) as refused:
        raise CommandError(f"{path}: {refused}") from refused
