"""Load a table of prices."""

import csv
import io
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.files.lines import FileUnreadable
from apps.files.unpacking import read_small_text
from apps.fleet.queries import pools
from apps.pricing import actions
from apps.pricing.actions.price_table import REVIEWED, ColumnsUnknown, read_price_table
from apps.pricing.management.loaded import report_loaded
from apps.pricing.management.people import BY, person_named


class Command(BaseCommand):
    """`manage.py load_price_table`: safe to run again, every rejected row told."""

    help = "Load prices from a CSV file; without one, the reviewed list prices that come along."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add arguments for the file, who loads it, and how to print the answer."""
        parser.add_argument("--file", type=Path, default=REVIEWED)
        parser.add_argument("--by", metavar="EMAIL", help=BY)
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Load it and print what came of it."""
        try:
            lines = io.StringIO(read_small_text(options["file"]), newline="")
            pool_ids = {pool.name: pool.id for pool in pools().values()}
            table = read_price_table(lines, pool_ids=pool_ids)
        except (ColumnsUnknown, FileUnreadable, OSError, csv.Error) as problem:
            raise CommandError(f"{options['file']}: {problem}") from problem
        by = person_named(options["by"])
        loaded = actions.load_price_table(rows=table.rows, at=timezone.now(), by=by)
        report_loaded(self, table, loaded, as_json=options["json"])
