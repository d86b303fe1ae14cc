"""The finite-horizon dynamic program: which start is worth its price, by work left, time left and what is offered.

A state is (time left, slack, mode with what is left of a start, offer). Slack is time left less work
left: working keeps it, all else eats it, so the grid is narrow. Uniform progress' safety net bounds it:
below SpotJob.margin nothing but on demand may be run, whatever the program would like.
"""

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from apps.economics.spot.job import Hours, Indexes, SpotJob, SpotMode
from apps.economics.spot.offers import NO_ZONE, OfferChain

MOST_CELLS = 450_000
"""Of (time left × slack): a coarser step is taken for a job that would have more."""
MOST_START_STEPS = 6
MOST_UNSAVED_STAGES = 20
"""Between two checkpoints as many stages, by what a preemption would lose, or one a step where there are fewer."""
PENALTY_TIMES = 20
"""A deadline missed costs as much as so many times the whole job on demand."""


@dataclass(frozen=True, eq=False)
class SpotPlan:
    """A plan of what to run on while idle (0) or on demand (1): `modes` is [steps left × 2 × offer states × slack].

    `expected_cost` is [offer states]: of the whole job, begun idle.
    """

    job: SpotJob
    step: float
    modes: NDArray[np.int8]
    expected_cost: Hours

    def next_modes(self, modes: Indexes, states: Indexes, done: Hours, elapsed: float) -> Indexes:
        """The mode for each job, by its own, what it is offered, and its hours of work done."""
        left = self.job.deadline - elapsed
        steps = min(len(self.modes) - 1, max(1, round(left / self.step)))
        slack = np.rint((left - (self.job.work - done)) / self.step).astype(np.int64)
        slack = np.clip(slack, 0, self.modes.shape[-1] - 1)
        on_demand = (modes == SpotMode.ON_DEMAND).astype(np.int64)
        chosen: Indexes = self.modes[steps, on_demand, states, slack].astype(np.int64)
        return chosen


def solve_spot_plan(job: SpotJob, chain: OfferChain) -> SpotPlan:
    """Solve from the deadline backwards. Spot that is up is kept; on demand is never left for waiting."""
    ticks = _ticks_in_step(job, chain.tick)
    grid = _SlackGrid(job, chain.over(ticks))
    steps = max(1, round(job.deadline / grid.step))
    values = grid.final_values()
    modes = np.zeros((steps + 1, 2, *values.idle.shape), np.int8)
    for left in range(1, steps + 1):
        values = grid.step_back(values, left * grid.step, modes[left])
    begin = min(grid.cells - 1, round((job.deadline - job.work) / grid.step))
    return SpotPlan(job, grid.step, modes, values.idle[:, begin])


def _ticks_in_step(job: SpotJob, tick: float) -> int:
    """The least number of ticks with which the grid is small enough."""
    cells = (job.deadline / tick) * ((job.deadline - job.work) / tick + 3)
    for_grid = sqrt(cells / MOST_CELLS)
    for_start = job.restart / tick / MOST_START_STEPS
    return max(1, ceil(max(for_grid, for_start) - 1e-9))


@dataclass(frozen=True, eq=False)
class _Values:
    """Least expected cost: idle and on demand by offer, on spot by held state, [… × slack].

    What runs is by what is left of its start, and what is on spot then by its work since the last checkpoint.
    """

    idle: Hours
    spot: list[Hours]
    on_demand: list[Hours]


class _SlackShift:
    """Values after `lost` steps of slack are gone: between two cells by a straight line, below none the penalty."""

    def __init__(self, lost: float, penalty: float) -> None:
        self.whole = ceil(lost - 1e-9)
        self.part = max(0.0, self.whole - lost)
        self.penalty = penalty

    def of(self, values: Hours) -> Hours:
        if not self.whole:
            return values
        shifted = np.full_like(values, self.penalty)
        kept_columns = values.shape[1] - self.whole
        if kept_columns > 0:
            shifted[:, self.whole :] = values[:, :kept_columns]
            if self.part > 1e-9:
                shifted[:, self.whole :] *= 1 - self.part
                shifted[:, self.whole :] += self.part * values[:, 1 : kept_columns + 1]
        return shifted


class _SlackGrid:
    """One step back in time over all cells of slack."""

    def __init__(self, job: SpotJob, chain: OfferChain) -> None:
        self.job, self.chain, self.step = job, chain, chain.tick
        self.cells = ceil((job.deadline - job.work) / self.step) + 3
        self.slack = np.arange(self.cells) * self.step
        self.penalty = PENALTY_TIMES * (job.work + 1) * max(job.on_demand, job.spot)
        self.safe = self.slack >= job.margin(self.step) - 1e-9
        self.rests = [job.restart]
        while self.rests[-1] > 1e-12:
            self.rests.append(max(0.0, self.rests[-1] - self.step))
        used = [min(self.step, restart_hours) for restart_hours in self.rests]
        self.starting = [self._slack_shift(hours) for hours in used]
        self.can_begin = chain.begins != NO_ZONE
        self.egress = np.where(chain.moves[self.can_begin], job.egress, 0.0)[:, None]
        self.waiting = self._slack_shift(self.step)
        unsaved, self.passing = _unsaved_hours(job.most_lost, self.step)
        self.losing = [
            self._slack_shift(hours) for hours in [0.0] * (len(self.rests) - 1) + unsaved
        ]

    def _slack_shift(self, hours: float) -> _SlackShift:
        return _SlackShift(hours / self.step, self.penalty)

    def final_values(self) -> _Values:
        """At the deadline: nothing, whatever the slack, which is never below 0 here."""
        offers, held_count = len(self.chain.offered), len(self.chain.held)
        return _Values(
            np.zeros((offers, self.cells)),
            [np.zeros((held_count, self.cells)) for _ in self.losing],
            [np.zeros((offers, self.cells)) for _ in self.rests],
        )

    def step_back(self, after: _Values, left: float, modes: NDArray[np.int8]) -> _Values:
        """Values with `left` hours to go; writes what to run on into `modes`, [2 × offer states × slack]."""
        need = np.maximum(left - self.slack, 0.0)
        finished = need <= 1e-9
        wait = self.waiting.of(self.chain.offered @ after.idle)
        bought = [
            self._run_step(
                place,
                need,
                self.job.on_demand,
                self.chain.offered @ after.on_demand[min(place + 1, len(self.rests) - 1)],
            )
            for place in range(len(self.rests))
        ]
        lost = self.chain.lost @ after.idle
        spot_values = [
            self._run_step(
                min(place, len(self.rests) - 1),
                need,
                self.job.spot,
                self.chain.held @ self._after_stage(after.spot, place) + losing.of(lost),
            )
            for place, losing in enumerate(self.losing)
        ]
        begin = np.full_like(wait, self.penalty)
        begin[self.can_begin] = spot_values[0][self.chain.begins[self.can_begin]] + self.egress
        begin[:, ~self.safe] = self.penalty
        wait[:, ~self.safe] = self.penalty
        modes[0] = np.where(
            bought[0] <= np.minimum(begin, wait),
            SpotMode.ON_DEMAND,
            np.where(begin <= wait, SpotMode.SPOT, SpotMode.IDLE),
        )
        modes[1] = np.where(begin < bought[-1], SpotMode.SPOT, SpotMode.ON_DEMAND)
        idle = np.minimum(np.minimum(begin, wait), bought[0])
        bought = [np.minimum(value, begin) for value in bought]
        for values in (idle, *bought, *spot_values):
            values[:, finished] = 0.0
        return _Values(idle, spot_values, bought)

    def _after_stage(self, spots: list[Hours], place: int) -> Hours:
        """On spot a step later: after a start its first work, after the last stage a checkpoint and the first again."""
        working = len(self.rests) - 1
        if place < working:
            return spots[place + 1]
        following = spots[place + 1] if place + 1 < len(spots) else spots[working]
        if self.passing == 1:
            return following
        return (1 - self.passing) * spots[place] + self.passing * following

    def _run_step(self, place: int, need: Hours, price: float, after: Hours) -> Hours:
        """A step that is run: what is left of the start first, then work, as far as there is any."""
        used = min(self.step, self.rests[place])
        cost = (used + np.minimum(self.step - used, need)) * price
        return cost + self.starting[place].of(after)


def _unsaved_hours(checkpoint: float, step: float) -> tuple[list[float], float]:
    """Mean hours of work that a preemption at the end of a step loses, by stage, and the chance that a step ends the stage.

    A stage is a step where MOST_UNSAVED_STAGES are enough; at the end of the last all is saved.
    """
    if checkpoint <= step:
        return [checkpoint / 2], 1.0
    steps = round(checkpoint / step)
    together = ceil(steps / MOST_UNSAVED_STAGES)
    stages = ceil(steps / together)
    ends = np.linspace(0.0, checkpoint, stages * together + 1)[1:]
    ends[-1] = 0.0
    return [float(hours) for hours in ends.reshape(stages, together).mean(axis=1)], 1 / together
