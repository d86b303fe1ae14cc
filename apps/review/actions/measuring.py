"""Once a week, what recommendations that were done have saved: measured, kept, and at the end judged."""

from dataclasses import asdict
from datetime import datetime, timedelta

from django.db import transaction

from apps.economics.realised_saving import SavingStatus
from apps.logs.changes import logged_change
from apps.placement.queries.moves.work import move_week
from apps.review.actions.recommendations import settle_recommendation
from apps.review.actions.recommending import take_turns
from apps.review.models import Recommendation, RecommendationState, SavingMeasurement
from apps.review.queries.measurements import measurement_digest, to_be_measured
from apps.review.queries.measuring.saving import JUDGED, assess_saving
from apps.review.queries.recommendations import (
    RecommendationsWanted,
    recommendation,
    recommendations,
)

SETTLED_AFTER = timedelta(hours=8)
"""After midnight of the week's first day: the day before is settled, and the week's look is made."""
LONGEST_UNKNOWN = timedelta(weeks=26)
"""After it was done: what is not known by then stays unknown. What lapses may begin to save weeks after it was decided."""
MEASURED_STATES = (
    RecommendationState.DONE,
    RecommendationState.VERIFIED,
    RecommendationState.FAILED,
)


def measure_savings_if_due(*, at: datetime) -> int:
    """Measure every one that is done and was not measured in this week; how many were."""
    week = move_week(at - SETTLED_AFTER)
    due = to_be_measured(week, at - LONGEST_UNKNOWN)
    return sum(
        measure_saving(recommendation_id=recommendation_id, at=at) for recommendation_id in due
    )


@logged_change()
@transaction.atomic
def measure_saving(*, recommendation_id: int, at: datetime) -> bool:
    """Keep what one has saved so far, and call it verified or failed where that is known; whether there was anything.

    Nobody else judges: people say that it is done, the ledger what came of it.
    """
    take_turns()
    row = (
        Recommendation.objects.select_for_update()
        .filter(pk=recommendation_id, state=RecommendationState.DONE)
        .first()
    )
    if row is None or row.done_at is None:
        return False
    fact = recommendation(recommendation_id, None)
    others = recommendations(RecommendationsWanted(None, MEASURED_STATES))
    outcome = assess_saving(fact, others, at)
    if outcome is None:
        return False
    measurement = SavingMeasurement(
        recommendation=row,
        done_at=row.done_at,
        week=move_week(at - SETTLED_AFTER),
        measured_at=at,
        status=outcome.status,
        why=outcome.why,
        promise=asdict(fact.saving),
        measured=None if outcome.measured is None else outcome.measured.document,
    )
    measurement.digest = measurement_digest(measurement)
    measurement.save()
    if outcome.status in JUDGED and outcome.measured is not None:
        settle_recommendation(
            recommendation_id=recommendation_id,
            measured=outcome.measured,
            is_verified=outcome.status is SavingStatus.VERIFIED,
            at=at,
        )
    return True
