"""Jobs and notebooks that hold GPUs week by week and leave them idle."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import fmean
from urllib.parse import urlencode

from django.urls import reverse

from apps.accounts.queries import TeamFact, organisation, teams
from apps.economics.hours import HOUR_MS
from apps.economics.money import MICROS
from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.idle import idle_saving, is_idle_again, measured_saving
from apps.economics.moves.saving import MONTH_HOURS, WEEK_HOURS, SavingRange
from apps.ledger.queries.cube import CubeQuestion, explore
from apps.ledger.queries.kinds import ChargeKind
from apps.placement.queries.moves.work import FleetWork, WorkCell
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.current_holdings import ENDED, HeldTime, held_time
from apps.review.queries.recommending.proposal import (
    ASSUMED,
    MEASURED,
    DetectedKind,
    RecommendationProposal,
    effort_cost,
)
from apps.review.queries.recommending.weeks import stretches_of, weekly_detector
from apps.review.queries.recommending.workload_totals import LEAST_FREED, NO_PRICE
from apps.unit_economics.queries.waste import WastePart, waste_time_by

KIND = "idle_holder"
SERVING = "serving"
FEW_WEEKS = 2
EFFORT_HOURS = 4
"""To give it an idle timeout, or to talk to who holds it: ours, not measured."""
COMPUTED = (
    "GPU-hours in a month that came after a whole hour without work, as an idle timeout of an hour would have given them back × the marginal price of a"
    " GPU-hour there; the ends are 1.28 standard errors over the weeks below and above the mean"
)
COMPUTED_ASSUMED = (
    "GPU-hours held idle in a month × the marginal price of a GPU-hour there. How long its pauses were is not known hour by hour: it is assumed that half of"
    " them can be given back at the low end, three quarters likely, all of them at the high end"
)
NOT_AGAIN = "it is not idle again and again"
SHORT_PAUSES = "its pauses are shorter than an hour"
LITTLE_IDLE = "it is idle for less than a tenth of a GPU, paid anyway"
LEAST_SAME = 0.9
"""Of the days' idle time, what its hours must come to for its pauses to be known."""


@dataclass(frozen=True, slots=True)
class HeldWeeks:
    """GPU-hours that a workload held on a pool, week by week, and those of them that were idle.

    `givable` are those that came after an hour without work, None where hours do not tell; `wakes` is how often it went on after that.
    """

    held: tuple[float, ...]
    idle: tuple[float, ...]
    givable: tuple[float, ...] | None = None
    wakes: int = 0

    @property
    def least_idle(self) -> float:
        """The part of what it held that was idle in the week in which it was least."""
        return min(
            idle / held_hours
            for idle, held_hours in zip(self.idle, self.held, strict=True)
            if held_hours > 0
        )

    @property
    def given_back_month(self) -> float:
        """Of `idle_month`, what can be given back as far as that was measured; else all of it."""
        if self.givable is None:
            return self.idle_month
        return fmean(self.givable) * MONTH_HOURS / WEEK_HOURS

    @property
    def idle_month(self) -> float:
        """In a month of 730 hours."""
        return fmean(self.idle) * MONTH_HOURS / WEEK_HOURS


@weekly_detector(KIND, "workloads on pools that are no service")
def detect_idle_holders(detected: DetectedKind, work: FleetWork, _: datetime) -> None:
    """Every workload on a pool that is no service; what is idle again and again is proposed to be given back."""
    weeks, owners = _held_weeks(work), {team.id: team for team in teams()}
    stays = held_time(work.span)
    for cell in work.cells:
        held_weeks = weeks.get((cell.workload.id, cell.pool.id))
        if cell.workload.kind == SERVING:
            continue
        still = stays.get((cell.workload.id, cell.pool.id))
        if still is not None and still.is_over and any(still.held):
            detected.pass_over(ENDED, cell.key)
            continue
        held_weeks = held_weeks and _still_of(held_weeks, still)
        if held_weeks is None or not is_idle_again(held_weeks.idle, held_weeks.held):
            detected.pass_over(NOT_AGAIN, cell.key)
        elif cell.paid_by_hour and not cell.addressable_micros:
            detected.pass_over(NO_PRICE, cell.key)
        elif held_weeks.given_back_month < LEAST_FREED / 10:
            detected.pass_over(SHORT_PAUSES, cell.key)
        elif not cell.paid_by_hour and held_weeks.given_back_month < LEAST_FREED:
            detected.pass_over(LITTLE_IDLE, cell.key)
        else:
            detected.propose(_proposal_of(cell, held_weeks, work, owners[cell.workload.team_id]))


def _still_of(held_weeks: HeldWeeks, still: HeldTime | None) -> HeldWeeks:
    """Without what it holds no more: of that, what was idle went first."""
    if still is None:
        return held_weeks

    def left(hours: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(max(0.0, hour - lost) for hour, lost in zip(hours, still.gone, strict=True))

    givable = None if held_weeks.givable is None else left(held_weeks.givable)
    return replace(
        held_weeks, held=left(held_weeks.held), idle=left(held_weeks.idle), givable=givable
    )


def _held_weeks(work: FleetWork) -> dict[tuple[int, int], HeldWeeks]:
    held_hours: dict[tuple[int, int], list[float]] = {}
    idle: dict[tuple[int, int], list[float]] = {}
    count = len(work.span.weeks)
    for place, window in enumerate(work.span.weeks):
        question = CubeQuestion(window, ("workload", "pool"), is_bounded=False)
        for row in explore(question.of(kind=[str(ChargeKind.NODE_HOUR)])).rows:
            key = (row.keys[0].value, row.keys[1].value)
            if isinstance(key[0], int) and isinstance(key[1], int):
                of_key = held_hours.setdefault((key[0], key[1]), [0.0] * count)
                of_key[place] = row.sums.held_milliseconds / HOUR_MS
        for pair, parts in waste_time_by(question).items():
            of_key = idle.setdefault((pair[0], pair[1]), [0.0] * count)
            of_key[place] = max(0, parts.get(WastePart.HELD_IDLE) or 0) / HOUR_MS
    stretches = stretches_of(work.span)
    weeks_by_cell = {}
    for key, hours in held_hours.items():
        idle_weeks = tuple(idle.get(key, [0.0] * count))
        week_stretches = [stretches.get((*key, place)) for place in range(count)]
        stretch_hours = sum(stretch.idle for stretch in week_stretches if stretch)
        is_same = stretch_hours >= LEAST_SAME * sum(idle_weeks)
        weeks_by_cell[key] = HeldWeeks(
            tuple(hours),
            idle_weeks,
            # A part of what was idle is failed work, or was asked for nothing: it is no more than the days say.
            tuple(
                min(idle_week, stretch.after_an_hour if stretch else 0.0)
                for idle_week, stretch in zip(idle_weeks, week_stretches, strict=True)
            )
            if is_same
            else None,
            sum(stretch.wakes for stretch in week_stretches if stretch),
        )
    return weeks_by_cell


def _proposal_of(
    cell: WorkCell, held_weeks: HeldWeeks, work: FleetWork, team: TeamFact
) -> RecommendationProposal:
    price = cell.addressable_micros / cell.gpu_hours if cell.gpu_hours else 0.0
    spend = work.monthly([cell])
    saving = _saving_of(cell, held_weeks, price).capped(spend)
    freed = held_weeks.given_back_month * (1 - cell.paid_by_hour)
    share = sum(held_weeks.idle) / sum(held_weeks.held)
    name, kind = cell.workload.name, cell.workload.kind
    return RecommendationProposal(
        key=cell.key,
        title=f"Give back GPUs that {name} holds idle on {cell.pool.name}",
        subject=name,
        team_id=team.id,
        workload_id=cell.workload.id,
        pool_id=cell.pool.id,
        spend_micros=spend,
        saving=saving,
        effort_hours=EFFORT_HOURS,
        risk=DisruptionClass.LOW if kind == "notebook" else DisruptionClass.MEDIUM,
        risk_reason="who comes back to it waits for a GPU"
        if kind == "notebook"
        else "what pauses between two steps may lose its GPUs to others",
        why=f"{share:.0%} of the GPU time that it held in {_describe_weeks(work.span.weeks)} was idle.",
        computed=COMPUTED_ASSUMED if held_weeks.givable is None else COMPUTED,
        cells=cell.money_cells,
        evidence=_evidence_of(cell, held_weeks, work, price),
        doubts=_against(held_weeks),
        one_time_micros=effort_cost(EFFORT_HOURS),
        frees_gpu_hours=freed if freed >= LEAST_FREED else None,
        baseline={
            "idle_gpu_hours_week": fmean(held_weeks.idle),
            "held_gpu_hours_week": fmean(held_weeks.held),
            "paid_by_hour": cell.paid_by_hour,
            "gpu_hour_micros": price,
        },
        range_basis=ASSUMED if held_weeks.givable is None else MEASURED,
    )


def _saving_of(cell: WorkCell, held_weeks: HeldWeeks, price: float) -> SavingRange:
    if not price:
        return SavingRange(0, 0, 0)
    if held_weeks.givable is None:
        return idle_saving([hours * cell.paid_by_hour for hours in held_weeks.idle], price)
    return measured_saving([hours * cell.paid_by_hour for hours in held_weeks.givable], price)


def _against(held_weeks: HeldWeeks) -> tuple[str, ...]:
    """The week in which it was least idle, how often it went on, and how few weeks are known."""
    weeks = len(held_weeks.held)
    doubts = [
        f"looked for weeks in which it needed its GPUs, in the last {7 * weeks} days: in the least idle of them {held_weeks.least_idle:.0%}"
        " of what it held was idle"
    ]
    if held_weeks.wakes:
        times = "once" if held_weeks.wakes == 1 else f"{held_weeks.wakes} times"
        doubts.append(
            f"after two idle hours or more it went on {times}, and would have waited for GPUs"
        )
    return (*doubts, *(("only two weeks are known",) if weeks <= FEW_WEEKS else ()))


def _evidence_of(
    cell: WorkCell, held_weeks: HeldWeeks, work: FleetWork, price: float
) -> tuple[RecommendationEvidence, ...]:
    window = work.span.window
    last = f"{window.first_day}/{window.end_day}"
    page = f"{reverse('costs-workload', args=[cell.workload.id])}?{urlencode({'window': last})}"
    weeks = ", ".join(f"{hours:,.0f}" for hours in held_weeks.idle)
    evidence = [
        RecommendationEvidence("GPU-hours held idle, week by week", weeks, page),
        RecommendationEvidence(
            "GPU-hours held, week by week",
            ", ".join(f"{hours:,.0f}" for hours in held_weeks.held),
            page,
        ),
        RecommendationEvidence(
            "Paid by the hour",
            f"{cell.paid_by_hour:.0%} of the GPU time of {cell.pool.name}",
        ),
    ]
    if price:
        evidence.append(
            RecommendationEvidence(
                "Marginal price of a GPU-hour",
                f"{price / MICROS:,.4f} {organisation().currency}",
                is_price=True,
            )
        )
    return tuple(evidence)


def _describe_weeks(weeks: Sequence[object]) -> str:
    return f"the last {len(weeks)} weeks"
