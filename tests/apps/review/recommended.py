"""Recommendations for tests: proposals of a made-up kind, and looks that propose them."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.saving import SavingRange
from apps.placement.queries.moves.work import move_week
from apps.review.actions import detect_recommendations
from apps.review.models import Recommendation
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendationProposal,
    RecommendedKind,
)

DOLLAR = 1_000_000
WEEK = date(2026, 3, 2)
AT = datetime(2026, 3, 2, 12, tzinfo=UTC)


def proposal(key: str = "7:2", likely: int = 1_000, **given: Any) -> RecommendationProposal:
    """One that saves so many dollars a month, in a range of a tenth, of twice that."""
    amount = likely * DOLLAR
    values: dict[str, Any] = {
        "key": key,
        "title": f"Stop {key}",
        "subject": key,
        "team_id": None,
        "workload_id": None,
        "pool_id": None,
        "spend_micros": 2 * amount,
        "saving": SavingRange(amount * 9 // 10, amount, amount * 11 // 10),
        "effort_hours": 2,
        "risk": DisruptionClass.LOW,
        "risk_reason": "nobody works with it",
        "why": "Nobody asked it anything for four weeks.",
        "computed": "What it was charged in four weeks, over a month of 730 hours",
        "cells": frozenset([key]),
        "doubts": ("looked for requests in the last 28 days: none",),
        "evidence": (
            RecommendationEvidence("Requests", "0 in 28 days", "/services/7"),
            RecommendationEvidence("Rate", "$2.00 a GPU-hour", "/prices", is_price=True),
        ),
    }
    return RecommendationProposal(**values | given)


def zombies(
    proposals: Sequence[RecommendationProposal], not_looked: str = "", **declined: str
) -> RecommendedKind:
    """A kind that proposes these, and passes one service over."""

    def detect(at: datetime) -> DetectedKind:
        found = DetectedKind("zombie", "services", not_looked=not_looked, declined=declined)
        for each in proposals:
            found.propose(each)
        found.pass_over("it answered requests")
        return found

    return RecommendedKind("zombie", "Zombies", "services nobody asks", detect)


def look(
    *proposals: RecommendationProposal, weeks: int = 0, not_looked: str = "", **declined: str
) -> int:
    """A look so many weeks after the first at these alone; how many were proposed."""
    later = timedelta(weeks=weeks)
    kinds = (zombies(proposals, not_looked, **declined),)
    return int(detect_recommendations(week=WEEK + later, at=AT + later, kinds=kinds))


def looked(*proposals: RecommendationProposal, at: datetime = AT) -> list[int]:
    """The same at a moment, in its week; the ids of what was proposed, in their order."""
    detect_recommendations(week=move_week(at), at=at, kinds=(zombies(proposals),))
    ids = dict(Recommendation.objects.values_list("matter", "id"))
    return [ids[f"zombie:{each.key}"] for each in proposals]
