"""What commitments may cover, after what vendors say of each."""

from dataclasses import replace
from fractions import Fraction

import pytest

from apps.economics.commitments import (
    CommitmentKind,
    CommitmentOfHour,
    CommitmentScope,
    CommitmentUse,
    apply,
)
from apps.economics.eligibility import Capacity, CommitmentTerms, UseTerms, may_cover
from apps.economics.hours import HOUR_MS
from apps.economics.purchase import PurchaseOption

M = 10**6


def p4d(node_id: int, hourly: int, option: str) -> CommitmentUse:
    return CommitmentUse(
        node_id=node_id, start_ms=0, end_ms=HOUR_MS, provider="aws", region="us-east-1",
        instance_type="p4d.24xlarge", gpu_model="A100", pool_id=node_id, gpus=8,
        list_micros=hourly * M, contracted_micros=hourly * M, terms=UseTerms(option),
    )  # fmt: skip


ON_DEMAND, SPOT = p4d(1, 20, "on_demand"), p4d(2, 8, "spot")
PLAN = CommitmentOfHour(
    1, CommitmentKind.SAVINGS_PLAN, CommitmentScope(provider="aws"), paid_micros=30 * M,
    spend_micros=30 * M, prices={"p4d.24xlarge": 12 * M},
)  # fmt: skip
RESERVED = CommitmentOfHour(
    2, CommitmentKind.RESERVED,
    CommitmentScope(provider="aws", region="us-east-1", instance_type="p4d.24xlarge"),
    paid_micros=24 * M, units=2,
)  # fmt: skip


def total(commitment: CommitmentOfHour, *uses: CommitmentUse) -> Fraction:
    """What an hour costs: covered, unused, and what is left at its own price; in dollars."""
    applied = apply([commitment], uses)
    covered = {part.node_id for part in applied.covered}
    left = sum(use.contracted_micros or 0 for use in uses if use.node_id not in covered)
    paid = sum(part.effective_micros for part in applied.covered)
    return Fraction(paid + sum(each.micros for each in applied.unused) + left, M)


def test_a_savings_plan_covers_on_demand_and_leaves_spot_at_its_price() -> None:
    assert total(PLAN, ON_DEMAND, SPOT) == 38


def test_a_reservation_covers_on_demand_and_leaves_spot_at_its_price() -> None:
    assert total(RESERVED, ON_DEMAND, SPOT) == 32


@pytest.mark.parametrize("provider", ["aws", "gcp", "azure"])
@pytest.mark.parametrize("kind", list(CommitmentKind))
def test_no_clouds_commitment_of_any_kind_covers_spot(provider: str, kind: CommitmentKind) -> None:
    held = CommitmentOfHour(
        1, kind, CommitmentScope(provider=provider), paid_micros=50 * M, units=4
    )
    spot = replace(SPOT, provider=provider)
    assert total(held, spot) == 58
    assert total(held, replace(spot, terms=UseTerms(PurchaseOption.ON_DEMAND))) == 50


def test_reservations_of_a_zone_hold_their_own_capacity_and_regional_ones_cover_reserved_capacity() -> (
    None
):
    in_reservation = UseTerms(capacity=Capacity.RESERVATION)
    assert may_cover(CommitmentTerms(), in_reservation)
    assert not may_cover(CommitmentTerms(), in_reservation, is_zonal=True)


def test_capacity_blocks_are_paid_ahead_and_covered_by_nothing_else() -> None:
    in_block = UseTerms(capacity=Capacity.BLOCK)
    assert not may_cover(CommitmentTerms(), in_block)
    assert may_cover(CommitmentTerms(is_block=True), in_block)


def test_platform_tenancy_and_account_must_fit_where_both_are_known() -> None:
    linux = CommitmentTerms(platform="Linux/UNIX", tenancy="default", account="1", is_shared=False)
    assert may_cover(linux, UseTerms(platform="linux/unix", tenancy="default", account="1"))
    assert may_cover(linux, UseTerms())
    assert not may_cover(linux, UseTerms(platform="Windows"))
    assert not may_cover(linux, UseTerms(tenancy="dedicated"))
    assert not may_cover(linux, UseTerms(account="2"))
    assert may_cover(replace(linux, is_shared=True), UseTerms(account="2"))
    assert not may_cover(linux, UseTerms(PurchaseOption.OWNED))
