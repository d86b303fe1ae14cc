"""Whatever is known of a node-hour: nothing is lost, nothing is made, order does not matter."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hypothesis import assume, given, note
from hypothesis import strategies as st

from apps.economics.bases import Amounts
from apps.economics.node_hour import LinePart, NodeHourFacts, NodeHourSplit, split_node_hour
from apps.economics.rates import Piece
from apps.economics.states import Flag, State
from tests.economics.strategies import node_hours

BASES = ("list_micros", "contracted_micros", "effective_micros")


def lived_capacity(facts: NodeHourFacts) -> int:
    """Told moment by moment: the GPUs there are, or where there is none the declared count."""
    start, end = facts.lived_through_ms
    gpus = [device for device in facts.devices if device.parent_id is None]
    lives = [*gpus, *facts.capacity]
    cuts = {moment for life in lives for moment in (life.start_ms, life.end_ms)}
    moments = sorted({start, end, *(cut for cut in cuts if start < cut < end)})
    return sum(
        (last - first)
        * (
            sum(gpu.start_ms <= first < gpu.end_ms for gpu in gpus)
            or sum(said.units for said in facts.capacity if said.start_ms <= first < said.end_ms)
        )
        for first, last in pairwise(moments)
    )


def sums(facts: NodeHourFacts, answer: NodeHourSplit, charge: int) -> list[tuple[int, int]]:
    """On each basis what the pieces of a charge and its lines sum to, of what is known."""
    lines = [line for line in answer.lines if line.charge == charge]
    return [
        (
            sum(getattr(piece, basis) or 0 for piece in facts.charges[charge]),
            sum(getattr(line, basis) or 0 for line in lines),
        )
        for basis in BASES
    ]


def in_order(line: LinePart) -> bool:
    known = [line.effective_micros, line.contracted_micros, line.list_micros]
    return None in known or known == sorted(known)


def is_priced_alike(pieces: Sequence[Piece]) -> bool:
    """The same bases are known in all pieces: sums of some of them have no order."""
    return len({tuple(getattr(piece, basis) is None for basis in BASES) for piece in pieces}) == 1


@given(node_hours())
def test_time_and_money_are_all_there_in_lines_that_keep_their_order(facts):
    answer = split_node_hour(facts)
    assert answer.capacity_ms == lived_capacity(facts)
    assert sum(line.unit_ms for line in answer.lines) == answer.capacity_ms
    assert all(line.unit_ms >= 0 for line in answer.lines)
    for charge, pieces in facts.charges.items():
        assert all(of_charge == of_lines for of_charge, of_lines in sums(facts, answer, charge))
        lines = [line for line in answer.lines if line.charge == charge]
        assert not is_priced_alike(pieces) or all(map(in_order, lines))
    places = [line[:5] for line in answer.lines]
    assert len(places) == len(set(places))


@given(node_hours(), st.randoms(use_true_random=False))
def test_the_order_of_the_facts_changes_nothing(facts, draw):
    def shuffled(values):
        return draw.sample(list(values), len(values))

    again = replace(
        facts,
        charges={charge: shuffled(facts.charges[charge]) for charge in shuffled(facts.charges)},
        devices=shuffled(facts.devices),
        usage=shuffled(facts.usage),
        claims=shuffled(facts.claims),
        keys=shuffled(facts.keys),
        outages=shuffled(facts.outages),
        capacity=shuffled(facts.capacity),
    )
    assert split_node_hour(again) == split_node_hour(facts)


@given(node_hours())
def test_flags_and_holders_agree_with_the_state(facts):
    for line in split_node_hour(facts).lines:
        note(line)
        held = line.job_id is not None and not line.flags & Flag.UNSCHEDULED
        assert line.job_id is None or line.holder_key_id is None
        assert held or not line.flags & (Flag.CONTESTED | Flag.UNPINNED | Flag.DIVIDED_EVENLY)
        if line.state in (State.HELD_IDLE, State.UNOBSERVED):
            assert held
        if line.state in (State.OUT_OF_SERVICE, State.STRANDED, State.UNALLOCATED):
            assert line.job_id is None
            assert line.flags == 0


@given(node_hours())
def test_a_price_change_moves_no_time(facts):
    """But for milliseconds of rounding, a few at each cut and minute."""
    start, end = facts.lived_through_ms
    assume(facts.charges)
    whole = replace(facts.charges[min(facts.charges)][0], start_ms=start, end_ms=end)
    uncut = replace(facts, charges={1: [whole]})
    once = defaultdict(int)
    for line in split_node_hour(uncut).lines:
        once[line[1:5]] += line.unit_ms
    for line in split_node_hour(facts).lines:
        once[line[1:5]] -= line.unit_ms
    pieces = sum(map(len, facts.charges.values()))
    milliseconds = 480 * max(1, len(facts.devices)) * pieces
    assert all(abs(difference) <= milliseconds for difference in once.values())


@given(
    node_hours(),
    st.lists(
        st.tuples(st.none() | st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9)),
        min_size=1,
        max_size=3,
    ),
)
def test_what_is_billed_with_a_node_takes_no_time_and_sums_exactly(
    facts: NodeHourFacts, billed: list[tuple[int | None, int]]
) -> None:
    plain = split_node_hour(facts)
    assume(plain.lines)
    beside = {
        10**6 + place: Amounts(listed, effective, effective)
        for place, (listed, effective) in enumerate(billed)
    }
    answer = split_node_hour(replace(facts, beside=beside))
    assert answer.lines[: len(plain.lines)] == plain.lines
    assert answer.capacity_ms == plain.capacity_ms
    who = {line[1:5] for line in plain.lines}
    for charge, amounts in beside.items():
        lines = [line for line in answer.lines if line.charge == charge]
        assert {line[1:5] for line in lines} <= who
        assert {line.unit_ms for line in lines} == {0}
        for basis, whole in zip(BASES, amounts, strict=True):
            parts = [getattr(line, basis) for line in lines]
            assert set(parts) == {None} if whole is None else sum(parts) == whole
