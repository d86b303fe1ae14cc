"""Detect anomalies and improvements now, or as on each day of the past weeks."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import organisation
from apps.ledger.queries.calendar import local_day
from apps.review import actions
from apps.review.queries.findings import FindingsWanted, findings

MOST_DAYS = 400


class Command(BaseCommand):
    """`manage.py detect_anomalies --days 30`: safe to run again and beside the sweep."""

    help = "Detect anomalies: a changed level of a unit cost, of MFU or of data wait."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How many days back the first look is."""
        parser.add_argument(
            "--days", type=int, default=1, help="looks, one for each day up to today (1)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Detect day by day, and print how many changes are known."""
        days, at, zone = options["days"], timezone.now(), organisation().zone
        if not 1 <= days <= MOST_DAYS:
            raise CommandError(f"--days is from 1 to {MOST_DAYS}")
        today, series = local_day(at, zone), 0
        for back in range(days - 1, -1, -1):
            series = actions.detect_anomalies(day=today - timedelta(days=back), at=at, zone=zone)
        changes = findings(FindingsWanted(), at)
        self.stdout.write(f"{series} series are watched; {len(changes)} changes are reported.")
