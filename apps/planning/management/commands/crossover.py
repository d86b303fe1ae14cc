"""Compare serving a model oneself with buying it from an API."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import organisation
from apps.economics.crossover.reading import question_of
from apps.economics.refusal import Refusal
from apps.planning.management.crossover_words import answer_lines, measured_lines
from apps.planning.management.toml_file import scenario_document
from apps.planning.queries.crossover_answers import answer_fields, compute_answer, measured_fields
from apps.planning.queries.crossover_inputs import (
    chosen_window,
    merged_documents,
    service_document,
)
from apps.planning.queries.service_hours import service_measured, service_named
from apps.show.json_text import json_text


class Command(BaseCommand):
    """`manage.py crossover SCENARIO.toml --json`: the same file always has the same answer.

    With `--service` what the file leaves out is what the ledger measured of that service.
    """

    help = "Compare serving a model yourself with buying it from an API, by a scenario in a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add arguments for the scenario, and whose measurements it takes."""
        parser.add_argument(
            "scenario", type=Path, nargs="?", help="a TOML file (docs/guides/crossover.md)"
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
                measured = service_measured(service_named(service).id, service, window)
                fields = {"measured": measured_fields(measured)}
                lines = [*measured_lines(measured, organisation().currency)]
                document = merged_documents(service_document(measured, at), document)
            if "api" in document or not service:
                question = question_of(document)
                answer = compute_answer(question)
                fields |= answer_fields(question, answer)
                lines += answer_lines(question, answer)
        except Refusal as refusal:
            raise CommandError(f"{path}: {refusal}" if path else str(refusal)) from refusal
        self.stdout.write(json_text(fields) if options["json"] else "\n".join(lines))
