"""The output of workloads: units and what one cost, week by week; what they returned by their owner's word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from apps.economics.hours import HOUR_MS
from apps.economics.money import MICROS, sum_or_unknown
from apps.ledger.queries.cube import CubeSums
from apps.ledger.queries.kinds import Status
from apps.review.queries.weekly.content import WeekUnits, WorkloadReturn
from apps.review.queries.weekly.week_costs import WeekCosts, WeekSums
from apps.review.queries.weekly.weeks import TREND_WEEKS, ReviewWeek, trend_weeks
from apps.unit_economics.queries.unit_costs import UnitCost, UnitFilter, unit_cost_groups
from apps.workloads.queries.returns import ValueFact, values_on
from apps.workloads.queries.run_output import RunOutput, run_output_by_week

REQUESTS, TOKENS = "thousand_requests", "million_tokens"
FINISHED, CHECKPOINTS, WEEKS = "finished_run", "good_checkpoint", "week"
ACTIVE = "active_gpu_hour"
THOUSAND, MILLION = 1_000, 1_000_000


@dataclass(frozen=True, slots=True)
class Outputs:
    """By workload and Monday: what services answered, what runs reported; and values stated, by workload."""

    served: Mapping[int, Mapping[date, UnitCost]]
    trained: Mapping[int, Mapping[date, RunOutput]]
    values: Mapping[int, ValueFact]

    def unit_of(self, workload_id: int) -> str:
        """Requests where they are counted, else tokens where runs report any, else active GPU-hours."""
        if any(cost.answered_requests for cost in self.served.get(workload_id, {}).values()):
            return REQUESTS
        if any(output.tokens for output in self.trained.get(workload_id, {}).values()):
            return TOKENS
        return ACTIVE

    def count(self, workload_id: int, unit: str, monday: date, sums: WeekSums) -> float | None:
        """How many units a week had; None where nobody counted, 0 where there was none to count."""
        served = self.served.get(workload_id, {}).get(monday)
        trained = self.trained.get(workload_id, {}).get(monday)
        if unit == ACTIVE:
            return _active_hours(sums[monday]) if monday in sums else 0.0
        if unit == WEEKS:
            return float(monday in sums)
        if unit == REQUESTS:
            requests = None if served is None else served.answered_requests
            return _counted(requests, THOUSAND, is_absent=monday not in sums)
        if unit == TOKENS and served is not None:
            reported = served.told
            tokens = sum_or_unknown((reported.prompt_tokens, reported.output_tokens))
            return _counted(tokens, MILLION, is_absent=monday not in sums)
        if trained is None:
            is_reporting = workload_id in self.trained
            return 0.0 if monday not in sums or is_reporting else None
        counts = {
            TOKENS: trained.tokens / MILLION,
            FINISHED: float(trained.finished_runs),
            CHECKPOINTS: float(trained.good_checkpoints),
        }
        return counts[unit]

    def unit_cost(
        self, workload_id: int, unit: str, monday: date, costs: tuple[WeekSums, int | None]
    ) -> int | None:
        """Return the cost of one unit of a week in micro-units; None without any, or where its cost is not known."""
        sums, micros = costs
        if unit == REQUESTS:
            served = self.served.get(workload_id, {}).get(monday)
            thousand = None if served is None else served.units.thousand_requests
            is_sure = served is not None and Status.PROVISIONAL not in served.statuses
            return round(thousand) if thousand is not None and is_sure else None
        count = self.count(workload_id, unit, monday, sums)
        return None if micros is None or not count else round(micros / count)


def outputs(
    week: ReviewWeek, zone: str, workload_of: Mapping[int, int], known_at: datetime | None
) -> Outputs:
    """Of eight weeks, of all workloads, with the values that were stated until `known_at`; `workload_of` are those of runs."""
    window = week.window(zone, TREND_WEEKS)
    served: dict[int, dict[date, UnitCost]] = {}
    for cost in unit_cost_groups(UnitFilter(window), ["service", "week"]):
        workload_id, monday = cost.keys
        served.setdefault(workload_id, {})[monday] = cost
    trained: dict[int, dict[date, RunOutput]] = {}
    outputs_by_week = run_output_by_week(window.starts_at, window.ends_at, zone)
    for (run_id, monday), output in outputs_by_week.items():
        if run_id in workload_of:
            weeks = trained.setdefault(workload_of[run_id], {})
            weeks[monday] = weeks.get(monday, RunOutput()).plus(output)
    last_day = date.fromordinal(week.end_day.toordinal() - 1)
    return Outputs(served, trained, values_on(last_day, known_at))


def week_units(
    week_outputs: Outputs, workload_id: int, costs: WeekCosts
) -> tuple[WeekUnits, tuple[int | None, ...]]:
    """Its unit in the week, and what one cost in each of the eight."""
    unit, sums = week_outputs.unit_of(workload_id), costs.workloads.get(workload_id, {})
    trend = tuple(
        week_outputs.unit_cost(
            workload_id,
            unit,
            trend_week.first_day,
            (sums, costs.cost_of(sums, trend_week.first_day)),
        )
        for trend_week in trend_weeks(costs.week)
    )
    count = week_outputs.count(workload_id, unit, costs.week.first_day, sums)
    rounded = None if count is None else round(count, 6)
    return WeekUnits(unit, rounded, trend[-1]), trend


def returned(
    week_outputs: Outputs, workload_id: int, costs: WeekCosts, weeks: int
) -> WorkloadReturn | None:
    """Return what a workload returned over the last weeks by the value that holds at their end; None: none is stated."""
    value = week_outputs.values.get(workload_id)
    if value is None or value.low is None or value.high is None:
        return None
    sums = costs.workloads.get(workload_id, {})
    counts = [
        week_outputs.count(workload_id, value.unit, trend_week.first_day, sums)
        for trend_week in trend_weeks(costs.week)[-weeks:]
    ]
    total = _total_or_unknown(counts)
    low, high = _in_micros(value.low), _in_micros(value.high)
    return WorkloadReturn(
        unit=value.unit,
        low_micros=low,
        high_micros=high,
        valid_from=value.valid_from.isoformat(),
        stated_by=value.stated_by_id,
        count=total,
        returned_low_micros=None if total is None else round(low * total),
        returned_high_micros=None if total is None else round(high * total),
    )


def _total_or_unknown(counts: Sequence[float | None]) -> float | None:
    """The sum; None where a week of it was not counted."""
    known_counts = [count for count in counts if count is not None]
    return round(sum(known_counts), 6) if len(known_counts) == len(counts) else None


def _active_hours(sums: CubeSums) -> float | None:
    """None where no agent saw anything of what was held."""
    if sums.held_milliseconds and not sums.observed_milliseconds:
        return None
    return sums.active_milliseconds / HOUR_MS


def _counted(count: int | None, size: int, *, is_absent: bool) -> float | None:
    if count is None:
        return 0.0 if is_absent else None
    return count / size


def _in_micros(amount: Decimal) -> int:
    return round(amount * MICROS)
