"""Find how much GPU capacity to commit to."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.economics.portfolio.reading import DemandSource
from apps.economics.refusal import Refusal
from apps.planning.management.portfolio_words import answer_lines, bought_lines, gate_lines
from apps.planning.management.toml_file import scenario_document
from apps.planning.providers.series_file import read_series
from apps.planning.queries.history import histories
from apps.planning.queries.portfolio.demand import summed_hours
from apps.planning.queries.portfolio.inputs import (
    PortfolioInputs,
    measured_fields,
    portfolio_inputs,
    with_whole_gate,
)
from apps.planning.solvers.portfolio import solve_portfolio
from apps.show.json_text import json_text


class Command(BaseCommand):
    """`manage.py portfolio SCENARIO.toml --json`: the same file and history always have the same answer.

    With `--from-ledger` what the file leaves out is what the ledger knows; then there need be none.
    """

    help = "Find what to commit to, by a scenario in a file or from the ledger; docs/guides/portfolio.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add arguments for the scenario, and how to print its answer."""
        parser.add_argument(
            "scenario", type=Path, nargs="?", help="a TOML file (docs/guides/portfolio.md)"
        )
        parser.add_argument(
            "--from-ledger", action="store_true", help="ask from what the ledger knows"
        )
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Answer and print; what cannot be read is refused by key and value."""
        path, at = options["scenario"], timezone.now()
        if path is None and not options["from_ledger"]:
            raise CommandError("name a scenario's file, or ask with --from-ledger")
        document = scenario_document(path) if path else {}
        inputs: PortfolioInputs | None = None

        def hours_of(source: DemandSource) -> Sequence[float | None]:
            if source.file:
                folder = path.parent if path else Path()
                series = read_series(folder / source.file, time=source.time, value=source.value)
                return list(series.values)
            histories_by_series = inputs.known if inputs is not None else histories(at)
            return summed_hours(source.series, histories_by_series)

        try:
            if options["from_ledger"]:
                inputs = portfolio_inputs(document, at)
                document = inputs.document
            in_service = inputs.in_service if inputs is not None else {}
            request, answer, fields = solve_portfolio(
                document, hours_of, in_service, lambda done, of: None, settings.UNPROVEN_SHARE
            )
        except Refusal as refusal:
            raise CommandError(f"{path}: {refusal}" if path else str(refusal)) from refusal
        fields = with_whole_gate(fields, inputs)
        lines = [*answer_lines(request, answer), "", *gate_lines(fields)]
        attainable = fields.pop("attainable_costs")
        if inputs is not None:
            measured = measured_fields(inputs, attainable)
            fields |= measured
            lines += bought_lines(measured, fields["held_out"])
        self.stdout.write(json_text(fields) if options["json"] else "\n".join(lines))
