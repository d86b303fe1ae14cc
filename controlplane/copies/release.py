"""Which Runrate this is, and whether a database is of it, of an older one or of a newer one."""

import subprocess
import tomllib
from collections.abc import Iterable, Sequence, Set
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
    """Hold the migrations of a database against those of this Runrate; it knows those that one of its own replaces.

    They come in the order in which they were applied.
    """
    from django.db.migrations.loader import MigrationLoader

    from controlplane.schema_state import known_migrations

    loader = MigrationLoader(None)
    ordered = [(app, name) for app, name in applied]
    held = set(ordered)
    lacking = [f"{app}.{name}" for app, name in loader.disk_migrations if (app, name) not in held]
    known = known_migrations(loader)
    newer = [f"{app}.{name}" for app, name in _after_known(ordered, known) if app in loader.migrated_apps]  # fmt: skip
    return SchemaAge(tuple(sorted(lacking)), tuple(newer))


def _after_known(
    ordered: Sequence[tuple[str, str]], known: Set[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return those that were applied after the last of their app that this Runrate knows.

    What it does not know and came before was replaced long ago.
    """
    later: dict[str, list[tuple[str, str]]] = {}
    for app, name in ordered:
        if (app, name) in known:
            later[app] = []
        else:
            later.setdefault(app, []).append((app, name))
    return [key for keys in later.values() for key in keys]
