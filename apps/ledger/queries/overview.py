"""The facts behind the Overview: what a span cost, what of it worked, and what nobody knows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from psycopg import sql

from apps.accounts import queries as accounts
from apps.economics.states import Flag, State
from apps.fleet import queries as fleet
from apps.ledger.queries.comparison import Comparison, comparison
from apps.ledger.queries.costs import (
    CHARGED,
    STATUSES,
    Basis,
    CostFilter,
    amount_column,
    parameters,
    roll_up,
    standing,
    where,
)
from apps.ledger.queries.tables import Row, rows

GPU = sql.SQL("day.unit <> 'core'")


@dataclass(frozen=True, slots=True)
class StateSum:
    """What one state of GPU time cost on one day or one team; state None: no device time.

    Amounts are null where nothing is known. `provisional_micros` is the part not settled yet,
    `unpriced_milliseconds` the GPU time that has no price.
    """

    state: State | None
    micros: int | None
    provisional_micros: int | None
    gpu_milliseconds: int
    unpriced_milliseconds: int


@dataclass(frozen=True, slots=True)
class DaySum:
    """A local day by state."""

    day: date
    states: tuple[StateSum, ...]


@dataclass(frozen=True, slots=True)
class TeamSum:
    """A team by state."""

    team_id: int
    name: str
    kind: str
    states: tuple[StateSum, ...]


@dataclass(frozen=True, slots=True)
class PoolTime:
    """GPU time of a pool that has no price."""

    pool_id: int
    name: str
    gpu_milliseconds: int


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the total that is to be said aloud: its amount and GPU time."""

    micros: int | None
    gpu_milliseconds: int


@dataclass(frozen=True, slots=True)
class OverviewFacts:
    """Everything the Overview needs, from the roll-ups.

    `totals` has every basis; days and teams are on the filter's basis and leave shared-out idle
    aside, so that they sum to the charges. `held_milliseconds` and `observed_milliseconds` give the
    coverage. `comparison` is None where there is no like span before.
    """

    totals: Mapping[Basis, int | None]
    comparison: Comparison | None
    days: tuple[DaySum, ...]
    teams: tuple[TeamSum, ...]
    unpriced: tuple[PoolTime, ...]
    unowned: Share
    unobserved: Share
    unclaimed: Share
    contested: Share
    held_milliseconds: int
    observed_milliseconds: int
    statuses: frozenset[str]
    as_of: datetime | None
    pending_hours: int


def overview_facts(
    chosen: CostFilter,
    at: datetime,
    pools: Mapping[int, fleet.PoolFact] | None = None,
    every_team: Mapping[int, accounts.TeamFact] | None = None,
) -> OverviewFacts:
    """The facts of a window, in few queries over the roll-ups whatever its length.

    `pools` and `every_team` are those there are, where the caller has read them.
    """
    teams = every_team or {team.id: team for team in accounts.teams()}
    sums = _sums(chosen, [team.id for team in teams.values() if team.kind == "unowned"])
    known = standing(chosen.window, at)
    by_day, by_team = _by_day_and_team(chosen)
    return OverviewFacts(
        totals=dict(zip(Basis, sums[:4], strict=True)),
        comparison=comparison(chosen, at),
        days=tuple(DaySum(day, tuple(states)) for day, states in by_day.items()),
        teams=tuple(
            TeamSum(
                team_id=team_id,
                name=teams[team_id].name,
                kind=teams[team_id].kind,
                states=tuple(states),
            )
            for team_id, states in by_team.items()
        ),
        unpriced=_unpriced(chosen, pools) if _is_any_unpriced(by_team.values()) else (),
        unowned=Share(*sums[4:6]),
        unobserved=Share(*sums[6:8]),
        unclaimed=Share(*sums[8:10]),
        contested=Share(*sums[10:12]),
        held_milliseconds=sums[12],
        observed_milliseconds=sums[13],
        statuses=frozenset(sums[14]),
        as_of=known.as_of,
        pending_hours=known.pending_hours,
    )


def _by_day_and_team(
    chosen: CostFilter,
) -> tuple[dict[date, list[StateSum]], dict[int, list[StateSum]]]:
    """Every day and every team by state, from one reading of the roll-up."""
    query = sql.SQL(
        """
        SELECT day.day, day.team_id, day.state, sum({amount})::int8,
               sum({amount}) FILTER (WHERE day.status = 'provisional')::int8,
               coalesce(sum(day.unit_milliseconds) FILTER (WHERE {gpu}), 0)::int8,
               coalesce(sum(day.unit_milliseconds) FILTER (WHERE {gpu} AND {amount} IS NULL), 0)::int8
        FROM {roll_up} AS day WHERE {where} AND {charged}
        GROUP BY GROUPING SETS ((day.day, day.state), (day.team_id, day.state))
        ORDER BY 1, 2, 3 NULLS LAST
        """
    ).format(
        amount=amount_column(chosen.basis),
        gpu=GPU,
        roll_up=roll_up(chosen, ()),
        where=where(chosen),
        charged=CHARGED,
    )
    by_day: dict[date, list[StateSum]] = {}
    by_team: dict[int, list[StateSum]] = {}
    for day, team_id, *of_state in rows(query, parameters(chosen)):
        kept = by_team.setdefault(team_id, []) if day is None else by_day.setdefault(day, [])
        kept.append(_state_sum(of_state))
    return by_day, by_team


def _is_any_unpriced(parts: Iterable[list[StateSum]]) -> bool:
    return any(state.unpriced_milliseconds for states in parts for state in states)


def _state_sum(row: list[Any]) -> StateSum:
    state, *sums = row
    return StateSum(None if state is None else State(state), *sums)


def _sums(chosen: CostFilter, unowned: list[int]) -> Row:
    """Totals by basis; then cost and GPU time of what is to be said aloud; then coverage."""
    aloud = [
        sql.SQL("day.team_id = ANY(%(unowned)s)"),
        # No agent could have seen a core: only of GPUs is it worth saying.
        sql.SQL("day.state = {} AND day.flags & {} = 0 AND {}").format(
            sql.Literal(int(State.UNOBSERVED)), sql.Literal(int(Flag.CORES)), GPU
        ),
        _flagged(Flag.UNCLAIMED),
        _flagged(Flag.CONTESTED),
    ]
    query = sql.SQL(
        """
        SELECT {totals}, {aloud},
               coalesce(sum(day.held_milliseconds) FILTER (WHERE {gpu}), 0)::int8,
               coalesce(sum(day.observed_milliseconds) FILTER (WHERE {gpu}), 0)::int8,
               {statuses}
        FROM {roll_up} AS day WHERE {where} AND {charged}
        """
    ).format(
        totals=sql.SQL(", ").join(
            [sql.SQL("sum({})::int8").format(amount_column(basis)) for basis in Basis]
        ),
        aloud=sql.SQL(", ").join([_share(chosen, condition) for condition in aloud]),
        gpu=GPU,
        statuses=STATUSES,
        roll_up=roll_up(chosen, ()),
        where=where(chosen),
        charged=CHARGED,
    )
    return rows(query, parameters(chosen) | {"unowned": unowned})[0]


def _flagged(flag: Flag) -> sql.Composable:
    return sql.SQL("day.flags & {} <> 0").format(sql.Literal(int(flag)))


def _share(chosen: CostFilter, condition: sql.Composable) -> sql.Composable:
    return sql.SQL(
        "sum({amount}) FILTER (WHERE {condition})::int8,"
        " coalesce(sum(day.unit_milliseconds) FILTER (WHERE {condition} AND {gpu}), 0)::int8"
    ).format(amount=amount_column(chosen.basis), condition=condition, gpu=GPU)


def _unpriced(
    chosen: CostFilter, pools: Mapping[int, fleet.PoolFact] | None
) -> tuple[PoolTime, ...]:
    query = sql.SQL(
        """
        SELECT day.pool_id, sum(day.unit_milliseconds)::int8 FROM ledger_ledgerday AS day
        WHERE {where} AND {charged} AND {gpu} AND {amount} IS NULL AND day.pool_id IS NOT NULL
        GROUP BY 1 HAVING sum(day.unit_milliseconds) > 0 ORDER BY 2 DESC, 1
        """
    ).format(where=where(chosen), charged=CHARGED, gpu=GPU, amount=amount_column(chosen.basis))
    found = rows(query, parameters(chosen))
    known = fleet.pools() if found and pools is None else pools or {}
    return tuple(PoolTime(pool_id, known[pool_id].name, time) for pool_id, time in found)
