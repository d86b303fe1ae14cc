"""What each team's work cost, what of it bought nothing, and what its units came to."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import LiteralString

from apps.economics.run_time import Bucket
from apps.economics.states import Flag, State
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.tables import rows
from apps.ledger.queries.unit_costs import UnitFilter, unit_cost_groups
from apps.ledger.queries.windows import Window

STARVED = (Bucket.DATA_WAIT,)
FAILED = (Bucket.FAILED, Bucket.LOST)


@dataclass(frozen=True, slots=True)
class TeamWork:
    """Work of a team (and workload) in a window; amounts are charged effective ones, None unknown.

    Held idle time is in `idle_micros` alone: of failed and starved time only what was not idle
    counts, so that the three may be added. `thousand_micros` is for 1,000 requests of its service,
    `million_micros` for 1,000,000 tokens trained by runs that began in the window.
    """

    team_id: int
    workload_id: int | None
    micros: int | None
    before_micros: int | None
    held_ms: int
    active_ms: int
    observed_ms: int
    idle_micros: int | None
    failed_micros: int | None
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
        """Held idle, failed and starved; None where nothing of them is known."""
        known = [self.idle_micros, self.failed_micros, self.starved_micros]
        found = [each for each in known if each is not None]
        return sum(found) if found else None

    @property
    def wasted_ratio(self) -> float | None:
        """Of what it cost."""
        wasted = self.wasted_micros
        return wasted / self.micros if wasted is not None and self.micros else None


def work_of_teams(window: Window, team_ids: frozenset[int] | None) -> list[TeamWork]:
    """By team and workload (None: of none), the dearest first; None: every team."""
    costs = _costs(window, team_ids)
    before = {key: row[0] for key, row in _costs(window.before(), team_ids).items()}
    spent = _spent(window, team_ids)
    thousand = _thousand(window, team_ids)
    million = _million(window, team_ids)
    found = []
    for team_id, workload_id in sorted({*costs, *spent}, key=lambda key: (key[0], key[1] or 0)):
        micros, held, active, observed, idle, unpriced, provisional = costs.get(
            (team_id, workload_id), (None, 0, 0, 0, None, 0, False)
        )
        failed, starved = spent.get((team_id, workload_id), (None, None))
        found.append(
            TeamWork(
                team_id=team_id,
                workload_id=workload_id,
                micros=micros,
                before_micros=before.get((team_id, workload_id)),
                held_ms=held,
                active_ms=active,
                observed_ms=observed,
                idle_micros=idle,
                failed_micros=failed,
                starved_micros=starved,
                unpriced_ms=unpriced,
                is_provisional=provisional,
                thousand_micros=thousand.get(workload_id or 0),
                million_micros=million.get(workload_id or 0),
            )
        )
    return sorted(found, key=lambda each: -(each.micros or 0))


def by_team(work: Iterable[TeamWork]) -> list[TeamWork]:
    """The same summed by team, the dearest first; what is unknown of a part is of the sum too."""
    teams: dict[int, TeamWork] = {}
    for each in work:
        found = teams.get(each.team_id)
        teams[each.team_id] = (
            replace(each, workload_id=None, thousand_micros=None, million_micros=None)
            if found is None
            else _sum(found, each)
        )
    return sorted(teams.values(), key=lambda each: -(each.micros or 0))


def _sum(one: TeamWork, other: TeamWork) -> TeamWork:
    return replace(
        one,
        micros=_more(one.micros, other.micros),
        before_micros=_more(one.before_micros, other.before_micros),
        held_ms=one.held_ms + other.held_ms,
        active_ms=one.active_ms + other.active_ms,
        observed_ms=one.observed_ms + other.observed_ms,
        idle_micros=_more(one.idle_micros, other.idle_micros),
        failed_micros=_more(one.failed_micros, other.failed_micros),
        starved_micros=_more(one.starved_micros, other.starved_micros),
        unpriced_ms=one.unpriced_ms + other.unpriced_ms,
        is_provisional=one.is_provisional or other.is_provisional,
    )


def _more(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)


Key = tuple[int, int | None]


def _costs(
    window: Window, team_ids: frozenset[int] | None
) -> dict[Key, tuple[int | None, int, int, int, int | None, int, bool]]:
    params = _params(window, team_ids) | {
        "shared_idle": int(Flag.SHARED_IDLE),
        "active": int(State.ACTIVE),
        "idle": int(State.HELD_IDLE),
    }
    return {(row[0], row[1]): row[2:] for row in rows(COSTS, params)}


def _spent(window: Window, team_ids: frozenset[int] | None) -> dict[Key, tuple[int, int]]:
    params = _params(window, team_ids) | {
        "idle": int(State.HELD_IDLE),
        "failed": [int(each) for each in FAILED],
        "starved": [int(each) for each in STARVED],
    }
    return {(row[0], row[1]): row[2:] for row in rows(SPENT, params)}


def _thousand(window: Window, team_ids: frozenset[int] | None) -> dict[int, int]:
    chosen = UnitFilter(window, Basis.EFFECTIVE, team_ids=team_ids)
    found: dict[int, int] = {}
    for cost in unit_cost_groups(chosen, ["service"]):
        thousand = cost.units.thousand_requests
        if thousand is not None and not cost.unpriced_milliseconds:
            found[cost.keys[0]] = round(thousand)
    return found


def _million(window: Window, team_ids: frozenset[int] | None) -> dict[int, int]:
    params = _params(window, team_ids) | {"from": window.starts_at, "to": window.ends_at}
    return {row[0]: row[1] for row in rows(MILLION, params)}


def _params(window: Window, team_ids: frozenset[int] | None) -> dict[str, object]:
    return {
        "first_day": window.first_day,
        "end_day": window.end_day,
        "is_all": team_ids is None,
        "teams": sorted(team_ids or ()),
    }


COSTS: LiteralString = """
SELECT team_id, workload_id, sum(effective_micros)::int8,
       coalesce(sum(held_milliseconds) FILTER (WHERE unit <> 'core'), 0)::int8,
       coalesce(sum(unit_milliseconds) FILTER (WHERE unit <> 'core' AND state = %(active)s),
                0)::int8,
       coalesce(sum(observed_milliseconds) FILTER (WHERE unit <> 'core'), 0)::int8,
       CASE WHEN bool_or(state = %(idle)s AND effective_micros IS NOT NULL)
            THEN sum(effective_micros) FILTER (WHERE state = %(idle)s)
            WHEN NOT coalesce(bool_or(state = %(idle)s), false) AND sum(observed_milliseconds) > 0
            THEN 0 END::int8,
       coalesce(sum(unit_milliseconds) FILTER (WHERE effective_micros IS NULL), 0)::int8,
       bool_or(status = 'provisional')
FROM ledger_ledgerday
WHERE day >= %(first_day)s AND day < %(end_day)s AND flags & %(shared_idle)s = 0
  AND (%(is_all)s OR team_id = ANY(%(teams)s))
GROUP BY team_id, workload_id ORDER BY team_id, workload_id
"""
SPENT: LiteralString = """
SELECT team_id, workload_id,
       coalesce(sum(effective_micros) FILTER (WHERE bucket = ANY(%(failed)s)), 0)::int8,
       coalesce(sum(effective_micros) FILTER (WHERE bucket = ANY(%(starved)s)), 0)::int8
FROM ledger_runday
WHERE day >= %(first_day)s AND day < %(end_day)s AND state IS DISTINCT FROM %(idle)s
  AND (%(is_all)s OR team_id = ANY(%(teams)s))
GROUP BY team_id, workload_id ORDER BY team_id, workload_id
"""
MILLION: LiteralString = """
SELECT workload_id, (sum(effective_micros) * 1000000 / sum(tokens))::int8
FROM ledger_runfigures
WHERE began_at >= %(from)s AND began_at < %(to)s AND workload_id IS NOT NULL
  AND tokens > 0 AND effective_micros IS NOT NULL AND unpriced_milliseconds = 0
  AND (%(is_all)s OR team_id = ANY(%(teams)s))
GROUP BY workload_id ORDER BY workload_id
"""
