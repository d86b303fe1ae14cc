"""Weekly reviews are frozen as they are made; made again they are a further edition."""

from datetime import date, datetime

from django.db import transaction

from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.review.models import WeeklyReview, WeeklyReviewWorkload
from apps.review.queries.weekly.content import WeeklyContent
from apps.review.queries.weekly.kept import frozen_parts


class ReviewIsKept(Refusal):
    """The week has a review; a further edition needs a reason."""


@logged_change()
@transaction.atomic
def freeze_review(
    *, content: WeeklyContent, at: datetime, reason: str = "", user_id: int | None = None
) -> int:
    """Keep a review as it is, for good; its id. Refuses ReviewIsKept.

    The first of a week is edition 1. Every further one says why it was made.
    """
    kept = WeeklyReview.objects.select_for_update().filter(week=content.week).order_by("-edition")
    newest = kept.first()
    if newest is not None and not reason.strip():
        raise ReviewIsKept("reason", f"{content.week} has a review; say why it is made again")
    parts = frozen_parts(content)
    review = WeeklyReview.objects.create(
        week=content.week,
        first_day=date.fromisoformat(content.first_day),
        edition=1 if newest is None else newest.edition + 1,
        schema=content.schema,
        made_at=at,
        made_by_id=user_id,
        reason=reason.strip(),
        content=parts.content,
        digest=parts.digest,
    )
    WeeklyReviewWorkload.objects.bulk_create(
        [
            WeeklyReviewWorkload(
                review=review,
                place=place,
                workload_id=workload.workload_id,
                team_id=workload.team_id,
                verdict=workload.verdict.verdict,
                content=plain,
            )
            for place, (workload, plain) in enumerate(
                zip(content.workloads, parts.workloads, strict=True)
            )
        ],
        batch_size=500,
    )
    return review.pk
