"""Runs that went silently wrong in some weeks, and what they cost from then on, by workload and team."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from apps.economics.run_divergence import diverged_at
from apps.ledger.queries.windows import Window
from apps.review.queries.weekly.weeks import TREND_WEEKS, ReviewWeek
from apps.unit_economics.queries.diverged_runs import unwasted_run_days
from apps.workloads.queries.returns import run_losses, run_time_since


@dataclass(frozen=True, slots=True)
class DivergedCosts:
    """Micro-units of the week and of all verdict weeks; who reported a loss at all is in `watched`."""

    week_by_workload: Mapping[int, int] = field(default_factory=dict)
    week_by_team: Mapping[int, int] = field(default_factory=dict)
    longer_by_workload: Mapping[int, int] = field(default_factory=dict)
    runs: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    watched: frozenset[int] = frozenset()


def diverged_costs(
    week: ReviewWeek, zone: str, weeks: int, workload_of: Mapping[int, int]
) -> DivergedCosts:
    """Of runs whose reported loss says so; a day in which it began counts by its hours from then on.

    `workload_of` are the workloads of runs; a run of none is left out.
    """
    window, longest = week.window(zone, weeks), week.window(zone, TREND_WEEKS)
    reported = [
        each
        for each in run_losses(longest.starts_at, window.starts_at, window.ends_at)
        if each.run_id in workload_of
    ]
    moments: dict[int, datetime] = {}
    names: dict[int, dict[str, None]] = {}
    for each in reported:
        since = diverged_at(each.losses)
        if since is not None:
            moments[each.run_id] = min(since, moments.get(each.run_id, since))
            names.setdefault(workload_of[each.run_id], {})[each.run] = None
    shares = run_time_since(moments, window.starts_at, window.ends_at, zone)
    return _summed_costs(
        moments,
        shares,
        (week, window),
        DivergedCosts(
            runs={workload_id: tuple(runs) for workload_id, runs in names.items()},
            watched=frozenset(workload_of[each.run_id] for each in reported),
        ),
    )


def _summed_costs(
    moments: Mapping[int, datetime],
    shares: Mapping[tuple[int, date], tuple[int, int]],
    spans: tuple[ReviewWeek, Window],
    found: DivergedCosts,
) -> DivergedCosts:
    week, window = spans
    by_workload: dict[int, int] = {}
    by_team: dict[int, int] = {}
    longer: dict[int, int] = {}
    for cost in unwasted_run_days(moments, window):
        after_ms, whole_ms = shares.get((cost.run_id, cost.day), (0, 0))
        micros = cost.micros * after_ms // whole_ms if whole_ms else 0
        if cost.workload_id is None or not micros:
            continue
        longer[cost.workload_id] = longer.get(cost.workload_id, 0) + micros
        if cost.day >= week.first_day:
            by_workload[cost.workload_id] = by_workload.get(cost.workload_id, 0) + micros
            by_team[cost.team_id] = by_team.get(cost.team_id, 0) + micros
    return DivergedCosts(by_workload, by_team, longer, found.runs, found.watched)
