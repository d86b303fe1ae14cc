"""Commitments: the whole purchase comes back, nothing is covered twice, nothing is made dearer."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.commitments import (
    HOUR_MS,
    Commitment,
    CommitmentKind,
    NotACommitment,
    Scope,
    Unused,
    Use,
    amortised,
    apply,
    break_even,
    coverage,
    effective_savings_rate,
    utilisation,
)
from apps.economics.rates import Per

USE = Use(
    node_id=1,
    start_ms=0,
    end_ms=HOUR_MS,
    provider="aws",
    region="us-east-1",
    instance_type="p5.48xlarge",
    gpu_model="H100",
    pool_id=7,
    gpus=8,
    list_micros=98_320_000,
    contracted_micros=80_000_000,
)
RESERVED = Commitment(
    id=1, kind=CommitmentKind.RESERVED, scope=Scope(provider="aws"), paid_micros=40_000_000, units=1
)
PLAN = Commitment(
    id=2,
    kind=CommitmentKind.SAVINGS_PLAN,
    scope=Scope(provider="aws"),
    paid_micros=25_000_000,
    spend_micros=25_000_000,
    prices={"p5.48xlarge": 50_000_000},
)

amounts = st.none() | st.integers(0, 10**9)


@st.composite
def uses_of_an_hour(draw: st.DrawFn) -> list[Use]:
    """Some nodes' spans."""
    uses = []
    for node_id in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, HOUR_MS - 1))
        contracted = draw(amounts)
        more = draw(amounts)
        uses.append(
            replace(
                USE,
                node_id=node_id,
                start_ms=start,
                end_ms=draw(st.integers(start + 1, HOUR_MS)),
                region=draw(st.sampled_from(["us-east-1", "us-west-2"])),
                pool_id=draw(st.integers(7, 8)),
                gpus=draw(st.sampled_from([1, 8])),
                contracted_micros=contracted,
                list_micros=None if more is None else (contracted or 0) + more,
            )
        )
    return uses


@st.composite
def commitments_of_an_hour(draw: st.DrawFn) -> list[Commitment]:
    """Some commitments of every kind."""
    held = []
    for id_ in range(draw(st.integers(0, 4))):
        scope = Scope(
            provider="aws",
            region=draw(st.sampled_from(["", "us-east-1"])),
            pool_id=draw(st.sampled_from([None, 7])),
        )
        price = draw(st.integers(1, 10**8))
        is_spend = draw(st.booleans())
        held.append(
            Commitment(
                id=id_,
                kind=draw(st.sampled_from(CommitmentKind)),
                scope=scope,
                paid_micros=draw(st.integers(0, 10**9)),
                units=0 if is_spend else draw(st.integers(1, 16)),
                per=draw(st.sampled_from(Per)),
                spend_micros=draw(st.integers(1, 10**9)) if is_spend else 0,
                prices={"p5.48xlarge": price},
            )
        )
    return held


@given(st.integers(0, 10**12), st.integers(0, 10**9), st.integers(1, 300), uses_of_an_hour())
def test_used_and_unused_over_a_life_are_what_was_billed(
    upfront: int, hourly: int, hours: int, uses: list[Use]
) -> None:
    total = 0
    for hour in range(hours):
        paid = amortised(upfront_micros=upfront, hourly_micros=hourly, hours=hours, hour=hour)
        applied = apply([replace(RESERVED, paid_micros=paid)], uses if hour % 2 else [])
        total += sum(part.effective_micros for part in applied.covered)
        total += sum(each.micros for each in applied.unused)
    assert total == upfront + hourly * hours


@given(commitments_of_an_hour(), uses_of_an_hour())
def test_every_hour_comes_back_whole_and_nothing_is_dearer_or_covered_twice(
    held: list[Commitment], uses: list[Use]
) -> None:
    applied = apply(held, uses)
    spans = {use.node_id: (use.start_ms, use.end_ms) for use in uses}
    until = {use.node_id: use.start_ms for use in uses}
    for commitment, unused in zip(held, applied.unused, strict=True):
        parts = [each for each in applied.covered if each.commitment_id == commitment.id]
        used = sum(each.effective_micros for each in parts)
        assert used + unused.micros == commitment.paid_micros
        assert unused.micros >= 0
        assert 0 <= unused.capacity <= unused.of
    for part in applied.covered:
        assert until[part.node_id] == part.start_ms < part.end_ms <= spans[part.node_id][1]
        until[part.node_id] = part.end_ms
        known = [part.effective_micros, part.contracted_micros, part.list_micros]
        ordered = [micros for micros in known if micros is not None]
        assert known[1] is None or ordered == sorted(ordered)


@given(commitments_of_an_hour(), uses_of_an_hour())
def test_the_order_given_does_not_matter(held: list[Commitment], uses: list[Use]) -> None:
    assert apply(held[::-1], uses[::-1]) == apply(held, uses)


def test_a_reservation_covers_a_node_at_its_own_price() -> None:
    applied = apply([RESERVED], [USE])
    assert [(one.effective_micros, one.list_micros) for one in applied.covered] == [
        (40_000_000, 98_320_000)
    ]
    assert applied.unused == (Unused(1, 0, 0, HOUR_MS),)


def test_half_an_hour_of_use_leaves_half_a_reservation_unused() -> None:
    half = replace(USE, end_ms=HOUR_MS // 2, contracted_micros=40_000_000, list_micros=None)
    applied = apply([RESERVED], [half])
    assert applied.covered[0].effective_micros == 20_000_000
    assert applied.covered[0].list_micros is None
    assert applied.unused[0].micros == 20_000_000


def test_a_plan_of_half_a_price_covers_half_the_hour() -> None:
    covered = apply([PLAN], [USE]).covered
    assert [(one.start_ms, one.end_ms, one.contracted_micros) for one in covered] == [
        (0, HOUR_MS // 2, 40_000_000)
    ]


def test_reservations_go_before_plans_and_narrow_scopes_before_wide_ones() -> None:
    narrow = replace(RESERVED, id=9, scope=Scope(provider="aws", pool_id=7))
    block = replace(narrow, id=10, kind=CommitmentKind.CAPACITY_BLOCK)
    uses = [USE, replace(USE, node_id=2, pool_id=8)]
    by_node = {
        one.node_id: one.commitment_id for one in apply([PLAN, RESERVED, narrow], uses).covered
    }
    assert by_node == {1: 9, 2: 1}
    assert apply([RESERVED, narrow, block], [USE]).covered[0].commitment_id == 10


def test_a_plan_goes_first_where_a_dollar_saves_most() -> None:
    cheap = replace(USE, node_id=2, instance_type="g6.xlarge", contracted_micros=30_000_000)
    plan = replace(PLAN, prices={"p5.48xlarge": 50_000_000, "g6.xlarge": 25_000_000})
    assert [one.node_id for one in apply([plan], [USE, cheap]).covered] == [1]


def test_gpus_are_counted_where_gpus_were_bought() -> None:
    four = replace(RESERVED, units=4, per=Per.GPU)
    assert apply([four], [USE]).covered[0].end_ms == HOUR_MS // 2


def test_what_a_commitment_costs_above_the_contract_is_unused() -> None:
    dear = replace(RESERVED, paid_micros=100_000_000)
    applied = apply([dear], [USE])
    assert (applied.covered[0].effective_micros, applied.unused[0].micros) == (
        80_000_000,
        20_000_000,
    )


def test_other_machines_are_not_covered() -> None:
    other = replace(RESERVED, scope=Scope(gpu_model="A100"))
    assert apply([other], [USE]).covered == ()


@pytest.mark.parametrize("units", [0, 1])
def test_neither_or_both_measures_are_refused(units: int) -> None:
    with pytest.raises(NotACommitment):
        replace(RESERVED, units=units, spend_micros=units)


def test_measures_say_how_good_a_commitment_was() -> None:
    assert coverage(30, 120) == Fraction(1, 4)
    assert utilisation([Unused(1, 5, 1, 4)]) == Fraction(3, 4)
    assert effective_savings_rate(100, 60) == Fraction(2, 5)
    assert break_even(50, 80) == Fraction(5, 8)


def test_measures_of_nothing_are_unknown() -> None:
    assert coverage(0, 0) is None
    assert utilisation([]) is None
    assert effective_savings_rate(0, 5) is None
    assert break_even(5, 0) is None


@pytest.mark.parametrize(
    ("region", "is_covered"),
    [("us-east-1", True), ("us-east-1a", True), ("us-east-1-b", True), ("us-east-10", False)],
)
def test_a_region_covers_its_zones_and_not_what_begins_like_it(
    region: str, is_covered: bool
) -> None:
    held = replace(RESERVED, scope=Scope(provider="aws", region="us-east-1"))
    assert bool(apply([held], [replace(USE, region=region)]).covered) is is_covered
    zonal = replace(RESERVED, scope=Scope(provider="aws", region="us-east-1a"))
    assert not apply([zonal], [replace(USE, region="us-east-1")]).covered
