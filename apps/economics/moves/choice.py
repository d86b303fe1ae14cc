"""Which moves to count where several touch the same dollars: each dollar is saved once.

Moves that touch a cell of spend in common, directly or through others, are one exclusive group. Of each group the set
is counted that is worth most and of which no two touch a common cell: one move, unless moves of the group leave each
other's dollars alone (a commitment for a pool, and two workloads on it).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WeighedMove:
    """A move by its key: the cells of spend that it touches, and what it is worth."""

    key: str
    cells: frozenset[str]
    worth: float


def exclusive_groups(moves: Sequence[WeighedMove]) -> list[list[WeighedMove]]:
    """Moves that touch each other's dollars together, in the order of their first."""
    of_cell: dict[str, list[int]] = {}
    for place, move in enumerate(moves):
        for cell in move.cells:
            of_cell.setdefault(cell, []).append(place)
    seen: set[int] = set()
    groups = []
    for first in range(len(moves)):
        if first in seen:
            continue
        found, open_ones = {first}, [first]
        while open_ones:
            for cell in moves[open_ones.pop()].cells:
                # A cell is looked at once: many moves may share it.
                fresh = [place for place in of_cell.pop(cell, ()) if place not in found]
                found.update(fresh)
                open_ones += fresh
        seen |= found
        groups.append([moves[place] for place in sorted(found)])
    return groups


def counted_moves(moves: Sequence[WeighedMove]) -> frozenset[str]:
    """The keys of those that are counted: worth most together, no two with a common cell, none worth nothing."""
    counted: set[str] = set()
    for group in exclusive_groups([move for move in moves if move.worth > 0]):
        counted.update(move.key for move in _best_of(group))
    return frozenset(counted)


def _best_of(group: Sequence[WeighedMove]) -> list[WeighedMove]:
    """With the move that meets most others, or without it: what is left falls apart into small groups."""
    shared = Counter(cell for move in group for cell in move.cells)
    meets = {move.key: sum(shared[cell] - 1 for cell in move.cells) for move in group}
    hub = max(group, key=lambda move: (meets[move.key], move.worth, move.key))
    if not meets[hub.key]:
        return list(group)
    rest = [move for move in group if move.key != hub.key]
    with_hub = [hub, *_best_of_all([move for move in rest if not move.cells & hub.cells])]
    return max(with_hub, _best_of_all(rest), key=lambda chosen: sum(each.worth for each in chosen))


def _best_of_all(moves: Sequence[WeighedMove]) -> list[WeighedMove]:
    return [each for group in exclusive_groups(moves) for each in _best_of(group)]
