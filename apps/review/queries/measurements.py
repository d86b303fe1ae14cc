"""Measurements of recommendations that were done, week by week, beside what they promised."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from apps.economics.moves.saving import SavingRange
from apps.economics.realised_saving import SavingStatus
from apps.review.models import Recommendation, RecommendationState, SavingMeasurement
from apps.review.queries.recommendations import MeasuredSaving, measured_from
from apps.review.queries.weekly.json_text import digest_of_json

STATUS_WORDS: Mapping[str, str] = {
    SavingStatus.TOO_EARLY: "Too early",
    SavingStatus.VERIFIED: "Verified",
    SavingStatus.FAILED: "Failed",
    SavingStatus.UNKNOWN: "Inconclusive",
}


@dataclass(frozen=True, slots=True)
class SavingMeasurementFact:
    """A week's measurement; see its table for what each field is. `measured` None: not known, and `why`."""

    recommendation_id: int
    done_at: datetime
    week: date
    measured_at: datetime
    status: str
    why: str
    promise: SavingRange
    measured: MeasuredSaving | None
    digest: str


def measurements_of(recommendation_id: int) -> list[SavingMeasurementFact]:
    """All of one recommendation, the newest first."""
    rows = SavingMeasurement.objects.filter(recommendation_id=recommendation_id)
    return [_fact_of(row) for row in rows.order_by("-measured_at", "-id")]


def to_be_measured(week: date, done_after: datetime) -> list[int]:
    """Recommendations that are done since a moment, and of which nothing was said yet in this week; by id."""
    done = Recommendation.objects.filter(
        state=RecommendationState.DONE, done_at__gte=done_after
    ).order_by("id")
    measured_pairs = set(
        SavingMeasurement.objects.filter(week__gte=week).values_list("recommendation_id", "done_at")
    )
    done_pairs = done.values_list("id", "done_at")
    return [row_id for row_id, done_at in done_pairs if (row_id, done_at) not in measured_pairs]


def measurement_digest(row: SavingMeasurement) -> str:
    """SHA-256 of what a row says, whenever it is read."""
    fields: dict[str, Any] = {
        "recommendation": row.recommendation_id,
        "done_at": row.done_at.isoformat(),
        "week": row.week.isoformat(),
        "measured_at": row.measured_at.isoformat(),
        "status": str(row.status),
        "why": row.why,
        "promise": row.promise,
        "measured": row.measured,
    }
    return digest_of_json(fields)


def _fact_of(row: SavingMeasurement) -> SavingMeasurementFact:
    return SavingMeasurementFact(
        recommendation_id=row.recommendation_id,
        done_at=row.done_at,
        week=row.week,
        measured_at=row.measured_at,
        status=row.status,
        why=row.why,
        promise=SavingRange(**row.promise),
        measured=None if row.measured is None else measured_from(row.measured),
        digest=row.digest,
    )
