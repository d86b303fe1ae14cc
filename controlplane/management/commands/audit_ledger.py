"""Prove that the ledger adds up, or say where it does not."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from apps.economics.typed import parse_moment
from apps.ledger.queries.audit import Audit
from controlplane.ledger_audit import audit

NOT_PROVED = 1


class Command(BaseCommand):
    """`manage.py audit_ledger`: exits 1 where something does not add up."""

    help = "Prove that every node-hour is charged and every sum adds up; docs/concepts/audit.md says how."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The span; everything charged where none is given."""
        parser.add_argument("--from", dest="starts_at", type=parse_moment, metavar="MOMENT")
        parser.add_argument("--to", dest="ends_at", type=parse_moment, metavar="MOMENT")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Audit, print the figures and set the exit status."""
        found = audit(options["starts_at"], options["ends_at"])
        if options["json"]:
            print(json.dumps(_figures(found)))
        else:
            _tell(found)
        if not found.adds_up:
            sys.exit(NOT_PROVED)


def _figures(found: Audit) -> dict[str, object]:
    return {
        "node_hours": found.node_hours,
        "charges": found.charges,
        "lines": found.lines,
        "residual_micros": found.residual_micros,
        "missing": found.missing,
        "not_yet_swept": found.not_yet_swept,
        "pending_days": [day.isoformat() for day in found.pending_days],
        "closed_months": [f"{month:%Y-%m}" for month in found.closed_months],
        "undigested_months": [f"{month:%Y-%m}" for month in found.undigested_months],
        "corrections_where_posted": found.corrections_where_posted,
        "places": [asdict(place) for place in found.places],
    }


def _tell(found: Audit) -> None:
    print(f"{found.node_hours} node-hours, {found.charges} charges, {found.lines} lines")
    print(f"residual {found.residual_micros} micro-units, {found.missing} node-hours uncharged")
    if found.not_yet_swept:
        print(f"{found.not_yet_swept} node-hours are not yet swept")
    if found.pending_days:
        print("still to be settled:", ", ".join(day.isoformat() for day in found.pending_days))
    if found.closed_months:
        print("closed:", ", ".join(f"{month:%Y-%m}" for month in found.closed_months))
    if found.undigested_months:
        months = ", ".join(f"{month:%Y-%m}" for month in found.undigested_months)
        print("closed without digests of all tables, which the next sweep makes:", months)
    if found.corrections_where_posted:
        print(
            f"{found.corrections_where_posted} corrections stand on the day on which they were posted:"
            " their months were closed before corrections stood on the day that they are of"
        )
    for place in found.places:
        print(
            f"{place.check}: node {place.node}, {place.hour}, charge {place.charge}, "
            f"{place.basis}: {place.found} where {place.expected} belongs"
        )
    print("It adds up." if found.adds_up else f"It does not add up in {found.failures} places.")
