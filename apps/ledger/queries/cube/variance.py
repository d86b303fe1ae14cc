"""Why a period cost more or less than another: price, capacity, use of it, mix, commitments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import LiteralString, NamedTuple

from psycopg import sql

from apps.economics.states import Flag, State
from apps.economics.variance import (
    NO_CAPACITY,
    CapacityCell,
    CapacityCost,
    PeriodCost,
    cost_variance,
)
from apps.fleet import queries as fleet
from apps.ledger.models import ChargeKind
from apps.ledger.queries.capacity_cells import capacity_cell
from apps.ledger.queries.cube.question import CubeQuestion, refuse_unanswerable, source_of
from apps.ledger.queries.cube.subqueries import legs_of, parameters_of
from apps.ledger.queries.tables import rows

USEFUL = [int(State.ACTIVE), int(State.UNOBSERVED)]
MOVED = int(Flag.SHARED_IDLE)
OF_COMMITMENTS = (ChargeKind.COMMITMENT_UNUSED, ChargeKind.PURCHASE)
CELL = ("pool", "kind", "gpu_model", "purchase_option")


@dataclass(frozen=True, slots=True)
class CostVariance:
    """Causes of a difference in cost, by apps.economics.variance.CAUSES, in micro-units.

    The causes sum to `after_micros` − `before_micros`. Time without a price is in none of them:
    `unpriced_milliseconds` says how much there was, before and after.
    """

    before_micros: int
    after_micros: int
    causes: Mapping[str, int]
    unpriced_milliseconds: tuple[int, int]


def variance_of(question: CubeQuestion) -> CostVariance | None:
    """Why the window cost more or less than what it is held against; None: against nothing.

    Whatever it is grouped by, it is worked out by machine and purchase option (`capacity_cell`). None, too, where
    all of a period is unknown. Refuses as `refuse_unanswerable`.
    """
    if question.against is None:
        return None
    refuse_unanswerable(question.by("pool", "kind"))
    return _variance_of_sums(_cell_sums(question.by(*CELL), sql.SQL("")))


def variances_by_team(question: CubeQuestion) -> dict[int, CostVariance | None]:
    """Return the cost variance of each team, read at once; the teams' causes sum to their own changes.

    The mix is each team's own: the causes of all teams do not sum to those of the whole, though the
    changes do. Refuses as `refuse_unanswerable`.
    """
    if question.against is None:
        return {}
    refuse_unanswerable(question.by("team", "pool"))
    by_team: dict[int, list[_CellSum]] = {}
    for cell_sum in _cell_sums(question.by(*CELL, "team"), sql.SQL(", key4")):
        by_team.setdefault(cell_sum.of, []).append(cell_sum)
    return {team_id: _variance_of_sums(cell_sums) for team_id, cell_sums in by_team.items()}


class _CellSum(NamedTuple):
    """The cost of a cell in a period; `of` is whose it is, where that is asked.

    `is_moved`: idle that was shared out. `is_known` False: there was something, and nothing of it is known.
    """

    is_now: bool
    cell: CapacityCell
    kind: str
    is_moved: bool
    micros: int
    capacity: CapacityCost
    unpriced_milliseconds: int
    is_known: bool
    of: int


def _cell_sums(question: CubeQuestion, more: sql.SQL) -> list[_CellSum]:
    """The sums of `SUMS` by period, CELL, kind and `more`."""
    query = sql.SQL(SUMS).format(legs=legs_of(question, "state", "flags", "is_core"), more=more)
    pools = fleet.pools()
    # Parts know what their pools are today, and the whole that they are taken from what they were: by one of both.
    keeps_terms = not any(source_of(question, window).is_part for window in question.periods)
    cell_sums = []
    for is_now, pool_id, kind, model, option, is_core, is_moved, micros, *sums in rows(
        query, parameters_of(question) | {"useful": USEFUL, "moved": MOVED}
    ):
        bought = (model, option) if keeps_terms else None
        cell = capacity_cell(pools, pool_id, bought, is_core=is_core)
        rated, milliseconds, useful, unpriced, is_known, *of = sums
        capacity = CapacityCost(rated, milliseconds, useful)
        cell_sums.append(
            _CellSum(
                is_now, cell, kind, is_moved, micros, capacity, unpriced, is_known, *(of or [0])
            )
        )
    return cell_sums


def _variance_of_sums(cell_sums: list[_CellSum]) -> CostVariance | None:
    """Of both periods; None where all of one is unknown."""
    periods = [
        [cell_sum for cell_sum in cell_sums if cell_sum.is_now is is_now]
        for is_now in (False, True)
    ]
    if any(period and not any(cell_sum.is_known for cell_sum in period) for period in periods):
        # There was something, and nothing of it is known: not a period that cost nothing.
        return None
    before, after = map(_period_cost, periods)
    unpriced = [sum(cell_sum.unpriced_milliseconds for cell_sum in period) for period in periods]
    return CostVariance(
        before_micros=before.micros,
        after_micros=after.micros,
        causes=cost_variance(before, after),
        unpriced_milliseconds=(unpriced[0], unpriced[1]),
    )


def _period_cost(cell_sums: list[_CellSum]) -> PeriodCost:
    capacity: dict[CapacityCell, CapacityCost] = {}
    commitments = other = 0
    for cell_sum in cell_sums:
        if cell_sum.is_moved:
            # What was moved has no time of its own: in a rate it would look like a price.
            other += cell_sum.micros
        elif cell_sum.kind == ChargeKind.NODE_HOUR:
            capacity[cell_sum.cell] = capacity.get(cell_sum.cell, NO_CAPACITY).plus(
                cell_sum.capacity
            )
            commitments += cell_sum.micros - cell_sum.capacity.rated_micros
        elif cell_sum.kind in OF_COMMITMENTS:
            commitments += cell_sum.micros
        else:
            other += cell_sum.micros
    return PeriodCost(capacity, commitments, other)


# Where a part is taken from the whole and all that is left has no price, nothing of it is known.
SUMS: LiteralString = """
SELECT is_now, key0 AS pool_id, key1 AS kind, key2 AS gpu_model, key3 AS purchase_option, is_core,
       flags & %(moved)s <> 0 AS is_moved,
       coalesce(sum(micros), 0)::int8,
       coalesce(sum(rated) FILTER (WHERE micros IS NOT NULL), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE micros IS NOT NULL), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE micros IS NOT NULL AND state = ANY(%(useful)s)), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE micros IS NULL), 0)::int8,
       sum(micros) IS NOT NULL AND (sum(micros) <> 0
           OR coalesce(sum(ms) FILTER (WHERE micros IS NULL), 0) = 0
           OR coalesce(sum(ms) FILTER (WHERE micros IS NOT NULL), 0) <> 0)
       {more}
FROM ({legs}) AS leg GROUP BY 1, 2, 3, 4, 5, 6, 7 {more}
"""
