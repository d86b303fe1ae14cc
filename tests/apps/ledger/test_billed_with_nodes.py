"""Traffic, licences, discounts and fees that name a node are carried like its time."""

from pathlib import Path

import pytest
from django.db.models import Sum

from apps.fleet import actions as fleet
from apps.fleet.models import Node
from apps.ledger.actions.bills import undo_delivery
from apps.ledger.actions.reconcile import bills_due, reconcile_bill
from apps.ledger.models import BilledCharge, BillImport, Charge, LedgerDay, Line
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.bill_files import deliver, hour_row

pytestmark = pytest.mark.django_db
TEN = scene.TEN
IN_MARCH = {
    "BillingPeriodStart": "2026-03-01T00:00:00Z",
    "BillingPeriodEnd": "2026-04-01T00:00:00Z",
    "ChargePeriodStart": "2026-03-02T10:00:00Z",
    "ChargePeriodEnd": "2026-03-02T11:00:00Z",
    "ResourceId": "i-01",
    "SkuMeter": "",
    "ChargeDescription": "",
}
COMPUTE = hour_row("80", **IN_MARCH)
TRAFFIC = hour_row("4", **IN_MARCH | {"SkuMeter": "DataTransfer-Out-Bytes", "PricingUnit": "GB"})
LICENCE = hour_row("2", **IN_MARCH | {"ChargeDescription": "RHEL licence"})
DISCOUNT = hour_row("-8", **IN_MARCH | {"ChargeCategory": "Credit"})
# A marketplace's fee for two hours, of which the node lived both.
FEE = hour_row("6", **IN_MARCH | {"ChargeCategory": "Purchase", "SkuMeter": "marketplace AMI"})
FEE |= {"ChargePeriodEnd": "2026-03-02T12:00:00Z", "PricingUnit": "Unit"}


@pytest.fixture(scope="module")
def research(of_module: None) -> int:
    """Holds six of the node's eight GPUs from 10:00 to 11:00; nobody holds the others."""
    make.make_organisation()
    node_id = scene.make_priced_node("gpu-01", provider_id="i-01")
    fleet.end_node(node_id=node_id, ended_at=TEN + 2 * scene.HOUR, reason="done", at=scene.LATER)
    team_id = make.make_team("research")
    scene.make_rule("research", team_id)
    scene.make_job("1", node_id, gpus=6)
    return team_id


def reconcile() -> None:
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=scene.LATER)
    scene.settle_all()


def carried(kind: str) -> dict[int, int]:
    """Effective and billed micro-units of a kind of charge, by team; they are the same here."""
    lines = Line.objects.filter(charge__kind=kind).values("team_id")
    sums = lines.annotate(effective=Sum("effective_micros"), billed=Sum("billed_micros"))
    assert all(row["effective"] == row["billed"] for row in sums)
    return {row["team_id"]: row["effective"] for row in sums}


def test_whoever_held_the_node_carries_what_is_billed_with_it(
    tmp_path: Path, research: int
) -> None:
    platform = scene.platform()
    deliver(tmp_path, COMPUTE, TRAFFIC, LICENCE, DISCOUNT, FEE)
    reconcile()
    # Six of eight GPUs in the first hour; of the fee's second hour all is nobody's. A fee of no
    # commitment pays for its own time: it is a service.
    assert carried("service") == {
        research: 4_500_000 + 2_250_000,
        platform: 1_500_000 + 3_750_000,
    }
    assert carried("credit") == {research: -6_000_000, platform: -2_000_000}
    # Its time costs what the bill says of that alone, and no line beside it has time.
    node_hour = Charge.objects.get(kind="node_hour", hour=TEN)
    assert (node_hour.effective_micros, node_hour.status) == (80_000_000, "reconciled")
    beside = Line.objects.filter(charge__kind__in=["service", "credit"])
    assert set(beside.values_list("unit_milliseconds", flat=True)) == {0}
    days = LedgerDay.objects.filter(kind="service").values_list("team_id")
    assert dict(days.annotate(Sum("effective_micros"))) == carried("service")
    assert audit_here().places == ()
    BilledCharge.objects.filter(kind="credit").update(node=None)
    assert {place.check for place in audit_here().places} == {
        "billed rows of no node are charged as billed"
    }


def test_taken_back_nothing_of_it_stays(tmp_path: Path, research: int) -> None:
    deliver(tmp_path, COMPUTE, TRAFFIC)
    reconcile()
    assert carried("service")
    undo_delivery(import_id=BillImport.objects.get().id, at=scene.LATER)
    reconcile()
    assert not Line.objects.filter(charge__kind="service").exists()
    assert Charge.objects.get(kind="node_hour", hour=TEN).effective_micros == 98_320_000
    assert audit_here().places == ()


def test_a_node_that_did_not_live_then_carries_nothing(tmp_path: Path, research: int) -> None:
    later = {"ChargePeriodStart": "2026-03-02T14:00:00Z", "ChargePeriodEnd": "2026-03-02T15:00:00Z"}
    deliver(
        tmp_path,
        COMPUTE,
        TRAFFIC | later,
        FEE | {**later, "ChargePeriodEnd": "2026-03-02T16:00:00Z"},
    )
    reconcile()
    assert carried("service") == {scene.platform(): 4_000_000 + 6_000_000}
    assert not BilledCharge.objects.exclude(node=None).exists()


def test_a_node_that_is_found_to_have_ended_before_gives_it_back(
    tmp_path: Path, research: int
) -> None:
    late = {"ChargePeriodStart": "2026-03-02T11:00:00Z", "ChargePeriodEnd": "2026-03-02T12:00:00Z"}
    deliver(tmp_path, TRAFFIC | late)
    reconcile()
    line = Line.objects.get(charge__kind="service")
    assert (line.team_id, line.state is None) == (scene.platform(), False)
    Node.objects.update(period=(TEN, TEN + scene.HOUR))
    scene.recharge(TEN + scene.HOUR)
    scene.settle_all()
    line = Line.objects.get(charge__kind="service")
    assert (line.team_id, line.state) == (scene.platform(), None)
    assert line.effective_micros == 4_000_000
