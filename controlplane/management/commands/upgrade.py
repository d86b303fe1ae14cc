"""Bring the database to this version of Runrate, or leave it as it was."""

import sys
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from controlplane.copies.making import PrintedProgress, say_nothing
from controlplane.copies.of_settings import this_installation
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.release import runrate_release
from controlplane.copies.standing import alone, see_that_nobody_works
from controlplane.copies.upgrading import (
    WENT_BACK,
    begin_upgrade,
    finish_upgrade,
    forget_note,
    schema_age,
    upgrade_note,
)
from controlplane.migration_history import PREPARING_LOCK
from controlplane.settings import HOME


class Command(BaseCommand):
    """`manage.py upgrade`: exits 1 where the database is what it was before."""

    help = (
        "Copy the database, migrate it, prove it; or go back to the copy. Services must be stopped."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whether only to say what would be done."""
        parser.add_argument("--plan", action="store_true", help="say what it would do, and end")

    def handle(self, *args: Any, **options: Any) -> None:
        """Say what is to be done, and do it."""
        try:
            if options["plan"]:
                self._tell_plan(schema_age().lacking)
                return
            with alone(HOME), connection.cursor() as cursor:
                see_that_nobody_works(cursor)
                cursor.execute("SELECT pg_advisory_lock(%s)", [PREPARING_LOCK])
                self._upgrade()
        except CopyRefused as refusal:
            raise CommandError(str(refusal)) from refusal

    def _upgrade(self) -> None:
        tell = PrintedProgress(self.stderr.write) if sys.stderr.isatty() else say_nothing
        note = upgrade_note(HOME)
        if note is not None and note.phase != WENT_BACK:
            self.stdout.write("An upgrade was begun and did not end; going on with it.")
            finish_upgrade(HOME, self.stdout.write, tell)
            self.stdout.write("The database is upgraded; the ledger adds up and is what it was.")
            return
        forget_note(HOME)
        lacking = schema_age().lacking
        self._tell_plan(lacking)
        if not lacking:
            return
        path = begin_upgrade(this_installation(), lacking, tell, datetime.now(UTC))
        self.stdout.write(f"The copy is {path}.")
        finish_upgrade(HOME, self.stdout.write, tell)
        self.stdout.write(
            f"The database is upgraded; the ledger adds up and is what it was. Delete {path} when you need it no more."
        )

    def _tell_plan(self, lacking: tuple[str, ...]) -> None:
        release = runrate_release()
        version = f"Runrate {release['version']}" + (f" ({release['commit'][:12]})" if release["commit"] else "")  # fmt: skip
        if not lacking:
            self.stdout.write(f"Nothing to do: the database is of {version}.")
            return
        self.stdout.write(
            f"To {version}: a copy under {HOME / 'upgrades'}; then {len(lacking)} migrations:"
        )
        for name in lacking:
            self.stdout.write(f"  {name}")
        self.stdout.write(
            "Then the check, the audit, and every table of the ledger compared with what it was; where one fails, back to the copy."
        )
