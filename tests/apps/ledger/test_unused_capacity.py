"""Capacity that was reserved and that nobody ran in is no node's, and Spot is covered by nothing."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from apps.ledger.models import BilledHour, Charge, Status
from tests import make
from tests.apps.ledger import bill_files, scene
from tests.apps.ledger.bill_files import deliver, hour_row, take
from tests.apps.ledger.scene import HOUR, LATER, TEN
from tests.economics.test_focus_cur import LEGACY

pytestmark = pytest.mark.django_db
THEN = datetime(2026, 7, 3, 10, tzinfo=UTC)
AT = THEN + timedelta(days=40)


@pytest.fixture(autouse=True)
def node_id() -> int:
    make.make_organisation()
    pool_id = make.make_pool("p5")
    node = scene.fleet.NewNode("gpu-01", pool_id, THEN, 8, None, ended_at=THEN + HOUR)
    node_id = scene.fleet.add_node(node=node, at=AT)
    scene.make_rate(pool_id, Decimal(60))
    return node_id


def costs() -> list[tuple[str, int]]:
    scene.settle_all(AT)
    return sorted(
        Charge.objects.filter(hour__gte=THEN - timedelta(days=1)).values_list(
            "kind", "effective_micros"
        )
    )


def test_an_unused_reservation_of_focus_is_a_charge_of_its_own(tmp_path: Path) -> None:
    used = hour_row(
        "60", ResourceId="gpu-01", CapacityReservationStatus="Used", SkuMeter="BoxUsage:p5.48xlarge"
    )
    unused = hour_row(
        "60", ResourceId="", CapacityReservationStatus="Unused", SkuMeter="BoxUsage:p5.48xlarge"
    )
    deliver(tmp_path, used, unused)
    assert costs() == [("node_hour", 60_000_000), ("service", 60_000_000)]


def test_an_unused_box_of_awss_own_report_is_too_and_bills_no_node(tmp_path: Path) -> None:
    unused = LEGACY | {
        "lineItem/UsageType": "UnusedBox:p5.48xlarge",
        "lineItem/ResourceId": "arn:aws:ec2:us-east-1:1234:capacity-reservation/cr-0abc",
        "lineItem/UnblendedCost": "60",
    }
    take(bill_files.write(tmp_path / "cur.csv", [unused]))
    assert costs() == [("node_hour", 60_000_000), ("service", 60_000_000)]
    assert not BilledHour.objects.exists()
    assert Charge.objects.get(kind="node_hour").status == Status.ESTIMATED
    assert Charge.objects.get(kind="service").reason.startswith("capacity that was reserved")


def test_a_commitment_on_gpus_leaves_the_spot_machine_at_its_price() -> None:
    pool_id = make.make_pool(
        "spot", provider="gcp", region="us-central1", instance_type="a3", purchase_option="spot"
    )
    scene.make_rate(pool_id, Decimal(60), purchase_option="spot")
    spot = make.make_node("s-1", pool_id=pool_id, started_at=TEN, at=LATER)
    scene.fleet.end_node(node_id=spot, ended_at=TEN + HOUR, reason="gone", at=LATER)
    scene.make_commitment(kind="committed_use", provider="gcp", units=8, unit="gpu")
    scene.settle_all()
    charges = Charge.objects.filter(hour=TEN).values_list("kind", "effective_micros")
    assert sorted(charges) == [("commitment_unused", 40_000_000), ("node_hour", 60_000_000)]
