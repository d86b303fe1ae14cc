"""Every volume at which serving oneself and an API change places.

Self-hosting is a staircase, so it becomes dearer again at each step and an answer may turn several
times. Between two steps its cost is level and the API's a line that never falls: there is at most
one crossing inside, and at most one on the step itself. All steps up to a bound are walked, beyond
which nothing can turn any more.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum, inf
from operator import mul
from typing import NamedTuple

from apps.economics.crossover.offers import PricedVolume
from apps.economics.crossover.replicas import Staircase
from apps.economics.crossover.scenario import CostCurves

MOST_STEPS = 200_000
"""So many steps are walked at most; the answer says to which volume."""
MOST_VOLUME = 1e15
"""Where nothing has a step, the walk ends here."""
TIE = 1e-12
BEYOND = 1 + 1e-9


class Side(StrEnum):
    """Who serves the tokens."""

    SELF_HOST = "self_host"
    API = "api"


class SearchEnd(StrEnum):
    """Why no volume beyond was looked at."""

    NOTHING_TURNS = "nothing_turns_beyond"
    REPLICA_LIMIT = "replica_limit"
    STEP_LIMIT = "step_limit"


@dataclass(frozen=True, slots=True)
class Crossing:
    """From this volume on, and up to the next crossing, `cheaper` is the cheaper side.

    `replicas` are those of each pool in the busiest hour just beyond it.
    """

    million_tokens: float
    cheaper: Side
    replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CrossingSearch:
    """All crossings up to `searched_to`, and who is cheaper before the first."""

    cheaper_at_first: Side
    crossings: tuple[Crossing, ...]
    searched_to: float
    ended_by: SearchEnd

    @property
    def first(self) -> float | None:
        """The least volume at which self-hosting is the cheaper side."""
        if self.cheaper_at_first is Side.SELF_HOST:
            return 0.0
        return next((crossing.million_tokens for crossing in self.crossings), None)

    @property
    def durable(self) -> float | None:
        """From here on self-hosting is cheaper at every volume that it can serve; None: nowhere.

        None as well where the search ended before that could be known.
        """
        if self.ended_by is SearchEnd.STEP_LIMIT:
            return None
        if not self.crossings:
            return self.first
        last = self.crossings[-1]
        return last.million_tokens if last.cheaper is Side.SELF_HOST else None


class LevelStretch(NamedTuple):
    """Volumes in (start, end] over which neither a replica is added nor a tier begins."""

    start: float
    end: float
    self_host: float


def find_crossings(curves: CostCurves, most_steps: int = MOST_STEPS) -> CrossingSearch:
    """Walk the staircase up to where nothing turns any more, to a limit, or for `most_steps`."""
    limit = curves.most_volume
    searched_to, ended_by = min(
        (volume_of_last_turn(curves), SearchEnd.NOTHING_TURNS),
        (inf if limit is None else limit, SearchEnd.REPLICA_LIMIT),
        (_volume_of_steps(curves.pools, most_steps), SearchEnd.STEP_LIMIT),
    )
    sides = _sides_by_volume(_level_stretches(curves, searched_to), curves.api)
    _, cheaper_at_first = next(sides)
    crossings, cheaper = [], cheaper_at_first
    for volume, side in sides:
        if side is not cheaper:
            crossings.append(Crossing(volume, side, _busiest_replicas(curves.pools, volume)))
            cheaper = side
    return CrossingSearch(cheaper_at_first, tuple(crossings), searched_to, ended_by)


def volume_of_last_turn(curves: CostCurves) -> float:
    """A volume beyond which the cheaper side stays so; infinite where it may turn for ever.

    Beyond its base a pool needs between V·m/cap and V·m/cap + 1 replicas, so that self-hosting
    lies between two lines of one slope; the API is a line beyond its last tier.
    """
    api, pools = curves.api, curves.pools
    corner = api.corners[-1] if api.corners else 0.0
    intercept = api.month(corner) - api.price_at_scale * corner
    slope = api.price_at_scale - curves.cost_at_scale
    if abs(slope) <= TIE * api.price_at_scale:
        return inf
    if slope > 0:
        highest = curves.base + fsum(pool.step_cost for pool in pools)
        return _positive(max(corner, (highest - intercept) / slope))
    lowest = curves.base - fsum(pool.step_cost * pool.pool.base_replicas for pool in pools)
    return _positive(max(corner, (lowest - intercept) / slope))


def _positive(volume: float) -> float:
    """At least a token of volume, so that there is a stretch to look at."""
    return max(volume, 1e-6)


def _volume_of_steps(pools: Sequence[Staircase], most_steps: int) -> float:
    """The volume up to which the pools have about so many steps together."""
    steps = fsum(len(pool.levels) * pool.mean_level / pool.capacity for pool in pools)
    return most_steps / steps if steps else MOST_VOLUME


def _level_stretches(curves: CostCurves, searched_to: float) -> Iterator[LevelStretch]:
    events = sorted(
        (
            *_steps_below(curves.pools, searched_to),
            *((corner, 0, 0) for corner in curves.api.corners if corner < searched_to),
            (searched_to, 0, 0),
        )
    )
    hour_costs = [pool.step_cost / pool.hours for pool in curves.pools]
    added = [0] * len(curves.pools)
    start = 0.0
    for end, pool, hours in events:
        if end > start * (1 + TIE):
            # Counted in whole hours, so that no rounding adds up over many steps.
            yield LevelStretch(start, end, curves.base + sum(map(mul, hour_costs, added)))
            start = end
        added[pool] += hours


def _steps_below(
    pools: Sequence[Staircase], searched_to: float
) -> Iterator[tuple[float, int, int]]:
    """Volumes beyond which a pool has a further paid replica, the pool, and in how many hours."""
    for index, pool in enumerate(pools):
        capacity = pool.capacity
        for level, hours in pool.levels:
            full = pool.pool.base_replicas
            while level and (volume := full * capacity / level) < searched_to:
                yield volume, index, hours
                full += 1


def _sides_by_volume(
    stretches: Iterable[LevelStretch], api: PricedVolume
) -> Iterator[tuple[float, Side]]:
    """Who is cheaper from a volume on, in order; a tie goes to self-hosting."""
    at_end = api.month(0.0)
    for start, end, self_host in stretches:
        at_start, at_end = at_end, api.month(end)
        slack = TIE * max(self_host, 1.0)
        if at_start >= self_host - slack:
            yield start, Side.SELF_HOST
            continue
        yield start, Side.API
        if at_end >= self_host - slack:
            part = (self_host - at_start) / (at_end - at_start)
            yield min(end, start + part * (end - start)), Side.SELF_HOST


def _busiest_replicas(pools: Sequence[Staircase], volume: float) -> tuple[int, ...]:
    return tuple(max(count for count, _ in pool.replicas_at(volume * BEYOND)) for pool in pools)
