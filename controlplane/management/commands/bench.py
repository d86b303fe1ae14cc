"""Measure ingest, settling and a fleet under faults, each on a database of its own."""

import importlib
import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """`manage.py bench ingest|settle|fleet`: figures as ratios within one run."""

    help = "Measure ingest, settling or a fleet on a database of its own; see docs/bench.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to measure, and how to print it."""
        parser.add_argument("what", choices=["ingest", "settle", "fleet"])
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")
        parser.add_argument("--full", action="store_true", help="the long form as well")
        parser.add_argument("--agents", type=int, default=1_000, help="of a fleet (1000)")
        parser.add_argument("--minutes", type=float, default=10.0, help="of a fleet (10)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it and print what it found; status 1 where a fleet lost or doubled a window."""
        # The benches import load generators and psutil; only the one asked for is loaded.
        bench = importlib.import_module(f"bench.{options['what']}")
        if options["what"] == "fleet":
            plan = bench.Plan(agents=options["agents"], minutes=options["minutes"])
            figures = bench.run(plan)
        else:
            figures = bench.run(full=options["full"])
        if options["json"]:
            print(json.dumps(figures))
        else:
            for name, value in figures.items():
                sys.stdout.write(f"{name:32} {value}\n")
        if options["what"] == "fleet" and not bench.is_exact(figures):
            sys.exit(1)
