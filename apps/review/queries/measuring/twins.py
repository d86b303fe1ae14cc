"""Work that was not touched: what a unit of its output cost on the same days, to hold a change of other work against."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from math import exp, log
from statistics import fmean

from apps.economics.cost_volume import CostDay
from apps.economics.twin_series import FEWEST_BEFORE
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.cube.states import state_sums
from apps.ledger.queries.kinds import ChargeKind
from apps.review.queries.measuring.ledger_days import CHARGED, CostSubject, ledger_days
from apps.review.queries.measuring.outputs import REPORTED_UNITS, output_of
from apps.review.queries.measuring.spans import MeasuredSpans
from apps.workloads.queries import workloads

MOST_TWINS = 3
Units = Mapping[date, float]


@dataclass(frozen=True, slots=True)
class Twin:
    """Its days, and what it is in words; without days there is none."""

    days: tuple[CostDay, ...] = ()
    name: str = ""


NO_TWIN = Twin()


def twin_of(
    workload_id: int, pool_id: int | None, spans: MeasuredSpans, touched: Collection[int]
) -> Twin:
    """Return the twin: what cost most before of the untouched work of the same kind, on the same pool where one is named.

    Of up to three the mean of the logarithms, on days of which all of them have a cost and an output that they report.
    """
    workloads_by_id = {workload.id: workload for workload in workloads().values()}
    kind = workloads_by_id[workload_id].kind
    question = CubeQuestion(spans.before, ("workload",), is_bounded=False).of(
        kind=[str(ChargeKind.NODE_HOUR)]
    )
    if pool_id is not None:
        question = question.of(pool=[pool_id])
    costs = {
        key: sum(state.micros or 0 for state in states)
        for (key,), states in state_sums(question).items()
    }
    others = sorted(
        (
            cost
            for cost in costs
            if isinstance(cost, int) and cost != workload_id and cost not in touched
            and cost in workloads_by_id and workloads_by_id[cost].kind == kind
        ),
        key=lambda other_id: (-costs[other_id], other_id),
    )  # fmt: skip
    series = {other: units for other in others[:MOST_TWINS] if (units := _unit_costs(other, spans))}
    if not series:
        return NO_TWIN
    days = sorted(set.intersection(*(set(units) for units in series.values())))
    level = [
        CostDay(day.toordinal(), exp(fmean(log(units[day]) for units in series.values())))
        for day in days
    ]
    return Twin(tuple(level), ", ".join(workloads_by_id[other_id].name for other_id in series))


def _unit_costs(workload_id: int, spans: MeasuredSpans) -> Units:
    """Return the cost of a unit of a workload's output on each settled day that has one; nothing where it reports none."""
    costs = ledger_days(CostSubject(workload_id), spans.whole, CHARGED)
    before = {day: cost for day, cost in costs.items() if spans.is_before(day)}
    output = output_of(workload_id, spans.whole, before, costs)
    units = {
        day: cost.micros / output.days[day]
        for day, cost in costs.items()
        if cost.micros > 0 and output.days.get(day, 0.0) > 0
    }
    is_enough = sum(spans.is_before(day) for day in units) >= FEWEST_BEFORE
    return units if output.unit in REPORTED_UNITS and is_enough else {}
