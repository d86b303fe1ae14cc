"""Comments and decisions of a week's review, for those who may see them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from django.db.models import Q

from apps.accounts.queries import Viewer
from apps.accounts.queries.facts import facts_of
from apps.review.models import ReviewNote, WorkloadDecision
from apps.show.entries import Entry

DECISION_WORDS = dict(WorkloadDecision.choices)


@dataclass(frozen=True, slots=True)
class EnteredReviewNote:
    """A comment, or a decision (of WorkloadDecision) with or without one; `workload_id` None: on the whole week."""

    week: str
    workload_id: int | None = None
    decision: Annotated[str, Entry(help=f"{', '.join(DECISION_WORDS)}; empty: a comment alone")] = (
        ""
    )
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewNoteFact(EnteredReviewNote):
    """A comment, or a decision with it; `workload` is the name of the one that it is about."""

    id: int
    workload: str | None
    author_name: str
    at: datetime


def notes_of(week: str, viewer: Viewer) -> list[ReviewNoteFact]:
    """The oldest first; of a week as a whole for those who see everything, of workloads for their teams."""
    rows = ReviewNote.objects.filter(_visible_to_viewer(viewer), week=week)
    return list(facts_of(ReviewNoteFact, rows.order_by("id"), workload="workload__name"))


def notes_of_workload(workload_id: int, viewer: Viewer) -> list[ReviewNoteFact]:
    """Of all weeks, the newest first."""
    rows = ReviewNote.objects.filter(_visible_to_viewer(viewer), workload_id=workload_id)
    return list(facts_of(ReviewNoteFact, rows.order_by("-id"), workload="workload__name"))


def decisions_of(notes: list[ReviewNoteFact]) -> dict[int, ReviewNoteFact]:
    """The newest decision of each workload; `notes` the oldest first."""
    return {
        note.workload_id: note for note in notes if note.decision and note.workload_id is not None
    }


def _visible_to_viewer(viewer: Viewer) -> Q:
    if viewer.seen_teams is None:
        return Q()
    return Q(workload__team_id__in=viewer.seen_teams)
