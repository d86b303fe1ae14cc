"""Forecast a series, or make today's forecast of all of them."""

import json
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import organisation
from apps.economics.forecast.mixing import MOST_HORIZON
from apps.economics.forecast.names import QUANTILE_LEVELS
from apps.economics.hours import HOUR
from apps.economics.refusal import Refusal
from apps.economics.typed import parse_moment
from apps.planning import actions
from apps.planning.queries.history import SeriesHistory, histories
from apps.planning.queries.series import series_name, series_named, unit_of
from apps.planning.solvers.forecasting import forecast_fields


class Command(BaseCommand):
    """`manage.py forecast --series NAME --horizon 24 --json`; without a series it makes and keeps all."""

    help = "Forecast a series and print it, or make and keep today's forecast of every series."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which series, how far, and as of when."""
        parser.add_argument("--series", metavar="NAME", help="as gpu_hours:pool=h100; none: all")
        parser.add_argument(
            "--horizon", type=int, default=MOST_HORIZON, help="hours ahead, up to 336 (336)"
        )
        parser.add_argument(
            "--at", type=parse_moment, metavar="TIME", help="from what is known of before (now)"
        )
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """With a series print its forecast and keep nothing; without one make those that are due."""
        horizon, at = options["horizon"], options["at"] or timezone.now()
        if not 1 <= horizon <= MOST_HORIZON:
            raise CommandError(f"--horizon is from 1 to {MOST_HORIZON} hours")
        if not options["series"]:
            if options["at"] is not None or horizon != MOST_HORIZON:
                raise CommandError("--horizon and --at are of one --series")
            made = actions.make_forecasts(maker=forecast_fields, at=timezone.now())
            self.stdout.write(json.dumps({"made": made}) if options["json"] else f"{made} made.")
            return
        try:
            history = history_named(options["series"], at)
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        fields = serialize_forecast(history, forecast_fields(history.values, horizon))
        if options["json"]:
            self.stdout.write(json.dumps(fields))
        else:
            self._print_table(fields)

    def _print_table(self, fields: dict[str, Any]) -> None:
        self.stdout.write(
            f"{fields['series']} in {fields['unit']}, from {fields['observed_hours']:,} known hours"
        )
        if fields["refusal"]:
            self.stdout.write(f"Too little history: {fields['refusal']}. The last value stands in.")
        for scores in fields["backtests"]:
            self.stdout.write(
                f"{scores['horizon']} hours ahead, {scores['origins']} forecasts of the past: MASE"
                f" {scores['mase']['runrate']}, {scores['coverage_80']} inside the 80 % interval"
            )
        for point in fields["points"]:
            ends = f"{point['q10']:.6g} … {point['q90']:.6g}" if point["q10"] is not None else ""
            self.stdout.write(f"{point['hour']}  {point['value']:12.6g}  {ends}")


def history_named(name: str, at: datetime) -> SeriesHistory:
    """The hours of a series that are known at `at`. Refuses a Refusal where there is none."""
    series, known = series_named(name), histories(at)
    if series not in known:
        there = ", ".join(map(series_name, known)) or "none yet"
        raise Refusal("series", f"no hour of {name} is known; there are: {there}")
    return known[series]


def serialize_forecast(history: SeriesHistory, fields: dict[str, Any]) -> dict[str, Any]:
    """A forecast as JSON has it: an object for each hour, with a quantile for each level; null: no interval."""
    levels = [f"q{round(level * 100)}" for level in QUANTILE_LEVELS]
    points = [
        {
            "hour": (history.ends_at + lead * HOUR).isoformat(),
            "value": value,
            **dict.fromkeys(levels),
            **{name: level[lead] for name, level in zip(levels, fields["quantiles"], strict=False)},
        }
        for lead, value in enumerate(fields["points"])
    ]
    coverage = next((scores["coverage_80"] for scores in fields["backtests"]), None)
    return {
        "series": series_name(history.series),
        "unit": unit_of(history.series.measure, organisation().currency),
        "starts_at": history.ends_at.isoformat(),
        "history_from": history.starts_at.isoformat(),
        "observed_hours": history.observed,
        "imported_hours": history.imported,
        "left_out_hours": history.left_out,
        "queue": history.queue,
        "digest": history.digest,
        "coverage_80": coverage,
        **{name: fields[name] for name in ("horizon", "method", "refusal", "weights", "backtests")},
        "points": points,
    }
