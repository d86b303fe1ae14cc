"""Move the embedded database to a Postgres of one's own, or back while nothing new was written."""

import sys
from argparse import ArgumentParser
from datetime import UTC, datetime
from getpass import getpass
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from controlplane import embedded_postgres
from controlplane.copies.finishing import forget_killed_move
from controlplane.copies.making import PrintedProgress, say_nothing
from controlplane.copies.moving import move_back, move_to
from controlplane.copies.of_settings import this_installation
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.standing import alone, see_that_nobody_works
from controlplane.env import MOVED_TO
from controlplane.settings import HOME


class Command(BaseCommand):
    """`manage.py move_database URL`, or `--back`: exits 1 where everything stays as it is."""

    help = (
        "Move the embedded database to a Postgres of yours (15 or newer); services must be stopped."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to."""
        way = parser.add_mutually_exclusive_group(required=True)
        way.add_argument(
            "url",
            nargs="?",
            help="postgres://user:password@host:port/name, empty; - reads it from stdin, where no other process sees the password",
        )
        way.add_argument(
            "--back",
            action="store_true",
            help="use the embedded database again, if nothing is newer",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Move, and say what is used from now on."""
        tell = PrintedProgress(self.stderr.write) if sys.stderr.isatty() else say_nothing
        try:
            with alone(HOME):
                with connection.cursor() as cursor:
                    see_that_nobody_works(cursor)
                if left := forget_killed_move(HOME):
                    self.stderr.write(left)
                if options["back"]:
                    self._tell_back(move_back(HOME))
                    return
                if not embedded_postgres.is_used():
                    raise CopyRefused(
                        "this installation does not use the embedded database: RUNRATE_DATABASE_URL or "
                        f"{HOME / MOVED_TO} names another; backup and restore move it"
                    )
                at = datetime.now(UTC)
                self._tell_moved(move_to(_address(options["url"]), this_installation(), tell, at))
        except CopyRefused as refusal:
            raise CommandError(f"Nothing was moved: {refusal}") from refusal

    def _tell_moved(self, place: str) -> None:
        self.stdout.write(
            f"Everything is in {place}; every table has the digest that it had, and the ledger adds up. "
            f"From the next start on that database is used: {HOME / MOVED_TO} names it, and RUNRATE_DATABASE_URL would win over it. "
            f"The embedded one stays at {HOME / 'postgres'}; `manage.py move_database --back` uses it again while nothing new is written."
        )

    def _tell_back(self, place: str) -> None:
        self.stdout.write(
            f"Nothing was written since: from the next start on the embedded database is used again. {place} stays as it is."
        )


def _address(given: str) -> str:
    """Return the address itself, or the one that comes by stdin in its place."""
    if given != "-":
        return given
    if sys.stdin.isatty():
        return getpass("Address (postgres://user:password@host:port/name; not shown): ").strip()
    return sys.stdin.readline().strip()
