"""Show what could be moved, and look for it where nobody looked this week."""

from argparse import ArgumentParser
from dataclasses import asdict
from datetime import date, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import has_organisation, organisation
from apps.economics.refusal import Refusal
from apps.placement.actions import detect_moves
from apps.placement.queries.fleet_moves import (
    MoveDetectionRunFact,
    OpenFleetMove,
    move_detection_run,
    move_detection_runs,
    moves_of_week,
)
from apps.placement.queries.moves.work import first_day_of_week, move_week
from apps.show.json_text import json_text
from apps.show.money import rounded_amount


class Command(BaseCommand):
    """`manage.py fleet_moves [--week 2026-W30] --json`: a week's proposals; made once, then as they were kept."""

    help = "Show the fleet moves of a week (docs/guides/fleet-moves.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add arguments for the week, and how to print it."""
        parser.add_argument("--week", default="", help="2026-W30, or a day of it; this week")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Look where the week has no look yet, and print it."""
        if not has_organisation():
            raise CommandError("there is no organisation yet")
        at = timezone.now()
        week = _parse_week(options["week"]) if options["week"] else move_week(at)
        if week > move_week(at):
            raise CommandError(f"the week of {week} has not begun")
        look_fact = move_detection_run(week) or _detect_week(week, at)
        moves = moves_of_week(week)
        if options["json"]:
            fields = asdict(look_fact) | {"moves": [asdict(move) for move in moves]}
            self.stdout.write(json_text(fields))
        else:
            self._print_tables(look_fact, moves)

    def _print_tables(
        self, look_fact: MoveDetectionRunFact, moves: tuple[OpenFleetMove, ...]
    ) -> None:
        currency = organisation().currency
        counted = rounded_amount(look_fact.counted_micros, currency)
        self.stdout.write(
            f"{len(moves)} moves of the week of {look_fact.week}, from {look_fact.weeks} weeks; {counted} a month counted"
        )
        for move in moves:
            ends = (move.saving.low, move.saving.high)
            low, high = (rounded_amount(end, currency) for end in ends)
            mark = "" if move.is_counted else " (not counted)"
            self.stdout.write(
                f"{move.kind:13} {low} to {high} a month{mark}: {move.subject}, {move.source} to {move.target};"
                f" disruption {move.disruption}, confidence {move.confidence}"
            )
        for kind in look_fact.kinds:
            self.stdout.write(f"{kind['kind']}: {kind['seen']} seen, {kind['proposed']} proposed")
            for reason in kind["reasons"]:
                self.stdout.write(f"  {reason['count']:>5} {reason['why']}")


def _detect_week(week: date, at: datetime) -> MoveDetectionRunFact:
    try:
        detect_moves(week=week, at=at)
    except Refusal as refused:
        raise CommandError(refused.message) from refused
    return move_detection_runs()[0]


def _parse_week(text: str) -> date:
    """The first day, in the organisation's weeks, of the week that `text` names."""
    try:
        if "-W" in text:
            year, number = text.split("-W")
            day = date.fromisocalendar(int(year), int(number), 1)
        else:
            day = date.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"{text!r} is no week such as 2026-W30, and no day") from error
    return first_day_of_week(day)
