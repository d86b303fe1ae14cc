"""The weeks that detectors look at, read once for all of them."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps

from apps.accounts.queries.reading import once
from apps.ledger.queries.idle_stretches import IdleStretches, idle_stretches
from apps.placement.queries.moves.work import FleetWork, MoveSpan, fleet_work, move_week
from apps.review.queries.recommending.proposal import DetectedKind, Detector

work_of_week = once(fleet_work)


@once
def stretches_of(span: MoveSpan) -> dict[tuple[int, int, int], IdleStretches]:
    """Return the stretches that were idle for hours on end, by workload, pool and the week's place. One statement."""
    return idle_stretches(span.weeks)


def weekly_detector(
    kind: str, looked_at_words: str, *, fewest: int = 1
) -> Callable[[Callable[[DetectedKind, FleetWork, datetime], None]], Detector]:
    """Of a look at all work of the whole weeks before the one that a moment is in, at the margin.

    Where the ledger has fewer whole weeks, it did not look.
    """
    too_few = "no whole week" if fewest == 1 else f"fewer than {fewest} whole weeks"

    def detector_of(look_into: Callable[[DetectedKind, FleetWork, datetime], None]) -> Detector:
        @wraps(look_into)
        def detect(at: datetime) -> DetectedKind:
            detected = DetectedKind(kind, looked_at_words)
            work = work_of_week(move_week(at))
            if len(work.span.weeks) < fewest:
                detected.not_looked = f"the ledger had {too_few}"
            else:
                detected.weeks = len(work.span.weeks)
                look_into(detected, work, at)
            return detected

        return detect

    return detector_of
