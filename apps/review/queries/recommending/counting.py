"""The choice of recommendations that are added up: no dollar twice, and what somebody claimed goes first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.economics.moves.choice import WeighedMove, counted_moves, exclusive_groups
from apps.review.queries.recommending.proposal import UNHELD


@dataclass(frozen=True, slots=True)
class CountedMatters:
    """Exclusive groups from 1 on, by matter; and the matters that may be added up."""

    groups: Mapping[str, int]
    counted: frozenset[str]


def counted_matters(
    proposed: Sequence[WeighedMove],
    claimed: Sequence[WeighedMove],
    giving_way: Sequence[WeighedMove] = (),
) -> CountedMatters:
    """Of `claimed` those worth most together, then of `proposed` those worth most that leave their dollars alone, then of `giving_way`.

    A cell of a whole pool, `pool:2`, is all work on it, `7:2` and `9:2`, and what no job holds of it, `unallocated:2`, whoever names it.
    """
    sorts = _expand_pool_cells(claimed, proposed, giving_way)
    counted: frozenset[str] = frozenset()
    taken: set[str] = set()
    for moves in sorts:
        chosen = counted_moves([move for move in moves if taken.isdisjoint(move.cells)]).keys
        taken.update(cell for move in moves if move.key in chosen for cell in move.cells)
        counted |= chosen
    groups = exclusive_groups([move for moves in sorts for move in moves])
    return CountedMatters(
        {move.key: number for number, group in enumerate(groups, start=1) for move in group},
        counted,
    )


def _expand_pool_cells(
    *sorts: Sequence[WeighedMove],
) -> tuple[list[WeighedMove], ...]:
    work: dict[str, set[str]] = {}
    for weighed_move in (move for moves in sorts for move in moves):
        for cell in weighed_move.cells:
            owner, _, pool_id = cell.partition(":")
            if owner.isdigit() or owner == UNHELD:
                work.setdefault(f"pool:{pool_id}", set()).add(cell)
    return tuple(
        [
            WeighedMove(
                move.key,
                move.cells.union(*(work.get(cell, frozenset()) for cell in move.cells)),
                move.worth,
            )
            for move in moves
        ]
        for moves in sorts
    )
