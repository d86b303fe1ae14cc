"""The facts behind the Overview: what a span cost, what of it worked, and what nobody knows."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from psycopg import sql

from apps.accounts import queries as accounts
from apps.economics.money import sum_of_known
from apps.economics.states import Flag, State
from apps.fleet import queries as fleet
from apps.ledger.queries.comparison import THE_SPAN_BEFORE, Comparison
from apps.ledger.queries.cube.days import Daily, PeriodComparison, costs_by_day
from apps.ledger.queries.cube.question import CubeQuestion
from apps.ledger.queries.cube.sources import DAYS
from apps.ledger.queries.cube.states import (
    DataQuality,
    States,
    StateSum,
    data_quality,
    state_sums,
    state_sums_of_periods,
)
from apps.ledger.queries.cube.subqueries import amount_of, condition_of, parameters_of, rows_of
from apps.ledger.queries.tables import rows


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
class FlaggedSum:
    """The cost of a team's time, of these flags and unit, in one state."""

    team_id: int
    flags: Flag
    unit: str
    sums: StateSum


@dataclass(frozen=True, slots=True)
class OverviewFacts:
    """Everything the Overview needs, from the cube.

    Shared-out idle is left aside, so that days and teams sum to the charges. `compared` has what
    each team cost now and before, in the spans of `daily.against`: 0 where it cost nothing, None
    where that is not known.
    """

    daily: Daily
    teams: Mapping[int, States]
    compared: Mapping[int, tuple[int | None, int | None]]
    unpriced: tuple[PoolTime, ...]
    unowned: Share
    unobserved: Share
    unclaimed: Share
    contested: Share
    known: DataQuality


def overview_facts(
    question: CubeQuestion,
    at: datetime,
    pools: Mapping[int, fleet.PoolFact],
    every_team: Mapping[int, accounts.TeamFact],
    comparison: Comparison = THE_SPAN_BEFORE,
) -> OverviewFacts:
    """The facts of a window, in few queries over the roll-ups whatever its length."""
    daily, flagged_sums = costs_by_day(question, at, comparison), _sums_with_flags(question)
    by_team: dict[int, States] = {}
    for flagged_sum in flagged_sums:
        by_team[flagged_sum.team_id] = (*by_team.get(flagged_sum.team_id, ()), flagged_sum.sums)
    all_sums = [flagged.sums for flagged in flagged_sums]
    return OverviewFacts(
        daily=daily,
        teams=by_team,
        compared=_compared_teams(question, daily.against),
        unpriced=_unpriced_pools(question, pools)
        if any(state_sum.unpriced_milliseconds for state_sum in all_sums)
        else (),
        unowned=_share_of(
            flagged_sums, lambda flagged: every_team[flagged.team_id].kind == "unowned"
        ),
        # No agent could have seen a core: only of GPUs is it worth saying.
        unobserved=_share_of(
            flagged_sums,
            lambda flagged: (
                flagged.sums.state == State.UNOBSERVED
                and flagged.unit != "core"
                and not flagged.flags & Flag.CORES
            ),
        ),
        unclaimed=_share_of(flagged_sums, lambda flagged: bool(flagged.flags & Flag.UNCLAIMED)),
        contested=_share_of(flagged_sums, lambda flagged: bool(flagged.flags & Flag.CONTESTED)),
        known=data_quality(all_sums, question.window, at),
    )


def _sums_with_flags(question: CubeQuestion) -> list[FlaggedSum]:
    sums_by_group = state_sums(question.by("team", "flags", "unit")).items()
    return [
        FlaggedSum(cast(int, team_id), Flag(cast(int, flags)), str(unit), state)
        for (team_id, flags, unit), states in sums_by_group
        for state in states
    ]


def _compared_teams(
    question: CubeQuestion, against: PeriodComparison | None
) -> dict[int, tuple[int | None, int | None]]:
    if against is None:
        return {}
    team_question = replace(question, window=against.now, against=against.before).by("team")
    now, before = state_sums_of_periods(team_question)
    return {
        team_id: (
            _total_known_micros(now.get((team_id,))),
            _total_known_micros(before.get((team_id,))),
        )
        for (team_id,) in now.keys() | before.keys()
        if isinstance(team_id, int)
    }


def _total_known_micros(states: States | None) -> int | None:
    return 0 if states is None else sum_of_known(state.micros for state in states)


def _share_of(
    flagged_sums: Collection[FlaggedSum], is_asked: Callable[[FlaggedSum], bool]
) -> Share:
    parts = [flagged_sum.sums for flagged_sum in flagged_sums if is_asked(flagged_sum)]
    return Share(
        sum_of_known(part.micros for part in parts), sum(part.gpu_milliseconds for part in parts)
    )


def _unpriced_pools(
    question: CubeQuestion, pools: Mapping[int, fleet.PoolFact]
) -> tuple[PoolTime, ...]:
    query = sql.SQL(
        """
        SELECT day.pool_id, sum(day.unit_milliseconds)::int8 FROM {rows}
        WHERE {where} AND day.unit <> 'core' AND {amount} IS NULL AND day.pool_id IS NOT NULL
        GROUP BY 1 HAVING sum(day.unit_milliseconds) > 0 ORDER BY 2 DESC, 1
        """
    ).format(
        rows=rows_of(question, DAYS),
        where=condition_of(question, DAYS),
        amount=amount_of(question),
    )
    pool_rows = rows(query, parameters_of(question, DAYS))
    return tuple(PoolTime(pool_id, pools[pool_id].name, time) for pool_id, time in pool_rows)
