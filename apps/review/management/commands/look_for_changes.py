"""Look for what changed now, or as every day of the past weeks would have been looked at."""

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
    """`manage.py look_for_changes --days 30`: safe to run again and beside the sweep."""

    help = "Look at every unit cost, MFU and data wait for a level that changed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How many days back the first look is."""
        parser.add_argument(
            "--days", type=int, default=1, help="looks, one for each day up to today (1)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Look day by day, and say what is found."""
        days, at, zone = options["days"], timezone.now(), organisation().zone
        if not 1 <= days <= MOST_DAYS:
            raise CommandError(f"--days is from 1 to {MOST_DAYS}")
        today, series = local_day(at, zone), 0
        for back in range(days - 1, -1, -1):
            series = actions.look_at_day(day=today - timedelta(days=back), at=at, zone=zone)
        told = findings(FindingsWanted())
        self.stdout.write(f"{series} series are watched; {len(told)} changes are reported.")
