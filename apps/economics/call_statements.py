"""The choice of which of several statements of one call to a model API is counted, and where they contradict.

A gateway, a framework's span, its client's span and the receiver may each tell of one call: they
are one where they name one response, or where one span holds the other. A span that holds several
calls (an agent's loop, a call that was tried again) is none itself: those it holds are.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

COUNTS = (
    "input_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
)


@dataclass(frozen=True, slots=True)
class CallStatement:
    """A statement of one teller on a call; a count is None where it said nothing of it.

    `door` is how well its kind of teller knows, the least the best; `is_ours` says that the
    organisation's own token told it, not a team's. `is_owned`: it names a team. `details` is how
    many further counts it has.
    """

    id: int
    source: str
    key: str
    parent_key: str
    response_id: str
    door: int
    is_ours: bool
    is_owned: bool
    counts: tuple[int | None, ...]
    details: int = 0

    @property
    def has_counts(self) -> bool:
        """Whether it says how many tokens went in or out."""
        return self.counts[0] is not None or self.counts[3] is not None

    @property
    def richness(self) -> tuple[int, int]:
        """How much it says: its tokens, then how many counts; a stream's first word is the least."""
        tokens = (self.counts[0] or 0) + (self.counts[3] or 0)
        return tokens, sum(count is not None for count in self.counts) + self.details


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A count of one call on which two statements differ: what is taken, and what another says."""

    counted_id: int
    other_id: int
    call: str
    field: str
    counted: int
    other: int

    @property
    def message(self) -> str:
        """Both values, in a sentence."""
        return (
            f"two statements of the call {self.call} differ: {self.counted} is taken, "
            f"another says {self.other}"
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """By id: which statements are counted, and whose word says who owns a counted one."""

    counted: Mapping[int, bool]
    owners: Mapping[int, int]
    contradictions: tuple[Contradiction, ...]


def judge_statements(statements: Sequence[CallStatement]) -> Judgement:
    """Return, of statements that may be of one call, which count: one of each call.

    Among the organisation's tellers, else, also where these have no counts and a team's has, among
    each team's own: the first that has counts, by its door; of one door the richest, of equal ones the inner span, then the first kept. No team's
    token displaces another's.
    """
    holders = _holding_several(statements)
    calls = [statement for statement in statements if statement.id not in holders]
    counted = {statement.id: False for statement in statements if statement.id in holders}
    owners: dict[int, int] = {}
    contradictions: list[Contradiction] = []
    for call in _calls_apart(calls):
        winners = _winners(call)
        counted |= {
            statement.id: statement.id in {winner.id for winner in winners} for statement in call
        }
        for winner in winners:
            if not winner.is_owned and (knowing := _best_owner(call)) is not None:
                owners[winner.id] = knowing.id
            contradictions += contradictions_of(winner, call)
    return Judgement(counted, owners, tuple(contradictions))


def contradictions_of(
    counted: CallStatement, others: Iterable[CallStatement]
) -> Iterator[Contradiction]:
    """Yield each count that both say, and differently."""
    for other in others:
        for field, ours, theirs in zip(COUNTS, counted.counts, other.counts, strict=True):
            if ours is not None and theirs is not None and ours != theirs:
                call = counted.response_id or counted.key
                yield Contradiction(counted.id, other.id, call, field, ours, theirs)


def _holding_several(statements: Sequence[CallStatement]) -> set[int]:
    keys_by_parent: dict[tuple[str, str], set[str]] = defaultdict(set)
    for statement in statements:
        if statement.parent_key:
            keys_by_parent[statement.source, statement.parent_key].add(
                statement.response_id or statement.key
            )
    return {
        call_statement.id
        for call_statement in statements
        if call_statement.key
        and len(keys_by_parent.get((call_statement.source, call_statement.key), ())) > 1
    }


def _calls_apart(statements: Sequence[CallStatement]) -> list[list[CallStatement]]:
    """The statements by call: joined by the response they name, and by which span holds which."""
    leaders = {call_statement.id: call_statement.id for call_statement in statements}

    def leader(id: int) -> int:
        while leaders[id] != id:
            id = leaders[id]
        return id

    keys = {(call_statement.source, call_statement.key) for call_statement in statements}
    first: dict[object, int] = {}
    for statement in statements:
        names: list[object] = [("span", statement.source, statement.key)]
        if statement.response_id:
            names.append(("response", statement.response_id))
        # A parent that is no call, such as an agent, holds several that are not one.
        if (statement.source, statement.parent_key) in keys:
            names.append(("span", statement.source, statement.parent_key))
        for name in names:
            leaders[leader(statement.id)] = leader(first.setdefault(name, statement.id))
    calls: dict[int, list[CallStatement]] = defaultdict(list)
    for statement in statements:
        calls[leader(statement.id)].append(statement)
    return list(calls.values())


def _winners(call: Sequence[CallStatement]) -> list[CallStatement]:
    """The organisation's best statement, or each team's own where it counts nothing and they do."""
    ours = [statement for statement in call if statement.is_ours]
    theirs = [statement for statement in call if not statement.is_ours]
    if any(statement.has_counts for statement in theirs) and not any(
        statement.has_counts for statement in ours
    ):
        ours = []
    by_token: dict[str, list[CallStatement]] = defaultdict(list)
    for our in ours or theirs:
        by_token["" if ours else our.source.partition(":")[2]].append(our)
    inner = {statement.key: _depth(statement, call) for statement in call}
    return [
        min(
            same,
            key=lambda statement: (
                *(not statement.has_counts, statement.door, [-part for part in statement.richness]),
                *(-inner[statement.key], statement.id),
            ),
        )
        for same in by_token.values()
    ]


def _depth(statement: CallStatement, call: Sequence[CallStatement]) -> int:
    """How many of the call's spans hold this one."""
    by_key = {(other.source, other.key): other for other in call}
    depth, visited = 0, {statement.id}
    parent = by_key.get((statement.source, statement.parent_key))
    while parent is not None and parent.id not in visited:
        depth, visited = depth + 1, visited | {parent.id}
        parent = by_key.get((parent.source, parent.parent_key))
    return depth


def _best_owner(call: Sequence[CallStatement]) -> CallStatement | None:
    owned = [statement for statement in call if statement.is_owned]
    return min(
        owned,
        key=lambda statement: (not statement.is_ours, statement.door, statement.id),
        default=None,
    )
