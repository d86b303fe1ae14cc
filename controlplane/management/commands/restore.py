"""Bring a copy back, whole and proved, or leave everything as it is."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from controlplane.copies.finishing import RestoreUnfinished
from controlplane.copies.fitting import RestoreWanted
from controlplane.copies.installation import mark_of_key, read_secrets
from controlplane.copies.making import PrintedProgress, say_nothing
from controlplane.copies.proving import prove_ledger
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.restoring import RestoreUncertain, restore_copy
from controlplane.copies.standing import alone
from controlplane.settings import ENVIRONMENT, HOME


class Command(BaseCommand):
    """`manage.py restore FILE`: exits 1 where nothing was changed, or something is left to do; it says which."""

    help = "Bring a copy back into the configured database; services must be stopped."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """From where, and what may be replaced."""
        parser.add_argument("file", type=Path, help="a copy that manage.py backup wrote")
        parser.add_argument(
            "--replace", action="store_true", help="put it in the place of what is in the database"
        )
        parser.add_argument(
            "--secrets",
            type=Path,
            metavar="FILE",
            help="the secrets (FILE.secrets, if it is there)",
        )
        parser.add_argument(
            "--older-postgres",
            action="store_true",
            help="into a server that is older than the one that was copied",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore, and say what came back."""
        path: Path = options["file"]
        tell = PrintedProgress(self.stderr.write) if sys.stderr.isatty() else say_nothing
        try:
            with alone(HOME), self._opened(path) as source:
                wanted = RestoreWanted(
                    replaces=options["replace"],
                    allows_older=options["older_postgres"],
                    secret_key=self._key_beside(path, options["secrets"]),
                )
                if wanted.secret_key:
                    # What a migration seals must be opened by the key that the installation then has.
                    settings.SECRET_KEY = wanted.secret_key
                restored = restore_copy(source, HOME, wanted, tell, prove_ledger)
        except (RestoreUnfinished, RestoreUncertain) as refusal:
            raise CommandError(f"Not finished: {refusal}") from refusal
        except CopyRefused as refusal:
            raise CommandError(f"Nothing was changed: {refusal}") from refusal
        if restored.was_begun:
            self.stdout.write("A restore of this copy was broken off before its files were in place; it is finished now.")  # fmt: skip
        self.stdout.write(
            f"{restored.tables} tables with {restored.rows:,} rows and {restored.files} files are back; "
            "every table has the digest it was copied with, and the ledger adds up."
        )
        for name in restored.migrated:
            self.stdout.write(f"migrated: {name}")
        self._tell_of_key(wanted.secret_key or settings.SECRET_KEY, restored.secret_key_mark)

    def _opened(self, path: Path) -> IO[bytes]:
        try:
            return path.open("rb")
        except OSError as problem:
            raise CopyRefused(f"{path}: {problem.strerror}") from problem

    def _key_beside(self, path: Path, named: Path | None) -> str | None:
        """Return the key that belongs under the home; None where the home's own or the environment's stays."""
        beside = named or path.with_name(f"{path.name}.secrets")
        if named is None and not beside.exists():
            return None
        try:
            key = str(read_secrets(beside)["secrets"]["RUNRATE_SECRET_KEY"])
        except (OSError, ValueError, KeyError) as problem:
            raise CopyRefused(
                f"{beside}: cannot be read as a file of secrets ({problem})"
            ) from problem
        return None if ENVIRONMENT.secret_key else key

    def _tell_of_key(self, key: str, mark: str) -> None:
        if mark_of_key(key) != mark:
            self.stderr.write(
                "This installation's secret key is not the one that was copied: people sign in anew, second factors are set "
                "up again, and receivers of webhooks need new keys. With the file of secrets: --secrets FILE, "
                "or RUNRATE_SECRET_KEY."
            )
