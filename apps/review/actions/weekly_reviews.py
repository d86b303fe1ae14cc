"""Weekly reviews are frozen as they are made; made again they are a further edition."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import connection, transaction

from apps.accounts.queries import organisation
from apps.economics.refusal import Refusal
from apps.ledger.queries.cube import explore
from apps.logs.changes import logged_change, logged_pass
from apps.placement.queries.moves.work import first_day_of_week
from apps.review.models import WeeklyReview, WeeklyReviewWorkload
from apps.review.queries.recommendations import latest_recommendation_detection_run
from apps.review.queries.weekly.content import WeeklyContent
from apps.review.queries.weekly.making import make_content
from apps.review.queries.weekly.stored_reviews import frozen_parts
from apps.review.queries.weekly.week_costs import settled_question
from apps.review.queries.weekly.weeks import ReviewWeek, last_week, review_week

FREEZING = 7_305_072
"""An advisory lock."""


class ReviewIsKept(Refusal):
    """The week has a review; a further edition needs a reason."""


class WeekNotOver(Refusal):
    """A review is of a week that is over."""


class WeekWithoutLines(Refusal):
    """There is nothing to review: what is frozen stays, and would say nothing."""


@logged_change()
@transaction.atomic
def freeze_review(
    *, content: WeeklyContent, at: datetime, reason: str = "", user_id: int | None = None
) -> int:
    """Keep a review as it is, for good; its id. Refuses ReviewIsKept.

    The first of a week is edition 1. Every further one says why it was made.
    """
    with connection.cursor() as cursor:
        # What does not exist yet cannot be locked: of two at once the second sees what the first froze.
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [FREEZING])
    newest = WeeklyReview.objects.filter(week=content.week).order_by("-edition").first()
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


@logged_change()
def make_review_if_missing(
    *, name: str, at: datetime, reason: str = "", user_id: int | None = None
) -> str:
    """Make the review of a week that is over where none is kept, or a further edition with a reason.

    An empty name is the last week that is over. The week's name; refuses WeekNotUnderstood,
    WeekNotOver and WeekWithoutLines.
    """
    week = review_week(name) if name else last_week(at, organisation().zone)
    if reason or not _has_review(week):
        try:
            make_review(week=week, at=at, reason=reason, user_id=user_id)
        except ReviewIsKept:
            # Somebody else made it meanwhile: without a reason one is enough.
            if reason:
                raise
    return week.name


@logged_change()
def make_review(
    *, week: ReviewWeek, at: datetime, reason: str = "", user_id: int | None = None
) -> int:
    """Make a week's review and freeze it; its id. Refuses WeekNotOver, WeekWithoutLines and ReviewIsKept."""
    if at < week.window(organisation().zone).ends_at:
        raise WeekNotOver("week", f"{week.name} is not over")
    content = make_content(week, at)
    if not content.teams:
        raise WeekWithoutLines(
            "week", f"the ledger has nothing of {week.name}, nor of the seven weeks before"
        )
    return freeze_review(content=content, at=at, reason=reason, user_id=user_id)


@logged_pass("make_weekly_review")
def make_review_if_due(*, at: datetime) -> int:
    """Last week's review, once, on Monday from the hour on that is set, when the weekly looks are made.

    Where they are late it waits for them, for a day at most. 1 if one was made.
    """
    week = last_week(at, organisation().zone)
    if WeeklyReview.objects.filter(first_day__gte=week.first_day).exists():
        return 0
    local = at.astimezone(ZoneInfo(organisation().zone))
    is_first_day = local.date() == week.end_day
    if is_first_day and (local.hour < settings.REVIEW_HOUR or not _has_recommendations(week, at)):
        return 0
    if explore(settled_question(week.window(organisation().zone))).total.sums.is_nothing:
        return 0
    try:
        make_review(week=week, at=at)
    except ReviewIsKept:
        # A command made it meanwhile.
        return 0
    return 1


def _has_review(week: ReviewWeek) -> bool:
    return WeeklyReview.objects.filter(week=week.name).exists()


def _has_recommendations(week: ReviewWeek, at: datetime) -> bool:
    """Whether the recommendations of the week that has just begun are made."""
    newest = latest_recommendation_detection_run(at)
    return newest is not None and newest.week >= first_day_of_week(week.end_day)
