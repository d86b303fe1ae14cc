"""Outcomes of each kind of recommendation, and new proposals taken down to what their kind comes to."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from apps.economics.kept_promises import (
    NO_RECORD,
    PromiseCase,
    PromiseRecord,
    promise_record,
    taken_down,
)
from apps.review.models import RecommendationOutcome
from apps.review.queries.recommending.proposal import DetectedKind, RecommendationProposal

FACTOR = "kept_factor"
"""Of a proposal's baseline: what its saving was multiplied with, so that its kind is judged by what was proposed first."""


def promise_records(at: datetime) -> dict[str, PromiseRecord]:
    """By kind, of what was verified or failed until then; what was done again counts as it came out last."""
    rows = RecommendationOutcome.objects.filter(settled_at__lte=at).order_by("-settled_at", "-id")
    cases: dict[str, dict[int, PromiseCase]] = {}
    names = ("recommendation__kind", "recommendation_id", "promise", "measured", "is_verified")
    for kind, recommendation_id, promise, measured, is_verified in rows.values_list(*names):
        factor = float(promise.get("baseline", {}).get(FACTOR, 1.0))
        case = PromiseCase(
            promise["saving"]["likely"] / factor, measured["saving"]["likely"], is_verified
        )
        cases.setdefault(kind, {}).setdefault(recommendation_id, case)
    return {kind: promise_record(list(of_kind.values())) for kind, of_kind in cases.items()}


def take_promises_down(
    kinds: Iterable[DetectedKind], records: Mapping[str, PromiseRecord]
) -> tuple[DetectedKind, ...]:
    """Return these kinds with each proposal's saving times the factor of its kind, which it says."""
    return tuple(
        replace(kind, proposals=[_taken_down(one, records.get(kind.kind, NO_RECORD)) for one in kind.proposals])
        for kind in kinds
    )  # fmt: skip


def _taken_down(proposal: RecommendationProposal, record: PromiseRecord) -> RecommendationProposal:
    if record.factor == 1.0:
        return proposal
    return replace(
        proposal,
        saving=taken_down(proposal.saving, record.factor),
        computed=f"{proposal.computed} Of that {record.factor:.0%} is promised: {record.says}.",
        doubts=(*proposal.doubts, record.says),
        baseline={**proposal.baseline, FACTOR: record.factor},
    )
