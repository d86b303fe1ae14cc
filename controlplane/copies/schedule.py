"""Copies on a schedule: made by one worker at a time over all hosts, kept by day, week and month, and watched."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import psycopg
from django.core.cache import cache
from django.db import DatabaseError, connection

from apps.files import Draft, PlaceUnreachable, delete_file, forget_drafts, write_file
from apps.web.queries.backups import (
    ASKED,
    FAILURE,
    FOLDER,
    PROGRESS,
    STAMP,
    BackupCopy,
    BackupPlan,
    backup_state,
    copies_to_keep,
    is_due,
)
from controlplane.copies.making import Installation, MadeCopy, try_again, write_copy
from controlplane.copies.refusal import CopyRefused

log = logging.getLogger(__name__)

# Arbitrary but fixed: one copy at a time, whichever host makes it.
LOCK = 7_305_024
PROGRESS_SECONDS, FAILURE_SECONDS = 120, 14 * 86_400
TOLD_EVERY_SECONDS = 2.0


def make_backup_if_due(of: Installation, plan: BackupPlan, at: datetime) -> BackupCopy | None:
    """Make a copy where one is due and nobody makes one; return it. What goes wrong is kept for who asks."""
    if not is_due(backup_state(), plan, at):
        return None
    with _only_one() as is_ours:
        if not is_ours or not is_due(backup_state(), plan, at):
            return None
        try:
            made = _make(of, at)
        except (CopyRefused, OSError, psycopg.Error, DatabaseError, PlaceUnreachable) as problem:
            log.warning("backup_failed reason=%s", type(problem).__name__)
            cache.set(FAILURE, {"at": at.isoformat(), "why": str(problem).strip()}, FAILURE_SECONDS)
            return None
        finally:
            cache.delete_many([PROGRESS, ASKED])
        cache.delete(FAILURE)
        _forget_old(plan, at, made)
        return made


def _make(of: Installation, at: datetime) -> BackupCopy:
    name = f"{FOLDER}/runrate-{at:{STAMP}}.copy"

    def write() -> MadeCopy:
        # What was sent to a bucket cannot be taken back: each try has a draft of its own.
        with write_file(name) as draft:
            return write_copy(of, _Counted(draft), _KeptProgress(), at)

    made = try_again(write)
    log.info("backup_made bytes=%s", made.size)
    return BackupCopy(name, at, made.size)


def _forget_old(plan: BackupPlan, at: datetime, made: BackupCopy) -> None:
    copies = backup_state().copies
    # Beside one of a clock that ran ahead it is not the newest.
    kept = copies_to_keep(copies, plan) | {made.name}
    for copy in copies:
        if copy.name not in kept:
            delete_file(copy.name)
    forget_drafts(FOLDER, at - timedelta(days=1))


@contextmanager
def _only_one() -> Iterator[bool]:
    """Yield whether nobody else makes a copy; the server lets go of the lock for one that is killed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
        is_ours = bool(cursor.fetchone()[0])
        try:
            yield is_ours
        finally:
            if is_ours:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


class _Counted:
    """A draft of a stored file, which also says how much was written."""

    def __init__(self, draft: Draft) -> None:
        self._draft, self._size = draft, 0

    def write(self, block: bytes, /) -> int:
        self._size += len(block)
        return self._draft.write(block)

    def tell(self) -> int:
        return self._size


class _KeptProgress:
    """Keeps how far a copy is where every host sees it."""

    def __init__(self) -> None:
        self._told = 0.0

    def __call__(self, words: str, share: float) -> None:
        now = time.monotonic()
        if now - self._told >= TOLD_EVERY_SECONDS:
            self._told = now
            cache.set(PROGRESS, share, PROGRESS_SECONDS)
