"""Measure ingest, settling, the pages, a browser on them, calls, forecasts, commitments, reviews and a fleet under faults."""

import importlib
import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """`manage.py bench ingest|settle|backfill|explore|pages|browser|fleet|reconcile|bills|export|units|runs|usage|forecast|portfolio|quotes|budget_alerts|weekly_review|spend_anomalies|savings|savings_realised|backup`; exits 1 where a target is missed."""

    help = "Measure on a database of the bench's own; see docs/reference/bench.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to measure, and how to print it."""
        parser.add_argument(
            "what",
            choices=[
                "ingest",
                "settle",
                "backfill",
                "explore",
                "pages",
                "browser",
                "fleet",
                "reconcile",
                "bills",
                "export",
                "units",
                "runs",
                "usage",
                "forecast",
                "portfolio",
                "quotes",
                "budget_alerts",
                "weekly_review",
                "spend_anomalies",
                "savings",
                "savings_realised",
                "demo",
                "backup",
            ],
        )
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")
        parser.add_argument("--full", action="store_true", help="the long form as well")
        parser.add_argument("--scale", type=float, default=1.0, help="pages: 1 is 10,000 GPUs")
        parser.add_argument("--rounds", type=int, default=20, help="pages: requests of each page")
        parser.add_argument("--keep", action="store_true", help="pages: keep the filled database")
        parser.add_argument("--agents", type=int, default=1_000, help="fleet: how many (1000)")
        parser.add_argument(
            "--data", type=Path, help="forecast, portfolio, *_alerts, *_anomalies: public data"
        )
        parser.add_argument("--minutes", type=float, default=10.0, help="fleet: how long (10)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it and print what it found; status 1 where a page, or a window, is not as it should be."""
        # The benches import load generators and psutil; only the one asked for is loaded.
        bench = importlib.import_module(f"bench.{options['what']}")
        calibration = importlib.import_module("bench.calibration")
        before = calibration.calibrated_before()
        if options["what"] == "fleet":
            figures = bench.run(bench.Plan(agents=options["agents"], minutes=options["minutes"]))
        elif options["what"] == "pages":
            only_pages = {name: options[name] for name in ("scale", "rounds", "keep")}
            figures = bench.run(full=options["full"], **only_pages)
        elif options["what"] in {"forecast", "portfolio", "budget_alerts", "spend_anomalies"}:
            figures = bench.run(data=options["data"])
        else:
            figures = bench.run(full=options["full"])
        figures |= calibration.calibration(before)
        if options["json"]:
            print(json.dumps(figures))
        else:
            for name, value in figures.items():
                sys.stdout.write(f"{name:32} {value}\n")
        if figures.get("misses"):
            sys.exit("\n".join(figures["misses"]))
        if options["what"] == "fleet" and not bench.is_exact(figures):
            sys.exit(1)
