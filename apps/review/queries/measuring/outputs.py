"""The output of a workload day by day, in the first of its units that it reports."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

from apps.ledger.queries.windows import Window
from apps.review.queries.measuring.ledger_days import LedgerDaySum
from apps.unit_economics.queries.unit_costs import UnitFilter, unit_cost_groups
from apps.workloads.queries.run_days import run_output_by_day

LEAST_DAYS = 0.5
"""Of the days on which it cost anything: output of fewer is no measure of what it was for."""
REPORTED_UNITS = ("requests", "tokens", "examples", "steps")
ACTIVE_HOURS, HELD_HOURS = "active GPU-hours", "GPU-hours held"
Daily: TypeAlias = Mapping[date, float]


@dataclass(frozen=True, slots=True)
class WorkOutput:
    """The unit, what there was of it by day, and what speaks against it."""

    unit: str
    days: Daily
    doubt: str = ""


def output_of(
    workload_id: int,
    window: Window,
    before: Mapping[date, LedgerDaySum],
    costs: Mapping[date, LedgerDaySum],
) -> WorkOutput:
    """Requests, else tokens, examples or steps of its runs, else active GPU-hours, else those held.

    The first that it has on half of the days before on which it cost anything; `costs` has all days.
    """
    paid = [day for day, of_day in before.items() if of_day.micros > 0]
    for unit, days in (*_reported(workload_id, window), (ACTIVE_HOURS, _active(costs))):
        if sum(days.get(day, 0.0) > 0 for day in paid) >= LEAST_DAYS * max(1, len(paid)):
            doubt = NO_OUTPUT if unit == ACTIVE_HOURS else ""
            return WorkOutput(unit, days, doubt)
    return WorkOutput(
        HELD_HOURS, {day: cost.gpu_hours for day, cost in costs.items()}, NOTHING_SEEN
    )


NO_OUTPUT = (
    "it reports no output: an active hour of a GPU counts as much after the change as before"
)
NOTHING_SEEN = (
    "it reports no output and its GPUs no activity: only the price of what it holds is measured"
)


def _active(costs: Mapping[date, LedgerDaySum]) -> Daily:
    return {day: cost.active_hours for day, cost in costs.items()}


def _reported(workload_id: int, window: Window) -> list[tuple[str, Daily]]:
    wanted = UnitFilter(window, workload_ids=frozenset({workload_id}))
    answered = {
        cost.keys[1]: float(cost.answered_requests or 0)
        for cost in unit_cost_groups(wanted, ["service", "day"])
    }
    runs = run_output_by_day(workload_id, window.first_day, window.end_day, window.zone)
    by_unit = (
        answered,
        {day: float(run.tokens) for day, run in runs.items()},
        {day: float(run.examples) for day, run in runs.items()},
        {day: float(run.steps) for day, run in runs.items()},
    )
    return list(zip(REPORTED_UNITS, by_unit, strict=True))
