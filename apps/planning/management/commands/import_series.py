"""Bring the history of a series from a file, so that it can be forecast from the first day on."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import organisation, supported_zones
from apps.economics.refusal import Refusal
from apps.planning import actions
from apps.planning.providers.series_file import SeriesColumns
from apps.planning.providers.series_history import history_form, read_history
from apps.planning.queries.history_units import factor_of, units_of
from apps.planning.queries.series import series_name, series_named, unit_of


class Command(BaseCommand):
    """`manage.py import_series FILE --series gpu_hours:pool=h100`: the same file again changes nothing."""

    help = (
        "Import the history of a figure by the hour from a CSV or Parquet; docs/guides/forecast.md."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The file, its columns, and what they are."""
        parser.add_argument(
            "file", metavar="FILE", type=Path, help="CSV, plain, gzip or zip, or Parquet"
        )
        parser.add_argument(
            "--series", required=True, metavar="NAME", help="as gpu_hours:pool=h100 or spend"
        )
        parser.add_argument("--time", default="time", metavar="COLUMN", help="of moments (time)")
        parser.add_argument("--value", default="value", metavar="COLUMN", help="of values (value)")
        parser.add_argument("--unit", help="of the values; docs/guides/forecast.md")
        parser.add_argument(
            "--zone", type=zone_named, default="UTC", help="of moments that name none (UTC)"
        )
        parser.add_argument(
            "--rows",
            choices=("moments", "days"),
            default="moments",
            help="days: each row is of its whole day in --zone, the same in all its hours (moments)",
        )
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read all of it, keep it, and say what was new."""
        try:
            series = series_named(options["series"])
            currency = organisation().currency
            unit = options["unit"] or next(iter(units_of(series.measure, currency)))
            factor = factor_of(series.measure, unit, currency)
            points = read_history(
                options["file"],
                columns=SeriesColumns(options["time"], options["value"], options["zone"]),
                form=history_form(series.measure, unit, rows_are_days=options["rows"] == "days"),
            )
            outcome = actions.import_history(
                series=series,
                points=[(hour, value * factor) for hour, value in points],
                at=timezone.now(),
            )
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        hours = [hour for hour, _ in points]
        span = (hours[-1] - hours[0]).total_seconds() / 3600 + 1
        fields = {
            "series": series_name(series),
            "unit": unit_of(series.measure, currency),
            "from": hours[0].isoformat(),
            "to": hours[-1].isoformat(),
            **asdict(outcome),
            "unknown": int(span) - len(hours),
        }
        self.stdout.write(json.dumps(fields) if options["json"] else _describe_import(fields))


def zone_named(text: str) -> ZoneInfo:
    """A time zone by its IANA name. Refuses ArgumentTypeError."""
    if text not in supported_zones():
        raise ArgumentTypeError(f"{text!r} is no time zone such as Europe/Berlin")
    return ZoneInfo(text)


def _describe_import(fields: dict[str, Any]) -> str:
    return (
        f"{fields['series']}: {fields['hours']:,} hours from {fields['from']} to {fields['to']},"
        f" in {fields['unit']}; {fields['added']:,} new, {fields['changed']:,} changed,"
        f" {fields['unknown']:,} between them not known."
    )
