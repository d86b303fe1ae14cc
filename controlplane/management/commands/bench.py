"""Measure ingest and settling, on a database of its own."""

import importlib
import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """`manage.py bench ingest|settle`: figures as ratios within one run."""

    help = "Measure ingest or settling on a database of its own; see docs/bench.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to measure, and how to print it."""
        parser.add_argument("what", choices=["ingest", "settle"])
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")
        parser.add_argument("--full", action="store_true", help="the long form as well")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it and print what it found."""
        # The benches import load generators and psutil; only the one asked for is loaded.
        bench = importlib.import_module(f"bench.{options['what']}")
        figures = bench.run(full=options["full"])
        if options["json"]:
            print(json.dumps(figures))
            return
        for name, value in figures.items():
            sys.stdout.write(f"{name:32} {value}\n")
