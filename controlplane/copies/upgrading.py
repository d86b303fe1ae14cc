"""Upgrade a database: a copy first, then migrations, then proofs; where one fails, back to the copy.

A note under the home says how far it is. Whoever starts after a kill reads it and goes on: forward, or back to the copy
(docs/decisions/0236-an-upgrade-goes-back-to-the-copy.md).
"""

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.exceptions import MigrationSchemaMissing
from django.db.migrations.loader import MigrationLoader

from apps.web.queries.table_digests import table_columns, table_digest, write_values_alike
from controlplane.copies.aside import things_of_others
from controlplane.copies.contents import applied_migrations
from controlplane.copies.finishing import finish_restore
from controlplane.copies.fitting import RestoreWanted
from controlplane.copies.making import Installation, Progress, make_copy
from controlplane.copies.proving import why_not_proved
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.release import SchemaAge, age_of_schema, runrate_release
from controlplane.copies.restoring import restore_copy
from controlplane.ledger_audit import audit, ledger_tables
from controlplane.migration_history import DatabaseTooOld, refuse_too_old

NOTE, FOLDER = "upgrade.json", "upgrades"
MIGRATING, GOING_BACK, WENT_BACK = "migrating", "going back", "went back"
DECLARED = "rewrites_ledger"
"""A migration that changes what a ledger table says names the table in this attribute."""

Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class UpgradeNote:
    """How far an upgrade is: the copy it may go back to, which migrations it applies, and what the ledger said before."""

    phase: str
    copy: str
    lacking: tuple[str, ...]
    digests: dict[str, dict[str, Any]]
    release: dict[str, str]
    reason: str = ""


class UpgradeFailed(CopyRefused):
    """What was migrated is not proved; the database is what it was before."""


def schema_age() -> SchemaAge:
    """Return what the database lacks of this Runrate; refuses CopyRefused where it cannot be upgraded."""
    try:
        refuse_too_old()
    except DatabaseTooOld as problem:
        raise CopyRefused(str(problem)) from problem
    with connection.cursor() as cursor:
        age = age_of_schema(applied_migrations(cursor.cursor))
    if age.unknown:
        raise CopyRefused(
            f"the database is of a newer Runrate: this one does not know {age.unknown[0]}; install that version"
        )
    return age


def upgrade_note(home: Path) -> UpgradeNote | None:
    """Return what an upgrade that did not end left; None without one."""
    try:
        content = json.loads((home / NOTE).read_text())
    except FileNotFoundError:
        return None
    return UpgradeNote(**{**content, "lacking": tuple(content["lacking"])})


def begin_upgrade(
    of: Installation, lacking: tuple[str, ...], progress: Progress, at: datetime
) -> Path:
    """Make the copy, and note that migrating begins; return where the copy lies. Refuses CopyRefused."""
    finish_restore(of.home)
    path = of.home / FOLDER / f"before-{at:%Y%m%dT%H%M%SZ}.copy"
    make_copy(of, path, progress, at)
    _write_note(of.home, UpgradeNote(MIGRATING, str(path), lacking, _ledger_digests(), runrate_release()))  # fmt: skip
    return path


def finish_upgrade(home: Path, say: Say, progress: Progress) -> bool:
    """Go on with an upgrade that was begun: to its end, or back to the copy; whether there was one.

    Refuses UpgradeFailed once the database is what it was before.
    """
    note = upgrade_note(home)
    if note is None:
        return False
    if note.phase == WENT_BACK:
        if schema_age().lacking:
            raise UpgradeFailed(
                f"the last upgrade went back to the copy, because {note.reason}. The database is that of "
                f"{note.copy}: install the version before, or run `manage.py upgrade` to try again"
            )
        forget_note(home)
        return False
    if note.phase == MIGRATING:
        reason = _why_not_upgraded(note, say)
        if reason is None:
            forget_note(home)
            return True
        note = replace(note, phase=GOING_BACK, reason=reason)
        _write_note(home, note)
    _go_back(home, note, say, progress)
    raise UpgradeFailed(
        f"the upgrade did not come to its end, and the database is what it was before: {note.reason}. "
        f"The copy stays at {note.copy}; install the version before, or try again"
    )


def forget_note(home: Path) -> None:
    """Note that no upgrade is under way."""
    (home / NOTE).unlink(missing_ok=True)


def _why_not_upgraded(note: UpgradeNote, say: Say) -> str | None:
    """Migrate and prove; return what is wrong, None where nothing is."""
    try:
        say("migrating …")
        call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
        say("checking …")
        call_command("check", verbosity=0, databases=["default"])
    except (SystemCheckError, MigrationSchemaMissing) as problem:
        return f"the check failed: {problem}"
    except Exception as problem:  # noqa: BLE001 - whatever a migration raises leads back to the copy
        return f"a migration failed: {type(problem).__name__}: {problem}".strip()
    say("comparing the ledger with what it was …")
    odd = _tables_that_differ(note)
    if odd:
        return f"{odd[0]} is not what it was, and no migration says that it changes it"
    say("proving that the ledger adds up …")
    return why_not_proved(audit())


def _tables_that_differ(note: UpgradeNote) -> list[str]:
    """Return the ledger's tables whose rows are not what they were, by the columns that they had."""
    with connection.cursor() as cursor:
        present = table_columns(cursor)
        write_values_alike(cursor)
    declared = _declared_tables(note.lacking)
    kept = {
        name: {**before, "columns": [c for c in before["columns"] if c in present.get(name, ())]}
        for name, before in note.digests.items()
        if name not in declared
    }
    gone = [name for name, now in kept.items() if now["columns"] != note.digests[name]["columns"]]
    if gone:
        return gone
    found = _digests_of({name: now["columns"] for name, now in kept.items()})
    return [name for name, digest in found.items() if digest["digest"] != kept[name]["digest"]]


def _declared_tables(lacking: tuple[str, ...]) -> set[str]:
    disk = MigrationLoader(None).disk_migrations
    applied = (disk.get(tuple(label.split(".", 1))) for label in lacking)  # type: ignore[arg-type]  # two parts
    return {name for migration in applied for name in getattr(migration, DECLARED, ())}


def _ledger_digests() -> dict[str, dict[str, Any]]:
    with connection.cursor() as cursor:
        present = table_columns(cursor)
    # Tables that this version adds are not there yet.
    return _digests_of({name: list(present[name]) for name in ledger_tables() & set(present)})


def _digests_of(columns: dict[str, list[str]]) -> dict[str, dict[str, Any]]:
    """Services are stopped: every statement sees the same."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        try:
            write_values_alike(cursor)
            digests = {name: table_digest(cursor, name, named) for name, named in columns.items()}
        finally:
            cursor.execute("ROLLBACK")
    return {name: {**asdict(digest), "columns": list(digest.columns)} for name, digest in digests.items()}  # fmt: skip


def _go_back(home: Path, note: UpgradeNote, say: Say, progress: Progress) -> None:
    say(f"{note.reason}; going back to {note.copy} …")
    connection.close()  # a migration that failed may have left it in any state
    with connection.cursor() as cursor:
        others = things_of_others(cursor)
    if others:
        # The way back is not to be barred by somebody's view of what an upgrade may have spoilt.
        say(f"dropped with the tables that are replaced, to be made again: {', '.join(others)}")
    try:
        with Path(note.copy).open("rb") as source:
            wanted = RestoreWanted(
                replaces=True, migrates=False, takes_files=False, drops_of_others=True
            )
            restore_copy(source, home, wanted, progress, lambda: None)
    except OSError as problem:
        raise CopyRefused(
            f"the upgrade failed ({note.reason}) and its copy {note.copy} cannot be read: {problem.strerror}"
        ) from problem
    _write_note(home, replace(note, phase=WENT_BACK))


def _write_note(home: Path, note: UpgradeNote) -> None:
    draft = home / f".{NOTE}.part"
    with draft.open("w") as file:
        json.dump(asdict(note), file)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(home / NOTE)
    folder = os.open(home, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
