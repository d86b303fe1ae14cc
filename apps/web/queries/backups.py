"""Backups that are kept among the stored files, whether one is due, and what is known of the one being made."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.core.cache import cache

from apps.files import list_files

FOLDER = "backups"
NAME = re.compile(r"backups/runrate-(\d{8}T\d{6}Z)\.copy")
STAMP = "%Y%m%dT%H%M%SZ"
PROGRESS, FAILURE, ASKED = "backup:progress", "backup:failure", "backup:asked"
TRIED_AGAIN_AFTER = timedelta(minutes=10)
ASKED_SECONDS = 3600
CLOCKS_DIFFER = timedelta(minutes=10)
OLD_AFTER = 2
"""How many times the span between two copies the newest may be old."""


@dataclass(frozen=True, slots=True)
class BackupPlan:
    """How often copies are made (None: not by themselves), and of how many days, weeks and months one is kept."""

    every: timedelta | None
    daily: int
    weekly: int
    monthly: int


@dataclass(frozen=True, slots=True)
class BackupCopy:
    """A copy that lies among the stored files."""

    name: str
    made_at: datetime
    size_bytes: int


@dataclass(frozen=True, slots=True)
class BackupState:
    """The state of backups: the copies, newest first, and what is going on: its share where one is being made, why the last try failed."""

    copies: tuple[BackupCopy, ...]
    making: float | None
    failure: str
    failed_at: datetime | None

    @property
    def newest(self) -> BackupCopy | None:
        """The newest copy."""
        return self.copies[0] if self.copies else None


def backup_plan() -> BackupPlan:
    """Return the schedule that the settings ask for."""
    hours = settings.BACKUP_EVERY_HOURS
    return BackupPlan(
        timedelta(hours=hours) if hours else None,
        settings.BACKUP_KEEP_DAILY,
        settings.BACKUP_KEEP_WEEKLY,
        settings.BACKUP_KEEP_MONTHLY,
    )


def backup_state() -> BackupState:
    """Return the copies that are kept, and what is known of the one being made."""
    copy_files = [
        BackupCopy(entry.name, _parse_stamp(match[1]), entry.size_bytes)
        for entry in list_files(FOLDER)
        if (match := NAME.fullmatch(entry.name))
    ]
    copies = tuple(sorted(copy_files, key=lambda copy: copy.made_at, reverse=True))
    failure = cache.get(FAILURE) or {}
    failed_at = datetime.fromisoformat(failure["at"]) if failure else None
    return BackupState(copies, cache.get(PROGRESS), failure.get("why", ""), failed_at)


def request_backup() -> None:
    """Have the next sweep make a copy, whenever the last was."""
    cache.set(ASKED, True, ASKED_SECONDS)


def is_due(state: BackupState, plan: BackupPlan, at: datetime) -> bool:
    """Return whether a copy is to be made now."""
    if cache.get(ASKED):
        return True
    if plan.every is None:
        return False
    if state.failed_at is not None and abs(at - state.failed_at) < TRIED_AGAIN_AFTER:
        return False
    newest = latest_copy_as_of(state, at)
    return newest is None or at - newest.made_at >= plan.every


def is_old(state: BackupState, plan: BackupPlan, at: datetime) -> bool:
    """Return whether the newest copy is older than it may be."""
    newest = latest_copy_as_of(state, at)
    return plan.every is not None and newest is not None and at - newest.made_at > OLD_AFTER * plan.every  # fmt: skip


def latest_copy_as_of(state: BackupState, at: datetime) -> BackupCopy | None:
    """Return the newest copy that was made by then: one of a clock that ran ahead keeps no other from being made."""
    return next((copy for copy in state.copies if copy.made_at <= at + CLOCKS_DIFFER), None)


def copies_to_keep(copies: Sequence[BackupCopy], plan: BackupPlan) -> set[str]:
    """Return the names of those to keep: the newest, and the newest of each of the last days, weeks and months that have one."""
    newest_first = sorted(copies, key=lambda copy: copy.made_at, reverse=True)
    names = {copy.name for copy in newest_first[:1]}
    for most, form in ((plan.daily, "%Y-%m-%d"), (plan.weekly, "%G-%V"), (plan.monthly, "%Y-%m")):
        firsts: dict[str, str] = {}
        for copy in newest_first:
            firsts.setdefault(f"{copy.made_at:{form}}", copy.name)
        names |= set(list(firsts.values())[:most])
    return names


def _parse_stamp(stamp: str) -> datetime:
    return datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)
