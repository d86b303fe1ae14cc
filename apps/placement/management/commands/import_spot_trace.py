"""Keep what was seen of spot in a zone, as evidence of how long it lasts."""

import json
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.economics.refusal import Refusal
from apps.economics.spot.evidence import interruption_rate, lifetimes_of_trace
from apps.economics.typed import parse_moment
from apps.placement import actions
from apps.placement.providers.spot_trace_file import read_spot_trace


class Command(BaseCommand):
    """`manage.py import_spot_trace FILE --region us-west-2 --json`: a series of that name is replaced."""

    help = "Import recorded spot availability of a zone; docs/guides/spot.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The file, and what it is of."""
        parser.add_argument(
            "file", metavar="FILE", type=Path, help="JSON or CSV, plain, gzip or zip"
        )
        parser.add_argument("--name", help="of the series (the file's name)")
        for name in ("provider", "region", "zone", "gpu-model", "instance-type"):
            parser.add_argument(f"--{name}", default="", help="where and what it is")
        parser.add_argument(
            "--starts-at", type=parse_moment, metavar="TIME", help="of its first look, where a JSON"
        )
        parser.add_argument("--source", help="who looked (the file's name)")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read all of it, keep it, and say what it has."""
        path = options["file"]
        names = ("provider", "region", "zone", "gpu_model", "instance_type")
        try:
            trace = read_spot_trace(path)
            if options["starts_at"] is not None:
                trace = replace(trace, starts=options["starts_at"].timestamp())
            name = options["name"] or trace.name
            actions.keep_spot_series(
                name=name,
                trace=trace,
                place=actions.SpotPlace(*(options[option] for option in names)),
                source=options["source"] or path.name,
                at=timezone.now(),
            )
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        rate = interruption_rate(lifetimes_of_trace(trace, trace.starts or 0.0))
        known_ticks = int(trace.known.sum())
        fields = {
            "series": name,
            "ticks": len(trace.counts),
            "tick_seconds": round(trace.tick * 3600, 6),
            "hours": round(trace.hours, 4),
            "unknown_hours": round((len(trace.counts) - known_ticks) * trace.tick, 4),
            "up_share": round(float(trace.is_up().sum()) / known_ticks, 6) if known_ticks else None,
            "interruptions": rate.interruptions,
            "hours_up": round(rate.exposure_hours, 4),
        }
        if options["json"]:
            self.stdout.write(json.dumps(fields))
        else:
            self.stdout.write(
                f"{name}: {fields['hours']:,} h, {fields['unknown_hours']:,} of them unknown; up"
                f" {fields['hours_up']:,} h and taken away {rate.interruptions} times"
            )
