"""Whether the tables are those that this code expects: which migrations wait, and which it does not know."""

from dataclasses import dataclass

from django.core.cache import caches
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

STATE_KEY = "schema-state"
ASKED_AGAIN_AFTER_SECONDS = 5


@dataclass(frozen=True, slots=True)
class SchemaState:
    """Migrations by name: `pending` are of this code alone, `unknown` of the database alone."""

    pending: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether nothing has to be migrated before this code can work."""
        return not self.pending


def schema_state() -> SchemaState:
    """Return how the tables stand to this code; once they fit it is not asked again by this process.

    Where they do not, it is asked again after some seconds: somebody may be migrating.
    """
    state: SchemaState | None = caches["process"].get(STATE_KEY)
    if state is None:
        state = read_schema_state()
        lasts = None if state.fits else ASKED_AGAIN_AFTER_SECONDS
        caches["process"].set(STATE_KEY, state, lasts)
    return state


def read_schema_state() -> SchemaState:
    """Return how the tables stand to this code, as the database says now."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    pending = tuple(f"{migration.app_label}.{migration.name}" for migration, _ in plan)
    return SchemaState(pending, _unknown(executor.loader))


def known_migrations(loader: MigrationLoader) -> set[tuple[str, str]]:
    """Return those of this code by app and name, with those that one of them replaces."""
    known = set(loader.disk_migrations)
    for migration in loader.disk_migrations.values():
        known.update(migration.replaces)
    return known


def _unknown(loader: MigrationLoader) -> tuple[str, ...]:
    """Applied ones that this code neither has nor replaces: a later version was here."""
    named = known_migrations(loader)
    apps = {app for app, _ in named}
    applied = set(loader.applied_migrations or ())
    return tuple(sorted(f"{app}.{name}" for app, name in applied - named if app in apps))
