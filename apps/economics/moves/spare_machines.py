"""Machines of a pool that nothing is on, hour by hour: how they can be given back, and what that would have saved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import ceil, floor

PEAK_LEVEL = 0.99
"""So much of the time what is kept has to do: needs above it are the headroom that is not had."""
HEADROOM = 1.1
"""Beyond that level, where jobs are packed anew onto fewer machines."""
LEAST_RUN = 3
"""Hours of a schedule: shorter gaps are not worth stopping machines for."""
LEAST_PART = 0.05
"""Of the machine-hours that are paid by the hour, from which on what can be given back is worth acting on."""
AS_GOOD = 0.85
"""Of what the best way saves: a simpler way that saves so much of it is the one."""
SCALING_CHANGES = 6
"""Changes of the number of machines from which on a pool scales."""
AT_FLOOR = 0.1
"""Of the hours, in which it has its fewest machines, from which on that is its minimum."""


class SpareWay(StrEnum):
    """How machines are given back, the simplest first."""

    GIVE_BACK = "give_back"
    FLOOR = "floor"
    SCHEDULE = "schedule"
    SCALE = "scale"


@dataclass(frozen=True, slots=True)
class PoolHour:
    """A pool in an hour, in machines: in service, with nothing on them, and those of these that are paid by the hour.

    `rested` are those of the last that had nothing on them in the hour before either. `week` counts from 0; `slot` is the hour of the week.
    """

    week: int
    slot: int
    nodes: float
    free: float
    givable: float
    rested: float = 0.0


@dataclass(frozen=True, slots=True)
class SparePlan:
    """A way with what it would have given back, hour by hour, in machine-hours.

    `machines` is how many at a time at most. `short` counts the hours of a week in which a plan made of the other weeks
    would have left too few, of `tried` hours; `wakes` how often what was given back was wanted again.
    """

    way: SpareWay
    hours: tuple[float, ...]
    machines: int
    short: int
    tried: int
    wakes: int

    @property
    def total(self) -> float:
        """Machine-hours of all weeks."""
        return sum(self.hours)


def level_below(values: Sequence[float], level: float = PEAK_LEVEL) -> float:
    """Return the level that all but `1 - level` of the values reach at least; 0 of none."""
    ordered = sorted(values)
    return ordered[floor((1 - level) * len(ordered))] if ordered else 0.0


def level_above(values: Sequence[float], level: float = PEAK_LEVEL) -> float:
    """Return the level that all but `1 - level` of the values stay within; 0 of none."""
    return -level_below([-value for value in values], level)


def spare_plans(hours: Sequence[PoolHour]) -> list[SparePlan]:
    """Every way with what it saves in these hours, which follow each other; ways that save nothing are in it too."""
    ways: dict[SpareWay, _Planner] = {
        SpareWay.GIVE_BACK: _constant,
        SpareWay.FLOOR: _at_floor,
        SpareWay.SCHEDULE: _schedule,
    }
    return [*(_planned(way, hours, planner) for way, planner in ways.items()), _scaled(hours)]


def best_plan(hours: Sequence[PoolHour]) -> SparePlan | None:
    """The simplest of those that save about as much as the best; None where too little can be given back to act on."""
    plans = spare_plans(hours)
    most = max(plan.total for plan in plans)
    paid = sum(min(hour.nodes, hour.nodes - hour.free + hour.givable) for hour in hours)
    if most <= 0 or most < LEAST_PART * paid:
        return None
    return next(plan for plan in plans if plan.total >= AS_GOOD * most)


def scales(hours: Sequence[PoolHour]) -> bool:
    """Whether the number of machines goes up and down again and again."""
    changes = sum(1 for one, next_one in pairwise(hours) if abs(next_one.nodes - one.nodes) >= 0.5)
    return changes >= SCALING_CHANGES


def machines_within(sizes: Sequence[float], gpus: float) -> float:
    """How many of machines of these sizes so many GPUs are, the smallest first; the last of them in part."""
    count, left = 0.0, gpus
    for size in sorted(sizes):
        if left < size:
            return count + max(0.0, left) / size
        count, left = count + 1, left - size
    return count


def gpus_of_machines(sizes: Sequence[float], machines: float) -> float:
    """GPUs of so many of them, the smallest first: no more is promised than is surely on them."""
    left, gpus = machines, 0.0
    for size in sorted(sizes):
        gpus += size * max(0.0, min(1.0, left))
        left -= 1
    return gpus


def packed_machines(pieces: Sequence[Sequence[float]], sizes: Sequence[float]) -> int:
    """Machines that do in all but one hour of a hundred, of those of a pool, the largest first.

    `pieces` are GPUs that must be on one machine, hour by hour, largest first onto the first that has room; beside
    that, as many GPUs as are asked for and a tenth more are there.
    """
    ordered = sorted(sizes, reverse=True)
    packed = level_above([float(_packed(hour, ordered)) for hour in pieces])
    gpus = level_above([sum(hour) for hour in pieces]) * HEADROOM
    return max(round(packed), _machines_for(gpus, ordered))


def _packed(pieces: Sequence[float], sizes: Sequence[float]) -> int:
    """First-fit decreasing; what fits on none of them takes one of the largest."""
    left: list[float] = []
    largest = sizes[0] if sizes else 0.0
    for piece in sorted((part for part in pieces if part > 0), reverse=True):
        place = next((place for place, room in enumerate(left) if room >= piece - 1e-6), None)
        if place is None:
            fresh = sizes[len(left)] if len(left) < len(sizes) else largest
            place = len(left)
            left.append(max(fresh, piece))
        left[place] -= piece
    return len(left)


def _machines_for(gpus: float, sizes: Sequence[float]) -> int:
    """Of the largest first; beyond all of them as many more of the largest."""
    count = 0
    for size in sizes:
        if gpus <= 1e-9 * max(1.0, size):
            return count
        gpus -= size
        count += 1
    return count + (ceil(gpus / sizes[0] - 1e-9) if sizes and gpus > 0 else 0)


_Plan = Callable[[PoolHour], float]
_Planner = Callable[[Sequence[PoolHour]], _Plan]
"""From hours, how many machines to give back in an hour."""


def _constant(hours: Sequence[PoolHour]) -> _Plan:
    spare = floor(level_below([hour.givable for hour in hours]) + 1e-9)
    return lambda _: spare


def _at_floor(hours: Sequence[PoolHour]) -> _Plan:
    """Of a pool that scales, of its fewest machines those that nobody needs while it has no more."""
    least = min((hour.nodes for hour in hours), default=0.0)
    at_least = [hour for hour in hours if hour.nodes < least + 0.5]
    if not scales(hours) or len(at_least) < AT_FLOOR * len(hours):
        return lambda _: 0.0
    spare = floor(level_below([hour.givable for hour in at_least]) + 1e-9)
    return lambda hour: spare if hour.nodes < least + 0.5 else 0.0


def _schedule(hours: Sequence[PoolHour]) -> _Plan:
    """By the hour of the week, what was never needed in it; in runs of LEAST_RUN hours and more."""
    least: dict[int, float] = {}
    for hour in hours:
        least[hour.slot] = min(least.get(hour.slot, hour.givable), hour.givable)
    spare = {slot: floor(value + 1e-9) for slot, value in least.items()}
    spare_by_slot = _in_runs(spare)
    return lambda hour: spare_by_slot.get(hour.slot, 0)


def _in_runs(spare: Mapping[int, int]) -> dict[int, int]:
    """No more than can be given back for LEAST_RUN hours on end around it; the week goes round."""
    count = max(spare, default=0) + 1
    givable = {}
    for slot in spare:
        starts = range(slot - LEAST_RUN + 1, slot + 1)
        runs = (
            min(spare.get((start + step) % count, 0) for step in range(LEAST_RUN))
            for start in starts
        )
        givable[slot] = max(runs)
    return givable


def _planned(way: SpareWay, hours: Sequence[PoolHour], planner: _Planner) -> SparePlan:
    plan = planner(hours)
    wanted_gpus = [plan(hour) for hour in hours]
    given_gpus = tuple(
        min(want, hour.givable) for want, hour in zip(wanted_gpus, hours, strict=True)
    )
    short = tried = 0
    weeks = {hour.week for hour in hours}
    for week in sorted(weeks) if len(weeks) > 1 else ():
        of_others = planner([hour for hour in hours if hour.week != week])
        for hour in hours:
            if hour.week == week and of_others(hour):
                tried += 1
                short += of_others(hour) > hour.givable + 1e-6
    return SparePlan(
        way, given_gpus, ceil(max(wanted_gpus, default=0.0)), short, tried, _wakes(given_gpus)
    )


def _scaled(hours: Sequence[PoolHour]) -> SparePlan:
    """Given back after a whole hour with nothing on them."""
    given_gpus = [float(floor(hour.rested + 1e-9)) for hour in hours]
    return SparePlan(
        SpareWay.SCALE,
        tuple(given_gpus),
        ceil(max(given_gpus, default=0.0)),
        0,
        0,
        _wakes(given_gpus),
    )


def _wakes(given_gpus: Sequence[float]) -> int:
    """How often fewer were given back than the hour before."""
    return sum(1 for last, now in pairwise(given_gpus) if now < last - 1e-6)
