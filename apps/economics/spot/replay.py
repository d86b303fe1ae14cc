"""A policy on recorded availability: many starts of one job at once, tick after tick.

What a tick is: the policy looks, then the job runs. A start takes `restart` hours before work goes on,
both paid by the hour; a preemption is seen at the beginning of a tick. Data lies in the first zone at
first, and in that of the last start on spot from then on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np

from apps.economics.spot.job import ROUNDING, Flags, Hours, Indexes, SpotJob, SpotMode
from apps.economics.spot.offers import NO_ZONE, SpotOffers
from apps.economics.spot.plan import SpotPlan
from apps.economics.spot.uniform import (
    MODE_OF_REASON,
    has_slack,
    uniform_progress,
    without_lead,
)


@dataclass(frozen=True, eq=False)
class ReplayMoment:
    """The view of a policy at the beginning of a tick: modes of each job after preemptions, and what is offered."""

    elapsed: float
    tick: float
    modes: Indexes
    done: Hours
    is_up: Flags
    states: Indexes


Decide = Callable[[ReplayMoment], Indexes]


@dataclass(frozen=True, eq=False)
class Replayed:
    """Of each start: what it cost, hours worked on spot and on demand, starts, moves of data, preemptions, and when it was done."""

    cost: Hours
    spot_hours: Hours
    on_demand_hours: Hours
    starts: Indexes
    moves: Indexes
    preemptions: Indexes
    finished: Hours

    def missed(self, job: SpotJob) -> int:
        """How many were not done by the deadline."""
        return int((self.finished > job.deadline + ROUNDING).sum())


def replay(job: SpotJob, offers: SpotOffers, origins: Indexes, decide: Decide) -> Replayed:
    """Run the job from each origin, a tick of the offers, which must go on for a deadline after it."""
    run = _Run(job, offers, origins)
    for at in range(window_ticks(job, offers.tick)):
        run.advance(at, decide)
        if not run.working.any():
            break
    return Replayed(
        run.cost,
        run.hours[SpotMode.SPOT],
        run.hours[SpotMode.ON_DEMAND],
        run.starts,
        run.moves,
        run.preemptions,
        run.finished,
    )


def window_ticks(job: SpotJob, tick: float) -> int:
    """Ticks until the deadline."""
    return max(1, ceil(job.deadline / tick - 1e-9))


def on_demand_policy(moment: ReplayMoment) -> Indexes:
    """Never anything else."""
    return np.full_like(moment.modes, SpotMode.ON_DEMAND)


def uniform_policy(job: SpotJob) -> Decide:
    """Uniform progress, in the same replay."""

    def decide(moment: ReplayMoment) -> Indexes:
        return MODE_OF_REASON[
            uniform_progress(
                job, moment.modes, moment.is_up, moment.done, moment.elapsed, moment.tick
            )
        ]

    return decide


def uniform_without_lead_policy(job: SpotJob) -> Decide:
    """Uniform progress that need not be ahead to leave on demand."""

    def decide(moment: ReplayMoment) -> Indexes:
        safe = has_slack(job, moment.elapsed, moment.done, moment.tick)
        reasons = uniform_progress(
            job, moment.modes, moment.is_up, moment.done, moment.elapsed, moment.tick
        )
        return MODE_OF_REASON[without_lead(reasons, moment.is_up, safe)]

    return decide


def greedy_policy(job: SpotJob) -> Decide:
    """Spot whenever it is up; on demand, to the end, once the slack is gone."""

    def decide(moment: ReplayMoment) -> Indexes:
        safe = has_slack(job, moment.elapsed, moment.done, moment.tick)
        if_idle = np.where(
            safe, np.where(moment.is_up, SpotMode.SPOT, SpotMode.IDLE), SpotMode.ON_DEMAND
        )
        return np.where(moment.modes == SpotMode.IDLE, if_idle, moment.modes)

    return decide


def planned_policy(plan: SpotPlan) -> Decide:
    """Runrate's: the plan's choice while there is slack, else on demand; spot that is up is kept."""

    def decide(moment: ReplayMoment) -> Indexes:
        safe = has_slack(plan.job, moment.elapsed, moment.done, moment.tick)
        chosen = plan.next_modes(moment.modes, moment.states, moment.done, moment.elapsed)
        return np.where(
            moment.modes == SpotMode.SPOT,
            SpotMode.SPOT,
            np.where(safe, chosen, SpotMode.ON_DEMAND),
        )

    return decide


class _Run:
    """All starts of one job, side by side."""

    def __init__(self, job: SpotJob, offers: SpotOffers, origins: Indexes) -> None:
        count = len(origins)
        self.job, self.offers, self.origins = job, offers, origins
        self.modes = np.zeros(count, np.int64)
        self.zones = np.full(count, NO_ZONE)
        self.done, self.saved, self.rest, self.cost = (np.zeros(count) for _ in range(4))
        self.hours = np.zeros((3, count))
        self.starts, self.moves, self.preemptions = (np.zeros(count, np.int64) for _ in range(3))
        self.data = np.zeros(count, np.int64)
        self.finished = np.full(count, np.inf)

    @property
    def working(self) -> Flags:
        """The flags of the jobs that are not done."""
        return np.asarray(np.isinf(self.finished))

    def advance(self, at: int, decide: Decide) -> None:
        """One tick, the `at`th since the start."""
        moments = np.minimum(self.origins + at, self.offers.ticks - 1)
        self._preempt_runs(moments)
        places = self.offers.place_of(self.data)
        offered = self.offers.zones[places, moments]
        moment = ReplayMoment(
            at * self.offers.tick,
            self.offers.tick,
            self.modes,
            self.done,
            offered != NO_ZONE,
            self.offers.states[places, moments],
        )
        wanted = np.where(self.working, decide(moment), SpotMode.IDLE)
        begins = (wanted != self.modes) & (wanted != SpotMode.IDLE)
        self.saved = np.where(begins, self.done, self.saved)
        self.rest = np.where(begins, self.job.restart, self.rest)
        self.starts += begins
        self._move_data(begins & (wanted == SpotMode.SPOT), offered)
        self.modes = wanted
        self._work_on(moment)

    def _move_data(self, begins: Flags, offered: Indexes) -> None:
        """Data goes to where a start on spot is; on demand runs where it lies."""
        moves = begins & (offered != self.data)
        self.zones = np.where(begins, offered, self.zones)
        self.data = np.where(begins, offered, self.data)
        self.moves += moves
        self.cost += np.where(moves, self.job.egress, 0.0)

    def _preempt_runs(self, moments: Indexes) -> None:
        is_preempted = (
            (self.modes == SpotMode.SPOT) & ~self.offers.is_up[self.zones, moments] & self.working
        )
        self.modes = np.where(is_preempted, SpotMode.IDLE, self.modes)
        self.preemptions += is_preempted
        if self.job.checkpoint:
            self.done = np.where(is_preempted, self.saved, self.done)

    def _work_on(self, moment: ReplayMoment) -> None:
        tick, runs = moment.tick, self.modes != SpotMode.IDLE
        used = np.where(runs, np.minimum(tick, self.rest), 0.0)
        self.rest = self.rest - used
        worked = np.where(runs, np.minimum(tick - used, self.job.work - self.done), 0.0)
        self.done = self.done + worked
        spot = self.modes == SpotMode.SPOT
        self.cost += (used + worked) * np.where(spot, self.job.spot, self.job.on_demand)
        self.hours[SpotMode.SPOT] += np.where(spot, worked, 0.0)
        self.hours[SpotMode.ON_DEMAND] += np.where(spot, 0.0, worked)
        if self.job.checkpoint:
            # Of next to no length: it is written all the time.
            step = max(self.job.checkpoint, ROUNDING)
            checkpoints = np.floor((self.done - self.saved) / step + ROUNDING)
            self.saved = self.saved + checkpoints * step
        ends = runs & self.working & (self.done >= self.job.work - ROUNDING)
        self.finished = np.where(ends, moment.elapsed + used + worked, self.finished)
