"""Cost that a job would have had on spot, replayed on recorded availability."""

import json
from argparse import ArgumentParser
from math import isfinite
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.economics.refusal import Refusal
from apps.economics.spot.job import SpotJob, refuse_impossible
from apps.economics.spot.report import ReplayQuestion, report_fields, spot_report
from apps.placement.management.replay_words import replay_lines
from apps.placement.providers.spot_trace_file import read_spot_trace


class Command(BaseCommand):
    """`manage.py replay_spot TRACE… --json`: reads files, changes nothing; each file is a zone, replayed alone, and several also together."""

    help = "Replay a job with a deadline on recorded spot availability; docs/guides/spot.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The traces, the job, and the starts."""
        parser.add_argument("traces", metavar="TRACE", nargs="+", type=Path, help="JSON or CSV")
        for name, help_text in (
            ("work-hours", "work that there is to do"),
            ("deadline-hours", "from the start to the deadline"),
            ("restart-hours", "from a start until work goes on"),
            ("on-demand", "price an hour on demand"),
            ("spot", "price an hour on spot"),
        ):
            parser.add_argument(f"--{name}", type=float, required=True, help=help_text)
        parser.add_argument(
            "--checkpoint-hours", type=float, default=0.0, help="work between checkpoints (0)"
        )
        parser.add_argument(
            "--egress-cost",
            type=float,
            default=0.0,
            help="of a move of its data to another zone (0)",
        )
        parser.add_argument("--nodes", type=int, default=1, help="nodes that it needs at once (1)")
        parser.add_argument("--every-hours", type=float, default=12.0, help="between starts (12)")
        parser.add_argument(
            "--shift-hours", type=float, default=0.0, help="begin so much later (0)"
        )
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Replay and print; what cannot be is refused by file and field."""
        try:
            question = _question_of(options)
            traces = [read_spot_trace(path) for path in options["traces"]]
            report = spot_report(question, traces, self._say_progress)
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        if options["json"]:
            self.stdout.write(json.dumps(report_fields(report)))
        else:
            self.stdout.write("\n".join(replay_lines(report)))

    def _say_progress(self, progress: str) -> None:
        self.stderr.write(progress)


def _question_of(options: dict[str, Any]) -> ReplayQuestion:
    for name, value in options.items():
        if isinstance(value, float) and not isfinite(value):
            raise Refusal(name, f"{value} is no number of hours or price")
    job = SpotJob(
        work=options["work_hours"],
        deadline=options["deadline_hours"],
        restart=options["restart_hours"],
        on_demand=options["on_demand"],
        spot=options["spot"],
        checkpoint=options["checkpoint_hours"],
        egress=options["egress_cost"],
    )
    refuse_impossible(job)
    for name, least in (("nodes", 1), ("shift_hours", 0), ("every_hours", 0.01)):
        if options[name] < least:
            raise Refusal(name, f"{options[name]:g} is below {least:g}")
    return ReplayQuestion(job, options["nodes"], options["every_hours"], options["shift_hours"])
