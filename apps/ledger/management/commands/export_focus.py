"""Write a month of the ledger as a FOCUS file."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.economics.focus.exported import COLUMNS
from apps.economics.focus.identities import money
from apps.economics.typed import parse_month
from apps.ledger.management.focus_file import FileDoesNotMatch, write_file

ENDINGS = (".csv", ".csv.gz", ".parquet")


class Command(BaseCommand):
    """`manage.py export_focus --month 2026-07 --version 1.4 --out july.parquet`: of all teams."""

    help = "Write a month as FOCUS 1.0, 1.2 or 1.4 (CSV, gzip or Parquet). See docs/guides/focus-export.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The month, the version and the file."""
        parser.add_argument("--month", required=True, type=parse_month, metavar="YYYY-MM")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        """Django's own --version gives way to that of FOCUS."""
        parser = super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)
        parser.add_argument("--version", choices=sorted(COLUMNS), default="1.4")
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file and print what is in it."""
        path: Path = options["out"]
        if not path.name.endswith(ENDINGS):
            raise CommandError(f"{path.name}: the name has to end in {', '.join(ENDINGS)}")
        try:
            written = write_file(options["month"], options["version"], path)
        except (FileDoesNotMatch, OSError) as refused:
            raise CommandError(str(refused)) from refused
        figures: dict[str, object] = {"rows": written.rows}
        figures |= {name: str(money(micros)) for name, micros in written.sums.items()}
        if options["json"]:
            print(json.dumps(figures))
            return
        for name, value in figures.items():
            print(f"{name:12} {value}")
