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
from apps.review.queries.recommending.proposal import (
    ASSUMED,
    MEASURED,
    DetectedKind,
    RecommendationProposal,
    effort_cost,
)
from apps.review.queries.recommending.still_held import ENDED, HeldTime, held_time
from apps.review.queries.recommending.weeks import looks_at_weeks, stretches_of
from apps.review.queries.recommending.whole_work import LEAST_FREED, NO_PRICE
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
        return min(idle / held for idle, held in zip(self.idle, self.held, strict=True) if held > 0)

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


@looks_at_weeks(KIND, "workloads on pools that are no service")
def detect_idle_holders(found: DetectedKind, work: FleetWork, _: datetime) -> None:
    """Every workload on a pool that is no service; what is idle again and again is proposed to be given back."""
    weeks, owners = _held_weeks(work), {team.id: team for team in teams()}
    stays = held_time(work.span)
    for cell in work.cells:
        seen = weeks.get((cell.workload.id, cell.pool.id))
        if cell.workload.kind == SERVING:
            continue
        still = stays.get((cell.workload.id, cell.pool.id))
        if still is not None and still.is_over and any(still.held):
            found.pass_over(ENDED, cell.key)
            continue
        seen = seen and _still_of(seen, still)
        if seen is None or not is_idle_again(seen.idle, seen.held):
            found.pass_over(NOT_AGAIN, cell.key)
        elif cell.paid_by_hour and not cell.addressable_micros:
            found.pass_over(NO_PRICE, cell.key)
        elif seen.given_back_month < LEAST_FREED / 10:
            found.pass_over(SHORT_PAUSES, cell.key)
        elif not cell.paid_by_hour and seen.given_back_month < LEAST_FREED:
            found.pass_over(LITTLE_IDLE, cell.key)
        else:
            found.propose(_proposal_of(cell, seen, work, owners[cell.workload.team_id]))


def _still_of(seen: HeldWeeks, still: HeldTime | None) -> HeldWeeks:
    """Without what it holds no more: of that, what was idle went first."""
    if still is None:
        return seen

    def left(hours: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(max(0.0, own - gone) for own, gone in zip(hours, still.gone, strict=True))

    givable = None if seen.givable is None else left(seen.givable)
    return replace(seen, held=left(seen.held), idle=left(seen.idle), givable=givable)


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
    stretches = stretches_of(work.span)
    found = {}
    for key, hours in held.items():
        idle_weeks = tuple(idle.get(key, [0.0] * count))
        seen = [stretches.get((*key, place)) for place in range(count)]
        known = sum(each.idle for each in seen if each)
        is_same = known >= LEAST_SAME * sum(idle_weeks)
        found[key] = HeldWeeks(
            tuple(hours),
            idle_weeks,
            # A part of what was idle is failed work, or was asked for nothing: it is no more than the days say.
            tuple(
                min(idle_week, each.after_an_hour if each else 0.0)
                for idle_week, each in zip(idle_weeks, seen, strict=True)
            )
            if is_same
            else None,
            sum(each.wakes for each in seen if each),
        )
    return found


def _proposal_of(
    cell: WorkCell, seen: HeldWeeks, work: FleetWork, team: TeamFact
) -> RecommendationProposal:
    price = cell.addressable_micros / cell.gpu_hours if cell.gpu_hours else 0.0
    spend = work.monthly([cell])
    saving = _saving_of(cell, seen, price).capped(spend)
    freed = seen.given_back_month * (1 - cell.paid_by_hour)
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
        computed=COMPUTED_ASSUMED if seen.givable is None else COMPUTED,
        cells=cell.money_cells,
        evidence=_evidence_of(cell, seen, work, price),
        doubts=_against(seen),
        one_time_micros=effort_cost(EFFORT_HOURS),
        frees_gpu_hours=freed if freed >= LEAST_FREED else None,
        baseline={
            "idle_gpu_hours_week": fmean(seen.idle),
            "held_gpu_hours_week": fmean(seen.held),
            "paid_by_hour": cell.paid_by_hour,
            "gpu_hour_micros": price,
        },
        range_basis=ASSUMED if seen.givable is None else MEASURED,
    )


def _saving_of(cell: WorkCell, seen: HeldWeeks, price: float) -> SavingRange:
    if not price:
        return SavingRange(0, 0, 0)
    if seen.givable is None:
        return idle_saving([hours * cell.paid_by_hour for hours in seen.idle], price)
    return measured_saving([hours * cell.paid_by_hour for hours in seen.givable], price)


def _against(seen: HeldWeeks) -> tuple[str, ...]:
    """The week in which it was least idle, how often it went on, and how few weeks are known."""
    weeks = len(seen.held)
    said = [
        f"looked for weeks in which it needed its GPUs, in the last {7 * weeks} days: in the least idle of them {seen.least_idle:.0%}"
        " of what it held was idle"
    ]
    if seen.wakes:
        times = "once" if seen.wakes == 1 else f"{seen.wakes} times"
        said.append(
            f"after two idle hours or more it went on {times}, and would have waited for GPUs"
        )
    return (*said, *(("only two weeks are known",) if weeks <= FEW_WEEKS else ()))


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
