"""Uniform progress: be no further behind than a steady pace, and never risk the deadline.

Wu and others, Can't Be Late (NSDI 2024), sections 3.3 and 5.2.2; the tick is added because we look
only once in it. Arrays have a place for each job that is decided on; single numbers do as well.
"""

from enum import IntEnum

import numpy as np

from apps.economics.spot.job import Flags, Hours, Indexes, SpotJob, SpotMode

NEARLY = 1e-12


class UniformReason(IntEnum):
    """The rule of uniform progress that decided; the first that fits does."""

    FINISHED = 0
    ON_SPOT_STAYS = 1
    OVERRUN = 2
    AHEAD_AGAIN = 3
    NOT_AHEAD = 4
    SAFETY_NET = 5
    SPOT_IS_UP = 6
    BEHIND = 7
    WAITS = 8


MODE_OF_REASON = np.array(
    [
        SpotMode.IDLE,
        SpotMode.SPOT,
        SpotMode.ON_DEMAND,
        SpotMode.SPOT,
        SpotMode.ON_DEMAND,
        SpotMode.ON_DEMAND,
        SpotMode.SPOT,
        SpotMode.ON_DEMAND,
        SpotMode.IDLE,
    ]
)


def has_slack(job: SpotJob, elapsed: float, done: Hours, tick: float) -> Flags:
    """Whether a start on spot may still fail: else only on demand meets the deadline for certain."""
    return np.asarray(job.deadline - elapsed >= job.work - done + job.margin(tick))


def uniform_progress(
    job: SpotJob, modes: Indexes, is_up: Flags, done: Hours, elapsed: float, tick: float = 0.0
) -> Indexes:
    """The UniformReason for each job: `done` hours of work after `elapsed`, looked at every `tick` hours.

    MODE_OF_REASON says what to run on. A job on spot that is not up any more counts as idle.
    """
    pace = job.work / job.deadline
    safe = has_slack(job, elapsed, done, tick)
    idle = (modes == SpotMode.IDLE) | ((modes == SpotMode.SPOT) & ~is_up)
    ahead = done >= pace * (elapsed + 2 * job.restart) - NEARLY
    return np.select(
        [
            (modes == SpotMode.SPOT) & ~idle,
            job.work - done <= NEARLY,
            ~idle & is_up & safe & ahead,
            ~idle,
            ~safe,
            is_up,
            done < pace * elapsed - NEARLY,
        ],
        [
            UniformReason.ON_SPOT_STAYS,
            UniformReason.OVERRUN,
            UniformReason.AHEAD_AGAIN,
            UniformReason.NOT_AHEAD,
            UniformReason.SAFETY_NET,
            UniformReason.SPOT_IS_UP,
            UniformReason.BEHIND,
        ],
        UniformReason.WAITS,
    )


def without_lead(reasons: Indexes, is_up: Flags, safe: Flags) -> Indexes:
    """These reasons without the second condition: on demand is left as soon as spot is up and may fail, ahead or not."""
    leaves = (reasons == UniformReason.NOT_AHEAD) & is_up & safe
    return np.where(leaves, UniformReason.SPOT_IS_UP, reasons)


def break_even_life(job: SpotJob, mode: SpotMode, move_cost: float = 0.0) -> float:
    """Hours that spot must still live for a move there to pay, at `move_cost` for the data (section 5.4).

    From on demand the way back is counted too. Infinite where spot is no cheaper.
    """
    saved = job.on_demand - job.spot
    starts = 2 if mode is SpotMode.ON_DEMAND else 1
    return (starts * job.on_demand * job.restart + move_cost) / saved if saved > 0 else np.inf
