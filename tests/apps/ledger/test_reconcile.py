"""Bills against node-hours: what was billed wins, nothing is dropped, and every cent is in the ledger."""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Sum
from django.urls import reverse

from apps.ledger.actions.bills import DeliveryRefused, undo_delivery
from apps.ledger.actions.exchanging import state_rate
from apps.ledger.actions.reconcile import bills_due, reconcile_bill, reconcile_waiting
from apps.ledger.models import (
    Bill,
    BilledCharge,
    BilledHour,
    BillRow,
    BillRule,
    Charge,
    Line,
    Settlement,
    Status,
)
from apps.ledger.queries.bills.comparing import Variance, unbilled_nodes, variance_of
from apps.ledger.queries.conversion import RateOfExchangeMissing
from apps.pricing.actions import NewExchangeRate
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.ledger import bill_files, scene
from tests.apps.ledger.bill_files import take_file
from tests.apps.ledger.scene import LATER, TEN

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
MARCH, APRIL = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
COLUMNS = (
    "BilledCost", "EffectiveCost", "ContractedCost", "ListCost", "BillingAccountId",
    "BillingCurrency", "BillingPeriodStart", "BillingPeriodEnd", "ChargeCategory",
    "ChargePeriodStart", "ChargePeriodEnd", "InvoiceIssuerName", "ServiceProviderName",
    "ServiceCategory", "ServiceName", "ResourceId", "PricingUnit", "ConsumedQuantity",
    "ConsumedUnit", "Tags",
)  # fmt: skip


def row(cost: str, hour: datetime = TEN, length: timedelta = HOUR, **given: str) -> dict[str, str]:
    """An hour of a machine, as a provider bills it."""
    return {
        "BilledCost": cost,
        "EffectiveCost": cost,
        "ContractedCost": cost,
        "ListCost": cost,
        "BillingAccountId": "1234",
        "BillingCurrency": "USD",
        "BillingPeriodStart": MARCH.isoformat(),
        "BillingPeriodEnd": APRIL.isoformat(),
        "ChargeCategory": "Usage",
        "ChargePeriodStart": hour.isoformat(),
        "ChargePeriodEnd": (hour + length).isoformat(),
        "InvoiceIssuerName": "A Cloud",
        "ServiceProviderName": "A Cloud",
        "ServiceCategory": "Compute",
        "ServiceName": "Machines",
        "ResourceId": "i-01",
        "PricingUnit": "Hours",
        "ConsumedQuantity": "1",
        "ConsumedUnit": "Hours",
        "Tags": "{}",
    } | given


def deliver(tmp_path: Path, rows: Sequence[dict[str, str]], at: datetime = LATER) -> int:
    """Take in a file of these rows and reconcile what it changed; the import's id."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    path = tmp_path / "bill.csv"
    path.write_text(out.getvalue())
    taken = take_file(path, clock=lambda: at)
    reconcile(at)
    return taken.import_id


def reconcile(at: datetime = LATER) -> None:
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=at)
    scene.settle_all()


@pytest.fixture(scope="module", autouse=True)
def node_id(of_module: None) -> int:
    """gpu-01 (i-01 at its provider) of eight GPUs, charged for the hour from ten; half is held."""
    make.make_organisation()
    pool_id = make.make_pool("h100")
    scene.make_rate(pool_id)
    node_id = make.make_node(
        "gpu-01", pool_id=pool_id, provider_id="i-01", started_at=TEN, at=LATER
    )
    gpus = scene.make_gpus(node_id)
    scene.make_job("1", node_id, gpus=4, uuids=gpus[:4], from_=TEN, to=TEN + HOUR)
    scene.settle_all()
    return node_id


def assert_conserved() -> None:
    """Lines sum to their charge on every basis; one that is not known is known nowhere."""
    for charge in Charge.objects.all():
        lines = list(Line.objects.filter(charge=charge))
        for basis in ("list_micros", "contracted_micros", "effective_micros", "billed_micros"):
            amounts = [getattr(line, basis) for line in lines]
            whole = getattr(charge, basis)
            assert (whole is None) == (set(amounts) == {None}), (charge, basis)
            assert whole is None or sum(amounts) == whole, (charge, basis)


def in_the_ledger() -> Decimal:
    """All that lines say was billed."""
    return Decimal(Line.objects.aggregate(Sum("billed_micros"))["billed_micros__sum"] or 0) / 10**6


def test_what_was_billed_takes_the_place_of_the_estimate(node_id: int, tmp_path: Path) -> None:
    estimate = scene.charge(node_id).effective_micros
    deliver(tmp_path, [row("61.123456789", ListCost="98", ContractedCost="70")])
    charge = scene.charge(node_id)
    assert charge.status == Status.RECONCILED
    assert charge.effective_micros == charge.billed_micros == 61_123_457
    assert (charge.list_micros, charge.contracted_micros) == (98_000_000, 70_000_000)
    assert charge.estimated_micros == estimate
    sums = Line.objects.filter(charge=charge).aggregate(
        Sum("effective_micros"), Sum("billed_micros")
    )
    assert set(sums.values()) == {61_123_457}
    (bill,) = Bill.objects.all()
    assert bill.residual == Decimal("-0.000000211")
    assert_conserved()


def test_a_nodes_time_takes_the_place_of_the_estimate_however_it_is_spelt(
    node_id: int, tmp_path: Path
) -> None:
    """Rows of one node's hour that sum to ten: beside the estimate they would count twice."""
    untold = {"PricingUnit": "", "ConsumedUnit": ""}
    spelt = [
        row("4", PricingUnit="GPU_HOURS", ConsumedUnit="GPU_HOURS"),
        row("3", **untold),
        row("2", ServiceCategory="Virtual Machines"),
        row("1", **untold, ServiceCategory=""),
    ]
    deliver(tmp_path, [*spelt, row("0.5", ServiceCategory="", PricingUnit="GB")])
    charge = Charge.objects.get(kind="node_hour", hour=TEN)
    assert (charge.node_id, charge.status) == (node_id, Status.RECONCILED)
    assert charge.effective_micros == 10_000_000
    beside = Charge.objects.exclude(kind="node_hour").values_list("kind", "effective_micros")
    assert list(beside) == [("service", 500_000)]


def test_reconciling_again_changes_nothing(node_id: int, tmp_path: Path) -> None:
    deliver(tmp_path, [row("61")])
    before = list(Settlement.objects.order_by("id").values())
    Bill.objects.update(reconciled_at=None)
    for bill_id in bills_due():
        assert reconcile_bill(bill_id=bill_id, at=LATER).hours_changed == 0
    scene.settle_all()
    assert list(Settlement.objects.order_by("id").values()) == before


def test_no_row_is_dropped(node_id: int, tmp_path: Path) -> None:
    rows = [
        row("61"),
        row("3.50", ResourceId="i-unknown"),
        row("1.25", ServiceCategory="Storage", PricingUnit="GB-Months"),
        row("0.75", ServiceCategory="Networking", PricingUnit="GB"),
        row("-2", ChargeCategory="Credit"),
        row("9.99", ChargeCategory="Tax"),
        row("4", hour=TEN - 3 * HOUR),
    ]
    deliver(tmp_path, rows)
    assert in_the_ledger() == sum(Decimal(each["BilledCost"]) for each in rows)
    kinds = Charge.objects.exclude(kind="node_hour").values_list("kind", "effective_micros")
    assert sorted(kinds) == [
        ("credit", -2_000_000),
        ("service", 750_000),
        ("service", 1_250_000),
        ("tax", 9_990_000),
        ("unmatched", 3_500_000),
        ("unmatched", 4_000_000),
    ]
    # What names the node is carried like its time, of which a job of nobody's held a half.
    lines = Line.objects.exclude(charge__kind="node_hour").order_by("charge__kind", "team_id")
    carried: dict[str, set[int]] = {}
    for kind, team_id in lines.values_list("charge__kind", "team_id"):
        carried.setdefault(kind, set()).add(team_id)
    both = {scene.platform(), scene.unowned()}
    assert carried == {
        "credit": both,
        "service": both,
        "tax": both,
        "unmatched": {scene.platform()},
    }
    assert {each.reason for each in BilledCharge.objects.filter(kind="unmatched")} == {
        "no node has this resource id",
        "its node was not on record then",
    }
    assert_conserved()


def test_a_row_longer_than_an_hour_reaches_over_the_hours_by_their_estimate(
    node_id: int, tmp_path: Path
) -> None:
    scene.settle(TEN + 4 * HOUR, starts_at=TEN, ends_at=TEN + 4 * HOUR)
    deliver(tmp_path, [row("10", length=timedelta(days=1))])
    hours = BilledHour.objects.order_by("hour").values_list("billed_micros", flat=True)
    assert max(hours) - min(hours) <= 1
    (bill,) = Bill.objects.all()
    assert abs(bill.residual) < Decimal("0.000024")
    assert in_the_ledger() + bill.residual == 10


def test_undoing_a_delivery_brings_the_estimate_back(node_id: int, tmp_path: Path) -> None:
    before = scene.charge(node_id).effective_micros
    import_id = deliver(tmp_path, [row("61"), row("3", ResourceId="i-unknown")])
    undo_delivery(import_id=import_id, at=LATER + HOUR)
    reconcile(LATER + HOUR)
    charge = scene.charge(node_id)
    assert (charge.status, charge.effective_micros) == (Status.ESTIMATED, before)
    assert charge.billed_micros is None
    assert not Charge.objects.exclude(kind="node_hour").exists()
    assert_conserved()


def test_a_corrected_delivery_restates(node_id: int, tmp_path: Path) -> None:
    deliver(tmp_path, [row("61")])
    deliver(tmp_path, [row("60")], at=LATER + HOUR)
    charge = scene.charge(node_id)
    assert (charge.status, charge.effective_micros) == (Status.RESTATED, 60_000_000)


def test_the_causes_of_a_difference_add_up(node_id: int, tmp_path: Path) -> None:
    scene.settle(TEN + 4 * HOUR, starts_at=TEN, ends_at=TEN + 4 * HOUR)
    deliver(
        tmp_path,
        [
            row("61", ConsumedQuantity="0.75"),
            row("98.32", hour=TEN + HOUR),
            row("3", ResourceId="i-unknown"),
            row("9.99", ChargeCategory="Tax"),
        ],
    )
    (bill,) = Bill.objects.all()
    # It came before its month was over: later hours are not billed yet, and not missing.
    so_far = variance_of(bill.id)
    assert_causes_add_up(so_far)
    assert (so_far.quantity_micros, so_far.price_micros) == (-24_580_000, -12_740_000)
    assert (so_far.missing_micros, so_far.unbilled) == (0, ())
    assert so_far.billed_until == TEN + 2 * HOUR
    Bill.objects.update(changed_at=bill.ends_at)
    whole = variance_of(bill.id)
    assert_causes_add_up(whole)
    assert whole.missing_micros < 0
    assert whole.billed_until is None
    assert [each.node_name for each in unbilled_nodes(bill)] == ["gpu-01"]


def assert_causes_add_up(found: Variance) -> None:
    causes = (
        found.price_micros,
        found.quantity_micros,
        found.missing_micros,
        found.unmatched_micros,
        found.shared_micros,
    )
    assert sum(causes) == found.billed_micros - found.estimated_micros


AZURE = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/gpu-01"


@pytest.mark.parametrize("tags", ["{}", '{"Name": "gpu-01"}'])
def test_a_machine_of_another_cloud_that_bears_a_nodes_name_is_not_the_node(
    node_id: int, tmp_path: Path, tags: str
) -> None:
    estimate = scene.charge(node_id).effective_micros
    deliver(tmp_path, [row("50", ResourceId=AZURE, Tags=tags)])
    charge = scene.charge(node_id)
    assert (charge.effective_micros, charge.status) == (estimate, Status.ESTIMATED)
    assert BilledCharge.objects.get().billed_micros == 50_000_000


def test_a_bill_that_rounded_its_effective_cost_leaves_the_estimate(
    node_id: int, tmp_path: Path
) -> None:
    estimate = scene.charge(node_id).effective_micros
    noise = [row("0.25", ResourceId=f"i-{n}", EffectiveCost="0") for n in range(3)]
    deliver(tmp_path, [row("61.5", EffectiveCost="62"), *noise])
    charge = scene.charge(node_id)
    assert (charge.effective_micros, charge.billed_micros) == (estimate, 61_500_000)
    assert charge.status == Status.ESTIMATED
    assert in_the_ledger() == Decimal("62.25")


def test_a_bill_in_another_currency_waits_for_a_rate_and_is_provisional_until_it_is_stated(
    node_id: int, tmp_path: Path
) -> None:
    with pytest.raises(RateOfExchangeMissing, match="EUR to USD"):
        deliver(tmp_path, [row("50", BillingCurrency="EUR")])
    euros = NewExchangeRate(date(2026, 2, 1), "EUR", "USD", Decimal("1.1"))
    assert state_rate(rate=euros, at=LATER) == 1
    reconcile()
    charge = scene.charge(node_id)
    assert (charge.effective_micros, charge.status) == (55_000_000, Status.PROVISIONAL)
    assert state_rate(rate=replace(euros, month=date(2026, 3, 1), rate=Decimal("1.2")), at=LATER)
    reconcile()
    charge = scene.charge(node_id)
    assert (charge.effective_micros, charge.status) == (60_000_000, Status.RECONCILED)
    assert_conserved()


def test_a_bill_of_more_than_the_ledger_keeps_is_refused(node_id: int, tmp_path: Path) -> None:
    huge = [row("999999999999", ResourceId=f"i-{each}") for each in range(2)]
    with pytest.raises(DeliveryRefused, match="its rows come to 1,999,999,999,998 USD"):
        take_file(bill_files.write(tmp_path / "huge.csv", huge), clock=lambda: LATER)
    assert not BillRow.objects.exists()


def test_bills_that_come_to_more_than_the_ledger_keeps_say_so_and_keep_no_other_from_it(
    node_id: int, tmp_path: Path
) -> None:
    for number in range(10):
        huge = [row("999999999999", BillingAccountId="huge", Tags=f'{{"n": "{number}"}}')]
        path = bill_files.write(tmp_path / f"{number}.csv", huge)
        take_file(path, clock=lambda: LATER, is_addition=True)
    take_file(bill_files.write(tmp_path / "later.csv", [row("61")]), clock=lambda: LATER)
    done = reconcile_waiting(lambda: LATER)
    assert [each.bill_id for each in done] == [Bill.objects.get(account="1234").id]
    assert "more than the ledger keeps" in Bill.objects.get(account="huge").failure
    scene.settle_all()
    assert scene.charge(node_id).effective_micros == 61_000_000


def test_the_page_of_a_bill_that_waits_does_not_say_where_its_rows_went(
    node_id: int, tmp_path: Path
) -> None:
    path = bill_files.write(tmp_path / "euros.csv", [row("61", BillingCurrency="EUR")])
    take_file(path, clock=lambda: LATER)
    scene.settle_all()
    page = signed_in("finance").get(reverse("bill", args=[Bill.objects.get().id]))
    assert "Not known before the bill is reconciled" in page.content.decode()
    assert "every row is tied" not in page.content.decode()


def test_the_page_of_a_bill_says_why_it_differs_and_what_no_node_carries(
    node_id: int, tmp_path: Path
) -> None:
    deliver(tmp_path, [row("61"), row("3", ResourceId="i-unknown"), row("1", ChargeCategory="Tax")])
    (bill,) = Bill.objects.all()
    finance = signed_in("finance")
    page = finance.get(reverse("bill", args=[bill.id]))
    said = page.content.decode()
    assert page.status_code == 200
    assert "i-unknown" in said
    assert "no node has this resource id" in said
    apart = finance.get(reverse("bill", args=[bill.id]) + ".csv?table=apart").content.decode()
    assert "3.000000" in apart
    assert finance.get(reverse("bill", args=[bill.id]) + ".csv?table=unbilled").status_code == 200
    assert finance.get(reverse("bill", args=[bill.id + 1])).status_code == 404
    assert signed_in("lead").get(reverse("bill", args=[bill.id])).status_code == 403


def test_a_rule_brings_rows_of_no_node_to_theirs_and_its_end_takes_them_back(
    node_id: int, tmp_path: Path
) -> None:
    deliver(tmp_path, [row("61", ResourceId="host-7")])
    assert Charge.objects.filter(kind="unmatched").exists()
    call_command("add_bill_rule", "--resource-id", "host-*", "--node", "gpu-01")
    reconcile(LATER)
    assert scene.charge(node_id).billed_micros == 61_000_000
    assert not Charge.objects.filter(kind="unmatched").exists()
    call_command("add_bill_rule", "--end", str(BillRule.objects.get().id))
    reconcile(LATER)
    assert scene.charge(node_id).billed_micros is None
    assert_conserved()


def test_a_rule_that_fits_all_or_says_nothing_is_refused() -> None:
    for said in (["--issuer", "A*"], ["--kind", "disk"], ["--issuer", "A*", "--pool", "none"]):
        with pytest.raises(CommandError):
            call_command("add_bill_rule", *said)
