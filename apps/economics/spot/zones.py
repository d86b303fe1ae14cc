"""The choice of zones to use together: sets are replayed over the history that there is, and the cheapest kept.

Taking any zone there is costs starts that a better one would not; only a replay knows. A set with a
deadline missed is never chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.economics.spot.hazards import ZoneHistory, zone_history
from apps.economics.spot.job import SpotJob
from apps.economics.spot.offers import SpotOffers, offer_chain, spot_offers
from apps.economics.spot.plan import SpotPlan, solve_spot_plan
from apps.economics.spot.replay import (
    Decide,
    planned_policy,
    replay,
    uniform_policy,
    window_ticks,
)
from apps.economics.spot.trace import SpotTrace

HISTORY_STARTS = 30


@dataclass(frozen=True, eq=False)
class ZoneSet:
    """Zones, by their place among those given, and how to run on them: `plan` is None where history is too thin."""

    places: tuple[int, ...]
    histories: tuple[ZoneHistory, ...]
    plan: SpotPlan | None
    thin: str

    def policy(self, job: SpotJob) -> Decide:
        """Runrate's: by the plan, else uniform progress."""
        return planned_policy(self.plan) if self.plan else uniform_policy(job)

    def offers(self, job: SpotJob, traces: Sequence[SpotTrace], nodes: int) -> SpotOffers:
        """Return the offers of this set's zones among these; the job's data lies in the first of them."""
        used = [traces[place] for place in self.places]
        return spot_offers(used, self.histories, nodes, job.egress_hours)


def fitted_zones(
    job: SpotJob, past: Sequence[SpotTrace], places: Sequence[int], nodes: int = 1
) -> ZoneSet:
    """These zones with a plan fitted on their past, where that has enough of ended spells."""
    traces = [past[place] for place in places]
    histories = tuple(zone_history(trace, nodes) for trace in traces)
    thin = [history.too_thin for history in histories]
    if all(thin):
        return ZoneSet(tuple(places), histories, None, "; ".join(thin))
    offers = spot_offers(traces, histories, nodes, job.egress_hours)
    plan = solve_spot_plan(job, offer_chain(offers, histories))
    return ZoneSet(tuple(places), histories, plan, "")


def fitted_zone(job: SpotJob, trace: SpotTrace) -> ZoneSet:
    """One zone with a plan fitted on all that was seen of it."""
    return fitted_zones(job, [trace], [0])


def chosen_zones(job: SpotJob, past: Sequence[SpotTrace], nodes: int = 1) -> ZoneSet:
    """Grown from the best zone by the one that helps most, over starts spread over the past.

    All zones where the past is shorter than a deadline.
    """
    everything = range(len(past))
    room = min(len(trace.counts) for trace in past) - window_ticks(job, past[0].tick)
    if room < 0 or len(past) == 1:
        return fitted_zones(job, past, everything, nodes)
    starts = np.unique(np.linspace(0, room, HISTORY_STARTS).astype(np.int64))

    def past_cost(zones: ZoneSet) -> float:
        run = replay(job, zones.offers(job, past, nodes), starts, zones.policy(job))
        return np.inf if run.missed(job) else float(run.cost.mean())

    best, least = fitted_zones(job, past, everything, nodes), np.inf
    places: tuple[int, ...] = ()
    while len(places) < len(past):
        tried = [
            fitted_zones(job, past, (*places, place), nodes)
            for place in everything
            if place not in places
        ]
        costs = [past_cost(zones) for zones in tried]
        if min(costs) >= least:
            break
        least = min(costs)
        best = tried[costs.index(least)]
        places = best.places
    return best
