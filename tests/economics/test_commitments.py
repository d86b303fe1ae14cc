"""Commitments: the whole purchase comes back, nothing is covered twice, nothing is made dearer."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.commitments import (
    CommitmentKind,
    CommitmentOfHour,
    CommitmentScope,
    CommitmentUse,
    NotACommitment,
    Unused,
    apply,
    break_even,
    coverage,
    effective_savings_rate,
    utilisation,
)
from apps.economics.hours import HOUR_MS
from apps.economics.rates import Per
from apps.economics.terms import term_amount_in_hour

USE = CommitmentUse(
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
RESERVED = CommitmentOfHour(
    id=1,
    kind=CommitmentKind.RESERVED,
    scope=CommitmentScope(provider="aws"),
    paid_micros=40_000_000,
    units=1,
)
PLAN = CommitmentOfHour(
    id=2,
    kind=CommitmentKind.SAVINGS_PLAN,
    scope=CommitmentScope(provider="aws"),
    paid_micros=25_000_000,
    spend_micros=25_000_000,
    prices={"p5.48xlarge": 50_000_000},
)

amounts = st.none() | st.integers(0, 10**9)


@st.composite
def uses_of_an_hour(draw: st.DrawFn) -> list[CommitmentUse]:
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
def commitments_of_an_hour(draw: st.DrawFn) -> list[CommitmentOfHour]:
    """Some commitments of every kind."""
    held = []
    for id_ in range(draw(st.integers(0, 4))):
        scope = CommitmentScope(
            provider="aws",
            region=draw(st.sampled_from(["", "us-east-1"])),
            pool_id=draw(st.sampled_from([None, 7])),
        )
        price = draw(st.integers(1, 10**8))
        is_spend = draw(st.booleans())
        held.append(
            CommitmentOfHour(
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
    upfront: int, hourly: int, hours: int, uses: list[CommitmentUse]
) -> None:
    total = 0
    for hour in range(hours):
        paid = hourly + term_amount_in_hour(upfront, hours, hour)
        applied = apply([replace(RESERVED, paid_micros=paid)], uses if hour % 2 else [])
        total += sum(part.effective_micros for part in applied.covered)
        total += sum(each.micros for each in applied.unused)
    assert total == upfront + hourly * hours


@given(commitments_of_an_hour(), uses_of_an_hour())
def test_every_hour_comes_back_whole_and_nothing_is_dearer_or_covered_twice(
    held: list[CommitmentOfHour], uses: list[CommitmentUse]
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
def test_the_order_given_does_not_matter(
    held: list[CommitmentOfHour], uses: list[CommitmentUse]
) -> None:
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
    narrow = replace(RESERVED, id=9, scope=CommitmentScope(provider="aws", pool_id=7))
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
    other = replace(RESERVED, scope=CommitmentScope(gpu_model="A100"))
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
    held = replace(RESERVED, scope=CommitmentScope(provider="aws", region="us-east-1"))
    assert bool(apply([held], [replace(USE, region=region)]).covered) is is_covered


# AWS's order among its plans, in an hour of two machines: the wide plan would save more on the P5
# (49 %) than the narrow one does (39 %), and the narrow one goes first all the same.
P5 = replace(USE, contracted_micros=98_320_000)
P4D = replace(USE, node_id=2, instance_type="p4d.24xlarge", contracted_micros=32_770_000)
INSTANCE_PLAN = CommitmentOfHour(
    id=8,
    kind=CommitmentKind.SAVINGS_PLAN,
    scope=CommitmentScope(provider="aws", region="us-east-1"),
    paid_micros=40_000_000,
    spend_micros=40_000_000,
    prices={"p5.48xlarge": 60_000_000},
)
COMPUTE_PLAN = CommitmentOfHour(
    id=2,
    kind=CommitmentKind.SAVINGS_PLAN,
    scope=CommitmentScope(provider="aws"),
    paid_micros=20_000_000,
    spend_micros=20_000_000,
    prices={"p5.48xlarge": 50_000_000, "p4d.24xlarge": 20_000_000},
)


def _cost_of_hour(held: list[CommitmentOfHour], uses: list[CommitmentUse]) -> int:
    """Every commitment in full, and the rest of the use at its own price."""
    applied = apply(held, uses)
    covered = sum(part.contracted_micros or 0 for part in applied.covered)
    return sum(c.paid_micros for c in held) + sum(u.contracted_micros or 0 for u in uses) - covered


def test_a_plan_of_one_region_goes_before_a_plan_of_all_machines() -> None:
    # 40 of the narrow plan's 60 an hour cover 40 minutes of the P5. The other 20 minutes take 16.67
    # of the wide plan's 20, and its last 3.33 cover 10 minutes of the A100 machine, of whose 32.77
    # five sixths are paid. With the wide plan first that machine is paid in full: 92.77.
    held, uses = [COMPUTE_PLAN, INSTANCE_PLAN], [P5, P4D]
    assert _cost_of_hour(held, uses) == 87_308_334
    covered = {
        (part.node_id, part.commitment_id): (part.start_ms, part.end_ms)
        for part in apply(held, uses).covered
    }
    assert covered == {(1, 8): (0, 2_400_000), (1, 2): (2_400_000, HOUR_MS), (2, 2): (0, 600_000)}


def test_plans_of_one_kind_go_together_by_saving_percentage_then_by_the_lower_price() -> None:
    # 50 % on either machine: the cheaper one's price is the lower, and is covered first.
    plan = replace(
        COMPUTE_PLAN, spend_micros=15_000_000,
        prices={"p5.48xlarge": 49_160_000, "p4d.24xlarge": 16_385_000},
    )  # fmt: skip
    assert {part.node_id for part in apply([plan], [P5, P4D]).covered} == {2}
    better = replace(plan, id=9, prices={"p5.48xlarge": 49_000_000})
    first = apply([plan, better], [P5, P4D]).covered[0]
    assert (first.node_id, first.commitment_id) == (1, 9)


# "Examples of applying Reserved Instances", EC2 User Guide: four m3.large in one zone, two
# m4.xlarge and one c4.xlarge run; four m3.large are reserved in that zone, four m4.large and one
# c4.large in the region.
def _ec2(node_id: int, instance_type: str, region: str = "us-east-1a") -> CommitmentUse:
    return replace(USE, node_id=node_id, instance_type=instance_type, region=region)


def _reserved(
    id_: int, units: int, instance_type: str, region: str = "us-east-1"
) -> CommitmentOfHour:
    scope = CommitmentScope(provider="aws", region=region, instance_type=instance_type)
    return replace(RESERVED, id=id_, units=units, scope=scope)


def _covered_ms(held: list[CommitmentOfHour], uses: list[CommitmentUse]) -> dict[int, int]:
    found: dict[int, int] = {}
    for part in apply(held, uses).covered:
        found[part.node_id] = found.get(part.node_id, 0) + part.end_ms - part.start_ms
    return found


def test_a_regional_reservation_covers_any_size_of_its_family_by_amazons_example() -> None:
    uses = [_ec2(n, "m3.large") for n in range(4)]
    uses += [_ec2(n, "m4.xlarge", "us-east-1b") for n in (4, 5)]
    uses.append(_ec2(6, "c4.xlarge", "us-east-1c"))
    held = [
        _reserved(1, 4, "m3.large", "us-east-1a"),
        _reserved(2, 4, "m4.large"),
        _reserved(3, 1, "c4.large"),
    ]
    assert _covered_ms(held, uses) == dict.fromkeys(range(6), HOUR_MS) | {6: HOUR_MS // 2}
    assert [each.capacity for each in apply(held, uses).unused] == [0, 0, 0]


def test_zonal_reservations_go_first_and_regional_ones_from_the_smallest_size_up() -> None:
    uses = [_ec2(1, "p3.16xlarge"), _ec2(2, "p3.2xlarge"), _ec2(3, "p3.8xlarge", "us-east-1b")]
    zonal, regional = _reserved(9, 1, "p3.16xlarge", "us-east-1a"), _reserved(1, 1, "p3.8xlarge")
    parts = {part.node_id: part.commitment_id for part in apply([regional, zonal], uses).covered}
    # The region's has 64 units: 16 for the small machine, and three quarters of the middle one.
    assert parts == {1: 9, 2: 1, 3: 1}
    assert _covered_ms([regional, zonal], uses)[3] == HOUR_MS * 3 // 4


@pytest.mark.parametrize(
    ("instance_type", "region", "covers"),
    [
        ("p3.8xlarge", "us-east-1", True),
        ("p3.8xlarge", "us-east-1a", False),  # a zone's is of one size
        ("g5.8xlarge", "us-east-1", False),  # families without size flexibility
        ("p5.48xlarge", "us-east-1", False),
        ("p3.metal", "us-east-1", False),
        ("p3.8xlarge", "", False),
    ],
)
def test_only_regional_reservations_of_most_families_cover_other_sizes(
    instance_type: str, region: str, covers: bool
) -> None:
    family = instance_type.partition(".")[0]
    held = [_reserved(1, 4, instance_type, region)]
    assert bool(_covered_ms(held, [_ec2(1, f"{family}.2xlarge")])) is covers


def test_a_zones_reservation_prefers_what_is_known_to_be_there() -> None:
    held = [_reserved(1, 1, "p5.48xlarge", "us-east-1a")]
    uses = [
        _ec2(1, "p5.48xlarge", "us-east-1"),
        _ec2(2, "p5.48xlarge"),
        _ec2(3, "p5.48xlarge", "eu"),
    ]
    assert _covered_ms(held, uses) == {2: HOUR_MS}
    assert _covered_ms(held, uses[:1]) == {1: HOUR_MS}
    assert _covered_ms(held, uses[2:]) == {}
