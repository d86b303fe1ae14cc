"""Frozen reviews are put into messages of the channels that get them, each edition once."""

from datetime import datetime, timedelta

from django.db import transaction

from apps.accounts.queries import organisation, teams_below
from apps.logs.changes import logged_pass
from apps.review.actions.messages import due_moment
from apps.review.models import AlertChannel, AlertMessage, ReviewFile, WeeklyReview

SENT_FOR = timedelta(days=3)
"""An older review is news to nobody: a channel that is added later does not get it."""
WAITS_FOR_FILES = timedelta(minutes=15)
"""The mail leads to the PDF, so that is made before; where it cannot be made, the mail goes all the same."""


@logged_pass("route_reviews")
@transaction.atomic
def route_reviews(*, at: datetime) -> int:
    """Put fresh reviews, the newest edition of each week, into messages; how many messages."""
    reviews = list(
        WeeklyReview.objects.filter(made_at__gt=at - SENT_FOR, made_at__lte=at)
        .order_by("week", "-edition")
        .distinct("week")
    )
    ready = set(
        ReviewFile.objects.filter(review__in=reviews, team=None).values_list("review_id", flat=True)
    )
    return sum(
        _create_review_messages(review, at)
        for review in reviews
        if review.pk in ready or review.made_at <= at - WAITS_FOR_FILES
    )


def _create_review_messages(review: WeeklyReview, at: datetime) -> int:
    sent = AlertMessage.objects.filter(review=review).values("channel_id")
    channels = AlertChannel.objects.filter(gets_reviews=True, ended_at=None).exclude(pk__in=sent)
    named = {team["team_id"] for team in review.content["teams"]}
    zone, count = organisation().zone, 0
    for channel in channels.order_by("id"):
        if channel.team_id is not None and not teams_below(channel.team_id) & named:
            continue
        _, is_new = AlertMessage.objects.get_or_create(
            channel=channel,
            review=review,
            defaults={"made_at": at, "due_at": due_moment(channel, at, zone, is_urgent=False)},
        )
        count += is_new
    return count
