"""The least that could have been paid, had availability been known: exact but for the unit of time.

Backwards over ticks and slack, three states: idle, on spot in a zone, on demand. A start is one move
over all the ticks that it takes. Work is never lost: who knows of a preemption saves before it.
"""

from dataclasses import dataclass
from math import ceil, gcd

import numpy as np

from apps.economics.spot.job import ROUNDING, Flags, Hours, Indexes, SpotJob
from apps.economics.spot.offers import SpotOffers
from apps.economics.spot.replay import window_ticks

MOST_CELLS = 6000
AT_ONCE = 24_000
"""Values that a step handles together: as many as a core's own cache holds."""


def optimum_costs(job: SpotJob, offers: SpotOffers, origins: Indexes) -> Hours:
    """The offline optimum from each origin, never above what any policy paid."""
    grid = _OptimumGrid(job, offers.tick)
    window = np.arange(window_ticks(job, offers.tick))
    together = max(1, AT_ONCE // len(grid.slack))
    return np.concatenate(
        [
            grid.costs(offers.is_up[:, origins[first : first + together, None] + window])
            for first in range(0, len(origins), together)
        ]
    )


@dataclass(frozen=True, eq=False)
class _OptimumValues:
    """Least cost, [windows × slack]: idle and on demand by place of the data, and by zone on spot; of those that run also of the next ticks.

    They are kept because a start leaps over its ticks; the nearest comes first.
    """

    idle: list[Hours]
    bought: list[list[Hours]]
    spots: list[list[Hours]]


class _OptimumGrid:
    """Values by slack in units, a whole number of which is a tick.

    A start is rounded down to units and the slack up, so that the optimum stays a lower bound.
    """

    def __init__(self, job: SpotJob, tick: float) -> None:
        self.job, self.tick, self.units = job, tick, _units_in_tick(job, tick)
        unit = tick / self.units
        self.start = int(job.restart / unit + ROUNDING)
        self.start_ticks = max(1, ceil(self.start / self.units))
        self.slack = unit * np.arange(1.0 + ceil((job.deadline - job.work) / unit - 1e-6))
        self.start_hours = self.start * unit

    def costs(self, is_up: Flags) -> Hours:
        """Least cost over each window, of [zones × windows × ticks]."""
        done = np.zeros((is_up.shape[1], len(self.slack)))
        places = len(is_up) if self.job.egress else 1
        values = _OptimumValues(
            [done] * places,
            [[done] * self.start_ticks for _ in range(places)],
            [[done] * self.start_ticks for _ in is_up],
        )
        for at in range(is_up.shape[2] - 1, -1, -1):
            need = self.job.deadline - at * self.tick - self.slack
            values = self._step_back(values, is_up[:, :, at : at + self.start_ticks], need)
        return values.idle[0][:, -1]

    def _step_back(self, after: _OptimumValues, is_up: Flags, need: Hours) -> _OptimumValues:
        """A tick earlier, with `need` hours of work left by slack."""
        tick = np.clip(need, 0.0, self.tick)
        block_hours = self.start_ticks * self.tick - self.start_hours
        block = self.start_hours + np.clip(need, 0.0, block_hours)
        ways = []
        for zone, later in enumerate(after.spots):
            begun = _values_after(later[-1], self.start) + block * self.job.spot
            begun[~is_up[zone].all(axis=1)] = np.inf
            ways.append(begun)
        idle = [self._idle_costs(after, place, ways, block) for place in range(len(after.idle))]
        for values in idle:
            values[:, need <= ROUNDING] = 0.0
        bought = [
            [np.minimum(free, later[0] + tick * self.job.on_demand), *later[:-1]]
            for free, later in zip(idle, after.bought, strict=True)
        ]
        spots = []
        for zone, later in enumerate(after.spots):
            staying_costs = later[0] + tick * self.job.spot
            staying_costs[~is_up[zone, :, 0]] = np.inf
            free = idle[zone if len(idle) > 1 else 0]
            spots.append([np.minimum(free, staying_costs, out=staying_costs), *later[:-1]])
        return _OptimumValues(idle, bought, spots)

    def _idle_costs(
        self, after: _OptimumValues, place: int, ways: list[Hours], block: Hours
    ) -> Hours:
        """The least of waiting, of a start on demand, and of one on spot in each zone, with the data in `place`."""
        idle = _values_after(after.idle[place], self.units)
        bought = _values_after(after.bought[place][-1], self.start) + block * self.job.on_demand
        np.minimum(idle, bought, out=idle)
        for zone, begun in enumerate(ways):
            np.minimum(idle, begun if zone == place else begun + self.job.egress, out=idle)
        return idle


def _units_in_tick(job: SpotJob, tick: float) -> int:
    """So that ticks, starts and the slack are whole numbers of seconds' common unit, where cells allow."""
    seconds = [round(hours * 3600) for hours in (tick, job.restart, job.deadline - job.work)]
    exact = max(1, seconds[0] // max(1, gcd(*seconds)))
    most = int(MOST_CELLS * tick / max(tick, job.deadline - job.work))
    return max(1, min(exact, most))


def _values_after(values: Hours, units: int) -> Hours:
    """Values with so much less slack; below none the deadline is missed."""
    if not units:
        return values.copy()
    shifted = np.full_like(values, np.inf)
    shifted[:, units:] = values[:, :-units]
    return shifted
