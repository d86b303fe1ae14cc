"""Who works with an installation: what has to stop before its database is replaced, and a lock against starts meanwhile."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from controlplane.copies.refusal import CopyRefused
from controlplane.folders import own_folder

LOCK = "services.lock"
OTHERS = """
-- Of other roles' connections a role that may see no more sees neither name nor kind; a process of the server has no role.
SELECT coalesce(nullif(application_name, ''), 'without a name'), count(*), min(pid)
  FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid()
   AND coalesce(backend_type, 'client backend') = 'client backend' AND usesysid IS NOT NULL
 GROUP BY 1 ORDER BY 1
"""
STOP = "stop web, worker and beat (of `make run`: Ctrl-C, or SIGTERM to manage.py up) and whoever else has it open, then try again"


@contextmanager
def served(home: Path) -> Iterator[None]:
    """Hold that services run under this home; the kernel lets go of it for one that is killed.

    Refuses CopyRefused while the installation is being replaced.
    """
    with (own_folder(home) / LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise CopyRefused(
                f"the installation under {home} is being restored, upgraded or moved just now: start it when that is over"
            ) from problem
        yield


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Keep services from starting under this home; refuses CopyRefused while some run."""
    with (own_folder(home) / LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise CopyRefused(f"services run under {home}: {STOP}") from problem
        yield


def see_that_nobody_works(cursor: Any) -> None:
    """Refuse CopyRefused while others have the database open."""
    # A transaction sees who was there when it first asked.
    cursor.execute("SELECT pg_stat_clear_snapshot()")
    cursor.execute(OTHERS)
    rows = cursor.fetchall()
    if rows:
        names = ", ".join(
            f"{count} of {name} (process {pid} of the server and others)"
            if count > 1
            else f"1 of {name} (process {pid} of the server)"
            for name, count, pid in rows
        )
        raise CopyRefused(f"the database has connections besides this one: {names}; {STOP}")
