"""Load spot prices."""

import csv
import io
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.files.lines import FileUnreadable
from apps.files.unpacking import read_small_text
from apps.pricing import actions
from apps.pricing.actions.price_table import ColumnsUnknown
from apps.pricing.management.loaded import report_loaded
from apps.pricing.management.spot_table import read_spot_table


class Command(BaseCommand):
    """`manage.py load_spot_prices points.csv`: points in any order, safe to load again."""

    help = (
        "Load spot prices from a CSV file: provider, region, instance_type or gpu_model, at, "
        "amount, currency; each holds until the next."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add arguments for the file, and how to print the answer."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Load it and print what came of it."""
        try:
            lines = io.StringIO(read_small_text(options["file"]), newline="")
            table = read_spot_table(lines)
        except (ColumnsUnknown, FileUnreadable, OSError, csv.Error) as problem:
            raise CommandError(f"{options['file']}: {problem}") from problem
        loaded = actions.record_spot_prices(rows=table.rows, at=timezone.now())
        report_loaded(self, table, loaded, as_json=options["json"])
