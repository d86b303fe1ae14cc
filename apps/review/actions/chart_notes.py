"""Notes on charts: what happened on a day, noted and removed; the audit trail keeps both."""

from datetime import date, datetime

from django.db import transaction

from apps.accounts import queries as accounts
from apps.accounts.actions.entered import keep
from apps.accounts.queries import Viewer
from apps.accounts.queries.facts import fields_of
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.review.models import ChartNote
from apps.review.queries.annotations import (
    LONGEST_NOTE,
    EnteredChartNote,
    may_note,
    may_remove_note,
)
from apps.workloads import queries as workloads

EARLIEST, LATEST = date(1970, 1, 2), date(2200, 1, 1)


class ChartNoteRefused(Refusal):
    """A note says something, of a day within reach, to those whose work it is of."""


@logged_change()
@transaction.atomic
def add_chart_note(*, note: EnteredChartNote, viewer: Viewer, at: datetime) -> int:
    """Keep a note of the viewer; its id. Refuses ChartNoteRefused."""
    check_chart_note(note, viewer)
    columns = fields_of(note) | {"text": note.text.strip(), "made_by_id": viewer.person_id}
    return keep(ChartNote, columns, at, {})


@logged_change()
@transaction.atomic
def remove_chart_note(*, note_id: int, viewer: Viewer) -> None:
    """Take a note off all charts. Refuses ChartNoteRefused where the viewer may not."""
    note = ChartNote.objects.select_for_update().filter(id=note_id).first()
    if note is None or not may_remove_note(viewer, note.made_by_id):
        raise ChartNoteRefused("", "there is no such note that is yours to remove")
    note.delete()


def check_chart_note(note: EnteredChartNote, viewer: Viewer) -> None:
    """Refuse ChartNoteRefused, by the name of the field."""
    if not note.text.strip():
        raise ChartNoteRefused("text", "say what happened")
    if len(note.text) > LONGEST_NOTE:
        raise ChartNoteRefused("text", f"say it in at most {LONGEST_NOTE} characters")
    if not EARLIEST <= note.day < LATEST:
        raise ChartNoteRefused("day", "that day is out of reach")
    if note.team_id is not None and note.workload_id is not None:
        raise ChartNoteRefused("workload", "a note is of a team or of a workload, not of both")
    if note.team_id is not None and note.team_id not in {team.id for team in accounts.teams()}:
        raise ChartNoteRefused("team", "there is no such team")
    if note.workload_id is not None and note.workload_id not in workloads.workloads():
        raise ChartNoteRefused("workload", "there is no such workload")
    if not may_note(viewer, note.team_id, note.workload_id):
        raise ChartNoteRefused(
            "team",
            "notes are of one's own teams and their workloads; of the organisation by finance and platform",
        )
