"""What vendors themselves give as examples of how their commitments are applied, hour by hour.

Figures and rules are theirs, as of 2026-11; each test names its page. Machines are those of the example,
with GPUs or without.
"""

from collections.abc import Mapping
from fractions import Fraction

import pytest

from apps.economics.commitments import (
    Applied,
    CommitmentKind,
    CommitmentOfHour,
    CommitmentScope,
    CommitmentUse,
    apply,
)
from apps.economics.eligibility import Capacity, CommitmentTerms, UseTerms
from apps.economics.hours import HOUR_MS

M = 10**6
RESERVED, PLAN = CommitmentKind.RESERVED, CommitmentKind.SAVINGS_PLAN
RI = CommitmentTerms(has_platform=True)


def use(
    node_id: int, machine: str, hourly: float, *, count: int = 1, region: str = "us-east-1a",
    provider: str = "aws", terms: UseTerms | None = None,
) -> CommitmentUse:  # fmt: skip
    """An hour of `count` machines at this price each."""
    micros = round(hourly * count * M)
    return CommitmentUse(
        node_id=node_id, start_ms=0, end_ms=HOUR_MS, provider=provider, region=region,
        instance_type=machine, gpu_model="", pool_id=node_id, gpus=0, list_micros=micros,
        contracted_micros=micros, nodes=count, terms=terms or UseTerms(),
    )  # fmt: skip


def plan(
    spend: float, prices: Mapping[str, float], *, id_: int = 1, provider: str = "aws",
    region: str = "", terms: CommitmentTerms | None = None,
) -> CommitmentOfHour:  # fmt: skip
    """A savings plan of so many dollars an hour."""
    return CommitmentOfHour(
        id_, PLAN, CommitmentScope(provider=provider, region=region),
        paid_micros=round(spend * M), spend_micros=round(spend * M),
        prices={name: round(price * M) for name, price in prices.items()},
        terms=terms or CommitmentTerms(),
    )  # fmt: skip


def reserved(
    units: int, machine: str, *, id_: int = 1, region: str = "us-east-1", provider: str = "aws",
    terms: CommitmentTerms = RI,
) -> CommitmentOfHour:  # fmt: skip
    """A reservation that costs a cent an hour: who it covers is what is asked."""
    return CommitmentOfHour(
        id_, RESERVED, CommitmentScope(provider=provider, region=region, instance_type=machine),
        paid_micros=M // 100, units=units, terms=terms,
    )  # fmt: skip


def hours_covered(applied: Applied, commitment_id: int = 1) -> dict[int, Fraction]:
    """Of each use, which part of its hour a commitment covers."""
    found: dict[int, Fraction] = {}
    for part in applied.covered:
        if part.commitment_id == commitment_id:
            lasts = Fraction(part.end_ms - part.start_ms, HOUR_MS)
            found[part.node_id] = found.get(part.node_id, Fraction(0)) + lasts
    return found


def charged(applied: Applied, uses: list[CommitmentUse], paid: int) -> Fraction:
    """What the hour costs, in dollars: the commitments, and what is left on demand."""
    listed = sum(each.contracted_micros or 0 for each in uses)
    covered = sum(part.contracted_micros or 0 for part in applied.covered)
    return Fraction(paid + listed - covered, M)


WINDOWS = UseTerms(platform="windows", tenancy="dedicated")
COMPUTE = {
    "r5.4xlarge": 0.70,
    "m5.24xlarge windows dedicated": 8.20,
    "fargate-vcpu": 0.03,
    "fargate-gb": 0.003,
}


def aws_hour() -> list[CommitmentUse]:
    """The hour of the page: Fargate's vCPUs and GBs are counted as machines of a price each."""
    return [
        use(1, "r5.4xlarge", 1.00, count=4),
        use(2, "m5.24xlarge", 10.00, terms=WINDOWS),
        use(3, "fargate-vcpu", 0.04, count=400, region="us-west-1"),
        use(4, "fargate-gb", 0.004, count=1600, region="us-west-1"),
    ]


def test_aws_a_compute_savings_plan_goes_to_the_highest_saving_percentage_first() -> None:
    """Savings Plans User Guide, "Understanding how Savings Plans apply to your usage".

    4 r5.4xlarge (1.00, with the plan 0.70: 30 %), 400 vCPU and 1,600 GB of Fargate (25 %), one dedicated
    m5.24xlarge with Windows (10.00, 8.20: 18 %). A plan of 19.60 covers the first two and nothing of
    the third: 2.80 + 12.00 + 4.80.
    """
    uses = aws_hour()
    applied = apply([plan(19.60, COMPUTE)], uses)
    assert hours_covered(applied) == {1: 1, 3: 1, 4: 1}
    assert applied.unused[0].capacity == 0
    assert charged(applied, uses, round(19.60 * M)) == Fraction("29.60")


def test_aws_a_plan_that_is_large_enough_covers_a_dedicated_machine_with_windows_at_its_own_rate() -> (
    None
):
    """The same page: everything is covered where the commitment reaches, and the rest of it is lost."""
    applied = apply([plan(30.00, COMPUTE)], aws_hour())
    assert hours_covered(applied) == {1: 1, 2: 1, 3: 1, 4: 1}
    assert Fraction(applied.unused[0].capacity, M * HOUR_MS) == Fraction("2.20")


def test_aws_a_plan_without_a_rate_for_windows_leaves_it_on_demand() -> None:
    """Savings Plans rates are of an instance type, a platform and a tenancy; none is taken for another."""
    linux_alone = {"m5.24xlarge": 4.00}
    assert hours_covered(apply([plan(30.00, linux_alone)], aws_hour())) == {}


@pytest.mark.parametrize(("is_shared", "covered"), [(True, {1: 1, 2: 1}), (False, {1: 1})])
def test_aws_a_plan_covers_its_owner_first_and_others_where_sharing_is_on(
    is_shared: bool, covered: dict[int, int]
) -> None:
    """The same page: in a consolidated billing family the owner's usage comes first, then others'."""
    uses = [
        use(1, "r5.4xlarge", 0.80, terms=UseTerms(account="111")),
        use(2, "r5.4xlarge", 1.00, terms=UseTerms(account="222")),
    ]
    terms = CommitmentTerms(account="111", is_shared=is_shared)
    assert hours_covered(apply([plan(1.40, COMPUTE, terms=terms)], uses)) == covered
    # Though the other account would save more.
    assert hours_covered(apply([plan(0.70, COMPUTE, terms=terms)], uses)) == {1: 1}


def test_aws_an_ec2_instance_savings_plan_goes_before_a_compute_savings_plan() -> None:
    """The same page: the narrower kind goes first, whatever the wider one would save."""
    of_family = plan(1.00, {"r5.4xlarge": 0.90}, id_=2, region="us-east-1")
    uses = [use(1, "r5.4xlarge", 1.00)]
    applied = apply([plan(0.70, COMPUTE), of_family], uses)
    assert hours_covered(applied, 2) == {1: 1}
    assert hours_covered(applied, 1) == {}


@pytest.mark.parametrize(
    ("machine", "count", "part"),
    [("t2.small", 2, Fraction(1)), ("t2.large", 1, Fraction(1, 2))],
)
def test_aws_a_regional_reservation_of_a_t2_medium_covers_two_small_ones_or_half_a_large_one(
    machine: str, count: int, part: Fraction
) -> None:
    """ "Maximizing Utilization with Size Flexibility in Regional Reserved Instances", AWS whitepaper.

    A t2.medium counts 2, a t2.small 1, a t2.large 4.
    """
    uses = [use(number, machine, 0.05) for number in range(count)]
    covered = hours_covered(apply([reserved(1, "t2.medium")], uses))
    assert covered == dict.fromkeys(range(count), part)


@pytest.mark.parametrize(
    ("machine", "count"),
    [("c4.8xlarge", 1), ("c4.4xlarge", 2), ("c4.2xlarge", 4), ("c4.large", 16)],
)
def test_aws_a_regional_reservation_of_a_c4_8xlarge_covers_as_many_smaller_ones(
    machine: str, count: int
) -> None:
    """The same whitepaper: one 8xlarge, two 4xlarge, four 2xlarge, sixteen large."""
    uses = [use(number, machine, 0.1) for number in range(count + 1)]
    covered = hours_covered(apply([reserved(1, "c4.8xlarge")], uses))
    assert sum(covered.values()) == count


def test_aws_one_hour_of_an_m4_xlarge_is_covered_half_and_half_by_two_reservations_of_m4_large() -> (
    None
):
    """AWS Billing User Guide, "Region Reserved Instance Line Items": two lines of 0.5 hours."""
    applied = apply(
        [reserved(1, "m4.large", id_=1), reserved(1, "m4.large", id_=2)],
        [use(1, "m4.xlarge", 0.2)],
    )
    assert hours_covered(applied, 1) == hours_covered(applied, 2) == {1: Fraction(1, 2)}


def test_aws_a_zonal_reservation_of_two_covers_two_of_its_zone_size_platform_and_tenancy() -> None:
    """EC2 User Guide, "How zonal Reserved Instances are applied": two c4.xlarge of us-east-1a."""
    zonal = reserved(2, "c4.xlarge", region="us-east-1a")
    others = [
        use(1, "c4.2xlarge", 0.4),
        use(2, "c4.xlarge", 0.2, region="us-east-1b"),
        use(3, "c4.xlarge", 0.2, terms=UseTerms(platform="windows")),
        use(4, "c4.xlarge", 0.2, terms=UseTerms(tenancy="dedicated")),
        use(5, "c4.xlarge", 0.2, terms=UseTerms(capacity=Capacity.RESERVATION)),
    ]
    assert hours_covered(apply([zonal], others)) == {}
    mine = [use(number, "c4.xlarge", 0.2) for number in (6, 7, 8)]
    assert hours_covered(apply([zonal], [*others, *mine])) == {6: 1, 7: 1}


@pytest.mark.parametrize(
    "terms",
    [
        CommitmentTerms(has_platform=True, platform="windows"),
        CommitmentTerms(has_platform=True, platform="rhel"),
        CommitmentTerms(has_platform=True, tenancy="dedicated"),
    ],
)
def test_aws_only_linux_of_default_tenancy_is_flexible_in_size(terms: CommitmentTerms) -> None:
    """The same guide, "Limitations for instance size flexibility": others cover their own size alone."""
    like = UseTerms(platform=terms.platform, tenancy=terms.tenancy)
    small, own = use(1, "m4.large", 0.1, terms=like), use(2, "m4.xlarge", 0.2, terms=like)
    assert hours_covered(apply([reserved(1, "m4.xlarge", terms=terms)], [small, own])) == {2: 1}


def test_google_a_commitment_covers_no_spot_vm_and_others_of_its_project_or_billing_account() -> (
    None
):
    """Compute Engine, "Resource-based committed use discounts": one project, or all that share them."""
    uses = [
        use(1, "a2-highgpu-1g", 3.67, provider="gcp", region="us-central1-a",
            terms=UseTerms("spot", account="p-1")),
        use(2, "a2-highgpu-1g", 3.67, provider="gcp", region="us-central1-a",
            terms=UseTerms(account="p-2", platform="windows")),
    ]  # fmt: skip
    held = CommitmentOfHour(
        1, CommitmentKind.COMMITTED_USE,
        CommitmentScope(provider="gcp", region="us-central1", instance_type="a2-highgpu-1g"),
        paid_micros=2 * M, units=2, terms=CommitmentTerms(account="p-1", is_shared=False),
    )  # fmt: skip
    assert hours_covered(apply([held], uses)) == {}
    shared = CommitmentOfHour(
        1, held.kind, held.scope, 2 * M, units=2, terms=CommitmentTerms(account="p-1")
    )
    # What a machine runs matters nothing: licences are committed to apart.
    assert hours_covered(apply([shared], uses)) == {2: 1}


def test_google_a_flexible_commitment_of_seventy_covers_a_hundred_on_demand() -> None:
    """Cloud Billing, "Choose the correct amount of CUD to buy": 100 on demand, 30 % off, commits 70."""
    uses = [use(1, "n2-standard-8", 100, provider="gcp", region="europe-west4-a")]
    applied = apply([plan(70, {"n2-standard-8": 70}, provider="gcp")], uses)
    assert hours_covered(applied) == {1: 1}
    assert charged(applied, uses, 70 * M) == 70
    assert applied.unused[0].capacity == 0


@pytest.mark.parametrize(
    ("machines", "covered"),
    [
        (["Standard_DS1_v2"] * 8, dict.fromkeys(range(8), Fraction(1))),
        (
            ["Standard_DS2_v2", "Standard_DS2_v2", "Standard_DS3_v2"],
            dict.fromkeys(range(3), Fraction(1)),
        ),
        (["Standard_DS5_v2"], {0: Fraction(1, 2)}),
    ],
)
def test_azure_a_reservation_of_a_ds4_v2_covers_a_footprint_of_eight(
    machines: list[str], covered: dict[int, Fraction]
) -> None:
    """ "Virtual machine size flexibility with Reserved VM Instances", scenarios 1 to 3.

    A DS4_v2 counts 8: eight DS1_v2 of 1; two DS2_v2 of 2 with a DS3_v2 of 4; half of a DS5_v2 of 16.
    """
    uses = [
        use(number, machine, 0.1, provider="azure", region="westus")
        for number, machine in enumerate(machines)
    ]
    held = reserved(
        1, "Standard_DS4_v2", provider="azure", region="westus", terms=CommitmentTerms()
    )
    assert hours_covered(apply([held], uses)) == covered
    # Sizes of another group are not of it.
    high_memory = [use(1, "Standard_DS11_v2", 0.1, provider="azure", region="westus")]
    assert hours_covered(apply([held], high_memory)) == {}


def test_azure_a_reservation_goes_before_a_savings_plan_even_where_the_plan_saves_most() -> None:
    """ "How a savings plan discount is applied", "Savings plans and VM reserved instances"."""
    uses = [use(1, "Standard_DS4_v2", 1.0, provider="azure", region="westus")]
    held = reserved(
        1, "Standard_DS4_v2", id_=2, provider="azure", region="westus", terms=CommitmentTerms()
    )
    applied = apply([plan(0.2, {"Standard_DS4_v2": 0.2}, provider="azure"), held], uses)
    assert hours_covered(applied, 2) == {1: 1}
    assert hours_covered(applied, 1) == {}


def test_azure_a_savings_plan_goes_to_the_highest_discount_first_and_what_is_left_is_paid_as_before() -> (
    None
):
    """ "Azure savings plan for compute: How the benefit is applied", its three machines.

    Three B20ms (0.832 an hour, negotiated 0.790), five A8m v2 (0.475, 0.451), four DC32as v5 (1.514,
    1.438); the discounts of the plan here are 20, 10 and 30 % of what is paid. Discounts count against
    the negotiated price.
    """
    paid = {
        "B20ms": (3, 0.790, 0.632),
        "A8m v2": (5, 0.451, 0.4059),
        "DC32as v5": (4, 1.438, 1.0066),
    }
    uses = [
        use(number, machine, price, count=count, provider="azure", region="westus")
        for number, (machine, (count, price, _)) in enumerate(paid.items())
    ]
    prices = {machine: planned for machine, (_, _, planned) in paid.items()}
    spend = 4 * 1.0066 + 3 * 0.632 / 2
    applied = apply([plan(spend, prices, provider="azure")], uses)
    covered = hours_covered(applied)
    assert {node: round(part, 4) for node, part in covered.items()} == {
        0: Fraction(1, 2), 2: 1,
    }  # fmt: skip
    left = Fraction(3 * 790, 2000) + Fraction(5 * 451, 1000)
    assert charged(applied, uses, round(spend * M)) == pytest.approx(spend + float(left), abs=1e-5)


@pytest.mark.parametrize(
    ("account", "is_shared", "covered"),
    [
        ("", True, {1, 2, 3}),
        ("sub-1", False, {1, 2}),
        ("sub-1/train", False, {1}),
    ],
)
def test_azure_a_scope_is_all_subscriptions_one_or_a_resource_group(
    account: str, is_shared: bool, covered: set[int]
) -> None:
    """ "How a reservation discount is applied": the scope names where matching machines run."""
    places = ("sub-1/train", "sub-1/web", "sub-2/train")
    uses = [
        use(number, "Standard_DS4_v2", 1.0, provider="azure", region="westus",
            terms=UseTerms(account=place))
        for number, place in enumerate(places, 1)
    ]  # fmt: skip
    terms = CommitmentTerms(account=account, is_shared=is_shared)
    held = reserved(3, "Standard_DS4_v2", provider="azure", region="westus", terms=terms)
    assert set(hours_covered(apply([held], uses))) == covered
