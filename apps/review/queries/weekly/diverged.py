"""Runs that went silently wrong in some weeks, and what of their waste that is, by workload and team."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from apps.review.queries.weekly.week_costs import settled_question
from apps.review.queries.weekly.weeks import ReviewWeek
from apps.unit_economics.queries.diverged_runs import DivergedCost, diverged_run_costs
from apps.workloads.queries.returns import runs_with_losses


@dataclass(frozen=True, slots=True)
class DivergedCosts:
    """Micro-units of the week and of all verdict weeks, with the runs; `watched` reported a loss at all."""

    week_by_workload: Mapping[int, int] = field(default_factory=dict)
    week_by_team: Mapping[int, int] = field(default_factory=dict)
    longer_by_workload: Mapping[int, int] = field(default_factory=dict)
    runs: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    watched: frozenset[int] = frozenset()

    def week_of(self, workload_id: int) -> int | None:
        """Of a workload's week; None where none of its runs reports a loss: nobody knows."""
        micros = self.week_by_workload.get(workload_id)
        return 0 if micros is None and workload_id in self.watched else micros


def diverged_costs(
    week: ReviewWeek, zone: str, weeks: int, workload_of: Mapping[int, int]
) -> DivergedCosts:
    """As the ledger divides them; `workload_of` are the workloads of runs."""
    window = week.window(zone, weeks)
    week_costs = diverged_run_costs(settled_question(week.window(zone)))
    longer = diverged_run_costs(settled_question(window))
    runs: dict[int, dict[str, None]] = {}
    for cost in longer:
        if cost.workload_id is not None:
            runs.setdefault(cost.workload_id, {})[cost.run] = None
    by_team: dict[int, int] = {}
    for cost in week_costs:
        by_team[cost.team_id] = by_team.get(cost.team_id, 0) + cost.micros
    reporting = runs_with_losses(window.starts_at, window.ends_at)
    return DivergedCosts(
        week_by_workload=_by_workload(week_costs),
        week_by_team=by_team,
        longer_by_workload=_by_workload(longer),
        runs={workload_id: tuple(names) for workload_id, names in runs.items()},
        watched=frozenset(workload_of[run_id] for run_id in reporting if run_id in workload_of),
    )


def _by_workload(costs: Iterable[DivergedCost]) -> dict[int, int]:
    micros_by_workload: dict[int, int] = {}
    for cost in costs:
        if cost.workload_id is not None:
            micros_by_workload[cost.workload_id] = (
                micros_by_workload.get(cost.workload_id, 0) + cost.micros
            )
    return micros_by_workload
