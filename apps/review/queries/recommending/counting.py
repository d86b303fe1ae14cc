"""Which recommendations are added up: no dollar twice, and what somebody claimed goes first."""

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
    proposed: Sequence[WeighedMove], claimed: Sequence[WeighedMove]
) -> CountedMatters:
    """Of `claimed` those worth most together, then of `proposed` those worth most that leave their dollars alone.

    A cell of a whole pool, `pool:2`, is all work on it, `7:2` and `9:2`, and what no job holds of it, `unallocated:2`, whoever names it.
    """
    proposed, claimed = _with_whole_pools(proposed, claimed)
    first = counted_moves(claimed).keys
    taken = {cell for each in claimed if each.key in first for cell in each.cells}
    left = [each for each in proposed if taken.isdisjoint(each.cells)]
    groups = exclusive_groups([*claimed, *proposed])
    return CountedMatters(
        {each.key: number for number, group in enumerate(groups, start=1) for each in group},
        first | counted_moves(left).keys,
    )


def _with_whole_pools(
    *sorts: Sequence[WeighedMove],
) -> tuple[list[WeighedMove], ...]:
    work: dict[str, set[str]] = {}
    for each in (move for moves in sorts for move in moves):
        for cell in each.cells:
            owner, _, pool_id = cell.partition(":")
            if owner.isdigit() or owner == UNHELD:
                work.setdefault(f"pool:{pool_id}", set()).add(cell)
    return tuple(
        [
            WeighedMove(
                each.key,
                each.cells.union(*(work.get(cell, frozenset()) for cell in each.cells)),
                each.worth,
            )
            for each in moves
        ]
        for moves in sorts
    )
