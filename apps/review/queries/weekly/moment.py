"""The moment that a week's review is of: what is said beside the ledger's figures is as it stood then, whenever it is made."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings

from apps.placement.queries.moves.work import first_day_of_week
from apps.review.queries.recommendations import recommendation_detection_run_of
from apps.review.queries.weekly.stored_reviews import StoredReview
from apps.review.queries.weekly.weeks import ReviewWeek

LOOKS_WAITED_FOR = timedelta(days=1)
"""A review waits so long for the recommendations of the week that has just begun."""


def review_moment(
    week: ReviewWeek, zone: str, at: datetime, review: StoredReview | None = None
) -> datetime:
    """When the week's review falls due, on its Monday, or its recommendations were looked for that day; `at` where that is earlier.

    One that is made weeks later is of this moment too: it says what the first would have said. Where one is `review`, its
    moment is that of every further edition, also where the week's recommendations came after it.
    """
    if review is not None and review.content.stands_at:
        return datetime.fromisoformat(review.content.stands_at).astimezone(at.tzinfo)
    ends_at = week.window(zone).ends_at
    due = datetime.combine(week.end_day, time(settings.REVIEW_HOUR), ZoneInfo(zone))
    week_look = recommendation_detection_run_of(first_day_of_week(week.end_day))
    looked_at = (
        week_look.made_at if week_look and week_look.made_at < ends_at + LOOKS_WAITED_FOR else due
    )
    return min(at, max(due, looked_at)).astimezone(at.tzinfo)
