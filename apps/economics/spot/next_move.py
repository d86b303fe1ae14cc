"""The next move of a running job: stay, move to spot, fall back to on demand, or wait; and what of its deadline is certain."""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from apps.economics.spot.hazards import AGE_EDGES, BUCKETS
from apps.economics.spot.job import ROUNDING, SpotJob, SpotMode
from apps.economics.spot.plan import SpotPlan
from apps.economics.spot.uniform import (
    MODE_OF_REASON,
    UniformReason,
    break_even_life,
    has_slack,
    uniform_progress,
)


class MoveAction(StrEnum):
    """The action to take now."""

    STAY = "stay"
    MOVE_TO_SPOT = "move_to_spot"
    FALL_BACK = "fall_back_to_on_demand"
    WAIT = "wait"


class DeadlineState(StrEnum):
    """Whether the deadline is met if the answer is followed, again and again, and on demand can be had."""

    GUARANTEED = "guaranteed"
    UNLESS_INTERRUPTED = "unless_interrupted"
    LATE = "late"


class MoveRule(StrEnum):
    """The rule that decided."""

    PLAN = "plan"
    UNIFORM_PROGRESS = "uniform_progress"
    SAFETY_NET = "safety_net"
    SHORT_LIFE = "short_life"


@dataclass(frozen=True, slots=True)
class MoveQuestion:
    """A job with `done` hours of work after `elapsed`; whether spot is up, and for how long it is or is not.

    It asks again after `tick` hours. `expected_life` is how long spot would still live, None where nobody
    knows; `move_cost` what moving its data costs.
    """

    job: SpotJob
    mode: SpotMode
    done: float
    elapsed: float
    spot_is_up: bool
    state_hours: float
    tick: float
    expected_life: float | None = None
    move_cost: float = 0.0

    @property
    def slack(self) -> float:
        """Hours left less work left."""
        return (self.job.deadline - self.elapsed) - (self.job.work - self.done)

    @property
    def is_running(self) -> bool:
        """Whether it holds a node that it may keep."""
        return self.mode is SpotMode.ON_DEMAND or (self.mode is SpotMode.SPOT and self.spot_is_up)


@dataclass(frozen=True, slots=True)
class NextMove:
    """The next action and what to run on, by which rule; `uniform` is that of uniform progress where that was asked.

    `risk_hours` are those of slack until nothing but on demand is certain; `break_even` those that spot must live for
    a move there to pay.
    """

    action: MoveAction
    mode: SpotMode
    rule: MoveRule
    uniform: UniformReason | None
    deadline: DeadlineState
    slack: float
    risk_hours: float
    break_even: float


def next_move(question: MoveQuestion, plan: SpotPlan | None) -> NextMove:
    """By the plan where there is one, else by uniform progress; a move to spot that would not pay is none."""
    job = question.job
    mode, rule, uniform = _wanted_mode(question, plan)
    break_even = break_even_life(job, question.mode, question.move_cost)
    return NextMove(
        action=_next_action(question, mode),
        mode=mode,
        rule=rule,
        uniform=uniform,
        deadline=_deadline_state(question, mode),
        slack=question.slack,
        risk_hours=question.slack - job.margin(question.tick),
        break_even=break_even,
    )


def plan_covers(plan: SpotPlan, question: MoveQuestion) -> bool:
    """Whether the plan's grid has this time and slack, and its prices and times are the job's."""
    job, of = question.job, plan.job
    same = (job.restart, job.checkpoint, job.on_demand, job.spot) == (
        of.restart,
        of.checkpoint,
        of.on_demand,
        of.spot,
    )
    left = job.deadline - question.elapsed
    return (
        same and left <= of.deadline + ROUNDING and question.slack <= of.deadline - of.work + 1e-6
    )


def _wanted_mode(
    question: MoveQuestion, plan: SpotPlan | None
) -> tuple[SpotMode, MoveRule, UniformReason | None]:
    job, done = question.job, np.array([question.done])
    safe = bool(has_slack(job, question.elapsed, done, question.tick)[0])
    if question.mode is SpotMode.SPOT and question.spot_is_up:
        return _stay_on_spot(question)
    if not safe:
        return SpotMode.ON_DEMAND, MoveRule.SAFETY_NET, UniformReason.SAFETY_NET
    if plan is not None:
        return _planned_mode(question, plan), MoveRule.PLAN, None
    reason = _uniform_reason(question)
    mode = SpotMode(int(MODE_OF_REASON[reason]))
    pays = question.expected_life is None or question.expected_life > break_even_life(
        job, question.mode, question.move_cost
    )
    if mode is SpotMode.SPOT and not pays:
        reason = _uniform_reason(replace(question, spot_is_up=False))
        return SpotMode(int(MODE_OF_REASON[reason])), MoveRule.SHORT_LIFE, reason
    return mode, MoveRule.UNIFORM_PROGRESS, reason


def _stay_on_spot(
    question: MoveQuestion,
) -> tuple[SpotMode, MoveRule, UniformReason | None]:
    """Spot is kept, but where an interruption would be one too many and leaving now is not."""
    job = question.job
    needed = job.restart + job.most_lost + (question.tick if job.most_lost else 0.0)
    if job.most_lost and job.restart <= question.slack + ROUNDING and question.slack < needed:
        return SpotMode.ON_DEMAND, MoveRule.SAFETY_NET, UniformReason.SAFETY_NET
    return SpotMode.SPOT, MoveRule.UNIFORM_PROGRESS, UniformReason.ON_SPOT_STAYS


def _planned_mode(question: MoveQuestion, plan: SpotPlan) -> SpotMode:
    bucket = int(np.searchsorted(AGE_EDGES, question.state_hours - 1e-9, side="right"))
    state = BUCKETS + bucket if question.spot_is_up else bucket
    idle = SpotMode.IDLE if question.mode is SpotMode.SPOT else question.mode
    done = plan.job.work - (question.job.work - question.done)
    elapsed = plan.job.deadline - (question.job.deadline - question.elapsed)
    chosen = plan.next_modes(np.array([idle]), np.array([state]), np.array([done]), elapsed)
    return SpotMode(int(chosen[0]))


def _uniform_reason(question: MoveQuestion) -> UniformReason:
    return UniformReason(
        int(
            uniform_progress(
                question.job,
                np.array([question.mode]),
                np.array([question.spot_is_up]),
                np.array([question.done]),
                question.elapsed,
                question.tick,
            )[0]
        )
    )


def _next_action(question: MoveQuestion, mode: SpotMode) -> MoveAction:
    if question.is_running and mode is question.mode:
        return MoveAction.STAY
    return {
        SpotMode.SPOT: MoveAction.MOVE_TO_SPOT,
        SpotMode.ON_DEMAND: MoveAction.FALL_BACK,
        SpotMode.IDLE: MoveAction.WAIT,
    }[mode]


def _deadline_state(question: MoveQuestion, mode: SpotMode) -> DeadlineState:
    job, slack = question.job, question.slack + ROUNDING
    stays = question.is_running and mode is question.mode
    if slack < (0.0 if stays else job.restart):
        return DeadlineState.LATE
    if mode is SpotMode.SPOT and stays and slack < job.restart + job.most_lost:
        return DeadlineState.UNLESS_INTERRUPTED
    return DeadlineState.GUARANTEED
