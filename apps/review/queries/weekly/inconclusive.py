"""Recommendations that were done and measured by the week's moment, and could not be decided yet."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.urls import reverse

from apps.economics.realised_saving import SavingStatus
from apps.ledger.queries.calendar import local_day
from apps.review.models import SavingMeasurement
from apps.review.queries.weekly.content_to_do import ProvenSaving
from apps.review.queries.weekly.review_words import INCONCLUSIVE

MEASURED_WITHIN = timedelta(days=14)
"""What was not measured for so long is not measured any more: it is reopened, or half a year has passed."""


def inconclusive_savings(zone: str, at: datetime) -> Iterator[ProvenSaving]:
    """Of each recommendation the newest measurement of the two weeks up to `at`, where that was inconclusive, by id."""
    newest = (
        SavingMeasurement.objects.filter(measured_at__lte=at, measured_at__gt=at - MEASURED_WITHIN)
        .order_by("recommendation_id", "-measured_at", "-id")
        .distinct("recommendation_id")
        .select_related("recommendation")
    )
    for row in newest:
        if row.status == SavingStatus.UNKNOWN:
            yield ProvenSaving(
                recommendation_id=row.recommendation_id,
                title=row.recommendation.proposal["title"],
                team_id=row.recommendation.team_id,
                state=INCONCLUSIVE,
                promised_low_micros=row.promise["low"],
                promised_high_micros=row.promise["high"],
                saved_micros=None,
                verified_on=local_day(row.measured_at, zone).isoformat(),
                link=reverse("recommendation", args=[row.recommendation_id]),
                why=row.why,
            )
