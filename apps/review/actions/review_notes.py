"""Notes and decisions of people on a week's review and on the workloads in it."""

from datetime import datetime

from apps.accounts.queries import Viewer
from apps.accounts.queries.facts import fields_of
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.review.models import ReviewNote, WeeklyReview, WeeklyReviewWorkload, WorkloadDecision
from apps.review.queries.weekly.notes import EnteredReviewNote

LONGEST_REVIEW_NOTE = 2_000


class NoteSaysNothing(Refusal):
    """A note is a comment, a decision, or both; a decision is about a workload of the review."""


@logged_change()
def add_review_note(*, note: EnteredReviewNote, by: Viewer, at: datetime) -> int:
    """Keep it, with who and when; its id. Refuses NoteSaysNothing and WeeklyReview.DoesNotExist."""
    check_review_note(note)
    columns = fields_of(note) | {"text": note.text.strip()}
    author = {"author_id": by.person_id, "author_name": by.name}
    return ReviewNote.objects.create(**columns, **author, at=at).pk


def check_review_note(note: EnteredReviewNote) -> None:
    """Refuse what add_review_note would."""
    if not WeeklyReview.objects.filter(week=note.week).exists():
        raise WeeklyReview.DoesNotExist(f"no review of {note.week} is kept")
    if note.decision and note.decision not in WorkloadDecision.values:
        words = ", ".join(WorkloadDecision.values)
        raise NoteSaysNothing("decision", f"{note.decision!r} is none of {words}")
    if not note.decision and not note.text.strip():
        raise NoteSaysNothing("text", "say something, or decide")
    if note.workload_id is None and note.decision:
        raise NoteSaysNothing("workload", "a decision is about a workload")
    reviewed = WeeklyReviewWorkload.objects.filter(review__week=note.week)
    workload_id = note.workload_id
    if workload_id is not None and not reviewed.filter(workload_id=workload_id).exists():
        raise NoteSaysNothing("workload", f"the review of {note.week} has no such workload")
