"""A job with a deadline that may run on spot, and the modes that it can be in."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import NDArray

from apps.economics.refusal import Refusal

Hours = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indexes = NDArray[np.int64]

ROUNDING = 1e-9
"""Hours below which two moments are the same: sums of many ticks are off by less."""
MOST_HOURS = 24 * 366
MOST_RATE = 1e6


class SpotMode(IntEnum):
    """The mode of a job: what it runs on."""

    IDLE = 0
    SPOT = 1
    ON_DEMAND = 2


class SpotPolicy(StrEnum):
    """The ways to decide that a replay puts beside each other; `optimum` knows the future."""

    RUNRATE = "runrate"
    UNIFORM_PROGRESS = "uniform_progress"
    UNIFORM_WITHOUT_LEAD = "uniform_progress_without_lead"
    GREEDY = "greedy"
    ON_DEMAND = "on_demand"
    OPTIMUM = "optimum"


@dataclass(frozen=True, slots=True)
class SpotJob:
    """Hours of work before a deadline, hours that each start takes, and prices an hour.

    A preemption loses the work since the last checkpoint, one of which is due after every
    `checkpoint` hours of work; 0 is a job that loses none. A move that is chosen loses none either.
    A start on spot in another zone than where its data lies costs `egress` besides.
    """

    work: float
    deadline: float
    restart: float
    on_demand: float
    spot: float
    checkpoint: float = 0.0
    egress: float = 0.0

    @property
    def most_lost(self) -> float:
        """Hours of work that one preemption can lose."""
        return min(self.checkpoint, self.work)

    @property
    def egress_hours(self) -> float:
        """Hours that spot must live for what it saves to pay a move to another zone; infinite where it saves nothing."""
        saved = self.on_demand - self.spot
        if not self.egress:
            return 0.0
        return self.egress / saved if saved > 0 else np.inf

    def margin(self, tick: float) -> float:
        """Slack below which nothing may be risked any more: two starts, what is lost, and a tick until the next look."""
        return 2 * self.restart + self.most_lost + tick


def refuse_impossible(job: SpotJob) -> None:
    """Refuse a Refusal naming the field: a time or price out of range, or a deadline that no policy can meet."""
    for field, value, most in (
        ("work_hours", job.work, MOST_HOURS),
        ("deadline_hours", job.deadline, MOST_HOURS),
        ("on_demand", job.on_demand, MOST_RATE),
        ("spot", job.spot, MOST_RATE),
    ):
        if not 0 < value <= most:
            raise Refusal(field, f"{value:g} is not above 0 and at most {most:g}")
    for field, value in (("restart_hours", job.restart), ("checkpoint_hours", job.checkpoint)):
        if not 0 <= value <= MOST_HOURS:
            raise Refusal(field, f"{value:g} is not from 0 to {MOST_HOURS}")
    if not 0 <= job.egress <= MOST_RATE:
        raise Refusal("egress_cost", f"{job.egress:g} is not from 0 to {MOST_RATE:g}")
    least = job.work + job.restart
    if job.deadline < least - ROUNDING:
        raise Refusal(
            "deadline_hours",
            f"{job.deadline:g} h cannot be met: {job.work:g} h of work and a start take {least:g} h"
            " on demand",
        )
