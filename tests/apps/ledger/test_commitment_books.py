"""A plan's purchase that carries its effective cost too: told, and in the way of the close."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from apps.ledger.actions import close
from apps.ledger.models import BillRow
from apps.ledger.queries.bill_months import bills_of_month
from apps.ledger.queries.bills.books import books_off
from apps.ledger.queries.closes.checklist import checklist
from tests import make
from tests.apps.ledger import bill_files, scene
from tests.apps.ledger.bill_files import deliver, hour_row, take_file

pytestmark = pytest.mark.django_db
JULY = date(2026, 7, 1)
AT = datetime(2026, 8, 9, tzinfo=UTC)
PLAN = "/providers/Microsoft.BillingBenefits/savingsPlanOrders/1/savingsPlans/2"


def plan_file(folder: Path, of_purchase: str) -> Path:
    """A savings plan of 100, of which 60 were used and 40 were not."""
    asked = {"InvoiceIssuerName": "Microsoft", "ServiceProviderName": "Microsoft"}
    day = {
        "ChargePeriodStart": "2026-07-01T00:00:00Z",
        "ChargePeriodEnd": "2026-07-02T00:00:00Z",
        "CommitmentDiscountId": PLAN,
        "ResourceId": "",
    }
    bought = hour_row(of_purchase, ChargeCategory="Purchase", **asked, **day) | {
        "BilledCost": "100"
    }
    used = hour_row("60", CommitmentDiscountStatus="Used", **asked, **day) | {"BilledCost": "0"}
    left = hour_row("40", CommitmentDiscountStatus="Unused", **asked, **day) | {"BilledCost": "0"}
    whole = {name: "" for row in (bought, used, left) for name in row}
    return bill_files.write(folder / "plan.csv", [whole | row for row in (bought, used, left)])


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def test_a_purchase_with_an_effective_cost_of_its_own_is_flagged_and_the_close_waits(
    tmp_path: Path,
) -> None:
    taken = take_file(plan_file(tmp_path, "100"), clock=lambda: AT)
    assert taken.flags[-1] == (
        f"the books of a commitment do not balance: {PLAN}: 200 of cost for 100 USD paid"
    )
    scene.settle_all(AT)
    (item,) = [each for each in checklist(JULY) if each.code == "books"]
    assert (item.count, item.is_blocking) == (1, False)
    accepted = {each.code for each in checklist(JULY) if each.count} - {"books"}
    asked = close.CloseRequest(JULY, None, accepted)
    with pytest.raises(close.ItemsNotAccepted, match="books"):
        close.close_month(request=asked, at=AT)
    waived = close.CloseRequest(JULY, None, {*accepted, "books"}, "the exporter repeats itself")
    close.close_month(request=waived, at=AT)


def test_a_purchase_without_one_balances(tmp_path: Path) -> None:
    taken = take_file(plan_file(tmp_path, "0"), clock=lambda: AT)
    assert taken.flags == []
    assert books_off(bills_of_month(JULY)) == []
    assert not [each for each in checklist(JULY) if each.code == "books"]


def test_a_zero_that_cannot_be_is_unknown_and_one_that_can_be_is_zero(tmp_path: Path) -> None:
    deliver(
        tmp_path,
        hour_row("5", ListCost="0", ContractedCost="0"),
        hour_row("0", ListCost="0", ContractedCost="0", ResourceId="free"),
        hour_row("-5", ListCost="0", ContractedCost="0", ChargeCategory="Credit"),
    )
    told = BillRow.objects.order_by("line").values_list("list_cost", "contracted_cost")
    assert [(listed is None, agreed is None) for listed, agreed in told] == [
        (True, True), (False, False), (False, False),
    ]  # fmt: skip


def test_the_checklist_says_in_which_months_an_invoice_stands_and_what_waits(
    tmp_path: Path,
) -> None:
    pool_id = make.make_pool("p")
    node = scene.fleet.NewNode(
        "i-01", pool_id, datetime(2026, 7, 31, 22, tzinfo=UTC), 8,
        ended_at=datetime(2026, 8, 1, 2, tzinfo=UTC),
    )  # fmt: skip
    scene.fleet.add_node(node=node, at=AT)
    pacific = {
        "BillingPeriodStart": "2026-07-31T22:00:00Z", "BillingPeriodEnd": "2026-08-31T22:00:00Z",
    }  # fmt: skip
    hours = [
        hour_row(cost, ResourceId="i-01", ChargePeriodStart=since, ChargePeriodEnd=until, **pacific)
        for cost, since, until in (
            ("7", "2026-07-31T23:00:00Z", "2026-08-01T00:00:00Z"),
            ("9", "2026-08-01T00:00:00Z", "2026-08-01T01:00:00Z"),
        )
    ]
    scene.settle_all(AT)
    asked = close.CloseRequest(JULY, None, {each.code for each in checklist(JULY) if each.count})
    close.close_month(request=asked, at=AT)
    take_file(bill_files.write(tmp_path / "aug.csv", hours), clock=lambda: AT)
    scene.settle_all(AT)
    (item,) = [each for each in checklist(date(2026, 8, 1)) if each.code == "invoiced"]
    assert (item.count, item.micros) == (0, 16_000_000)
    assert item.meaning == (
        "$7.00 in 2026-07, which is closed: $7.00 wait there for corrections; $9.00 in 2026-08"
    )
    close.post_corrections(month=JULY, at=AT)
    (item,) = [each for each in checklist(date(2026, 8, 1)) if each.code == "invoiced"]
    assert item.meaning == "$7.00 in 2026-07, which is closed; $9.00 in 2026-08"
