"""Jobs and notebooks that hold GPUs week by week and leave them idle."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from urllib.parse import urlencode

from django.urls import reverse

from apps.accounts.queries import TeamFact, organisation, teams
from apps.economics.hours import HOUR_MS
from apps.economics.money import MICROS
from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.idle import idle_saving, is_idle_again
from apps.economics.moves.saving import MONTH_HOURS, WEEK_HOURS, SavingRange
from apps.ledger.queries.cube import CubeQuestion, explore
from apps.ledger.queries.kinds import ChargeKind
from apps.placement.queries.moves.work import FleetWork, WorkCell
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendationProposal,
    effort_cost,
    work_cell,
)
from apps.review.queries.recommending.weeks import looks_at_weeks
from apps.review.queries.recommending.whole_work import LEAST_FREED, NO_PRICE
from apps.unit_economics.queries.waste import WastePart, waste_time_by

KIND = "idle_holder"
SERVING = "serving"
EFFORT_HOURS = 4
"""To give it an idle timeout, or to talk to who holds it: ours, not measured."""
COMPUTED = (
    "GPU-hours held idle in a month × the marginal price of a GPU-hour there. Half of them can be given back at the low end, three"
    " quarters likely, all of them at the high end, as short pauses stay; at the low end of a week 1.28 standard errors below the mean"
)


@dataclass(frozen=True, slots=True)
class HeldWeeks:
    """GPU-hours that a workload held on a pool, week by week, and those of them that were idle."""

    held: tuple[float, ...]
    idle: tuple[float, ...]

    @property
    def idle_month(self) -> float:
        """In a month of 730 hours."""
        return fmean(self.idle) * MONTH_HOURS / WEEK_HOURS


@looks_at_weeks(KIND, "workloads on pools that are no service")
def detect_idle_holders(found: DetectedKind, work: FleetWork, _: datetime) -> None:
    """Every workload on a pool that is no service; what is idle again and again is proposed to be given back."""
    weeks, owners = _held_weeks(work), {team.id: team for team in teams()}
    for cell in work.cells:
        seen = weeks.get((cell.workload.id, cell.pool.id))
        if cell.workload.kind == SERVING:
            continue
        if seen is None or not is_idle_again(seen.idle, seen.held):
            found.pass_over("it is not idle again and again", cell.key)
        elif cell.paid_by_hour and not cell.addressable_micros:
            found.pass_over(NO_PRICE, cell.key)
        elif not cell.paid_by_hour and seen.idle_month < LEAST_FREED:
            found.pass_over("it is idle for less than a tenth of a GPU, paid anyway", cell.key)
        else:
            found.propose(_proposal_of(cell, seen, work, owners[cell.workload.team_id]))


def _held_weeks(work: FleetWork) -> dict[tuple[int, int], HeldWeeks]:
    held: dict[tuple[int, int], list[float]] = {}
    idle: dict[tuple[int, int], list[float]] = {}
    count = len(work.span.weeks)
    for place, window in enumerate(work.span.weeks):
        question = CubeQuestion(window, ("workload", "pool"), is_bounded=False)
        for row in explore(question.of(kind=[str(ChargeKind.NODE_HOUR)])).rows:
            key = (row.keys[0].value, row.keys[1].value)
            if isinstance(key[0], int) and isinstance(key[1], int):
                of_key = held.setdefault((key[0], key[1]), [0.0] * count)
                of_key[place] = row.sums.held_milliseconds / HOUR_MS
        for pair, parts in waste_time_by(question).items():
            of_key = idle.setdefault((pair[0], pair[1]), [0.0] * count)
            of_key[place] = max(0, parts.get(WastePart.HELD_IDLE) or 0) / HOUR_MS
    return {
        key: HeldWeeks(tuple(hours), tuple(idle.get(key, [0.0] * count)))
        for key, hours in held.items()
    }


def _proposal_of(
    cell: WorkCell, seen: HeldWeeks, work: FleetWork, team: TeamFact
) -> RecommendationProposal:
    price = cell.addressable_micros / cell.gpu_hours if cell.gpu_hours else 0.0
    spend = work.monthly([cell])
    by_hour = [hours * cell.paid_by_hour for hours in seen.idle]
    saving = idle_saving(by_hour, price).capped(spend) if price else SavingRange(0, 0, 0)
    freed = seen.idle_month * (1 - cell.paid_by_hour)
    share = sum(seen.idle) / sum(seen.held)
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
        why=f"{share:.0%} of the GPU time that it held in {_weeks_said(work.span.weeks)} was idle.",
        computed=COMPUTED,
        cells=frozenset([work_cell(cell.workload.id, cell.pool.id)]),
        evidence=_evidence_of(cell, seen, work, price),
        doubts=() if len(seen.held) > 2 else ("only two weeks are known",),
        one_time_micros=effort_cost(EFFORT_HOURS),
        frees_gpu_hours=freed if freed >= LEAST_FREED else None,
        baseline={
            "idle_gpu_hours_week": fmean(seen.idle),
            "held_gpu_hours_week": fmean(seen.held),
            "paid_by_hour": cell.paid_by_hour,
            "gpu_hour_micros": price,
        },
    )


def _evidence_of(
    cell: WorkCell, seen: HeldWeeks, work: FleetWork, price: float
) -> tuple[RecommendationEvidence, ...]:
    window = work.span.window
    last = f"{window.first_day}/{window.end_day}"
    page = f"{reverse('costs-workload', args=[cell.workload.id])}?{urlencode({'window': last})}"
    weeks = ", ".join(f"{hours:,.0f}" for hours in seen.idle)
    told = [
        RecommendationEvidence("GPU-hours held idle, week by week", weeks, page),
        RecommendationEvidence(
            "GPU-hours held, week by week", ", ".join(f"{hours:,.0f}" for hours in seen.held), page
        ),
        RecommendationEvidence(
            "Paid by the hour",
            f"{cell.paid_by_hour:.0%} of the GPU time of {cell.pool.name}",
        ),
    ]
    if price:
        told.append(
            RecommendationEvidence(
                "Marginal price of a GPU-hour",
                f"{price / MICROS:,.4f} {organisation().currency}",
                is_price=True,
            )
        )
    return tuple(told)


def _weeks_said(weeks: Sequence[object]) -> str:
    return f"the last {len(weeks)} weeks"
