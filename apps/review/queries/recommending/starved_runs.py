"""Training whose GPUs wait for data, week by week."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean

from django.urls import reverse

from apps.economics.hours import HOUR_MS
from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.idle import GIVEN_BACK, idle_saving, is_idle_again
from apps.economics.moves.saving import SavingRange
from apps.placement.queries.moves.work import FleetWork
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.proposal import (
    ASSUMED,
    DetectedKind,
    RecommendationProposal,
    effort_cost,
)
from apps.review.queries.recommending.weeks import weekly_detector
from apps.review.queries.recommending.workload_totals import (
    LITTLE_FREED,
    NO_PRICE,
    WorkloadTotals,
    workload_totals,
)
from apps.unit_economics.queries.measured import waited_days

KIND = "starved_runs"
TRAINING = ("training",)
FEW_WEEKS = 2
EFFORT_HOURS = 24
"""To read ahead, shard or cache the data: ours, not measured."""
STARVED_FROM, LEFT_OVER = 0.1, 0.02
"""Of the time that runs report: from which on it is much, and what is left to any of them. Choices of ours."""
COMPUTED = (
    "GPU-hours in a month that waited for data, beyond 2 % of the reported time, × the marginal price of a GPU-hour. It is assumed that half of them go away at the low"
    " end, three quarters likely, all of them at the high end; at the low end of a week 1.28 standard errors below the mean"
)


@dataclass(frozen=True, slots=True)
class DataWait:
    """GPU-hours of a workload's runs, week by week: those that waited for data, and all whose time was reported."""

    waited: tuple[float, ...]
    told: tuple[float, ...]

    @property
    def beyond(self) -> tuple[float, ...]:
        """Return the part of each wait for data that could be less."""
        pairs = zip(self.waited, self.told, strict=True)
        return tuple(max(0.0, waited - LEFT_OVER * reported) for waited, reported in pairs)

    @property
    def share(self) -> float:
        """Of all weeks."""
        return sum(self.waited) / sum(self.told)


@weekly_detector(KIND, "training workloads")
def detect_starved_runs(detected: DetectedKind, work: FleetWork, _: datetime) -> None:
    """Every training workload; where a tenth of the reported time waits for data in three weeks of four, reading it is to be mended."""
    waits = _waits_by_week(work)
    for whole_work in workload_totals(work, TRAINING):
        data_wait = waits.get(whole_work.workload.id)
        if why := _why_not(whole_work, data_wait):
            detected.pass_over(why, str(whole_work.workload.id))
        elif data_wait is not None:
            detected.propose(_proposal_of(whole_work, data_wait))


def _waits_by_week(work: FleetWork) -> Mapping[int, DataWait]:
    weeks: dict[int, list[list[float]]] = {}
    for place, window in enumerate(work.span.weeks):
        for day in waited_days(window):
            of_work = weeks.setdefault(day.workload_id, [[0.0, 0.0] for _ in work.span.weeks])
            of_work[place][0] += day.cell.amount / HOUR_MS
            of_work[place][1] += day.cell.weight / HOUR_MS
    return {
        workload_id: DataWait(
            tuple(week[0] for week in hour_pairs), tuple(week[1] for week in hour_pairs)
        )
        for workload_id, hour_pairs in weeks.items()
    }


def _why_not(whole_work: WorkloadTotals, data_wait: DataWait | None) -> str:
    if data_wait is None:
        return "no run of it reports where its time goes"
    if not is_idle_again(data_wait.waited, data_wait.told, STARVED_FROM):
        return "its runs do not wait for a tenth of their time again and again"
    if whole_work.paid_by_hour and not whole_work.price:
        return NO_PRICE
    if not whole_work.paid_by_hour and whole_work.freed(fmean(data_wait.beyond)) is None:
        return LITTLE_FREED
    return ""


def _proposal_of(whole_work: WorkloadTotals, data_wait: DataWait) -> RecommendationProposal:
    by_hour = [hours * whole_work.paid_by_hour for hours in data_wait.beyond]
    saving = idle_saving(by_hour, whole_work.price) if whole_work.price else SavingRange(0, 0, 0)
    name = whole_work.workload.name
    return RecommendationProposal(
        key=str(whole_work.workload.id),
        title=f"Fix data loading of {name}",
        subject=name,
        team_id=whole_work.workload.team_id,
        workload_id=whole_work.workload.id,
        pool_id=whole_work.pool_id,
        spend_micros=whole_work.spend_micros,
        saving=saving.capped(whole_work.spend_micros),
        effort_hours=EFFORT_HOURS,
        risk=DisruptionClass.LOW,
        risk_reason="what is trained stays as it is, only how its data is read changes",
        why=f"{data_wait.share:.0%} of the GPU time that its runs reported in {len(data_wait.told)} weeks waited for data.",
        computed=COMPUTED,
        cells=whole_work.money_cells,
        evidence=_evidence_of(whole_work, data_wait),
        doubts=_against(data_wait),
        one_time_micros=effort_cost(EFFORT_HOURS),
        frees_gpu_hours=whole_work.freed(fmean(data_wait.beyond) * GIVEN_BACK[1]),
        baseline={
            "waited_gpu_hours_week": fmean(data_wait.waited),
            "told_gpu_hours_week": fmean(data_wait.told),
            "paid_by_hour": whole_work.paid_by_hour,
            "gpu_hour_micros": whole_work.price,
        },
        range_basis=ASSUMED,
    )


def _against(data_wait: DataWait) -> tuple[str, ...]:
    """The week that waited least."""
    least = min(
        waited / reported
        for waited, reported in zip(data_wait.waited, data_wait.told, strict=True)
        if reported > 0
    )
    weeks = len(data_wait.told)
    sentence = f"looked for weeks without the wait, in the last {7 * weeks} days: in the least of them {least:.0%} of the reported time waited"
    return (sentence, *(("only two weeks are known",) if weeks <= FEW_WEEKS else ()))


def _evidence_of(
    whole_work: WorkloadTotals, data_wait: DataWait
) -> tuple[RecommendationEvidence, ...]:
    page = reverse("programme", args=[whole_work.workload.id])
    shares = [
        f"{waited / reported:.0%}" if reported else "not reported"
        for waited, reported in zip(data_wait.waited, data_wait.told, strict=True)
    ]
    return (
        RecommendationEvidence("Waited for data, week by week", ", ".join(shares), page),
        RecommendationEvidence("GPU-hours that waited", _hours_words(data_wait.waited), page),
        RecommendationEvidence("GPU-hours reported", _hours_words(data_wait.told), page),
    )


def _hours_words(hours: Sequence[float]) -> str:
    return ", ".join(f"{hour:,.0f}" for hour in hours)
