"""Compare serving a model oneself with buying it from an API."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import organisation
from apps.economics.crossover.answer import answer_question
from apps.economics.crossover.measured import MeasuredService
from apps.economics.crossover.reading import question_of
from apps.economics.refusal import Refusal
from apps.ledger.queries import Window, calendar_of, window_of
from apps.planning.management.crossover_words import (
    answer_fields,
    answer_lines,
    measured_fields,
    measured_lines,
)
from apps.planning.management.toml_file import scenario_document
from apps.planning.queries.service_hours import service_measured


class Command(BaseCommand):
    """`manage.py crossover SCENARIO.toml --json`: the same file always has the same answer.

    With `--service` what the file leaves out is what the ledger measured of that service.
    """

    help = "Compare serving a model yourself with buying it from an API, by a scenario in a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which scenario, and whose measurements."""
        parser.add_argument(
            "scenario", type=Path, nargs="?", help="a TOML file (docs/crossover.md)"
        )
        parser.add_argument("--service", help="fill demand and fleet in from this service")
        parser.add_argument("--window", default="28d", help="28d, 2026-10, start/end: of --service")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Answer and print; what cannot be read is refused by key and value."""
        path, service = options["scenario"], options["service"]
        if path is None and not service:
            raise CommandError("name a scenario's file, or a service with --service")
        document = scenario_document(path) if path else {}
        fields: dict[str, Any] = {}
        lines: list[str] = []
        try:
            if service:
                at = timezone.now()
                window = chosen_window(options["window"], at)
                measured = service_measured(service, window)
                fields = {"measured": measured_fields(service, window, measured)}
                lines = [*measured_lines(service, window, measured, organisation().currency)]
                document = merged_documents(service_document(service, measured, at), document)
            if "api" in document or not service:
                question = question_of(document)
                chance = Random(question.seed)  # noqa: S311 - draws to be repeated, not a secret
                answer = answer_question(question, chance.random)
                fields |= answer_fields(question, answer)
                lines += answer_lines(question, answer)
        except Refusal as refusal:
            raise CommandError(f"{path}: {refusal}" if path else str(refusal)) from refusal
        self.stdout.write(json.dumps(fields, default=str) if options["json"] else "\n".join(lines))


def chosen_window(text: str, at: datetime) -> Window:
    """The days that are meant, in the organisation's calendar. Refuses a Refusal."""
    chosen = organisation()
    return window_of(text, calendar_of(chosen.zone, chosen.week_starts_on, at))


def service_document(name: str, measured: MeasuredService, at: datetime) -> dict[str, Any]:
    """A scenario of what was measured, on today's prices, in the ledger's currency."""
    chosen = organisation()
    about = {"name": name, "on": at.date(), "currency": chosen.currency}
    return about | measured.document


def merged_documents(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of both; where both say something, `above` holds. Lists of tables go by place."""
    merged = dict(below)
    for key, value in above.items():
        merged[key] = _merged_values(merged.get(key), value)
    return merged


def _merged_values(below: Any, above: Any) -> Any:
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        return merged_documents(below, above)
    has_tables = isinstance(above, list) and all(isinstance(row, Mapping) for row in above)
    if not isinstance(below, list) or not has_tables:
        return above
    both = [_merged_values(kept, row) for kept, row in zip(below, above, strict=False)]
    return [*both, *below[len(both) :], *above[len(both) :]]
