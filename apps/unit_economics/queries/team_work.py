"""Costs of each team's work, what of them was waste, and what its units came to."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, LiteralString

from apps.economics.money import sum_of_known
from apps.economics.run_time import Bucket
from apps.economics.states import Flag, State
from apps.ledger.queries.comparison import THE_SPAN_BEFORE, Comparison, compared_spans
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.tables import named_rows, rows
from apps.ledger.queries.windows import Window
from apps.unit_economics.queries.unit_costs import UnitFilter, unit_cost_groups
from apps.unit_economics.queries.waste import OF_STATES, Waste, WastePart, waste_by, wastes_summed


@dataclass(frozen=True, slots=True)
class TeamWork:
    """Work of a team (and workload) in a window; amounts are charged effective ones, None unknown.

    `now_micros` and `before_micros` are of whole days that are over and of the same days before;
    None too where there are none to compare with. `starved_micros` is what waited for data while no part of `waste`: overhead of useful work.
    `thousand_micros` is for 1,000 requests of its service, `million_micros` for 1,000,000 tokens
    trained by runs that began in the window.
    """

    team_id: int
    workload_id: int | None
    micros: int | None
    now_micros: int | None
    before_micros: int | None
    held_ms: int
    active_ms: int
    observed_ms: int
    waste: Waste
    starved_micros: int | None
    unpriced_ms: int
    is_provisional: bool
    thousand_micros: int | None = None
    million_micros: int | None = None

    @property
    def active_ratio(self) -> float | None:
        """Active of held GPU time that was observed."""
        return self.active_ms / self.observed_ms if self.observed_ms else None

    @property
    def wasted_micros(self) -> int | None:
        """All of its waste; None where nothing says whether there was any."""
        return self.wasted()

    def wasted(self, *parts: WastePart) -> int | None:
        """These parts of its waste (all of them without any); 0 where it was seen, and had none."""
        micros = self.waste.of(*parts) if parts else self.waste.micros
        return 0 if micros is None and self.observed_ms else micros

    @property
    def wasted_ratio(self) -> float | None:
        """Of what it cost."""
        wasted = self.wasted_micros
        return wasted / self.micros if wasted is not None and self.micros else None


def work_of_teams(
    window: Window,
    team_ids: frozenset[int] | None,
    at: datetime,
    comparison: Comparison = THE_SPAN_BEFORE,
) -> list[TeamWork]:
    """By team and workload (None: of none), the dearest first; None: every team."""
    costs = _costs_by_work(window, team_ids)
    now, before = _compared_costs(team_ids, compared_spans(window, at, comparison))
    waste = waste_by(CubeQuestion(window, team_ids=team_ids).by("team", "workload"))
    starved, million = _costs_of_runs(window, team_ids)
    thousand = _cost_per_thousand(window, team_ids)
    all_work = []
    for team_id, workload_id in sorted({*costs, *starved}, key=lambda key: (key[0], key[1] or 0)):
        micros, held_ms, active, observed, unpriced, provisional = costs.get(
            (team_id, workload_id), (None, 0, 0, 0, 0, False)
        )
        all_work.append(
            TeamWork(
                team_id=team_id,
                workload_id=workload_id,
                micros=micros,
                now_micros=now.get((team_id, workload_id)),
                before_micros=before.get((team_id, workload_id)),
                held_ms=held_ms,
                active_ms=active,
                observed_ms=observed,
                waste=waste.get((team_id, workload_id), Waste()),
                starved_micros=starved.get((team_id, workload_id)),
                unpriced_ms=unpriced,
                is_provisional=provisional,
                thousand_micros=thousand.get((team_id, workload_id)),
                million_micros=million.get((team_id, workload_id)),
            )
        )
    return sorted(all_work, key=lambda work: -(work.micros or 0))


def by_team(work: Iterable[TeamWork]) -> list[TeamWork]:
    """Return the work summed by team, the dearest first; what is unknown of a part is of the sum too."""
    teams: dict[int, TeamWork] = {}
    for team_work in work:
        team_sum = teams.get(team_work.team_id)
        teams[team_work.team_id] = (
            replace(team_work, workload_id=None, thousand_micros=None, million_micros=None)
            if team_sum is None
            else _sum_of_two(team_sum, team_work)
        )
    return sorted(teams.values(), key=lambda team_row: -(team_row.micros or 0))


def _sum_of_two(one: TeamWork, other: TeamWork) -> TeamWork:
    sums: dict[str, Any] = {
        name: sum_of_known((getattr(one, name), getattr(other, name))) for name in SUMMED
    }
    return replace(
        one,
        **sums,
        waste=wastes_summed([one.waste, other.waste]),
        is_provisional=one.is_provisional or other.is_provisional,
    )


SUMMED = (
    *("micros", "now_micros", "before_micros", "starved_micros"),
    *("held_ms", "active_ms", "observed_ms", "unpriced_ms"),
)
Key = tuple[int, int | None]


def _costs_by_work(
    window: Window, team_ids: frozenset[int] | None
) -> dict[Key, tuple[int | None, int, int, int, int, bool]]:
    params = _query_params(window, team_ids) | {"active": int(State.ACTIVE)}
    return {
        (team_id, workload_id): (micros, held_ms, active_ms, observed_ms, unpriced_ms, provisional)
        for team_id, workload_id, micros, held_ms, active_ms, observed_ms, unpriced_ms, provisional
        in rows(COSTS, params)
    }  # fmt: skip


def _compared_costs(
    team_ids: frozenset[int] | None, spans: tuple[Window, Window] | None
) -> tuple[dict[Key, int | None], dict[Key, int | None]]:
    """Return the costs by team and workload in the spans that are compared; 0 where there was none in one of them."""
    if spans is None:
        return {}, {}
    params = _query_params(spans[0], team_ids) | {
        "before_first": spans[1].first_day,
        "before_end": spans[1].end_day,
    }
    cost_rows = named_rows(COMPARED, params)
    return (
        {(row.team_id, row.workload_id): row.now_micros for row in cost_rows},
        {(row.team_id, row.workload_id): row.before_micros for row in cost_rows},
    )


def _costs_of_runs(
    window: Window, team_ids: frozenset[int] | None
) -> tuple[dict[Key, int], dict[Key, int]]:
    """Return the cost of waiting for data, 0 where there was none of it, and that of a million tokens."""
    params = _query_params(window, team_ids) | {
        "of_states": [int(part) for part in OF_STATES],
        "starved": int(Bucket.DATA_WAIT),
        "from": window.starts_at,
        "to": window.ends_at,
    }
    starved: dict[Key, int] = {}
    million: dict[Key, int] = {}
    for team_id, workload_id, starved_micros, million_micros in rows(RUNS, params):
        if starved_micros is not None:
            starved[team_id, workload_id] = starved_micros
        if million_micros is not None:
            million[team_id, workload_id] = million_micros
    return starved, million


def _cost_per_thousand(window: Window, team_ids: frozenset[int] | None) -> dict[Key, int]:
    chosen = UnitFilter(window, Basis.EFFECTIVE, team_ids=team_ids)
    micros_by_key: dict[Key, int] = {}
    for cost in unit_cost_groups(chosen, ["team", "service"]):
        thousand = cost.units.thousand_requests
        if thousand is not None and not cost.unpriced_milliseconds:
            micros_by_key[(cost.keys[0], cost.keys[1])] = round(thousand)
    return micros_by_key


def _query_params(window: Window, team_ids: frozenset[int] | None) -> dict[str, object]:
    return {
        "first_day": window.first_day,
        "end_day": window.end_day,
        "is_all": team_ids is None,
        "teams": sorted(team_ids or ()),
        "shared_idle": int(Flag.SHARED_IDLE),
    }


COSTS: LiteralString = """
SELECT team_id, workload_id, sum(effective_micros)::int8,
       coalesce(sum(held_milliseconds) FILTER (WHERE unit <> 'core'), 0)::int8,
       coalesce(sum(unit_milliseconds) FILTER (WHERE unit <> 'core' AND state = %(active)s),
                0)::int8,
       coalesce(sum(observed_milliseconds) FILTER (WHERE unit <> 'core'), 0)::int8,
       coalesce(sum(unit_milliseconds) FILTER (WHERE effective_micros IS NULL), 0)::int8,
       bool_or(status = 'provisional')
FROM ledger_ledgerday_fact
WHERE day >= %(first_day)s AND day < %(end_day)s AND flags & %(shared_idle)s = 0
  AND (%(is_all)s OR team_id = ANY(%(teams)s))
GROUP BY team_id, workload_id ORDER BY team_id, workload_id
"""
COMPARED: LiteralString = """
SELECT team_id, workload_id,
       CASE WHEN bool_or(is_now) THEN sum(effective_micros) FILTER (WHERE is_now) ELSE 0 END::int8
           AS now_micros,
       CASE WHEN bool_or(is_before)
            THEN sum(effective_micros) FILTER (WHERE is_before) ELSE 0 END::int8
           AS before_micros
FROM (
    SELECT team_id, workload_id, effective_micros,
           day >= %(first_day)s AND day < %(end_day)s AS is_now,
           day >= %(before_first)s AND day < %(before_end)s AS is_before
    FROM ledger_ledgerday_fact
    WHERE (day >= %(first_day)s AND day < %(end_day)s
           OR day >= %(before_first)s AND day < %(before_end)s)
      AND flags & %(shared_idle)s = 0 AND (%(is_all)s OR team_id = ANY(%(teams)s))
) AS compared
GROUP BY team_id, workload_id ORDER BY team_id, workload_id
"""
# Whoever told where time went has an amount of what waited, and be it 0.
RUNS: LiteralString = """
SELECT team_id, workload_id, starved.micros, million.micros
FROM (
    SELECT team_id, workload_id, coalesce(sum(effective_micros) FILTER (
               WHERE bucket = %(starved)s AND NOT is_unasked
                 AND (state IS NULL OR state <> ALL(%(of_states)s))), 0)::int8 AS micros
    FROM ledger_runday
    WHERE day >= %(first_day)s AND day < %(end_day)s AND flags & %(shared_idle)s = 0
      AND (%(is_all)s OR team_id = ANY(%(teams)s))
    GROUP BY team_id, workload_id
) AS starved
FULL JOIN (
    SELECT team_id, workload_id, (sum(effective_micros) * 1000000 / sum(tokens))::int8 AS micros
    FROM ledger_runfigures
    WHERE began_at >= %(from)s AND began_at < %(to)s AND workload_id IS NOT NULL
      AND tokens > 0 AND effective_micros IS NOT NULL AND unpriced_milliseconds = 0
      AND (%(is_all)s OR team_id = ANY(%(teams)s))
    GROUP BY team_id, workload_id
) AS million USING (team_id, workload_id)
ORDER BY team_id, workload_id
"""
