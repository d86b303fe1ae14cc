"""Forecast a series, or make today's forecast of all of them."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from datetime import datetime
from math import inf
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import organisation
from apps.economics.forecast.daily import MOST_DAYS_AHEAD
from apps.economics.forecast.mixing import MOST_HORIZON
from apps.economics.forecast.names import QUANTILE_LEVELS
from apps.economics.hours import DAY_HOURS, HOUR
from apps.economics.refusal import Refusal
from apps.economics.typed import parse_moment
from apps.planning import actions
from apps.planning.actions.daily_forecasts import begun_with, daily_fields
from apps.planning.actions.forecasts import hourly_answer
from apps.planning.queries.days import DAY, daily_history
from apps.planning.queries.events import events_of
from apps.planning.queries.forecasts import (
    BY_DAY,
    BY_HOUR,
    clip_to_capacity,
    stored_reconciled_values,
)
from apps.planning.queries.history import SeriesHistory, histories
from apps.planning.queries.room import RoomAhead
from apps.planning.queries.series import series_name, series_named, unit_of
from apps.planning.solvers.daily_forecasting import daily_forecast_fields
from apps.planning.solvers.forecasting import forecast_fields
from apps.planning.solvers.reconciling import RECONCILERS

SAID_EVERY = 25
"""So many series are made between two words of how far it is."""
STANDS_IN = {
    "last_value": "The last value stands in.",
    "last_week": "The mean of the last week stands in.",
}


class Command(BaseCommand):
    """`manage.py forecast --series NAME --horizon 24 --json`; without a series it makes and keeps all."""

    help = "Forecast a series and print it, or make and keep today's forecast of every series."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add arguments for the series, how far ahead, and as of when."""
        parser.add_argument("--series", metavar="NAME", help="as gpu_hours:pool=h100; none: all")
        parser.add_argument(
            "--horizon",
            type=parse_horizon,
            metavar="HOURS|DAYSd",
            help="hours ahead, up to 336 (336), or days up to 548, as in 540d",
        )
        parser.add_argument(
            "--at", type=parse_moment, metavar="TIME", help="from what is known of before (now)"
        )
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """With a series print its forecast and keep nothing; without one make those that are due."""
        at = options["at"] or timezone.now()
        if not options["series"]:
            if options["horizon"] is not None:
                raise CommandError("--horizon is of one --series")
            self._make_all(at, is_json=options["json"])
            return
        horizon, is_daily = options["horizon"] or (MOST_HORIZON, False)
        try:
            history = history_named(options["series"], at)
            forecaster = daily_forecast if is_daily else hourly_forecast
            fields = forecaster(history, horizon, at)
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        if options["json"]:
            self.stdout.write(json.dumps(fields))
        else:
            self._print_table(fields)

    def _make_all(self, at: datetime, *, is_json: bool) -> None:
        """Make and keep those of that moment; how far it is goes to stderr."""

        def say_progress(done: int, count: int) -> None:
            if done % SAID_EVERY == 0 and done < count:
                self.stderr.write(f"{done} of {count} series")

        made_count = actions.make_forecasts(
            maker=forecast_fields,
            daily=daily_forecast_fields,
            reconcilers=RECONCILERS,
            at=at,
            progress=say_progress,
        )
        self.stdout.write(json.dumps({"made": made_count}) if is_json else f"{made_count} made.")

    def _print_table(self, fields: dict[str, Any]) -> None:
        self.stdout.write(
            f"{fields['series']} in {fields['unit']}, from {fields['observed_hours']:,} known hours"
        )
        if fields["refusal"]:
            self.stdout.write(
                f"No method could be chosen: {fields['refusal']}. {STANDS_IN[fields['method']]}"
            )
        step = fields["granularity"]
        for scores in fields["backtests"]:
            self.stdout.write(
                f"{scores['horizon']} {step}s ahead, {scores['origins']} forecasts of the past: MASE"
                f" {scores['mase']['runrate']}, {scores['coverage_80']} inside the 80 % interval"
            )
        for gate in fields["gates"]:
            state = {True: "passed", False: "failed", None: "not known"}[gate["is_passed"]]
            instead = f"; instead: {gate['fallback']}" if gate["fallback"] else ""
            self.stdout.write(f"{gate['name']}: {state}: {gate['says']}{instead}")
        for total in fields["totals"][-1:]:
            waiting = f", {total['waiting']:.6g} more wait" if total["waiting"] > 0 else ""
            self.stdout.write(
                f"{total['steps']} {step}s together: {total['value']:.6g}"
                f" ({total['q10']:.6g} … {total['q90']:.6g}){waiting}"
            )
        for name, points in ((step, fields["points"]), ("month", fields.get("months", ()))):
            for point in points:
                ends = (
                    f"{point['q10']:.6g} … {point['q90']:.6g}" if point["q10"] is not None else ""
                )
                self.stdout.write(f"{point[name]}  {point['value']:12.6g}  {ends}")


def history_named(name: str, at: datetime) -> SeriesHistory:
    """The hours of a series that are known at `at`. Refuses a Refusal where there is none."""
    series, histories_by_series = series_named(name), histories(at)
    if series not in histories_by_series:
        there = ", ".join(map(series_name, histories_by_series)) or "none yet"
        raise Refusal("series", f"no hour of {name} is known; there are: {there}")
    return histories_by_series[series]


def parse_horizon(text: str) -> tuple[int, bool]:
    """How many, and whether of days: `24`, `24h`, `540d`."""
    number, is_daily = text.removesuffix("h").removesuffix("d"), text.endswith("d")
    most = MOST_DAYS_AHEAD if is_daily else MOST_HORIZON
    if not number.isdigit() or not 1 <= int(number) <= most:
        raise ArgumentTypeError(
            f"from 1 to {MOST_HORIZON} hours, or 1d to {MOST_DAYS_AHEAD}d, not {text!r}"
        )
    return int(number), is_daily


def hourly_forecast(history: SeriesHistory, horizon: int, at: datetime) -> dict[str, Any]:
    """A forecast as JSON has it: an object for each hour, with a quantile for each level; null: no interval."""
    zone = organisation().zone
    fields, _ = hourly_answer(
        history,
        events_of(history.series),
        lambda values: forecast_fields(values, horizon),
        RoomAhead(at),
        zone,
    )
    points = _bounded_points(fields)
    hours = [(history.ends_at + lead * HOUR).isoformat() for lead in range(horizon)]
    reconciled = stored_reconciled_values(history.series, BY_HOUR, history.digest, horizon)
    return {
        "granularity": "hour",
        "starts_at": history.ends_at.isoformat(),
        "history_from": history.starts_at.isoformat(),
        "observed_hours": history.observed,
        "digest": history.digest,
        **_serialize_forecast(history, fields),
        "points": [
            {"hour": hour, **point, "reconciled": moved}
            for hour, point, moved in zip(hours, points, reconciled, strict=True)
        ],
    }


def daily_forecast(history: SeriesHistory, horizon: int, at: datetime) -> dict[str, Any]:
    """Return the forecast of a series by local day, with the totals of months."""
    zone = organisation().zone
    days = daily_history(history, zone)
    if days is None:
        raise Refusal("series", "no whole day of it is known")
    events, room = events_of(history.series), RoomAhead(at)
    _, hours = hourly_answer(history, events, forecast_fields, room, zone)
    method = begun_with(daily_forecast_fields, history, days, hours, room, horizon)
    fields = daily_fields(history, days, events, method, room, horizon)
    points = _bounded_points(fields)
    reconciled = stored_reconciled_values(history.series, BY_DAY, days.digest, horizon)
    dates = [(days.ends_on + lead * DAY).isoformat() for lead in range(horizon)]
    months = [
        {"month": field["month"][:7], "days": field["days"], **point}
        for field in fields["months"]
        for point in _quantiles_named([field["value"]], [[level] for level in field["quantiles"]])
    ]
    return {
        "granularity": "day",
        "starts_at": days.ends_on.isoformat(),
        "history_from": days.first_day.isoformat(),
        "observed_hours": days.hours,
        "digest": days.digest,
        **_serialize_forecast(history, fields),
        "points": [
            {"day": day, **point, "reconciled": moved}
            for day, point, moved in zip(dates, points, reconciled, strict=True)
        ],
        "months": months,
    }


def _serialize_forecast(history: SeriesHistory, fields: dict[str, Any]) -> dict[str, Any]:
    coverage = next((scores["coverage_80"] for scores in fields["backtests"]), None)
    names = ("horizon", "method", "refusal", "weights", "backtests", "shift")
    return {
        "series": series_name(history.series),
        "unit": unit_of(history.series.measure, organisation().currency),
        "imported_hours": history.imported,
        "left_out_hours": history.left_out,
        "queue": history.queue,
        "coverage_80": coverage,
        "gates": fields["gates"],
        "totals": _totals(fields),
        **{name: fields[name] for name in names},
    }


def _bounded_points(fields: dict[str, Any]) -> list[dict[str, float | None]]:
    """Return what can be held in each step, what waits beyond it, and the mean of the paths."""
    demand, capacity = fields["points"], fields["capacity"]
    held_values = clip_to_capacity(demand, capacity)
    quantiles = [
        [
            None if value is None else min(value, most)
            for value, most in zip(level, capacity or [inf] * len(level), strict=True)
        ]
        for level in fields["quantiles"]
    ]
    means: list[float | None] = [*clip_to_capacity(fields["expected"], capacity)]
    expected = means or [None] * len(held_values)
    return [
        point | {"waiting": wanted - value, "expected": mean}
        for point, wanted, value, mean in zip(
            _quantiles_named(held_values, quantiles), demand, held_values, expected, strict=True
        )
    ]


def _totals(fields: dict[str, Any]) -> list[dict[str, float]]:
    """Return what the first hours or days come to together, up to the end of each day that paths have; none without paths."""
    capacity, expected = fields["capacity"], fields["expected"]
    steps = DAY_HOURS if not fields.get("months") else 1
    totals = []
    for place, levels in enumerate(zip(*fields["sums"], strict=True)):
        end = (place + 1) * steps
        room = sum(capacity[:end]) if capacity else inf
        total = sum(clip_to_capacity(expected[:end], capacity[:end]))
        named = {
            f"q{round(level * 100)}": value
            for level, value in zip(QUANTILE_LEVELS, levels, strict=True)
        }
        totals.append(
            {"steps": end, "value": total, "waiting": sum(expected[:end]) - total}
            | {name: min(value, room) for name, value in named.items()}
        )
    return totals


def _quantiles_named(
    points: Sequence[float], quantiles: Sequence[Sequence[float | None]]
) -> list[dict[str, float | None]]:
    levels = [f"q{round(level * 100)}" for level in QUANTILE_LEVELS]
    return [
        {
            "value": value,
            **dict.fromkeys(levels),
            **{name: level[lead] for name, level in zip(levels, quantiles, strict=False)},
        }
        for lead, value in enumerate(points)
    ]
