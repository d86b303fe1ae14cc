"""Services that nobody asks, and jobs on whose GPUs nothing works, for two weeks and more."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import fmean

from django.urls import reverse

from apps.economics.hours import HOUR_MS
from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.saving import (
    MONTH_HOURS,
    WEEK_HOURS,
    SavingRange,
    WorkWeek,
    mean_with_ends,
)
from apps.economics.serving import SERVICE_KINDS
from apps.ledger.queries.cube import CubeQuestion, CubeSums, explore
from apps.ledger.queries.kinds import ChargeKind
from apps.ledger.queries.windows import Window
from apps.placement.queries.moves.work import FleetWork, WorkCell
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.current_holdings import ENDED, HeldTime, held_time
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendationProposal,
    effort_cost,
)
from apps.review.queries.recommending.weeks import weekly_detector
from apps.review.queries.recommending.workload_totals import LEAST_FREED, LITTLE_FREED, NO_PRICE
from apps.unit_economics.queries.unit_costs import UnitCost, UnitFilter, unit_cost_groups

KIND = "unused_work"
EFFORT_HOURS = 2
"""To ask its owner, and to stop it: ours, not measured."""
QUIET = timedelta(days=14)
SEEN_FROM = 0.9
"""Of the time it held, from which on it is known that nothing was active."""
COMPUTED = "What it is charged by the hour in a month: all of it; at the low end of a week 1.28 standard errors below the mean"


@dataclass(frozen=True, slots=True)
class QuietSpan:
    """The last two whole weeks: what services answered, and what was held and active by workload and pool."""

    window: Window
    services: Mapping[int, UnitCost]
    held: Mapping[tuple[object, object], CubeSums]
    before: "QuietSpan | None" = None

    @property
    def days(self) -> int:
        """How many."""
        return (self.window.end_day - self.window.first_day).days


@weekly_detector(KIND, "workloads on pools", fewest=QUIET.days // 7)
def detect_unused_work(detected: DetectedKind, work: FleetWork, _: datetime) -> None:
    """Every workload on a pool; those are proposed to be stopped that nobody asked, or that did nothing, for two weeks."""
    quiet, stays = _quiet_span(work), held_time(work.span)
    for cell in work.cells:
        sums = quiet.held.get((cell.workload.id, cell.pool.id))
        still = stays.get((cell.workload.id, cell.pool.id))
        if why := _why_not(cell, sums, quiet.services.get(cell.workload.id)):
            detected.pass_over(why, cell.key)
        elif still is not None and still.is_over:
            detected.pass_over(ENDED, cell.key)
        elif sums is not None:
            cell = _still_of(cell, still)
            detected.propose(_proposal_of(cell, sums, work, _against(cell, quiet)))


def _still_of(cell: WorkCell, still: HeldTime | None) -> WorkCell:
    """Without the part of each week that it holds no more."""
    if still is None:
        return cell
    parts = [
        1 - lost_hours / held_hours if held_hours else 1.0
        for held_hours, lost_hours in zip(still.held, still.gone, strict=True)
    ]
    weeks = (
        WorkWeek(week.micros * part, week.gpu_hours * part)
        for week, part in zip(cell.weeks, parts, strict=True)
    )
    return replace(cell, weeks=tuple(weeks))


def _quiet_span(work: FleetWork) -> QuietSpan:
    end = work.span.window.end_day
    first, zone = work.span.window.first_day, work.span.window.zone
    before = _read_quiet_span(Window("", first, end - QUIET, zone)) if first < end - QUIET else None
    return replace(_read_quiet_span(Window("", end - QUIET, end, zone)), before=before)


def _read_quiet_span(window: Window) -> QuietSpan:
    question = CubeQuestion(window, ("workload", "pool"), is_bounded=False)
    rows = explore(question.of(kind=[str(ChargeKind.NODE_HOUR)])).rows
    services = unit_cost_groups(UnitFilter(window), ["service"])
    return QuietSpan(
        window,
        {cost.keys[0]: cost for cost in services},
        {(row.keys[0].value, row.keys[1].value): row.sums for row in rows},
    )


def _why_not(cell: WorkCell, sums: CubeSums | None, service: UnitCost | None) -> str:
    if sums is None or not sums.held_milliseconds:
        return "it held nothing in the last two weeks"
    if cell.workload.kind in SERVICE_KINDS:
        why = _why_no_dead_service(service)
    else:
        why = _why_no_dead_job(sums)
    if why:
        return why
    if cell.paid_by_hour and not cell.addressable_micros:
        return NO_PRICE
    if not cell.paid_by_hour and _freed(cell, sums) is None:
        return LITTLE_FREED
    return ""


def _why_no_dead_service(service: UnitCost | None) -> str:
    if service is None or service.parts.counted is None:
        return "nobody counts its requests"
    if service.answered_requests or service.told.requests:
        return "it answered requests"
    if service.parts.uncounted:
        return "in a part of two weeks nobody counted its requests"
    return ""


def _why_no_dead_job(sums: CubeSums) -> str:
    if sums.observed_milliseconds < SEEN_FROM * sums.held_milliseconds:
        return "what its GPUs did was not seen for nine tenths of the time"
    return "its GPUs were active" if sums.active_milliseconds else ""


def _freed(cell: WorkCell, sums: CubeSums) -> float | None:
    hours = sums.held_milliseconds / HOUR_MS * (1 - cell.paid_by_hour)
    freed = hours * MONTH_HOURS / (QUIET / timedelta(hours=1))
    return freed if freed >= LEAST_FREED else None


def _against(cell: WorkCell, quiet: QuietSpan) -> str:
    """Say what the workload did before the two weeks."""
    key, before = (cell.workload.id, cell.pool.id), quiet.before
    is_service = cell.workload.kind in SERVICE_KINDS
    what = "requests" if is_service else "activity of its GPUs"
    if before is None:
        return f"looked for {what} in the last {quiet.days} days: none; what came before is not on record"
    search_words = (
        f"looked for {what} in the last {quiet.days} days: none; in the {before.days} days before"
    )
    if is_service:
        service = before.services.get(cell.workload.id)
        if service is None or service.parts.counted is None:
            return f"{search_words} nobody counted them"
        return f"{search_words}: {service.answered_requests or 0:,}"
    sums = before.held.get(key)
    active = sums.active_milliseconds / HOUR_MS if sums else 0.0
    return f"{search_words} they were active for {active:,.0f} GPU-hours"


def _proposal_of(
    cell: WorkCell, sums: CubeSums, work: FleetWork, against: str
) -> RecommendationProposal:
    spend, name = work.monthly([cell]), cell.workload.name
    is_service = cell.workload.kind in SERVICE_KINDS
    low, mean, _ = mean_with_ends([week.micros for week in cell.weeks[-2:]])
    scale = MONTH_HOURS / WEEK_HOURS
    saving = SavingRange(round(max(0.0, low) * scale), round(mean * scale), round(mean * scale))
    what = "answered no request" if is_service else "did nothing on its GPUs"
    return RecommendationProposal(
        key=cell.key,
        title=f"Stop {name} on {cell.pool.name}",
        subject=name,
        team_id=cell.workload.team_id,
        workload_id=cell.workload.id,
        pool_id=cell.pool.id,
        spend_micros=spend,
        saving=saving.capped(spend),
        effort_hours=EFFORT_HOURS,
        risk=DisruptionClass.MEDIUM if is_service else DisruptionClass.LOW,
        risk_reason="who asks it once a quarter finds nobody there"
        if is_service
        else "what it waits for may still come",
        why=f"It held {sums.held_milliseconds / HOUR_MS:,.0f} GPU-hours in the last two weeks and {what}.",
        computed=COMPUTED,
        cells=cell.money_cells,
        evidence=_evidence_of(cell, sums, is_service=is_service),
        doubts=(against,),
        one_time_micros=effort_cost(EFFORT_HOURS),
        frees_gpu_hours=_freed(cell, sums),
        baseline={
            "held_gpu_hours_week": sums.held_milliseconds / HOUR_MS / 2,
            "paid_by_hour": cell.paid_by_hour,
            "micros_week": fmean(week.micros for week in cell.weeks[-2:]),
        },
    )


def _evidence_of(
    cell: WorkCell, sums: CubeSums, *, is_service: bool
) -> tuple[RecommendationEvidence, ...]:
    page = reverse("costs-workload", args=[cell.workload.id])
    held_evidence = RecommendationEvidence(
        "GPU-hours held in two weeks", f"{sums.held_milliseconds / HOUR_MS:,.0f}", page
    )
    if is_service:
        service = reverse("service", args=[cell.workload.id])
        return (
            RecommendationEvidence("Requests counted in two weeks", "0", service),
            held_evidence,
        )
    observed_ratio = sums.observed_milliseconds / sums.held_milliseconds
    return (
        held_evidence,
        RecommendationEvidence("Of that, seen by agents", f"{observed_ratio:.0%}", page),
        RecommendationEvidence("Active GPU-hours", "0", page),
    )
