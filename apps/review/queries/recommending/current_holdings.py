"""The work that workloads still hold of pools, at the end of the weeks that are looked at."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.accounts.queries.reading import once
from apps.economics.moves.presence import present_parts
from apps.ledger.queries.held_hours import held_by_hour
from apps.placement.queries.moves.work import MoveSpan
from apps.review.queries.recommending.pool_capacity import places_from

ENDED = "it holds nothing any more"


@dataclass(frozen=True, slots=True)
class HeldTime:
    """GPU-hours that a workload held on a pool, week by week, and those of them that are above what it holds at the end."""

    held: tuple[float, ...]
    gone: tuple[float, ...]

    @property
    def is_over(self) -> bool:
        """Whether it holds nothing at the end, and did not come back from so long a pause before."""
        return sum(self.gone) >= sum(self.held) * (1 - 1e-9)


@once
def held_time(span: MoveSpan) -> Mapping[tuple[int, int], HeldTime]:
    """By workload and pool, of every one that held anything. One statement."""
    window = span.window
    of_hour: dict[tuple[int, int], dict[datetime, float]] = defaultdict(dict)
    last = window.starts_at
    for workload_id, pool_id, hour, gpus in held_by_hour(window.starts_at, window.ends_at):
        # An hour that is not settled yet says nothing of what ended.
        last = max(last, hour)
        if workload_id is not None and pool_id is not None:
            of_hour[workload_id, pool_id][hour] = gpus
    places = [place for place in places_from(window.starts_at, span) if place.hour <= last]
    weeks = [place.week for place in places]
    count = len(span.weeks)
    times = {}
    for key, gpus_by_hour in of_hour.items():
        held_gpus = [gpus_by_hour.get(place.hour, 0.0) for place in places]
        times[key] = HeldTime(
            _by_week(weeks, held_gpus, count), _by_week(weeks, present_parts(held_gpus), count)
        )
    return times


def _by_week(weeks: Sequence[int], hours: Sequence[float], count: int) -> tuple[float, ...]:
    sums = [0.0] * count
    for week, gpus in zip(weeks, hours, strict=True):
        sums[week] += gpus
    return tuple(sums)
