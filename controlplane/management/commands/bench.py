"""Measure ingest, settling, the pages and a browser on them, on a database of its own."""

import importlib
import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """`manage.py bench ingest|pages|settle|browser`; exits 1 where a page is over its target."""

    help = "Measure on a database of the bench's own; see docs/bench.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to measure, and how to print it."""
        parser.add_argument("what", choices=["ingest", "settle", "pages", "browser"])
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")
        parser.add_argument("--full", action="store_true", help="the long form as well")
        parser.add_argument("--scale", type=float, default=1.0, help="pages: 1 is 10,000 GPUs")
        parser.add_argument("--rounds", type=int, default=20, help="pages: requests of each page")
        parser.add_argument("--keep", action="store_true", help="pages: keep the filled database")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it and print what it found."""
        # The benches import load generators and psutil; only the one asked for is loaded.
        bench = importlib.import_module(f"bench.{options['what']}")
        only_pages = {name: options[name] for name in ("scale", "rounds", "keep")}
        figures = bench.run(
            full=options["full"], **only_pages if options["what"] == "pages" else {}
        )
        if options["json"]:
            print(json.dumps(figures))
        else:
            for name, value in figures.items():
                sys.stdout.write(f"{name:32} {value}\n")
        if figures.get("misses"):
            sys.exit("\n".join(figures["misses"]))
