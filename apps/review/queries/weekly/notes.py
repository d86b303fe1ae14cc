"""Comments and decisions of a week's review, for those who may see them."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from apps.accounts.queries import Viewer
from apps.review.models import ReviewNote, WorkloadDecision

DECISION_WORDS = dict(WorkloadDecision.choices)


@dataclass(frozen=True, slots=True)
class ReviewNoteFact:
    """A comment, or a decision with it; `workload_id` None: of the week as a whole."""

    id: int
    week: str
    workload_id: int | None
    workload__name: str | None
    decision: str
    text: str
    author_name: str
    at: datetime


def notes_of(week: str, viewer: Viewer) -> list[ReviewNoteFact]:
    """The oldest first; of a week as a whole for those who see everything, of workloads for their teams."""
    rows = ReviewNote.objects.filter(_visible_to_viewer(viewer), week=week)
    return [ReviewNoteFact(*row) for row in rows.order_by("id").values_list(*_COLUMNS)]


def notes_of_workload(workload_id: int, viewer: Viewer) -> list[ReviewNoteFact]:
    """Of all weeks, the newest first."""
    rows = ReviewNote.objects.filter(_visible_to_viewer(viewer), workload_id=workload_id)
    return [ReviewNoteFact(*row) for row in rows.order_by("-id").values_list(*_COLUMNS)]


def decisions_of(notes: list[ReviewNoteFact]) -> dict[int, ReviewNoteFact]:
    """The newest decision of each workload; `notes` the oldest first."""
    return {
        note.workload_id: note for note in notes if note.decision and note.workload_id is not None
    }


def _visible_to_viewer(viewer: Viewer) -> Q:
    if viewer.seen_teams is None:
        return Q()
    return Q(workload__team_id__in=viewer.seen_teams)


_COLUMNS = tuple(ReviewNoteFact.__slots__)
