"""All kinds of recommendations as of a moment."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from apps.accounts.queries.reading import reading_once
from apps.review.queries.recommending.kinds import KINDS
from apps.review.queries.recommending.proposal import DetectedKind, RecommendedKind
from apps.review.queries.recommending.waste_cells import DetectedWaste, detect_waste


def detected_kinds(
    at: datetime, kinds: Sequence[RecommendedKind] = KINDS
) -> tuple[tuple[DetectedKind, ...], DetectedWaste | None]:
    """Return what each kind looked at and proposes, and the waste of the same weeks."""
    with reading_once():
        return tuple(kind.detect(at) for kind in kinds), detect_waste(at)


def kinds_document(kinds: Sequence[DetectedKind]) -> list[dict[str, Any]]:
    """Return the document of kinds that a look keeps: what was looked at, and why most is no proposal, the most frequent first."""
    return [
        {
            "kind": kind.kind,
            "looked_at": kind.looked_at,
            "looked_at_words": kind.looked_at_words,
            "proposed": len(kind.proposals),
            "not_looked": kind.not_looked,
            "passed_over": [
                {"why": why, "count": count}
                for why, count in sorted(
                    kind.passed_over.items(), key=lambda reason: (-reason[1], reason[0])
                )
            ],
        }
        for kind in kinds
    ]
