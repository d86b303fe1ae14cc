"""Which Runrate this is, and whether a database is of it, of an older one or of a newer one."""

import subprocess
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from controlplane.env import PROJECT_ROOT


@cache
def runrate_release() -> dict[str, str]:
    """Return the version of this Runrate, and the commit where it is a checkout."""
    project = tomllib.loads((PROJECT_ROOT / "pyproject.toml").read_text())["project"]
    try:
        ran = subprocess.run(  # noqa: S603  # words of our own
            ["git", "-C", str(PROJECT_ROOT), "rev-parse", "HEAD"],  # noqa: S607  # where it lies differs
            capture_output=True,
            text=True,
            check=False,
        )
        commit = ran.stdout.strip() if not ran.returncode else ""
    except OSError:
        commit = ""
    return {"version": str(project["version"]), "commit": commit}


@dataclass(frozen=True, slots=True)
class SchemaAge:
    """Which migrations a database lacks, and which it has that this Runrate does not know."""

    lacking: tuple[str, ...]
    unknown: tuple[str, ...]


def age_of_schema(applied: Iterable[Sequence[str]]) -> SchemaAge:
    """Hold the migrations of a database against those of this Runrate; it knows those that one of its own replaces."""
    from django.db.migrations.loader import MigrationLoader

    loader = MigrationLoader(None)
    held = {(app, name) for app, name in applied}
    lacking = [f"{app}.{name}" for app, name in loader.disk_migrations if (app, name) not in held]
    known = set(loader.disk_migrations)
    for migration in loader.disk_migrations.values():
        known |= set(migration.replaces)
    # What came before a squash whose own traces are gone is not of a newer Runrate.
    unknown = [
        f"{app}.{name}"
        for app, name in sorted(held - known)
        if app in loader.migrated_apps and not _is_before(name, app, loader.disk_migrations)
    ]
    return SchemaAge(tuple(sorted(lacking)), tuple(unknown))


def _is_before(name: str, app: str, disk: Iterable[tuple[str, str]]) -> bool:
    """Whether a migration's number is below the first that this Runrate still has of the app."""
    numbers = [other[:4] for label, other in disk if label == app and other[:4].isdigit()]
    return bool(numbers) and name[:4].isdigit() and name[:4] < min(numbers)
