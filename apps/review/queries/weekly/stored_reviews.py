"""Weekly reviews as they are kept, and what each viewer sees of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any

from django.db.models import QuerySet

from apps.review.models import WeeklyReview, WeeklyReviewWorkload
from apps.review.queries.weekly.content import WeeklyContent
from apps.review.queries.weekly.json_text import as_json, digest_of_json, from_json
from apps.show.entries import Entry


@dataclass(frozen=True, slots=True)
class StoredReview:
    """A frozen review with its content; `editions` are all that are kept of its week."""

    id: int
    week: str
    first_day: date
    edition: int
    editions: Annotated[int, Entry(help="how many are kept of the week")]
    made_at: datetime
    made_by: int | None
    reason: Annotated[str, Entry(help="why a further edition was made")]
    digest: str
    content: WeeklyContent


@dataclass(frozen=True, slots=True)
class FrozenParts:
    """A review as its tables hold it: all but its workloads, these in their order, and the digest of both."""

    content: Mapping[str, Any]
    workloads: Sequence[Mapping[str, Any]]
    digest: str


def frozen_parts(content: WeeklyContent) -> FrozenParts:
    """Return the parts of a review that are kept."""
    document = as_json(content)
    workloads = document.pop("workloads")
    return FrozenParts(document, workloads, digest_of_parts(document, workloads))


def digest_of_parts(content: Mapping[str, Any], workloads: Sequence[Mapping[str, Any]]) -> str:
    """SHA-256 of the canonical JSON of `{"content": …, "workloads": […]}`."""
    return digest_of_json({"content": content, "workloads": workloads})


def review_weeks() -> list[str]:
    """The weeks of which a review is kept, the newest first."""
    return list(
        WeeklyReview.objects.filter(edition=1)
        .order_by("-first_day", "-id")
        .values_list("week", flat=True)
    )


def stored_review(
    week: str, *, edition: int | None = None, team_ids: Collection[int] | None = None
) -> StoredReview:
    """A week's review, its newest edition unless one is asked for; refuses WeeklyReview.DoesNotExist.

    With `team_ids` its workloads are of these teams alone (as they were owned then), and nothing
    else is narrowed: see `apps.review.queries.weekly.narrowed`.
    """
    editions = WeeklyReview.objects.filter(week=week).order_by("edition")
    chosen = [row for row in editions if edition is None or row.edition == edition]
    if not chosen:
        raise WeeklyReview.DoesNotExist(f"no review of {week} is kept")
    return _stored_review(chosen[-1], len(editions), team_ids)


def newest_review(week: str, until: datetime | None = None) -> StoredReview | None:
    """The newest edition of a week's review, whole; None where none is kept.

    With `until` the newest that was made until then, or the first of all where none was.
    """
    rows = list(WeeklyReview.objects.filter(week=week).order_by("edition"))
    editions = [row for row in rows if until is None or row.made_at <= until] or rows[:1]
    return _stored_review(editions[-1], len(rows), None) if editions else None


def digest_is_good(review_id: int) -> bool:
    """Whether what is kept still has the digest that it was frozen with."""
    row = WeeklyReview.objects.get(pk=review_id)
    workloads = list(_workload_rows(row, None).values_list("content", flat=True))
    return digest_of_parts(row.content, workloads) == row.digest


def _stored_review(
    row: WeeklyReview, editions: int, team_ids: Collection[int] | None
) -> StoredReview:
    rows = _workload_rows(row, team_ids).values_list("content", flat=True)
    plain = {**row.content, "workloads": list(rows)}
    return StoredReview(
        id=row.pk,
        week=row.week,
        first_day=row.first_day,
        edition=row.edition,
        editions=editions,
        made_at=row.made_at,
        made_by=row.made_by_id,
        reason=row.reason,
        digest=row.digest,
        content=from_json(WeeklyContent, plain),
    )


def _workload_rows(
    row: WeeklyReview, team_ids: Collection[int] | None
) -> QuerySet[WeeklyReviewWorkload]:
    rows = WeeklyReviewWorkload.objects.filter(review=row).order_by("place")
    return rows if team_ids is None else rows.filter(team_id__in=team_ids)
