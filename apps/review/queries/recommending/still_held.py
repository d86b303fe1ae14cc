"""What workloads hold of pools still, at the end of the weeks that are looked at."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from apps.accounts.queries.reading import once
from apps.economics.hours import HOUR_MS
from apps.economics.moves.presence import present_parts
from apps.ledger.queries.held_days import held_by_day
from apps.placement.queries.moves.work import MoveSpan

ENDED = "it holds nothing any more"


@dataclass(frozen=True, slots=True)
class HeldDays:
    """GPU-hours that a workload held on a pool, week by week, and those of them that are above what it holds at the end."""

    held: tuple[float, ...]
    gone: tuple[float, ...]

    @property
    def is_over(self) -> bool:
        """Whether it holds nothing at the end, and did not come back from so long a pause before."""
        return sum(self.gone) >= sum(self.held) * (1 - 1e-9)


@once
def held_days(span: MoveSpan) -> Mapping[tuple[int, int], HeldDays]:
    """By workload and pool, of every one that held anything. One statement."""
    window = span.window
    of_day: dict[tuple[int, int], dict[date, float]] = defaultdict(dict)
    last = window.first_day
    for workload_id, pool_id, day, held_ms in held_by_day(window.first_day, window.end_day):
        # A day that is not summed up yet says nothing of what ended.
        last = max(last, day)
        if workload_id is not None and pool_id is not None:
            of_day[workload_id, pool_id][day] = held_ms / HOUR_MS
    days = [
        window.first_day + timedelta(days=place)
        for place in range((last - window.first_day).days + 1)
    ]
    found = {}
    for key, known in of_day.items():
        held = [known.get(day, 0.0) for day in days]
        count = len(span.weeks)
        found[key] = HeldDays(_by_week(held, count), _by_week(present_parts(held), count))
    return found


def _by_week(days: list[float], count: int) -> tuple[float, ...]:
    return tuple(sum(days[7 * place : 7 * place + 7]) for place in range(count))
