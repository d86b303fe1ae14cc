"""How far a database has come, asked without Django's picture of the models.

Migrations that became one (`replaces`) cannot be taken up in their middle: their files are gone.
"""

from pathlib import Path

from django.apps import apps
from django.db import connection
from django.db.migrations import CreateModel, Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

SQUASHED_FROM = "ceddcbd1"
"""The last commit that has the migrations which became one."""
SQUASHED_ON = "28 November 2026"
PREPARING_LOCK = 7_305_021
"""The advisory lock, arbitrary but fixed, of every process that brings tables up to date or puts others in their place."""


class DatabaseTooOld(Exception):
    """A database of which this version cannot tell what it lacks; nothing was changed in it."""


def is_migrated() -> bool:
    """Whether every migration that there is a file of was applied to the database."""
    return _names_of_files() <= set(MigrationRecorder(connection).applied_migrations())


def refuse_too_old() -> None:
    """Refuse a database that stands before what became one, with DatabaseTooOld."""
    applied = set(MigrationRecorder(connection).applied_migrations())
    tables = set(connection.introspection.table_names())
    for key, migration in MigrationLoader(None).disk_migrations.items():
        is_ours = type(migration).__module__.startswith("apps.")
        if not is_ours or not migration.replaces or key in applied:
            continue
        stands = _halfway(key[0], migration, applied, tables)
        if not stands:
            continue
        raise DatabaseTooOld(
            f"This database is older than this version can upgrade ({stands}). Nothing was changed "
            f"in it. Bring the version of {SQUASHED_ON} (commit {SQUASHED_FROM}) first and run its `manage.py prepare`, then come back to "
            "this one; docs/guides/operator.md, Upgrade, has the steps."
        )


def _halfway(
    app: str, migration: Migration, applied: set[tuple[str, str]], tables: set[str]
) -> str:
    """Return where a database stands that has a part of what the migration makes; else nothing."""
    whole = set(migration.replaces)
    done = applied & whole
    if done and done != whole:
        return f"{len(done)} of {len(whole)} migrations of {app} are applied"
    theirs = sorted(tables & _tables_made_by(app, migration))
    if not done and theirs:
        return f"table {theirs[0]} is there without the migrations of {app} that made it"
    return ""


def _names_of_files() -> set[tuple[str, str]]:
    """Each migration of an installed app, by its file: none of them is loaded."""
    return {
        (app.label, file.stem)
        for app in apps.get_app_configs()
        for file in Path(app.path).glob("migrations/[!_~]*.py")
    }


def _tables_made_by(app: str, migration: Migration) -> set[str]:
    """Names of tables of the models that a migration makes."""
    found = set()
    for operation in migration.operations:
        for part in getattr(operation, "operations", [operation]):
            if isinstance(part, CreateModel):
                found.add(part.options.get("db_table") or f"{app}_{part.name_lower}")
    return found
