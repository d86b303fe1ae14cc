"""The choice of moves to count where several touch the same dollars: each dollar is saved once.

Moves that touch a cell of spend in common, directly or through others, are one exclusive group. Of each group the set
is counted that is worth most and of which no two touch a common cell: one move, unless moves of the group leave each
other's dollars alone (a commitment for a pool, and two workloads on it).

Of moves of one cell the best of each cell is the base. What touches more than one is worth its worth above the base of
its cells, and only those worth something so are chosen among: exactly up to `MOST_EXACT` that meet through each other,
else the better of two starts, improved. To choose the best set is NP-hard in general (maximum weight set packing).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

MOST_EXACT = 24
"""Moves of several cells that meet through each other, of which every choice is tried: at worst some 10,000 of them."""
MOST_ROUNDS = 20
"""Of improving a choice of more than that; each looks at every move once."""


@dataclass(frozen=True, slots=True)
class WeighedMove:
    """A move by its key: the cells of spend that it touches, and what it is worth."""

    key: str
    cells: frozenset[str]
    worth: float


@dataclass(frozen=True, slots=True)
class CountedMoves:
    """The keys of those that are counted, and of those of whose group not every choice was tried."""

    keys: frozenset[str]
    not_tried: frozenset[str]


def exclusive_groups(moves: Sequence[WeighedMove]) -> list[list[WeighedMove]]:
    """Moves that touch each other's dollars together, in the order of their first."""
    of_cell: dict[str, list[int]] = {}
    for place, move in enumerate(moves):
        for cell in move.cells:
            of_cell.setdefault(cell, []).append(place)
    visited: set[int] = set()
    groups = []
    for first in range(len(moves)):
        if first in visited:
            continue
        group_places, open_ones = {first}, [first]
        while open_ones:
            for cell in moves[open_ones.pop()].cells:
                # A cell is looked at once: many moves may share it.
                fresh = [place for place in of_cell.pop(cell, ()) if place not in group_places]
                group_places.update(fresh)
                open_ones += fresh
        visited |= group_places
        groups.append([moves[place] for place in sorted(group_places)])
    return groups


def counted_moves(moves: Sequence[WeighedMove]) -> CountedMoves:
    """Those worth most together, no two with a common cell, none worth nothing.

    Of a group of which not every choice was tried they are worth at least the base, and more than it at least the part
    `1 / colours` of what the best would be: two colours where moves meet only across two sorts.
    """
    counted: set[str] = set()
    not_tried: set[str] = set()
    for group in exclusive_groups([move for move in moves if move.worth > 0]):
        chosen, is_exact = _best_of(group)
        counted.update(move.key for move in chosen)
        if not is_exact:
            not_tried.update(move.key for move in group)
    return CountedMoves(frozenset(counted), frozenset(not_tried))


def _best_of(group: Sequence[WeighedMove]) -> tuple[list[WeighedMove], bool]:
    """Of a group, and whether every choice was tried."""
    base: dict[str, WeighedMove] = {}
    for move in group:
        if len(move.cells) == 1:
            (cell,) = move.cells
            base[cell] = max(
                base.get(cell, move), move, key=lambda candidate: (candidate.worth, candidate.key)
            )
    above = []
    for move in group:
        worth = move.worth - sum(base[cell].worth for cell in move.cells if cell in base)
        if len(move.cells) != 1 and worth > 0:
            above.append(WeighedMove(move.key, move.cells, worth))
    by_key = {move.key: move for move in group}
    chosen, is_exact = [], True
    for part in exclusive_groups(above):
        graph = _MeetingMoves.of(part)
        if len(part) <= MOST_EXACT:
            best_places = graph.best(frozenset(range(len(part))))
        else:
            best_places, is_exact = graph.good(), False
        chosen += [by_key[part[place].key] for place in sorted(best_places)]
    taken = {cell for move in chosen for cell in move.cells}
    return chosen + [move for cell, move in base.items() if cell not in taken], is_exact


@dataclass(frozen=True, slots=True)
class _MeetingMoves:
    """Moves by their place: what each is worth, and which it may not be counted with."""

    worth: Sequence[float]
    meets: Mapping[int, frozenset[int]]

    @classmethod
    def of(cls, moves: Sequence[WeighedMove]) -> "_MeetingMoves":
        meets: dict[int, set[int]] = {place: set() for place in range(len(moves))}
        for one, other in combinations(range(len(moves)), 2):
            if not moves[one].cells.isdisjoint(moves[other].cells):
                meets[one].add(other)
                meets[other].add(one)
        return cls(
            [move.worth for move in moves],
            {place: frozenset(meet) for place, meet in meets.items()},
        )

    def total(self, places: Iterable[int]) -> float:
        return sum(self.worth[place] for place in sorted(places))

    def best(self, places: frozenset[int]) -> frozenset[int]:
        """With the move that meets most others, or without it, until none meets another."""
        met = {place: len(self.meets[place] & places) for place in places}
        hub = max(places, key=lambda place: (met[place], self.worth[place], -place), default=None)
        if hub is None or not met[hub]:
            return places
        with_hub = self.best(places - self.meets[hub] - {hub}) | {hub}
        return max(with_hub, self.best(places - {hub}), key=self.total)

    def good(self) -> frozenset[int]:
        """The better of the one worth most first, and of the best colour; each improved."""
        starts = (frozenset[int](), max(self._colour_sets(), key=self.total))
        return max((self._improved_choice(start) for start in starts), key=self.total)

    def _colour_sets(self) -> list[frozenset[int]]:
        """The moves in sets of which no two meet, two of them wherever two are enough."""
        colour: dict[int, int] = {}
        open_ones = [0]
        for place in open_ones:
            used = {colour[other] for other in self.meets[place] if other in colour}
            colour[place] = next(number for number in range(len(self.worth)) if number not in used)
            open_ones += sorted(self.meets[place] - set(open_ones))
        return [
            frozenset(place for place, place_colour in colour.items() if place_colour == number)
            for number in sorted(set(colour.values()))
        ]

    def _improved_choice(self, chosen: frozenset[int]) -> frozenset[int]:
        """Filled, then each move tried with and without, as long as that is worth more."""
        chosen = self._filled_choice(chosen, frozenset())
        for _ in range(MOST_ROUNDS):
            before = chosen
            for place in range(len(self.worth)):
                if place in chosen:
                    other = self._filled_choice(chosen - {place}, frozenset([place]))
                else:
                    other = self._filled_choice(chosen - self.meets[place] | {place}, frozenset())
                chosen = max(chosen, other, key=self.total)
            if chosen == before:
                break
        return chosen

    def _filled_choice(self, chosen: frozenset[int], without: frozenset[int]) -> frozenset[int]:
        """With all that fits beside it, worth most first."""
        filled = set(chosen)
        for place in sorted(range(len(self.worth)), key=lambda index: (-self.worth[index], index)):
            if place not in without and place not in filled and not self.meets[place] & filled:
                filled.add(place)
        return frozenset(filled)
