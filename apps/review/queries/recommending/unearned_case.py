"""Workloads by the verdict of the weekly review's rule, with what of each would go away without it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from apps.accounts.queries import organisation
from apps.accounts.queries.reading import once
from apps.economics.hours import HOUR_MS
from apps.economics.moves.saving import (
    MONTH_HOURS,
    WEEK_HOURS,
    SavingRange,
    mean_with_ends,
    monthly,
)
from apps.economics.portfolio_verdict import Verdict, VerdictCause, judge
from apps.ledger.queries.windows import Window
from apps.placement.queries.moves.work import FleetWork
from apps.review.queries.recommending.proposal import DetectedKind
from apps.review.queries.recommending.workload_totals import (
    WorkloadTotals,
    charged_for_calls,
    workload_totals,
)
from apps.review.queries.weekly.judged_workloads import judged_workload, shown_workloads
from apps.review.queries.weekly.judging import (
    JudgedWorkload,
    verdict_thresholds,
    workload_verdict,
)
from apps.review.queries.weekly.week_reading import WeekRead, read_week
from apps.review.queries.weekly.weeks import last_week, trend_weeks
from apps.workloads.queries import WorkloadFact

TO_BE_SHRUNK = "it is to be shrunk, not retired"
WHY_NO_VERDICT: Mapping[VerdictCause, str] = {
    VerdictCause.COST_UNKNOWN: "it cost nothing, was credited more, or what it cost is not known",
    VerdictCause.NO_VALUE: "no value is stated, and little of it is waste",
    VerdictCause.UNITS_UNKNOWN: "a value is stated, but its units are not counted",
    VerdictCause.COST_NOT_WHOLE: "not enough of its time is priced",
    VerdictCause.COST_WITHIN_WORTH: "what it cost lies within what it may have returned",
    VerdictCause.WORTH_MORE: "it earns what it costs",
}
_week_read_once = once(read_week)


@dataclass(frozen=True)
class UnearnedCase:
    """A workload judged, with what of it would go away; `calls_micros` is what its calls cost in a month.

    The verdict is of `hours`, those of its weeks of which the ledger has anything, and of the GPU-hours held in them.
    """

    workload: WorkloadFact
    judged: JudgedWorkload
    reason: str
    whole: WorkloadTotals | None
    calls_micros: int
    hours: int
    gpu_hours: float
    window: Window

    @property
    def by_hour(self) -> float:
        """The part of what its GPUs are charged that is paid by the hour."""
        return self.whole.paid_by_hour if self.whole else 0.0

    @property
    def gpu_micros(self) -> int:
        """The cost of its GPUs in a month, at the margin."""
        return self.whole.spend_micros if self.whole else 0

    @property
    def returned_month(self) -> tuple[int, int]:
        """The least and the most that it returns in a month, by its owner's word; 0 where nobody said."""
        low, high = self.judged.facts.worth or (0, 0)
        return monthly(low, self.hours), monthly(high, self.hours)

    @cached_property
    def goes_away(self) -> SavingRange:
        """The cost that is paid no more without the workload."""
        low = mean = 0.0
        if self.whole is not None:
            scale = MONTH_HOURS / WEEK_HOURS
            low, mean, _ = (end * scale for end in mean_with_ends(self.whole.weeks_micros))
        least, likely = (round(max(0.0, end)) + self.calls_micros for end in (low, mean))
        return SavingRange(least, likely, likely).capped(self.gpu_micros + self.calls_micros)

    def freed(self, part: float) -> float | None:
        """GPU-hours a month of so much of its time that others could have."""
        week = part * self.gpu_hours * WEEK_HOURS / self.hours
        return self.whole.freed(week) if self.whole else None

    @property
    def retired_frees(self) -> float | None:
        """Of all of it."""
        return self.freed(1.0)


def judged_cases(detected: DetectedKind, work: FleetWork, at: datetime) -> list[UnearnedCase]:
    """Those to be retired, by the review's own rule on the week that is over; the others are passed over."""
    read, limits = _week_read_once(last_week(at, organisation().zone)), verdict_thresholds()
    wholes = {whole_work.workload.id: whole_work for whole_work in workload_totals(work)}
    calls = charged_for_calls(work)
    cases = []
    for workload in shown_workloads(read):
        judged = judged_workload(read, workload.id)
        verdict, cause = judge(judged.facts, limits)
        if verdict is not Verdict.RETIRE:
            is_shrunk = verdict is Verdict.SHRINK
            why = TO_BE_SHRUNK if is_shrunk else WHY_NO_VERDICT[cause]
            detected.pass_over(why, str(workload.id))
            continue
        cases.append(
            UnearnedCase(
                workload=workload,
                judged=judged,
                reason=workload_verdict(judged, limits).reason,
                whole=wholes.get(workload.id),
                calls_micros=calls.get(workload.id, 0),
                hours=_judged_hours(read, workload.id),
                gpu_hours=_held_hours(read, workload.id),
                window=read.week.window(read.ours.zone, read.verdict_weeks),
            )
        )
    return cases


def _judged_hours(read: WeekRead, workload_id: int) -> int:
    mondays = {week.first_day for week in trend_weeks(read.week)[-read.verdict_weeks :]}
    known_weeks = {*read.costs.known_weeks, *read.costs.workloads.get(workload_id, {})}
    return WEEK_HOURS * len(mondays & known_weeks)


def _held_hours(read: WeekRead, workload_id: int) -> float:
    sums = read.costs.workloads.get(workload_id, {})
    lately = read.costs.lately(sums, read.verdict_weeks)
    return sum(week_sums.gpu_milliseconds for week_sums in lately) / HOUR_MS
