"""Files that are no bill are told apart in words, and a bill says where its money stands."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from apps.economics.focus.columns import NotABill
from apps.ledger.actions import close
from apps.ledger.models import BillImport, Charge
from apps.ledger.providers.bill_file import open_bill
from apps.ledger.queries.closes.checklist import checklist
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.ledger import bill_files, scene
from tests.apps.ledger.bill_files import deliver, hour_row, take, take_file
from tests.apps.ledger.test_unread_bill_rows import WRONG
from tests.economics.test_focus_cur import LEGACY

pytestmark = pytest.mark.django_db
JULY = date(2026, 7, 1)
AT = datetime(2026, 9, 9, tzinfo=UTC)
HEADER = ",".join(hour_row())


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (
            "InvoiceDetailId,InvoiceId,InvoiceIssueDate,BillingAccountId,BillingCurrency,BilledCost",
            "FOCUS's Invoice Detail",
        ),
        ("ContractId,ContractCommitmentId,ContractCommitmentCost", "FOCUS's Contract Commitment"),
        ("subscriptionid,usagedatetime,meterid,quantity,pretaxcost", "Azure's own cost details"),
        ("subscriptionid,resourcegroup,date,costinusd", "Azure's own cost details"),
        ("SubscriptionGuid,Date,Cost", "Azure's own cost details"),
        ("usage_start_time,cost_type,currency_conversion_rate,cost", "Google Cloud's own export"),
    ],
)
def test_another_kind_of_file_is_named_with_what_to_send_instead(
    tmp_path: Path, header: str, words: str
) -> None:
    path = tmp_path / "file.csv"
    path.write_text(f"{header}\n")
    with pytest.raises(NotABill, match=words), open_bill(path):
        pass


def test_names_in_another_encoding_say_what_to_save_it_as(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes(f"{HEADER}\nSociété\n".encode("latin-1"))
    with pytest.raises(NotABill, match="save it as CSV in UTF-8"), open_bill(path):
        pass


def test_a_header_without_rows_is_remarked(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text(f"{HEADER}\n")
    taken = take(path)
    assert taken.flags == ["the file has a header and no row: nothing is known by it"]


def test_an_amount_that_awss_own_report_leaves_empty_is_no_zero(tmp_path: Path) -> None:
    cut = LEGACY | {"lineItem/UnblendedCost": ""}
    covered = LEGACY | {
        "lineItem/LineItemType": "SavingsPlanCoveredUsage",
        "lineItem/ResourceId": "i-02",
    }
    taken = take(bill_files.write(tmp_path / "cur.csv", [cut, covered]))
    assert taken.rejected == 1
    assert taken.flags == ["1 rows have no EffectiveCost"]
    rejection = BillImport.objects.get().rejected_rows.get()
    assert (rejection.field, rejection.reason) == ("lineItem/UnblendedCost", "is empty")


def test_the_file_that_is_in_force_sent_again_ends_what_is_held_after_it(tmp_path: Path) -> None:
    good = bill_files.write(tmp_path / "july.csv", [hour_row("310.07"), hour_row("2")])
    take(good)
    held = deliver(tmp_path, hour_row("310.07", **WRONG), hour_row("2"))
    assert held.is_held
    take(good)
    batch = BillImport.objects.get(id=held.import_id)
    assert (batch.state, batch.failure) == (
        "failed",
        "it was held until july.csv came in its place",
    )
    assert not [each for each in checklist(JULY) if each.code == "unread" and each.count]


def test_a_credit_of_a_closed_month_is_said_where_its_invoice_is_and_on_the_bill(
    tmp_path: Path, django_assert_max_num_queries: Any
) -> None:
    scene.settle_all(AT)
    asked = close.CloseRequest(JULY, None, {each.code for each in checklist(JULY) if each.count})
    close.close_month(request=asked, at=AT)
    august = {
        "BillingPeriodStart": "2026-08-01T00:00:00Z",
        "BillingPeriodEnd": "2026-09-01T00:00:00Z",
        "ResourceId": "",
    }
    credit = hour_row("-7", ChargeCategory="Credit", ChargeClass="Correction", **august)
    fee = hour_row(
        "9",
        ServiceCategory="Storage",
        ChargePeriodStart="2026-08-03T10:00:00Z",
        ChargePeriodEnd="2026-08-03T11:00:00Z",
        **august,
    )
    take_file(bill_files.write(tmp_path / "aug.csv", [credit, fee]), clock=lambda: AT)
    scene.settle_all(AT)
    (item,) = [each for each in checklist(date(2026, 8, 1)) if each.code == "invoiced"]
    words = (
        "-$7.00 in 2026-07, which is closed: -$7.00 wait there for corrections; $9.00 in 2026-08"
    )
    assert (item.micros, item.meaning.replace("\N{MINUS SIGN}", "-")) == (2_000_000, words)
    bill = BillImport.objects.get().bills.get()
    finance = signed_in("finance")
    page = finance.get(f"/bills/{bill.id}").content.decode()
    assert f"its invoice stands in: {words}" in page.replace("\N{MINUS SIGN}", "-")
    with django_assert_max_num_queries(15):
        assert finance.get(f"/bills/{bill.id}").status_code == 200


def test_support_is_a_cost_of_its_month_and_no_purchase(tmp_path: Path) -> None:
    fee = LEGACY | {
        "lineItem/LineItemType": "Fee",
        "lineItem/ProductCode": "AWSSupportBusiness",
        "product/ProductName": "AWS Support (Business)",
        "lineItem/UsageType": "Dollar",
        "lineItem/ResourceId": "",
        "lineItem/UnblendedCost": "50",
        "pricing/unit": "",
    }
    take(bill_files.write(tmp_path / "cur.csv", [fee]))
    scene.settle_all(AT)
    charge = Charge.objects.get()
    assert (charge.kind, charge.effective_micros, charge.billed_micros) == (
        "service", 50_000_000, 50_000_000,
    )  # fmt: skip
