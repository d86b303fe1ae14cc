"""The fast split agrees with the state table told slowly."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.hours import HOUR_MS
from apps.economics.node_hour import (
    MINUTE_MS,
    ClaimFact,
    DeviceOfHour,
    KeyFact,
    NodeHourFacts,
    OutageOfHour,
    UsageFact,
    split_node_hour,
)
from apps.economics.rates import Piece
from tests.economics.reference import told_slowly

DEVICES = (1, 2)
WHOLE_MINUTES = st.tuples(st.integers(0, 59), st.integers(1, 60)).map(
    lambda pair: (min(pair) * MINUTE_MS, max(min(pair) + 1, max(pair)) * MINUTE_MS)
)
SHARES = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(1, 7)])


@st.composite
def rows(draw: st.DrawFn, device_id: int) -> list[UsageFact]:
    holders = draw(st.sampled_from([[], [0], [1], [9], [0, 1], [0, 1, 2], [0, 2, 9], [0, 8, 9]]))
    made = []
    for holder in holders:
        observed, worked = bytearray(), bytearray()
        while len(observed) < 60:
            seen = draw(st.sampled_from([0, 120, 240]))
            run = draw(st.integers(5, 60))
            observed += bytes([seen]) * run
            worked += bytes([draw(st.integers(0, seen))]) * run
        made.append(UsageFact(device_id, holder, bytes(observed[:60]), bytes(worked[:60])))
    return made


@st.composite
def pinned_node_hours(draw: st.DrawFn) -> NodeHourFacts:
    claims = [
        ClaimFact(draw(st.integers(1, 3)), at, *draw(WHOLE_MINUTES), draw(SHARES), (device,))
        for at, device in enumerate(draw(st.lists(st.sampled_from(DEVICES), max_size=4)))
    ]
    return NodeHourFacts(
        lived_ms=(0, HOUR_MS),
        through_ms=HOUR_MS,
        charges={1: [Piece(0, HOUR_MS, 0, 0, 0)]},
        devices=[DeviceOfHour(device, None, 0, HOUR_MS) for device in DEVICES],
        usage=[row for device in DEVICES for row in draw(rows(device))],
        claims=claims,
        keys=[KeyFact(1, 1), KeyFact(2, 2), KeyFact(8, 5)],
        outages=[
            OutageOfHour(draw(st.sampled_from([None, 1])), *draw(WHOLE_MINUTES))
            for _ in range(draw(st.integers(0, 1)))
        ],
    )


@given(pinned_node_hours())
def test_the_fast_split_agrees_with_the_table_told_slowly(facts):
    slowly = told_slowly(facts)
    fast = {
        (line.job_id or 0, line.holder_key_id or 0, line.state, line.flags): line.unit_ms
        for line in split_node_hour(facts).lines
    }
    # A span rounds once, processes that together worked more than their device once a minute.
    for place in {*slowly, *fast}:
        assert abs(fast.get(place, 0) - slowly.get(place, 0)) <= 2 * 60 * len(DEVICES)
