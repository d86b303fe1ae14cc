"""Imports of files that are looked at before a person confirms them: how far each is, and its steps.

The steps take the table of the app that imports: what they change is logged by that app's actions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from django.db import models, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest

MOST_TRIES = 3
"""So often a file is taken up by itself; then only a person has it read again."""
BROKEN_OFF = (
    f"it was taken up {MOST_TRIES} times, and each time its reading ended without a word: what reads it was "
    "killed, or ran out of memory; look at the file, then have it read again"
)
FURTHER_BY = 10
"""A try that got further than all before it by so much of the file, one part in ten, was not ended by the file."""
SILENT_AFTER = timedelta(minutes=2)
"""Whoever works on a file says so with every chunk; after this long, somebody else takes it up."""


MOST_REJECTIONS_KEPT = 10_000
"""All rejected rows are counted; so many are kept with line and reason."""


class ImportNotReady(Exception):
    """The file cannot be imported as it would be read now, or nobody has looked at it yet."""


class ImportAlreadyOver(Exception):
    """A refusal: what was imported or discarded is not changed any more."""


class ImportState(models.TextChoices):
    """How far an import is; one of a command begins as running."""

    LOOKING = "looking", "to be looked at"
    ASKING = "asking", "waits for a person"
    WAITING = "waiting", "to be run"
    RUNNING = "running", "running"
    DONE = "done", "done"
    FAILED = "failed", "broken off"
    DISCARDED = "discarded", "discarded"


OVER = frozenset({ImportState.DONE, ImportState.DISCARDED})
DUE = (ImportState.LOOKING, ImportState.WAITING, ImportState.RUNNING)


class ImportedFile(models.Model):
    """A file that is imported: what came of its rows, and how many were rejected.

    `stored_as` is its name while it is kept; `alive_at` the last sign of life of whoever works on it. `tries` is how
    often it was taken up since a person last had it read, but for those that the file did not end.
    """

    name = models.TextField()
    digest = models.TextField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    rows = models.BigIntegerField(default=0)
    imported = models.BigIntegerField(default=0)
    unchanged = models.BigIntegerField(default=0)
    rejected = models.BigIntegerField(default=0)
    stored_as = models.TextField(blank=True, default="")
    size_bytes = models.BigIntegerField(default=0)
    failure = models.TextField(blank=True, default="")
    alive_at = models.DateTimeField(null=True)
    tries = models.IntegerField(default=0)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class UploadedImport(ImportedFile):
    """One import of a file that a person looks at first: `asked` is how it is to be read, `seen` what a look at it found.

    `read_bytes` is how far it is in the file, `furthest_bytes` how far it ever was.
    """

    state = models.TextField(choices=ImportState.choices, default=ImportState.DONE)
    asked = models.JSONField(default=dict)
    seen = models.JSONField(default=dict)
    read_bytes = models.BigIntegerField(default=0)
    furthest_bytes = models.BigIntegerField(default=0)

    class Meta:
        abstract = True


class RejectedFileRow(models.Model):
    """A row of a file that was not taken: its line, its column and why."""

    line = models.BigIntegerField()
    field = models.TextField()
    reason = models.TextField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"line {self.line}: {self.field}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """How far an import of a file is, and what came of its rows."""

    id: int
    name: str
    state: str
    size_bytes: int
    started_at: datetime
    ended_at: datetime | None
    rows: int
    imported: int
    unchanged: int
    rejected: int
    failure: str


@dataclass(frozen=True, slots=True)
class UploadedFact(ImportProgress):
    """One import that a person confirms; `asked` is how its file is read, `seen` what a look at it found.

    `read_bytes` of `size_bytes` are read.
    """

    asked: Mapping[str, object]
    seen: Mapping[str, object]
    read_bytes: int


@dataclass(frozen=True, slots=True)
class RejectedFact:
    """A row that was not taken, by its line in the file, its column and why."""

    line: int
    field: str
    reason: str


Imported = TypeVar("Imported", bound=UploadedImport)


@transaction.atomic
def request_reread(
    table: type[UploadedImport], import_id: int, options: Mapping[str, object]
) -> None:
    """Have the file looked at again, read in this way. Refuses ImportAlreadyOver, ImportNotReady."""
    batch = _open_import(table, import_id)
    if batch.state not in {ImportState.ASKING, ImportState.LOOKING, ImportState.FAILED}:
        raise ImportNotReady(f"{batch.name} is being imported")
    batch.asked, batch.seen = dict(options), {**batch.seen, "trial": None}
    batch.state, batch.alive_at, batch.failure = ImportState.LOOKING, None, ""
    batch.tries = batch.read_bytes = batch.furthest_bytes = 0
    batch.save(
        update_fields=[
            *("asked", "seen", "state", "alive_at", "failure"),
            *("tries", "read_bytes", "furthest_bytes"),
        ]
    )


@transaction.atomic
def confirm(table: type[UploadedImport], import_id: int, needs: str) -> None:
    """Have the file imported as it was last looked at, which must have found some of what it `needs`.

    Refuses ImportNotReady, ImportAlreadyOver.
    """
    batch = _open_import(table, import_id)
    if batch.state != ImportState.ASKING or not (batch.seen.get("trial") or {}).get(needs):
        raise ImportNotReady(f"{batch.name} cannot be imported as it would be read now")
    batch.state, batch.alive_at = ImportState.WAITING, None
    batch.tries = batch.read_bytes = batch.furthest_bytes = 0
    batch.save(update_fields=["state", "alive_at", "tries", "read_bytes", "furthest_bytes"])


@transaction.atomic
def discard(table: type[UploadedImport], import_id: int, at: datetime) -> None:
    """Forget the file; what of it was imported stays. Refuses ImportAlreadyOver."""
    batch = _open_import(table, import_id)
    batch.state, batch.ended_at = ImportState.DISCARDED, at
    batch.save(update_fields=["state", "ended_at"])


@transaction.atomic
def claim(table: type[Imported], at: datetime) -> Imported | None:
    """The oldest file to be looked at or imported that nobody works on; None: there is none.

    It is then LOOKING, or RUNNING from its first row: one whose worker fell silent is begun again, but no
    more than MOST_TRIES times. The try is on record before the work begins.
    """
    idle = Q(alive_at=None) | Q(alive_at__lt=at - SILENT_AFTER)
    idle_files = table._default_manager.filter(idle, state__in=DUE)
    _give_tries_back(idle_files)
    idle_files.filter(tries__gte=MOST_TRIES).update(
        state=ImportState.FAILED, failure=BROKEN_OFF, ended_at=at
    )
    batch = (
        idle_files.select_for_update(skip_locked=True).exclude(stored_as="").order_by("pk").first()
    )
    if batch is None:
        return None
    batch.alive_at, batch.failure = at, ""
    batch.tries += 1
    batch.read_bytes = 0
    if batch.state != ImportState.LOOKING:
        batch.state = ImportState.RUNNING
        batch.rows = batch.imported = batch.unchanged = batch.rejected = 0
    batch.save()
    return batch


def _give_tries_back(idle_files: QuerySet[Imported]) -> None:
    """Do not count a try that got further than all before it; the first one has none before it."""
    part = F("size_bytes") / FURTHER_BY
    further = idle_files.filter(tries__gt=1, read_bytes__gt=F("furthest_bytes") + part)
    further.update(tries=F("tries") - 1)
    idle_files.filter(read_bytes__gt=F("furthest_bytes")).update(furthest_bytes=F("read_bytes"))


def say_alive(
    table: type[UploadedImport], import_id: int, state: ImportState, read_bytes: int, at: datetime
) -> bool:
    """Say that the file is worked on, and how far; False: it was discarded, or asked to be read in another way."""
    mine = table._default_manager.filter(pk=import_id, state=state, alive_at__isnull=False)
    return mine.update(alive_at=at, read_bytes=read_bytes) == 1


def store_preview(
    table: type[UploadedImport], import_id: int, fields: Mapping[str, object]
) -> bool:
    """Keep what a look found, in fields of the table; now a person is asked. False: as of `say_alive`."""
    looking = table._default_manager.filter(
        pk=import_id, state=ImportState.LOOKING, alive_at__isnull=False
    )
    return looking.update(**fields, state=ImportState.ASKING) == 1


def break_off(table: type[UploadedImport], import_id: int, failure: str, at: datetime) -> None:
    """The file cannot be read to its end; what of it was imported stays."""
    table._default_manager.filter(pk=import_id).exclude(state__in=OVER).update(
        state=ImportState.FAILED, failure=failure, ended_at=at
    )


def release_import(
    table: type[UploadedImport], import_id: int, at: datetime | None, reason: str
) -> None:
    """Leave the file for later, for a `reason` that is not its own: that is no try of it.

    It is taken up again SILENT_AFTER from `at`; None: by whoever comes next.
    """
    mine = table._default_manager.filter(pk=import_id, tries__gt=0, state__in=DUE)
    # How far it got is on record with it: whoever takes the file up next would give the same try back once more.
    furthest = Greatest(F("furthest_bytes"), F("read_bytes"))
    mine.update(alive_at=at, tries=F("tries") - 1, furthest_bytes=furthest, failure=reason)


def files_over(table: type[UploadedImport]) -> dict[int, str]:
    """Files of imports that are over, by import."""
    rows = table._default_manager.filter(state__in=OVER).exclude(stored_as="").order_by("pk")
    return dict(rows.values_list("pk", "stored_as"))


def forget(table: type[UploadedImport], import_id: int) -> None:
    """The file is gone."""
    table._default_manager.filter(pk=import_id).update(stored_as="")


def _open_import(table: type[UploadedImport], import_id: int) -> UploadedImport:
    batch = table._default_manager.select_for_update().get(pk=import_id)
    if batch.state in OVER:
        raise ImportAlreadyOver(f"{batch.name} is {batch.get_state_display()} already")
    return batch
