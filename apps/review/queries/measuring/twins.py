"""Work that was not touched: what a unit of its output cost on the same days, to hold a change of other work against."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from math import exp, log
from statistics import fmean

from apps.economics.cost_volume import CostDay
from apps.economics.realised_saving import FEWEST_BEFORE
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
    """What cost most before of the work of the same kind that was not touched, on the same pool where one is named.

    Of up to three the mean of the logarithms, on days of which all of them have a cost and an output that they report.
    """
    known = {each.id: each for each in workloads().values()}
    kind = known[workload_id].kind
    asked = CubeQuestion(spans.before, ("workload",), is_bounded=False).of(
        kind=[str(ChargeKind.NODE_HOUR)]
    )
    if pool_id is not None:
        asked = asked.of(pool=[pool_id])
    costs = {
        key: sum(state.micros or 0 for state in states)
        for (key,), states in state_sums(asked).items()
    }
    others = sorted(
        (
            each
            for each in costs
            if isinstance(each, int) and each != workload_id and each not in touched
            and each in known and known[each].kind == kind
        ),
        key=lambda each: (-costs[each], each),
    )  # fmt: skip
    series = {each: units for each in others[:MOST_TWINS] if (units := _unit_costs(each, spans))}
    if not series:
        return NO_TWIN
    days = sorted(set.intersection(*(set(units) for units in series.values())))
    level = [
        CostDay(day.toordinal(), exp(fmean(log(units[day]) for units in series.values())))
        for day in days
    ]
    return Twin(tuple(level), ", ".join(known[each].name for each in series))


def _unit_costs(workload_id: int, spans: MeasuredSpans) -> Units:
    """What a unit of its output cost on each settled day that has one; nothing where it reports none."""
    costs = ledger_days(CostSubject(workload_id), spans.whole, CHARGED)
    before = {day: each for day, each in costs.items() if spans.is_before(day)}
    output = output_of(workload_id, spans.whole, before, costs)
    units = {
        day: each.micros / output.days[day]
        for day, each in costs.items()
        if each.micros > 0 and output.days.get(day, 0.0) > 0
    }
    is_enough = sum(spans.is_before(day) for day in units) >= FEWEST_BEFORE
    return units if output.unit in REPORTED_UNITS and is_enough else {}
