"""Bring the database to where commands can work: migrated under a lock, with an organisation."""

import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path


def make_ready(command: str = "") -> None:
    """Migrate if needed and bootstrap an empty database with defaults, saying so on stderr.

    With `command` what it adds is that command's in the audit trail. Finishes a restore or an upgrade that was
    killed. Refuses DatabaseTooOld, CopyRefused.
    """
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from controlplane.migration_history import PREPARING_LOCK, is_migrated, refuse_too_old

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [PREPARING_LOCK])
        try:
            _finish_what_was_begun()
            if not is_migrated():
                refuse_too_old()
                print("Preparing the database …", file=sys.stderr)
                call_command("migrate", verbosity=0, interactive=False)
            _bootstrap(command)
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [PREPARING_LOCK])


def _finish_what_was_begun() -> None:
    from controlplane.settings import HOME

    _forget_killed_move(HOME)
    is_restoring, is_upgrading = any(HOME.glob("restoring-*")), (HOME / "upgrade.json").exists()
    if not is_restoring and not is_upgrading:
        return
    from controlplane.copies.finishing import finish_restore
    from controlplane.copies.making import say_nothing
    from controlplane.copies.standing import alone
    from controlplane.copies.upgrading import finish_upgrade

    with alone(HOME):
        finish_restore(HOME)
        finish_upgrade(HOME, lambda words: print(words, file=sys.stderr), say_nothing)


def _forget_killed_move(home: Path) -> None:
    """Delete what a killed move left, and say so; where a move is at it, or services run, that is left to a later start."""
    if not any(home.glob("*moving.copy*")):
        return
    from controlplane.copies.finishing import forget_killed_move
    from controlplane.copies.refusal import CopyRefused
    from controlplane.copies.standing import alone

    with suppress(CopyRefused), alone(home):
        print(forget_killed_move(home), file=sys.stderr)


def _bootstrap(command: str) -> None:
    from apps.accounts import actions, queries
    from apps.telemetry.actions import partitions
    from controlplane.audit import changes_of_command

    at = datetime.now(UTC)
    if not queries.has_organisation():
        with changes_of_command(command):
            actions.bootstrap_with_defaults(at=at)
        print(
            "New installation: USD, UTC, week starts on Monday, teams Platform and Unowned. "
            "Run `python manage.py bootstrap --help` to choose others before the first data.",
            file=sys.stderr,
        )
    partitions.ensure_partitions(at)
