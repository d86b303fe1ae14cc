"""Node-hours and windows as Hypothesis draws them: small, awkward, and always possible."""

from fractions import Fraction
from itertools import pairwise

from hypothesis import strategies as st

from apps.economics.hours import HOUR_MS
from apps.economics.node_hour import (
    CapacityFact,
    ClaimFact,
    DeviceOfHour,
    KeyFact,
    NodeHourFacts,
    OutageOfHour,
    UsageFact,
)
from apps.economics.rates import Piece

JOBS = st.integers(1, 5)
KEYS = st.integers(1, 7)
SHARES = st.sampled_from([Fraction(1, 7), Fraction(1, 4), Fraction(2, 7), Fraction(1, 2)])
COUNTS = st.sampled_from(
    [Fraction(n, d) for n, d in ((1, 4), (1, 2), (23, 50), (1, 1), (2, 1), (5, 1))]
)


@st.composite
def moments(draw: st.DrawFn) -> int:
    """Whole minutes often, whole seconds sometimes, any millisecond at times."""
    step = draw(st.sampled_from([60_000, 60_000, 1_000, 1]))
    return draw(st.integers(0, HOUR_MS // step)) * step


@st.composite
def spans(draw: st.DrawFn) -> tuple[int, int]:
    """A span of the hour that is not empty; the whole hour half the time."""
    if draw(st.booleans()):
        return 0, HOUR_MS
    first, last = draw(moments()), draw(moments())
    return (first, last) if first < last else (last, first + 1)


@st.composite
def rows(draw: st.DrawFn, device_id: int) -> list[UsageFact]:
    """No row, one, or the device's own and its processes'; worked ≤ observed ≤ 240."""
    holders = draw(
        st.one_of(
            st.just([]),
            KEYS.map(lambda key: [key]),
            st.sets(KEYS, max_size=3).map(lambda keys: [0, *keys]),
        )
    )
    return [draw(row(device_id, holder)) for holder in holders]


@st.composite
def row(draw: st.DrawFn, device_id: int, holder_id: int) -> UsageFact:
    """Minutes in a few runs, each observed and worked to some extent."""
    observed, worked = bytearray(60), bytearray(60)
    for first in range(0, 60, draw(st.sampled_from([60, 20, 7]))):
        seen = draw(st.sampled_from([240, 240, 0, 100]))
        busy = draw(st.integers(0, seen))
        for minute in range(first, 60):
            observed[minute], worked[minute] = seen, busy
    return UsageFact(device_id, holder_id, bytes(observed), bytes(worked))


@st.composite
def devices(draw: st.DrawFn) -> list[DeviceOfHour]:
    """Up to four GPUs, some cut into slices for part of the hour; geometries may pass 1."""
    made = []
    for gpu in range(1, draw(st.integers(0, 4)) + 1):
        made.append(DeviceOfHour(gpu, None, *draw(spans()), stable_key=f"GPU-{gpu}"))
        made += [
            DeviceOfHour(10 * gpu + index, gpu, *draw(spans()), draw(SHARES))
            for index in range(draw(st.sampled_from([0, 0, 0, 1, 3])))
        ]
    return made


@st.composite
def priced(draw: st.DrawFn, start: int, end: int) -> dict[int, list[Piece]]:
    """One or two charges whose pieces tile a span; bases in order, or unknown."""
    inside = st.integers(start + 1, end - 1) if end - start > 1 else st.nothing()
    cuts = sorted(draw(st.sets(inside, max_size=3)) if end - start > 1 else set())
    edges = [start, *cuts, end]
    charges: dict[int, list[Piece]] = {1: [], 2: []}
    for first, last in pairwise(edges):
        effective = draw(st.integers(0, 10**8))
        contracted = effective + draw(st.sampled_from([0, 1, 10**6 + 1]))
        listed = draw(st.sampled_from([None, contracted, contracted + 999_983]))
        amounts = draw(st.sampled_from([(listed, contracted, effective), (None, None, None)]))
        charges[draw(st.sampled_from([1, 2]))].append(Piece(first, last, *amounts))
    return {charge: pieces for charge, pieces in charges.items() if pieces}


@st.composite
def claims(draw: st.DrawFn, device_ids: list[int]) -> list[ClaimFact]:
    """Pinned and unpinned, whole and in part, overlapping at will."""
    named = st.lists(st.sampled_from([*device_ids, 99]), max_size=2).map(tuple)
    return [
        ClaimFact(
            draw(JOBS), claim_id, *draw(spans()), draw(COUNTS), draw(named), draw(st.booleans())
        )
        for claim_id in range(draw(st.integers(0, 5)))
    ]


@st.composite
def capacities(draw: st.DrawFn) -> list[CapacityFact]:
    """None, or a declared count that may change and may end."""
    units = draw(st.lists(st.integers(0, 8), max_size=2))
    cut, end = sorted((draw(moments()), draw(moments())))
    return [
        CapacityFact(start, stop, count)
        for (start, stop), count in zip([(0, cut), (cut, end)], units, strict=False)
    ]


@st.composite
def node_hours(draw: st.DrawFn) -> NodeHourFacts:
    """Anything that can be known of a node's hour."""
    known = draw(devices())
    ids = [device.device_id for device in known]
    lived = draw(spans())
    through = draw(st.sampled_from([HOUR_MS, HOUR_MS, 1_234_567]))
    end = max(lived[0], min(lived[1], through))
    return NodeHourFacts(
        lived_ms=lived,
        through_ms=through,
        charges=draw(priced(lived[0], end)) if end > lived[0] else {},
        devices=known,
        usage=[each for device_id in ids for each in draw(rows(device_id))],
        claims=draw(claims(ids)),
        keys=[KeyFact(key, draw(JOBS), *draw(spans())) for key in draw(st.sets(KEYS, max_size=5))],
        outages=[
            OutageOfHour(draw(st.sampled_from([None, *ids])), *draw(spans()))
            for _ in range(draw(st.integers(0, 2)))
        ],
        capacity=draw(capacities()),
    )
