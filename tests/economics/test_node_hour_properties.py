"""Whatever is known of a node-hour: nothing is lost, nothing is made, order does not matter."""

from collections import defaultdict
from dataclasses import replace

from hypothesis import given, note
from hypothesis import strategies as st

from apps.economics.node_hour import NodeHourFacts, split_node_hour
from apps.economics.states import Flag, State
from tests.economics.strategies import node_hours

BASES = ("list_micros", "contracted_micros", "effective_micros")


def lived_capacity(facts: NodeHourFacts) -> int:
    start, end = facts.lived_through_ms
    lives = [
        max(0, min(device.end_ms, end) - max(device.start_ms, start))
        for device in facts.devices
        if device.parent_id is None
    ]
    return sum(lives) if any(lives) else facts.capacity_units * (end - start)


@given(node_hours())
def test_lines_sum_to_the_lived_capacity(facts):
    answer = split_node_hour(facts)
    assert answer.capacity_ms == lived_capacity(facts)
    assert sum(line.unit_ms for line in answer.lines) == answer.capacity_ms
    assert all(line.unit_ms >= 0 for line in answer.lines)


@given(node_hours())
def test_lines_sum_to_each_charge_on_every_basis(facts):
    answer = split_node_hour(facts)
    for charge, pieces in facts.charges.items():
        lines = [line for line in answer.lines if line.charge == charge]
        for basis in BASES:
            known = [getattr(piece, basis) for piece in pieces if getattr(piece, basis) is not None]
            split = [getattr(line, basis) for line in lines if getattr(line, basis) is not None]
            assert sum(split) == sum(known)
            assert bool(split) == bool(known)


@given(node_hours())
def test_every_line_keeps_its_charges_order_of_bases(facts):
    # Charges priced throughout: where a piece lacks a basis, sums of known parts have no order.
    for line in split_node_hour(facts).lines:
        pieces = facts.charges[line.charge]
        if all(piece.list_micros is not None for piece in pieces):
            assert line.effective_micros <= line.contracted_micros <= line.list_micros


@given(node_hours())
def test_lines_are_one_for_each_charge_holder_state_and_flags(facts):
    places = [line[:5] for line in split_node_hour(facts).lines]
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
    """Cutting the hour at more prices may shift milliseconds by rounding, one for each part."""
    start, end = facts.lived_through_ms
    if not facts.charges:
        return
    whole = replace(facts.charges[min(facts.charges)][0], start_ms=start, end_ms=end)
    uncut = replace(facts, charges={1: [whole]})
    once = defaultdict(int)
    for line in split_node_hour(uncut).lines:
        once[line[1:5]] += line.unit_ms
    for line in split_node_hour(facts).lines:
        once[line[1:5]] -= line.unit_ms
    parts = 40 * max(1, len(facts.devices)) * (1 + sum(map(len, facts.charges.values())))
    assert all(abs(difference) <= parts for difference in once.values())
