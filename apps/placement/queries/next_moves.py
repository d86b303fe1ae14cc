"""The next move of a running job, in words, with what that rests on."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from apps.economics.spot.evidence import (
    FEWEST_LIVES,
    ObservedInterruptions,
    interruption_rate,
    lifetimes_of_trace,
    remaining_life,
)
from apps.economics.spot.next_move import (
    DeadlineState,
    MoveAction,
    MoveQuestion,
    MoveRule,
    NextMove,
    next_move,
    plan_covers,
)
from apps.economics.spot.plan import SpotPlan
from apps.economics.spot.uniform import UniformReason
from apps.placement.models import KeptSpotPlan, SpotSeries
from apps.placement.queries.spot_evidence import times_words
from apps.placement.queries.spot_series import series_trace, solved_spot_plan, stored_spot_plan

UNIFORM_WORDS = {
    UniformReason.ON_SPOT_STAYS: "spot that is up is kept",
    UniformReason.AHEAD_AGAIN: "the job is ahead of a steady pace even after two starts",
    UniformReason.NOT_AHEAD: "the job is not far enough ahead of a steady pace to leave on demand",
    UniformReason.SAFETY_NET: "no start on spot may fail any more: only on demand is certain",
    UniformReason.SPOT_IS_UP: "spot is up, and there is time for it to fail",
    UniformReason.BEHIND: "the job is behind a steady pace",
    UniformReason.WAITS: "the job is not behind a steady pace: waiting for spot costs nothing yet",
}


@dataclass(frozen=True, slots=True)
class MoveEvidence:
    """Evidence of how long spot lasts there: the series' name, its interruptions, and what is said of them."""

    series: str
    rate: ObservedInterruptions
    remaining_life: float | None
    seen_until: datetime | None
    is_thin: bool
    words: str


@dataclass(frozen=True, slots=True)
class AnsweredMove:
    """The move, why, by what; `plan_is_asked` says that a worker should solve a plan for the next question."""

    move: NextMove
    question: MoveQuestion
    reason: str
    evidence: MoveEvidence | None
    plan_solved_at: datetime | None
    plan_thin: str
    plan_is_asked: bool


def answered_move(job_id: int, question: MoveQuestion, series: SpotSeries | None) -> AnsweredMove:
    """By the plan that is kept for the job in this series, if it still fits; else by the closed rule."""
    evidence = None if series is None else _move_evidence(series, question)
    if evidence is not None and question.spot_is_up:
        question = replace(question, expected_life=evidence.remaining_life)
    kept_plan = None if series is None else stored_spot_plan(job_id, series.id)
    plan = None if kept_plan is None else _fitting_plan(kept_plan, question)
    is_thin = kept_plan is not None and bool(kept_plan.thin)
    move = next_move(question, plan)
    return AnsweredMove(
        move=move,
        question=question,
        reason=_reason_words(question, move),
        evidence=evidence,
        plan_solved_at=kept_plan.solved_at if plan is not None and kept_plan is not None else None,
        plan_thin=kept_plan.thin if kept_plan is not None else "",
        plan_is_asked=series is not None
        and plan is None
        and not is_thin
        and move.rule is not MoveRule.SAFETY_NET
        and move.risk_hours > 0,
    )


def _fitting_plan(kept_plan: KeptSpotPlan, question: MoveQuestion) -> SpotPlan | None:
    plan = solved_spot_plan(kept_plan)
    return plan if plan is not None and plan_covers(plan, question) else None


def _move_evidence(series: SpotSeries, question: MoveQuestion) -> MoveEvidence:
    trace = series_trace(series)
    lifetimes = lifetimes_of_trace(trace, trace.starts or 0.0)
    rate = interruption_rate(lifetimes)
    age = question.state_hours if question.spot_is_up else 0.0
    life = remaining_life(lifetimes, age)
    seen_until = (
        None if series.starts_at is None else series.starts_at + trace.hours * timedelta(hours=1)
    )
    times = times_words(rate.interruptions)
    words = f"{series.name}: taken away {times} in {rate.exposure_hours:,.0f} h of availability"
    if life is None:
        words += f"; fewer than {FEWEST_LIVES} lives seen to their end beyond this age: no move is judged by it"
    return MoveEvidence(
        series.name,
        rate,
        life,
        seen_until,
        rate.is_thin or life is None,
        words,
    )


def _reason_words(question: MoveQuestion, move: NextMove) -> str:
    slack = f"{move.slack:.1f} h of slack"
    if move.deadline is DeadlineState.LATE:
        return f"{slack}: the deadline cannot be met any more, on demand neither"
    if move.rule is MoveRule.PLAN:
        verdict = {
            MoveAction.STAY: "staying is cheaper",
            MoveAction.MOVE_TO_SPOT: "a start on spot is cheaper",
            MoveAction.FALL_BACK: "on demand now is cheaper than what waiting would cost later",
            MoveAction.WAIT: "waiting for spot is cheaper",
        }[move.action]
        return f"{slack}: by the plan of its history {verdict}"
    if move.rule is MoveRule.SHORT_LIFE:
        life = question.expected_life or 0.0
        return (
            f"{slack}: spot would last {life:.1f} h more on average, and a move pays after"
            f" {move.break_even:.1f} h"
        )
    words = UNIFORM_WORDS[move.uniform] if move.uniform is not None else ""
    if move.deadline is DeadlineState.UNLESS_INTERRUPTED:
        words = "any start would be late: the deadline is met unless spot is taken away"
    return f"{slack}: {words}"
