"""Find how much GPU capacity to commit to."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.economics.forecast.scores import Floats
from apps.economics.portfolio.answer import answer_portfolio
from apps.economics.portfolio.costs import PortfolioCosts
from apps.economics.portfolio.question import PortfolioQuestion
from apps.economics.portfolio.reading import DemandSource, portfolio_request_of
from apps.economics.refusal import Refusal
from apps.planning.management.commands.forecast import history_named
from apps.planning.management.portfolio_words import answer_fields, answer_lines
from apps.planning.management.toml_file import scenario_document
from apps.planning.providers.series_file import read_series
from apps.planning.queries.series import GPU_HOURS, series_named
from apps.planning.solvers.commitment_mix import least_cost_mix


class Command(BaseCommand):
    """`manage.py portfolio SCENARIO.toml --json`: the same file and history always have the same answer."""

    help = "Find what to commit to, by a scenario in a file; docs/portfolio.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which scenario, and how to print its answer."""
        parser.add_argument("scenario", type=Path, help="a TOML file (docs/portfolio.md)")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Answer and print; what cannot be read is refused by key and value."""
        path = options["scenario"]
        document = scenario_document(path)
        try:
            request = portfolio_request_of(document)
            histories = list(_histories(request.sources, path, timezone.now()))
        except Refusal as refusal:
            raise CommandError(f"{path}: {refusal}") from refusal
        costs = PortfolioCosts(request.question(histories))
        mix = least_cost_mix(costs.question, costs)
        names = [family.name for family in request.empty.families]
        answer = answer_portfolio(
            costs,
            (mix.lots, mix.gap),
            dict(zip(names, histories, strict=True)),
            request.plan,
            _best_lots,
        )
        if options["json"]:
            self.stdout.write(json.dumps(answer_fields(request, answer), default=str))
        else:
            self.stdout.write("\n".join(answer_lines(request, answer)))


def _histories(sources: Sequence[DemandSource], scenario: Path, at: datetime) -> Iterator[Floats]:
    """Each family's known hours. Refuses a Refusal that names the family by its place."""
    for place, source in enumerate(sources):
        try:
            yield _history(source, scenario, at)
        except Refusal as refusal:
            raise Refusal(f"families[{place}].demand", str(refusal)) from refusal


def _history(source: DemandSource, scenario: Path, at: datetime) -> Floats:
    if source.file:
        found = read_series(scenario.parent / source.file, time=source.time, value=source.value)
        return found.values
    if source.series:
        if series_named(source.series).measure != GPU_HOURS:
            raise Refusal("series", f"{source.series!r} is not of {GPU_HOURS}")
        return np.array(history_named(source.series, at).values, dtype=np.float64)
    return np.array(source.hours)


def _best_lots(question: PortfolioQuestion, costs: PortfolioCosts) -> Sequence[int]:
    return least_cost_mix(question, costs).lots
