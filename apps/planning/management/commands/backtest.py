"""How far to trust Runrate's forecasts on a figure's own history."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.economics.forecast.backtest import ForecastScores, NothingToForecast, backtest
from apps.economics.forecast.mixing import MOST_HORIZON
from apps.economics.refusal import Refusal
from apps.economics.typed import parse_moment
from apps.planning.providers.series_file import read_series
from apps.planning.solvers.forecasting import serialize_scores


class Command(BaseCommand):
    """`manage.py backtest FILE --time COLUMN --value COLUMN --from TIME`: reads a file, changes nothing."""

    help = "Forecast a CSV's history day by day as it was known then, and score it; docs/guides/forecast.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The file, its two columns, how far ahead, and from when on."""
        parser.add_argument("file", metavar="FILE", type=Path, help="CSV, plain, gzip or zip")
        parser.add_argument(
            "--time", required=True, metavar="COLUMN", help="ISO 8601, Unix seconds or milliseconds"
        )
        parser.add_argument("--value", required=True, metavar="COLUMN", help="empty: not observed")
        parser.add_argument("--horizon", type=int, default=24, help="hours ahead, up to 336 (24)")
        parser.add_argument(
            "--from",
            dest="starts_at",
            type=parse_moment,
            required=True,
            metavar="TIME",
            help="the first forecast; then one every 24 hours",
        )
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Score, and print it."""
        horizon = options["horizon"]
        if not 1 <= horizon <= MOST_HORIZON:
            raise CommandError(f"--horizon is from 1 to {MOST_HORIZON} hours")
        try:
            series = read_series(options["file"], time=options["time"], value=options["value"])
            scores = backtest(series.values, series.position_of(options["starts_at"]), horizon)
        except NothingToForecast as refusal:
            last = series.hour_at(len(series.values))
            raise CommandError(
                f"{refusal} after {options['starts_at']:%Y-%m-%d %H:%M} UTC: the file ends at {last:%Y-%m-%d %H:%M} UTC"
            ) from refusal
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        if options["json"]:
            self.stdout.write(json.dumps(serialize_scores(scores)))
        else:
            self._print_table(scores, horizon)

    def _print_table(self, scores: ForecastScores, horizon: int) -> None:
        figures = serialize_scores(scores)
        self.stdout.write(f"{scores.origins} forecasts of {horizon} hours, one a day.")
        self.stdout.write(f"{'method':24} MASE (1 is as good as the same hour of the day before)")
        for method, score in figures["mase"].items():
            self.stdout.write(f"{method:24} {'unknown' if score is None else score}")
        for name in ("coverage_80", "wql"):
            shown = figures[name]
            self.stdout.write(f"{name:24} {'unknown' if shown is None else shown}")
