"""Commitments cover by platform, tenancy, account and reservation of nodes, whoever tells them."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.fleet import actions as fleet
from apps.fleet.queries import NodeTermsFact, node_terms
from apps.ledger.actions.reconcile import bills_due, reconcile_bill
from apps.ledger.models import ChargePiece
from apps.ledger.queries.commitments import commitment_use
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.providers.reading import ObservedMachine
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.bill_files import deliver, hour_row

pytestmark = pytest.mark.django_db
HOUR, TEN = scene.HOUR, scene.TEN


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def reserve(**given: Any) -> int:
    """One p5.48xlarge of us-east-1, for an hour at 40."""
    return scene.make_commitment(
        **{
            "provider": "aws", "region": "us-east-1", "instance_type": "p5.48xlarge",
            "period": (TEN, TEN + HOUR),
        }
        | given
    )  # fmt: skip


def settle_anew() -> None:
    scene.settle(ends_at=TEN + HOUR)


def covered() -> set[int | None]:
    """The nodes that a commitment covers."""
    found = ChargePiece.objects.filter(commitment_id__isnull=False)
    return set(found.values_list("charge__node_id", flat=True))


def test_a_node_with_windows_is_left_by_a_reservation_of_linux_and_its_coverage_knows() -> None:
    node_id = scene.make_priced_node("gpu-01")
    one = reserve()
    scene.settle_all()
    assert covered() == {node_id}

    fleet.correct_node_terms(node_id=node_id, platform="Windows", at=scene.LATER)
    settle_anew()
    assert covered() == set()
    figures = commitment_use((TEN, TEN + HOUR), scene.LATER).figures(one)
    assert (figures.eligible, figures.used, figures.unused_cost) == (0, 0, 40_000_000)

    fleet.correct_node_terms(node_id=node_id, platform="", at=scene.LATER)
    settle_anew()
    assert covered() == {node_id}


@pytest.mark.parametrize(("is_shared", "expected"), [(True, 2), (False, 1)])
def test_an_account_that_does_not_share_covers_its_own_nodes_alone(
    is_shared: bool, expected: int
) -> None:
    pool_id = make.make_pool("h100")
    ours = scene.make_priced_node("gpu-01", pool_id=pool_id)
    theirs = make.make_node("gpu-02", pool_id=pool_id, started_at=TEN, at=scene.LATER)
    told = {ours: NodeTermsFact(account="111"), theirs: NodeTermsFact(account="222")}
    fleet.record_node_terms(reported_terms=told, told_by="cloud", at=scene.LATER)
    reserve(units=2, account="111", is_shared=is_shared)
    scene.settle_all()
    assert len(covered()) == expected
    assert ours in covered()


def test_a_node_in_a_block_is_covered_by_its_block_alone() -> None:
    pool_id = make.make_pool("h100")
    inside = scene.make_priced_node("gpu-01", pool_id=pool_id)
    beside = make.make_node("gpu-02", pool_id=pool_id, started_at=TEN, at=scene.LATER)
    block = "arn:aws:ec2:us-east-1:1:capacity-reservation/cr-0123456789abcdef0"
    told = {
        inside: NodeTermsFact(reservation=block),
        beside: NodeTermsFact(reservation="cr-0fedcba9876543210"),
    }
    fleet.record_node_terms(reported_terms=told, told_by="cloud", at=scene.LATER)
    held = reserve(kind="capacity_block", external_id=block, units=2)
    plan = reserve(
        kind="savings_plan", units=0, spend=Decimal(200), hourly=Decimal(200),
        prices={"p5.48xlarge": "60"}, region="", instance_type="",
    )  # fmt: skip
    scene.settle_all()
    of = dict(
        ChargePiece.objects.filter(commitment_id__isnull=False).values_list(
            "charge__node_id", "commitment_id"
        )
    )
    assert of == {inside: held, beside: plan}


def test_a_person_is_believed_before_a_cloud_and_that_before_a_bill_fact_by_fact() -> None:
    node_id = scene.make_priced_node("gpu-01")
    for by, terms in (
        ("bill", NodeTermsFact("windows", "dedicated", "111", "cr-0")),
        ("cloud", NodeTermsFact(platform="RHEL", account="222")),
        ("person", NodeTermsFact(account="333")),
    ):
        fleet.record_node_terms(reported_terms={node_id: terms}, told_by=by, at=scene.LATER)
    assert node_terms([node_id]) == {node_id: NodeTermsFact("rhel", "dedicated", "333", "cr-0")}
    with pytest.raises(fleet.TermsNotUnderstood, match="platform: 'beos' is none of"):
        fleet.correct_node_terms(node_id=node_id, platform="beos", at=scene.LATER)


def marked_hours() -> list[int]:
    """The hours since TEN that are to be charged again."""
    rows = ChangedHour.objects.filter(pass_id=Pass.CHARGE).order_by("hour")
    return [int((row.hour - TEN) / HOUR) for row in rows]


def test_what_is_told_is_charged_again_only_where_something_was_bought_ahead() -> None:
    """A closed month without a commitment waits for corrections of nothing otherwise."""
    node_id = scene.make_priced_node("gpu-01")
    scene.settle_all()
    assert marked_hours() == []

    fleet.correct_node_terms(node_id=node_id, platform="Windows", at=TEN + 5 * HOUR)
    assert marked_hours() == []

    reserve(period=(TEN + HOUR, TEN + 3 * HOUR))
    ChangedHour.objects.all().delete()
    fleet.correct_node_terms(node_id=node_id, platform="SUSE", at=TEN + 5 * HOUR)
    assert marked_hours() == [1, 2]


def test_a_cloud_tells_them_of_the_machines_that_are_nodes() -> None:
    node_id = scene.make_priced_node("gpu-01", provider_id="aws:///us-east-1a/i-0123456789abcdef0")
    make.make_node("gpu-02", started_at=TEN, at=scene.LATER)
    machine = ObservedMachine(
        external_id="i-0123456789abcdef0", name="a", names=("i-0123456789abcdef0",),
        region="us-east-1", zone="us-east-1a", instance_type="p5.48xlarge",
        purchase_option="on_demand", cpus=None, launched_at=None,
        platform="Red Hat Enterprise Linux", tenancy="default", account="111",
        reservation="cr-0123456789abcdef0",
    )  # fmt: skip
    fleet.record_machine_terms(provider="aws", machines=[machine], at=scene.LATER)
    assert node_terms() == {
        node_id: NodeTermsFact("rhel", "default", "111", "cr-0123456789abcdef0")
    }
    # The same again is nothing new.
    told = {node_id: NodeTermsFact("rhel", "default", "111", "cr-0123456789abcdef0")}
    assert fleet.record_node_terms(reported_terms=told, told_by="cloud", at=scene.LATER) == 0


def test_a_bill_tells_account_and_reservation_of_the_nodes_that_it_matched(tmp_path: Path) -> None:
    node_id = scene.make_priced_node("gpu-01", provider_id="i-01")
    in_march = {
        "BillingPeriodStart": "2026-03-01T00:00:00Z", "BillingPeriodEnd": "2026-04-01T00:00:00Z",
        "ChargePeriodStart": "2026-03-02T10:00:00Z", "ChargePeriodEnd": "2026-03-02T11:00:00Z",
        "SubAccountId": "222", "CapacityReservationId": "cr-0123456789abcdef0",
        "x_Operation": "RunInstances:0002",
    }  # fmt: skip
    deliver(tmp_path, hour_row("40", **in_march, ResourceId="i-01"))
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=scene.LATER)
    assert node_terms() == {node_id: NodeTermsFact("windows", "", "222", "cr-0123456789abcdef0")}


@pytest.mark.parametrize(
    "product",
    [
        '{"tenancy":"Dedicated","operating_system":"Windows","region":"us-east-1"}',
        '[["tenancy", "Dedicated"], ["operating_system", "Windows"]]',
    ],
)
def test_a_second_report_tells_tenancy_and_platform_in_its_map(
    tmp_path: Path, product: str
) -> None:
    node_id = scene.make_priced_node("gpu-01", provider_id="i-01")
    hour = {
        "bill_payer_account_id": "222", "bill_billing_period_start_date": "2026-03-01T00:00:00Z",
        "bill_billing_period_end_date": "2026-04-01T00:00:00Z", "line_item_currency_code": "USD",
        "line_item_line_item_type": "Usage", "line_item_product_code": "AmazonEC2",
        "line_item_usage_start_date": "2026-03-02T10:00:00Z", "line_item_resource_id": "i-01",
        "line_item_usage_end_date": "2026-03-02T11:00:00Z", "line_item_unblended_cost": "40",
        "line_item_usage_type": "BoxUsage:p5.48xlarge", "pricing_unit": "Hrs", "product": product,
    }  # fmt: skip
    deliver(tmp_path, hour)
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=scene.LATER)
    assert node_terms() == {node_id: NodeTermsFact("windows", "dedicated", "", "")}


def test_the_command_says_them_and_a_commitment_holds_to_the_second() -> None:
    node_id = scene.make_priced_node("gpu-01")
    call_command("correct_node", "gpu-01", "--platform", "Linux/UNIX", "--account", "sub-1/train")
    assert node_terms() == {node_id: NodeTermsFact("linux", "", "sub-1/train")}
    with pytest.raises(CommandError, match="say --provider-id or one of --platform"):
        call_command("correct_node", "gpu-01")
    begins = TEN + timedelta(minutes=20, seconds=30)
    one = reserve(period=(begins, TEN + HOUR))
    scene.settle_all()
    figures = commitment_use((TEN, TEN + HOUR), scene.LATER).figures(one)
    lasts_ms = (TEN + HOUR - begins) // timedelta(milliseconds=1)
    assert (figures.bought, figures.used) == (lasts_ms, lasts_ms)
