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
from apps.economics.eligibility import (
    Capacity,
    CommitmentTerms,
    UseTerms,
    may_cover,
    taken_for_granted,
)
from apps.economics.hours import HOUR_MS
from apps.economics.purchase import PurchaseOption
from apps.economics.use_terms import platform_of, reservation_of, tenancy_of

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


def test_platform_and_tenancy_must_fit_and_a_machine_of_which_nothing_is_told_is_plain_linux() -> (
    None
):
    linux = CommitmentTerms(platform="linux", tenancy="default")
    assert may_cover(linux, UseTerms(platform="linux", tenancy="default"))
    assert may_cover(linux, UseTerms())
    assert not may_cover(linux, UseTerms(platform="windows"))
    assert not may_cover(linux, UseTerms(tenancy="dedicated"))
    assert not may_cover(CommitmentTerms(platform="windows"), UseTerms())
    assert not may_cover(CommitmentTerms(tenancy="host"), UseTerms())
    assert not may_cover(linux, UseTerms(PurchaseOption.OWNED))
    unsaid = CommitmentTerms(has_platform=True)
    assert may_cover(unsaid, UseTerms(platform="linux"))
    assert not may_cover(unsaid, UseTerms(platform="rhel"))
    assert may_cover(CommitmentTerms(), UseTerms(platform="rhel", tenancy="host"))


def test_accounts_must_fit_where_sharing_is_off_and_a_subscription_has_its_resource_groups() -> (
    None
):
    own = CommitmentTerms(account="1", is_shared=False)
    assert may_cover(own, UseTerms(account="1"))
    assert not may_cover(own, UseTerms(account="2"))
    assert may_cover(replace(own, is_shared=True), UseTerms(account="2"))
    subscription = CommitmentTerms(account="sub-1", is_shared=False)
    group = replace(subscription, account="sub-1/RG-train")
    assert may_cover(subscription, UseTerms(account="sub-1/rg-train"))
    assert may_cover(group, UseTerms(account="sub-1/rg-train"))
    assert not may_cover(group, UseTerms(account="sub-1/rg-web"))
    assert not may_cover(group, UseTerms(account="sub-1"))
    assert not may_cover(subscription, UseTerms(account="sub-10/rg-train"))


def test_a_block_covers_what_runs_in_it_alone() -> None:
    block = CommitmentTerms(is_block=True, reservation="cr-1")
    assert may_cover(block, UseTerms(capacity=Capacity.BLOCK, reservation="cr-1"))
    assert may_cover(block, UseTerms())
    assert not may_cover(block, UseTerms(capacity=Capacity.RESERVATION, reservation="cr-2"))


def test_what_was_taken_for_granted_is_named() -> None:
    reserved = CommitmentTerms(has_platform=True, account="1", is_shared=False)
    assert taken_for_granted(reserved, UseTerms()) == ("platform", "tenancy", "account")
    told = UseTerms(platform="linux", tenancy="default", account="1")
    assert taken_for_granted(reserved, told) == ()
    assert taken_for_granted(CommitmentTerms(), UseTerms()) == ()
    block = CommitmentTerms(is_block=True, reservation="cr-1")
    assert taken_for_granted(block, UseTerms()) == ("reservation",)
    assert taken_for_granted(block, UseTerms(reservation="cr-1")) == ()


@pytest.mark.parametrize(
    ("said", "platform"),
    [
        ("Linux/UNIX", "linux"),
        ("Linux/UNIX (Amazon VPC)", "linux"),
        ("Linux", "linux"),
        ("Red Hat Enterprise Linux", "rhel"),
        ("Red Hat BYOL Linux", "linux"),
        ("RHEL", "rhel"),
        ("SUSE Linux", "suse"),
        ("Ubuntu Pro", "ubuntu_pro"),
        ("ubuntu_pro", "ubuntu_pro"),
        ("Windows", "windows"),
        ("Windows BYOL", "windows"),
        ("Windows with SQL Server Standard", "windows_sql"),
        ("SQL Server Web", "linux_sql"),
        ("Red Hat Enterprise Linux with SQL Server Standard and HA", "rhel_sql"),
        ("RunInstances", "linux"),
        ("RunInstances:0002", "windows"),
        ("RunInstances:0010:SV006", "rhel"),
        ("RunInstances:9999", ""),
        ("", ""),
        ("NA", ""),
    ],
)
def test_a_platform_is_one_word_however_its_vendor_spells_it(said: str, platform: str) -> None:
    assert platform_of(said) == platform


def test_tenancies_and_reservations_are_one_word_however_they_are_spelt() -> None:
    assert [tenancy_of(each) for each in ("Shared", "default", "Dedicated", "host", "NA")] == [
        "default", "default", "dedicated", "host", "",
    ]  # fmt: skip
    arn = "arn:aws:ec2:us-east-1:123456789012:capacity-reservation/cr-0ABC1234def567890"
    assert reservation_of(arn) == reservation_of("cr-0abc1234def567890") == "cr-0abc1234def567890"
    assert reservation_of(" my-reservation ") == "my-reservation"
