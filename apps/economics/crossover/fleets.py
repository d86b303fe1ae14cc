"""A fleet as it stood, hour by hour, as a rule of replicas that follows from the load."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from math import ceil, fsum, log, sqrt
from statistics import median
from typing import NamedTuple

from apps.economics.crossover.replicas import ROUNDING
from apps.economics.crossover.served import ServedHour
from apps.economics.hours import DAY_HOURS

USUAL_HEADROOM = 0.7
LONGEST_LEAD = 6
MOST_PARTS = 16
"""A replica is looked for among the parts, up to so many, of the least and of the most that stood."""
ROOM_IN_LAST = (0.0, 0.25, 0.5, 0.75, 0.95)
"""Of the last replica that the busiest slot had, what it may have been there for beyond the load."""
AS_GOOD = 0.01
"""Rules whose misses differ by less than this part of the mean fleet are as good as each other."""

AS_IT_IS = 2 * DAY_HOURS
"""The last hours, which say what fleet there is now."""
SIMILAR = 0.2
"""How far the work of an hour may be from another's to be met with the same GPUs."""
OTHER = 0.1
"""By more than this part of the GPUs the same work was met with another fleet."""
LEAST_COMPARED, MOST_OF_THEM = 6, 0.75


class FleetRule(NamedTuple):
    """Replicas of `gpus` each: at least `least`, and as the load of the hours up to `lead_hours` ahead asks.

    `headroom` is the part of a replica's capacity that is planned to be used (it may exceed 1 where
    the fleet did more than its speeds say). `lead_hours` None: the busiest slot's stand always.
    """

    gpus: float
    least: int
    headroom: float
    lead_hours: int | None


def fleet_rule(gpus_by_slot: Sequence[float], loads: Sequence[float]) -> FleetRule:
    """The rule whose replicas miss the GPUs that stood in each slot by least (root mean square).

    `loads` are GPUs at work in the same slots at their busiest moments. The most replicas are those
    of the busiest slot, the least those of the quietest; the size of a replica, its headroom and the
    lead time are what is looked for. Sums are not: that a rule's GPU-hours are the fleet's is for
    it to show. Of rules that are as good the one wins whose replica is nearest to one GPU, and then
    whose headroom is nearest to the usual one.
    """
    mean = fsum(gpus_by_slot) / len(gpus_by_slot)
    ahead = [_highest_ahead(loads, lead) for lead in range(LONGEST_LEAD + 1)]
    rules = [
        (_miss(rule, gpus_by_slot, ahead), rule) for rule in set(_rules(gpus_by_slot, max(loads)))
    ]
    best = min(miss for miss, _ in rules)
    as_good = [(miss, rule) for miss, rule in rules if miss <= best + AS_GOOD * mean]
    return min(
        as_good, key=lambda candidate: (*_plainness(candidate[1]), candidate[0], candidate[1])
    )[1]


def fleet_changed_at(hours: Sequence[ServedHour]) -> datetime | None:
    """The hour since which the fleet is as it is now; None where it was so all the time.

    It was another where, of a day's hours whose work is near to that of some of the last two days,
    three quarters had over a tenth more GPUs than these, or three quarters over a tenth fewer. A
    fleet that follows its load is one fleet.
    """
    now = [(hour.usual_work, hour.gpu_hours) for hour in hours[-AS_IT_IS:]]
    others = [_otherness(hour, now) for hour in hours]
    for end in range(len(hours), LEAST_COMPARED, -1):
        start = max(0, end - DAY_HOURS)
        compared = [other for other in others[start:end] if other is not None]
        enough = MOST_OF_THEM * max(LEAST_COMPARED, len(compared))
        for sign in (1, -1):
            if compared.count(sign) >= enough:
                last = max(at for at in range(start, end) if others[at] == sign)
                return hours[last + 1].hour if last + 1 < len(hours) else None
    return None


def _otherness(hour: ServedHour, now: Sequence[tuple[float, float]]) -> int | None:
    """1 where it had more GPUs than the like have now, -1 where fewer; None: nothing is like it."""
    work = hour.usual_work
    like = [gpus for other, gpus in now if abs(other - work) <= SIMILAR * work]
    if not like or not work:
        return None
    usual = median(like)
    return (hour.gpu_hours > usual * (1 + OTHER)) - (hour.gpu_hours < usual * (1 - OTHER))


def _rules(gpus_by_slot: Sequence[float], busiest: float) -> Iterator[FleetRule]:
    lowest, highest, mean = (
        min(gpus_by_slot),
        max(gpus_by_slot),
        fsum(gpus_by_slot) / len(gpus_by_slot),
    )
    sizes = {mean / max(1, round(mean))}
    for parts in range(1, MOST_PARTS + 1):
        sizes |= {lowest / parts, highest / parts}
    for gpus in sizes - {0.0}:
        least, most = round(lowest / gpus), max(1, round(highest / gpus))
        for headroom in _headrooms(busiest / gpus, most):
            for lead in (None,) if most == least else range(LONGEST_LEAD + 1):
                yield FleetRule(gpus, least, headroom, lead)


def _headrooms(busiest: float, most: int) -> Iterator[float]:
    """With which a load of `busiest` replicas at work takes `most` of them; the least first."""
    edges = [busiest / (most - room) for room in ROOM_IN_LAST]
    yield edges[0]
    yield from (edge for edge in edges[1:] if edge <= 1)
    if edges[0] < USUAL_HEADROOM < edges[-1]:
        yield USUAL_HEADROOM


def _highest_ahead(loads: Sequence[float], lead: int) -> list[float]:
    around = [*loads, *loads, *loads[:lead]] if lead < len(loads) else [max(loads)] * 2 * lead
    return [max(around[start : start + lead + 1]) for start in range(len(loads))]


def _miss(
    rule: FleetRule, gpus_by_slot: Sequence[float], ahead: Sequence[Sequence[float]]
) -> float:
    lead, carried = rule.lead_hours, rule.gpus * rule.headroom
    loads = [max(ahead[0])] * len(gpus_by_slot) if lead is None else ahead[lead]
    return sqrt(
        fsum(
            (gpus - rule.gpus * max(rule.least, ceil(load / carried * (1 - ROUNDING)))) ** 2
            for gpus, load in zip(gpus_by_slot, loads, strict=True)
        )
        / len(gpus_by_slot)
    )


def _plainness(rule: FleetRule) -> tuple[float, float]:
    return abs(log(rule.gpus)), abs(rule.headroom - USUAL_HEADROOM)
