"""A backup of the configured database (a demo of 13 weeks is what the targets are of), and its restore into another."""

import resource
import secrets
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import connection
from psycopg.sql import SQL, Identifier

from apps.web.queries.table_digests import table_digests
from bench.calibration import scaled
from controlplane.copies.fitting import RestoreWanted
from controlplane.copies.making import make_copy, say_nothing
from controlplane.copies.moving import connected_to
from controlplane.copies.of_settings import this_installation
from controlplane.copies.proving import prove_ledger
from controlplane.copies.restoring import restore_copy
from controlplane.ledger_audit import ledger_tables
from controlplane.settings import HOME

BACKUP_SECONDS, RESTORE_SECONDS, SHARE = 30.0, 60.0, 0.15


def run(full: bool) -> dict[str, Any]:  # noqa: FBT001  # as every bench is called
    """Measure; what misses its target is in `misses`."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=HOME) as folder:
        path = Path(folder) / "bench.copy"
        timed(figures, "backup", lambda: _back_up(path, figures))
        timed(figures, "ledger_digests", lambda: table_digests(ledger_tables()))
        timed(figures, "all_digests", table_digests)
        _restore_beside(path, Path(folder), figures)
    limits = {
        "backup_seconds": scaled(BACKUP_SECONDS * 1000) / 1000,
        "restore_seconds": scaled(RESTORE_SECONDS * 1000) / 1000,
        "share_of_database": SHARE,
    }
    figures["misses"] = [
        f"{name}: {figures[name]} where {most} is the most"
        for name, most in limits.items()
        if figures[name] > most
    ]
    return figures


def timed(figures: dict[str, Any], name: str, work: Callable[[], object]) -> None:
    """Note the seconds that it took, and those of this process's processors; the server's are not among them."""
    began, used = time.perf_counter(), processor_seconds()
    work()
    figures[f"{name}_seconds"] = round(time.perf_counter() - began, 1)
    figures[f"{name}_processor_seconds"] = round(processor_seconds() - used, 1)


def processor_seconds() -> float:
    """Return what this process and its children have used."""
    used = (resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _back_up(path: Path, figures: dict[str, Any]) -> None:
    made = make_copy(this_installation(), path, say_nothing, datetime.now(UTC))
    figures["database_bytes"], figures["copy_bytes"] = made.database_bytes, made.size
    figures["share_of_database"] = round(made.size / made.database_bytes, 4)


def _restore_beside(path: Path, folder: Path, figures: dict[str, Any]) -> None:
    name = f"bench_{secrets.token_hex(4)}"
    with connection.cursor() as cursor:
        cursor.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    try:
        with connected_to({**connection.settings_dict, "NAME": name}), path.open("rb") as source:
            wanted = RestoreWanted(takes_files=False)
            timed(
                figures,
                "restore",
                lambda: restore_copy(source, folder, wanted, say_nothing, prove_ledger),
            )
    finally:
        with connection.cursor() as cursor:
            cursor.execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name)))
