"""Exports asked for, taken up, told about, finished, called off and forgotten."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from apps.files import delete_file
from apps.ledger.models import Export, ExportState, ExportWhat, FileForm
from apps.ledger.queries.exports import EXPORTS, OPEN, Asker
from apps.ledger.queries.windows import Window
from apps.logs.changes import answered, logged_change

KEPT_FOR = timedelta(days=7)
SILENT_AFTER = timedelta(minutes=5)
"""Whoever makes an export says so with every day of it; after this long, somebody else begins again."""
MOST_TRIES = 3
HELD_A_NAME = "its file held a name that was taken out: ask for it again"
MOST_OPEN = 5
"""How many exports one asker may have waiting."""


class TooManyExports(Exception):
    """This asker has as many exports waiting as one may have."""


@dataclass(frozen=True, slots=True)
class NewExport:
    """An export that is asked for: `asked` in the asker's words, `chosen` the ids that they meant then."""

    what: ExportWhat
    window: Window
    asked: Mapping[str, Any]
    chosen: Mapping[str, Any]
    form: FileForm = FileForm.CSV


@dataclass(frozen=True, slots=True)
class ExportLease:
    """An export that is this caller's to make; a later turn of the same export is another's."""

    export_id: int
    attempt: int


@dataclass(frozen=True, slots=True)
class WrittenExport:
    """A written export: its rows, its size and its digest."""

    rows: int
    size_bytes: int
    digest: str


@logged_change()
@transaction.atomic
def request_export(*, wanted: NewExport, asker: Asker, at: datetime) -> int:
    """Leave an export to the next sweep. Refuses TooManyExports. Answers its id."""
    own_exports = Export.objects.filter(person_id=asker.person_id, token_id=asker.token_id)
    if own_exports.filter(state__in=OPEN).count() >= MOST_OPEN:
        raise TooManyExports(
            f"{MOST_OPEN} of your exports wait already; cancel one, or ask when one is made"
        )
    return Export.objects.create(
        person_id=asker.person_id,
        token_id=asker.token_id,
        what=wanted.what,
        form=wanted.form,
        window_text=wanted.window.text,
        first_day=wanted.window.first_day,
        end_day=wanted.window.end_day,
        zone=wanted.window.zone,
        asked=dict(wanted.asked),
        chosen=dict(wanted.chosen),
        asked_at=at,
    ).id


@logged_change()
@transaction.atomic
def cancel_export(*, export_id: int, at: datetime) -> None:
    """Call an export off, or give up its file; one that is over already stays as it is."""
    export = Export.objects.select_for_update().get(id=export_id)
    if export.state in {ExportState.FAILED, ExportState.CANCELLED}:
        return
    export.state = ExportState.CANCELLED
    export.ended_at = export.ended_at or at
    export.save(update_fields=["state", "ended_at"])


@logged_change(count=answered)
@transaction.atomic
def take_up_export(*, at: datetime) -> ExportLease | None:
    """The oldest export that nobody makes; None: there is none, or another is being made.

    One at a time: the other workers are for settling. One whose maker fell silent is begun again;
    after three times it has failed.
    """
    silent = Q(alive_at=None) | Q(alive_at__lt=at - SILENT_AFTER)
    making = Export.objects.filter(state=ExportState.MAKING)
    making.filter(silent, tries__gte=MOST_TRIES).update(
        state=ExportState.FAILED,
        ended_at=at,
        failure="it was begun three times and never came whole",
    )
    if making.exclude(silent).exists():
        return None
    export = (
        Export.objects.select_for_update(skip_locked=True)
        .filter(silent, state__in=OPEN)
        .order_by("id")
        .first()
    )
    if export is None:
        return None
    export.state, export.alive_at, export.has_file = ExportState.MAKING, at, True
    export.rows, export.rows_estimated, export.failure = 0, None, ""
    export.attempt, export.tries = export.attempt + 1, export.tries + 1
    export.save(
        update_fields=[
            *("state", "alive_at", "has_file", "rows", "rows_estimated"),
            *("attempt", "tries", "failure"),
        ]
    )
    return ExportLease(export.id, export.attempt)


@logged_change()
def begin_export(
    *, turn: ExportLease, team_ids: frozenset[int] | None, rows_estimated: int
) -> None:
    """Record whose rows the file will hold, and about how many."""
    _claimed_export(turn).update(
        team_ids=None if team_ids is None else sorted(team_ids), rows_estimated=rows_estimated
    )


def record_export_progress(*, turn: ExportLease, rows: int, at: datetime) -> bool:
    """Say how far it is; False: it was called off, or is another's to make."""
    return bool(_claimed_export(turn).update(rows=rows, alive_at=at))


@logged_change(count=answered)
@transaction.atomic
def end_export(*, turn: ExportLease, written: WrittenExport, at: datetime) -> bool:
    """The file is whole and kept for a week; False: nobody wants it of this caller any more.

    The row stays locked until the caller's transaction ends, for the file to be put in its place.
    """
    if _claimed_export(turn).select_for_update().first() is None:
        return False
    _claimed_export(turn).update(
        state=ExportState.DONE,
        rows=written.rows,
        size_bytes=written.size_bytes,
        digest=written.digest,
        ended_at=at,
        expires_at=at + KEPT_FOR,
    )
    return True


@logged_change()
def release_export(*, turn: ExportLease, reason: str, at: datetime | None) -> None:
    """Leave it for later, for a reason that is not its own: that is no try of it.

    It is taken up again SILENT_AFTER from `at`; None: by whoever comes next.
    """
    _claimed_export(turn).update(
        state=ExportState.QUEUED, alive_at=at, tries=F("tries") - 1, failure=reason
    )


@logged_change()
def break_off_export(*, turn: ExportLease, failure: str, at: datetime) -> None:
    """It cannot be made."""
    _claimed_export(turn).update(state=ExportState.FAILED, failure=failure, ended_at=at)


def exports_to_forget(*, at: datetime) -> list[int]:
    """Exports whose files nobody may fetch any more."""
    over = Q(state__in=[ExportState.FAILED, ExportState.CANCELLED])
    expired = Q(state=ExportState.DONE, expires_at__lte=at)
    exports = Export.objects.filter(over | expired, has_file=True).order_by("id")
    return list(exports.values_list("id", flat=True))


@logged_change()
def forget_export(*, export_id: int) -> None:
    """Its files are gone."""
    Export.objects.filter(id=export_id).update(has_file=False)


@logged_change()
def forget_stored_export(name: str) -> bool:
    """Delete the file of an export, given the file's name; False: it is none of an export that is done."""
    stem = name.removeprefix(f"{EXPORTS}/").partition(".")[0]
    if not name.startswith(f"{EXPORTS}/") or not stem.isdecimal():
        return False
    done = Export.objects.filter(id=int(stem), state=ExportState.DONE, has_file=True)
    if not done.update(state=ExportState.CANCELLED, failure=HELD_A_NAME):
        return False
    delete_file(name)
    return True


def _claimed_export(turn: ExportLease) -> Any:
    return Export.objects.filter(id=turn.export_id, attempt=turn.attempt, state=ExportState.MAKING)
