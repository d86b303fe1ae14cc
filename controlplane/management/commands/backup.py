"""Write a copy of the installation to a file, while it works on."""

import json
import sys
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.copies.finishing import finish_restore_alone
from controlplane.copies.installation import secrets_to_keep, write_secrets
from controlplane.copies.making import PrintedProgress, make_copy, megabytes, say_nothing
from controlplane.copies.of_settings import this_installation
from controlplane.copies.refusal import CopyRefused


class Command(BaseCommand):
    """`manage.py backup FILE`: exits 1 where no copy could be made."""

    help = "Write a copy of everything to a file; docs/guides/operator.md says what is in it and what is not."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to, and where the secrets go."""
        parser.add_argument("file", type=Path, help="the copy; replaced when the new one is whole")
        secrets = parser.add_mutually_exclusive_group()
        secrets.add_argument(
            "--secrets",
            type=Path,
            metavar="FILE",
            help="the secrets (FILE.secrets beside the copy)",
        )
        secrets.add_argument(
            "--without-secrets", action="store_true", help="write no file of secrets"
        )
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Copy, and say what was written where."""
        path: Path = options["file"]
        secrets = self._place_of_secrets(path, options)
        of = this_installation()
        tell = PrintedProgress(self.stderr.write) if sys.stderr.isatty() else say_nothing
        try:
            finish_restore_alone(of.home)
            self._refuse_half_upgraded(of.home)
            made = make_copy(of, path, tell, datetime.now(UTC))
        except CopyRefused as refusal:
            raise CommandError(f"No copy was made: {refusal}") from refusal
        if secrets is not None:
            kept = secrets_to_keep(of.chosen, of.secret_key)
            try:
                write_secrets(secrets, str(made.manifest["id"]), kept)
            except OSError as problem:
                raise CommandError(
                    f"{path} is made, but its secrets could not be written to {secrets}: {problem.strerror}"
                ) from problem
        for name in made.missing_files:
            self.stderr.write(
                f"{name} is named by an import and is not there; it is not in the copy"
            )
        if options["json"]:
            share = made.size / made.database_bytes
            print(json.dumps({**made.manifest, "bytes": made.size, "share_of_database": round(share, 4)}))  # fmt: skip
            return
        self.stdout.write(f"{path}: {megabytes(made.size)}, of a database of {megabytes(made.database_bytes)}")  # fmt: skip
        if secrets is not None:
            self.stdout.write(f"{secrets}: the secrets, for its owner alone; keep it apart")

    def _refuse_half_upgraded(self, home: Path) -> None:
        """What an upgrade left in its middle is neither the version before nor this one."""
        from controlplane.copies.upgrading import WENT_BACK, upgrade_note

        note = upgrade_note(home)
        if note is not None and note.phase != WENT_BACK:
            raise CopyRefused(
                "an upgrade is under way, or was broken off: `manage.py upgrade` goes on with it"
            )

    def _place_of_secrets(self, path: Path, options: dict[str, Any]) -> Path | None:
        """Return where secrets go, None: nowhere; refuses CommandError before anything is written."""
        if options["without_secrets"]:
            return None
        place: Path = options["secrets"] or path.with_name(f"{path.name}.secrets")
        if place.resolve() == path.resolve():
            raise CommandError(f"No copy was made: {place} cannot be the copy and its secrets both")
        if place.exists() and not place.is_file():
            raise CommandError(f"No copy was made: {place} is there and is no file")
        if options["secrets"] and not place.parent.is_dir():
            raise CommandError(f"No copy was made: {place.parent}, for the secrets, is no folder")
        return place
