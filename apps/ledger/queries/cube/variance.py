"""Why a period cost more or less than another: price, capacity, use of it, mix, commitments."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql

from apps.economics.states import Flag, State
from apps.economics.variance import CapacityCost, PeriodCost, cost_variance
from apps.ledger.models import ChargeKind
from apps.ledger.queries.cube.legs import legs_of, parameters_of
from apps.ledger.queries.cube.question import CubeQuestion, refuse_unanswerable
from apps.ledger.queries.tables import Row, rows

USEFUL = [int(State.ACTIVE), int(State.UNOBSERVED)]
MOVED = int(Flag.SHARED_IDLE)
OF_COMMITMENTS = (ChargeKind.COMMITMENT_UNUSED, ChargeKind.PURCHASE)


@dataclass(frozen=True, slots=True)
class CostVariance:
    """What made the difference, by apps.economics.variance.CAUSES, in micro-units.

    The causes sum to `after_micros` − `before_micros`. Time without a price is in none of them:
    `unpriced_milliseconds` says how much there was, before and after.
    """

    before_micros: int
    after_micros: int
    causes: Mapping[str, int]
    unpriced_milliseconds: tuple[int, int]


def variance_of(question: CubeQuestion) -> CostVariance | None:
    """Why the window cost more or less than what it is held against; None: against nothing.

    Whatever it is grouped by, it is worked out by pool. None, too, where all of a period is
    unknown. Refuses as `refuse_unanswerable`.
    """
    if question.against is None:
        return None
    by_pool = question.by("pool", "kind")
    refuse_unanswerable(by_pool)
    return _variance_of_rows(_pool_rows(by_pool, sql.SQL("")))


def variances_by_team(question: CubeQuestion) -> dict[int, CostVariance | None]:
    """The same of each team's costs, read at once; the teams' causes sum to their own changes.

    The mix is each team's own: the causes of all teams do not sum to those of the whole, though the
    changes do. Refuses as `refuse_unanswerable`.
    """
    if question.against is None:
        return {}
    refuse_unanswerable(question.by("team", "pool"))
    by_team: dict[int, list[Row]] = {}
    for row in _pool_rows(question.by("pool", "kind", "team"), sql.SQL(", key2")):
        by_team.setdefault(row[-1], []).append(row[:-1])
    return {team_id: _variance_of_rows(found) for team_id, found in by_team.items()}


def _pool_rows(question: CubeQuestion, more: sql.SQL) -> list[Row]:
    """The sums of `SUMS` by period, pool, kind and `more`, which comes last in a row."""
    query = sql.SQL(SUMS).format(legs=legs_of(question, "state", "flags"), more=more)
    return rows(query, parameters_of(question) | {"useful": USEFUL, "moved": MOVED})


def _variance_of_rows(found: list[Row]) -> CostVariance | None:
    """Of rows of both periods; None where all of one is unknown."""
    periods = [[row[1:] for row in found if row[0] == is_now] for is_now in (False, True)]
    if any(period and not any(row[-1] for row in period) for period in periods):
        # There was something, and nothing of it is known: not a period that cost nothing.
        return None
    before, after = map(_period_cost, periods)
    return CostVariance(
        before_micros=before.micros,
        after_micros=after.micros,
        causes=cost_variance(before, after),
        unpriced_milliseconds=(
            sum(row[-2] for row in periods[0]),
            sum(row[-2] for row in periods[1]),
        ),
    )


def _period_cost(found: list[Row]) -> PeriodCost:
    """Of rows of pool, kind, whether it is idle that was moved, micros, rated micros, priced and
    useful time, and what is unknown.
    """
    capacity: dict[Hashable, CapacityCost] = {}
    commitments = other = 0
    for pool_id, kind, is_moved, micros, rated, milliseconds, useful, *_ in found:
        if is_moved:
            # What was moved has no time of its own: in a rate it would look like a price.
            other += micros
        elif kind == ChargeKind.NODE_HOUR:
            capacity[pool_id] = CapacityCost(rated, milliseconds, useful)
            commitments += micros - rated
        elif kind in OF_COMMITMENTS:
            commitments += micros
        else:
            other += micros
    return PeriodCost(capacity, commitments, other)


# Where a part is taken from the whole and all that is left has no price, nothing of it is known.
SUMS: LiteralString = """
SELECT is_now, key0 AS pool_id, key1 AS kind, flags & %(moved)s <> 0 AS is_moved,
       coalesce(sum(micros), 0)::int8,
       coalesce(sum(rated) FILTER (WHERE micros IS NOT NULL), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE micros IS NOT NULL), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE micros IS NOT NULL AND state = ANY(%(useful)s)), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE micros IS NULL), 0)::int8,
       sum(micros) IS NOT NULL AND (sum(micros) <> 0
           OR coalesce(sum(ms) FILTER (WHERE micros IS NULL), 0) = 0
           OR coalesce(sum(ms) FILTER (WHERE micros IS NOT NULL), 0) <> 0)
       {more}
FROM ({legs}) AS leg GROUP BY 1, 2, 3, 4 {more}
"""
