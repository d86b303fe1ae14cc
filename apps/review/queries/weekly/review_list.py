"""The list of weekly reviews, and a workload's verdicts week by week."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any

from django.db.models import Count, Func, JSONField, Q

from apps.accounts.queries import Viewer
from apps.review.models import WeeklyReview, WeeklyReviewWorkload
from apps.review.queries.weekly.content import ReviewedWorkload, WeeklyContent
from apps.review.queries.weekly.json_text import from_json
from apps.review.queries.weekly.narrowed import narrowed
from apps.show.entries import Entry, Micros

MOST_WEEKS = 104
WITHOUT_LISTS = "%(expressions)s - '{matters,recommendations,budgets,commitments}'::text[]"
"""A review's content without what grows with everything that is open: a list of weeks says nothing of it."""


@dataclass(frozen=True, slots=True)
class ListedReview:
    """The newest edition of a week in short, as far as the viewer may see it; `verdicts` counts workloads."""

    week: Annotated[str, Entry(help="an ISO week, such as 2026-W30")]
    first_day: date
    edition: int
    made_at: datetime
    digest: Annotated[str, Entry(help="SHA-256 of the canonical JSON of the whole review")]
    cost_micros: Micros | None
    before_micros: Annotated[Micros | None, Entry(help="of the week before")]
    waste_micros: Micros | None
    verdicts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WorkloadWeek:
    """A workload in the newest edition of a week."""

    week: str
    workload: ReviewedWorkload


def listed_reviews(viewer: Viewer, most: int = MOST_WEEKS) -> list[ListedReview]:
    """The newest week first, each by its newest edition."""
    rows = (
        WeeklyReview.objects.order_by("-first_day", "-edition")
        .distinct("first_day")
        .annotate(in_short=Func("content", template=WITHOUT_LISTS, output_field=JSONField()))
        .only("week", "first_day", "edition", "made_at", "digest")
    )[:most]
    reviews = list(rows)
    verdicts = _verdicts([review.pk for review in reviews], viewer)
    return [
        _listed(review, review.in_short, verdicts.get(review.pk, {}), viewer) for review in reviews
    ]


def weeks_of_workload(
    workload_id: int, viewer: Viewer, most: int = MOST_WEEKS
) -> list[WorkloadWeek]:
    """Return what the reviews said of a workload, the newest week first; for leads of the weeks in which it was theirs."""
    visible = Q() if viewer.seen_teams is None else Q(team_id__in=viewer.seen_teams)
    rows = (
        WeeklyReviewWorkload.objects.filter(visible, workload_id=workload_id)
        .order_by("-review__first_day", "-review__edition")
        .distinct("review__first_day")
        .values_list("review__week", "content")
    )[:most]
    return [WorkloadWeek(week, from_json(ReviewedWorkload, content)) for week, content in rows]


def _listed(
    review: WeeklyReview, in_short: Mapping[str, Any], verdicts: Mapping[str, int], viewer: Viewer
) -> ListedReview:
    content = from_json(WeeklyContent, in_short)
    if viewer.seen_teams is not None:
        content = narrowed(content, viewer.seen_teams)
    return ListedReview(
        week=review.week,
        first_day=review.first_day,
        edition=review.edition,
        made_at=review.made_at,
        digest=review.digest,
        cost_micros=content.cost.micros,
        before_micros=content.variance.before_micros,
        waste_micros=content.waste_micros,
        verdicts=verdicts,
    )


def _verdicts(review_ids: list[int], viewer: Viewer) -> dict[int, Counter[str]]:
    rows = WeeklyReviewWorkload.objects.filter(review_id__in=review_ids)
    if viewer.seen_teams is not None:
        rows = rows.filter(team_id__in=viewer.seen_teams)
    counts: dict[int, Counter[str]] = {}
    grouped = rows.values_list("review_id", "verdict").annotate(workloads=Count("id"))
    for review_id, verdict, workloads in grouped.order_by("review_id", "verdict"):
        counts.setdefault(review_id, Counter())[verdict] = workloads
    return counts
