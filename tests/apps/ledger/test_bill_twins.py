"""The same money under another name, or in another kind of file: asked about, and counted once."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Sum

from apps.economics.focus.names import are_one_period, payer_key, provider_key
from apps.ledger.actions import bill_twins, bills
from apps.ledger.actions.bill_acceptance import accept_unread_rows
from apps.ledger.models import BillImport, BillTwin, Line
from apps.ledger.queries.closes.checklist import checklist
from apps.marks.actions import Mark, mark
from apps.marks.queries import BillUnit, Pass
from tests import make, rest
from tests.apps.console.people import signed_in
from tests.apps.ledger import bill_files, scene
from tests.apps.ledger.bill_files import deliver, hour_row, take
from tests.economics.test_focus_cur import LEGACY

pytestmark = pytest.mark.django_db
JULY = datetime(2026, 7, 1, tzinfo=UTC)
LATER = datetime(2026, 8, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def fay() -> int:
    make.make_organisation()
    return make.make_person("fay@example.org", name="Fay", role="finance")


def billed() -> Decimal:
    scene.settle_all(LATER)
    found = Line.objects.aggregate(all=Sum("billed_micros"))["all"]
    return Decimal(found or 0) / 10**6


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("AWS", ""), ("Amazon Web Services, Inc.", "")),
        (("Amazon Web Services", ""), ("Amazon Web Services EMEA SARL", "")),
        (("AWS", "Reseller GmbH"), ("Amazon", "")),
        (("Google", ""), ("GCP", "")),
        (("Google Cloud", ""), ("Google Ireland Limited", "")),
        (("Microsoft", ""), ("Azure", "")),
        (("Lambda, Inc.", ""), ("lambda", "")),
        (("CoreWeave Inc", ""), ("CoreWeave", "")),
    ],
)
def test_names_of_one_provider(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert provider_key(*one) == provider_key(*other)


def test_names_and_accounts_of_two() -> None:
    assert provider_key("Lambda") != provider_key("CoreWeave")
    assert provider_key("A Cloud") != provider_key("AWS")
    assert payer_key("1234-5678-9012") == payer_key("billingAccounts/123456789012")
    assert payer_key("1234") != payer_key("5678")
    feb, mar = datetime(2026, 2, 1, 8, tzinfo=UTC), datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert are_one_period(
        (feb, mar), (datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC))
    )
    assert not are_one_period(
        (feb, mar), (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC))
    )


def as_aws(cost: str, issuer: str = "AWS", **given: str) -> dict[str, str]:
    told = {"InvoiceIssuerName": issuer, "ServiceProviderName": "AWS", "BillingAccountId": "1234"}
    return hour_row(cost, **told | given)


def test_another_name_of_the_issuer_is_held_until_somebody_says_which_counts(
    tmp_path: Path, fay: int
) -> None:
    deliver(tmp_path, as_aws("122", "Amazon Web Services, Inc."))
    late = deliver(tmp_path, as_aws("61"))
    assert late.is_held
    assert billed() == 122
    assert "Amazon Web Services, Inc. and AWS are one provider" in late.flags[0]
    (twin,) = BillTwin.objects.all()
    assert (twin.batch_id, twin.choice) == (late.import_id, "")
    (item,) = [each for each in checklist(JULY.date()) if each.code == "twins"]
    assert (item.count, item.is_blocking) == (1, True)
    bill_twins.decide_twin(twin_id=twin.id, choice="new", person_id=fay, reason="renamed", at=LATER)
    assert billed() == 61
    with pytest.raises(bill_twins.TwinDecided):
        bill_twins.decide_twin(twin_id=twin.id, choice="old", person_id=fay, reason="x", at=LATER)
    # It gives back what gave way to it.
    bills.undo_delivery(import_id=late.import_id, at=LATER)
    assert billed() == 122


@pytest.mark.parametrize(("choice", "counts"), [("old", 122), ("both", 183)])
def test_the_old_one_or_both_may_count_and_both_are_not_asked_about_again(
    tmp_path: Path, fay: int, choice: str, counts: int
) -> None:
    deliver(tmp_path, as_aws("122", "Amazon Web Services, Inc."))
    deliver(tmp_path, as_aws("61"))
    (twin,) = BillTwin.objects.all()
    bill_twins.decide_twin(twin_id=twin.id, choice=choice, person_id=fay, reason="y", at=LATER)
    assert billed() == counts
    again = deliver(tmp_path, as_aws("62"))
    assert again.is_held == (choice == "old")
    assert billed() == (122 if choice == "old" else 184)


def test_one_months_report_as_cur_and_then_as_focus_counts_once(tmp_path: Path, fay: int) -> None:
    cur = LEGACY | {"lineItem/UnblendedCost": "120"}
    take(bill_files.write(tmp_path / "cur.csv", [cur]))
    assert billed() == 120
    late = deliver(tmp_path, as_aws("120", "Amazon Web Services, Inc."))
    assert late.is_held
    assert billed() == 120
    assert "one came as cur" in late.flags[0]
    # The same bill by name is replaced, and added to only where somebody says so.
    whole = deliver(tmp_path, as_aws("121", "Amazon Web Services"))
    assert not whole.is_held
    assert billed() == 121
    take(
        bill_files.write(tmp_path / "again.csv", [cur | {"lineItem/UnblendedCost": "120.5"}]),
        is_addition=True,
    )
    assert billed() == 121


def test_issuers_that_one_file_has_are_two_bills_and_so_are_several_files_of_one_kind(
    tmp_path: Path,
) -> None:
    both = [as_aws("1", "Amazon Web Services, Inc."), as_aws("2", "AWS EMEA SARL")]
    assert not deliver(tmp_path, *both).is_held
    assert not deliver(tmp_path, as_aws("3", "AWS EMEA SARL")).is_held
    assert not deliver(tmp_path, as_aws("4", "AWS Marketplace"), is_addition=True).is_held
    assert not deliver(tmp_path, as_aws("5", BillingAccountId="999")).is_held
    assert not deliver(tmp_path, as_aws("6", "AWS India", BillingCurrency="INR")).is_held
    assert BillTwin.objects.count() == 0


def test_a_held_file_that_is_dropped_is_asked_about_no_more(tmp_path: Path, fay: int) -> None:
    deliver(tmp_path, as_aws("122", "Amazon Web Services, Inc."))
    late = deliver(tmp_path, as_aws("61"))
    with pytest.raises(bills.NothingToAccept, match="say first which counts"):
        accept_unread_rows(import_id=late.import_id, person_id=fay, reason="z", at=LATER)
    bills.undo_delivery(import_id=late.import_id, at=LATER)
    assert not BillTwin.objects.exists()
    assert billed() == 122


def test_pairs_that_were_in_force_before_anybody_asked_are_noticed_and_decided(
    tmp_path: Path, fay: int, capsys: pytest.CaptureFixture[str]
) -> None:
    deliver(tmp_path, as_aws("122", "Amazon Web Services, Inc."))
    deliver(tmp_path, as_aws("61"))
    BillTwin.objects.all().delete()
    BillImport.objects.update(state="done")
    assert billed() == 183
    mark([Mark(Pass.BILLS, BillUnit.TWINS, JULY)])
    assert billed() == 183
    (twin,) = BillTwin.objects.all()
    assert twin.batch_id is None
    call_command("bill_twins", "--json")
    (told,) = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["new_billed"], told["old_billed"]) == ("61", "122")
    call_command("bill_twins")
    assert "are one provider" in capsys.readouterr().out
    with pytest.raises(CommandError, match="--count"):
        call_command("bill_twins", str(twin.id))
    with pytest.raises(CommandError, match="nobody here"):
        call_command("bill_twins", str(twin.id), "--count", "old", "--by", "x@example.org")
    asked = (str(twin.id), "--by", "fay@example.org", "--reason", "the file is the invoice")
    call_command("bill_twins", *asked, "--count", "old")
    assert billed() == 122
    with pytest.raises(CommandError, match="decided already"):
        call_command("bill_twins", *asked, "--count", "new")


def test_it_is_decided_on_the_page_and_by_rest(tmp_path: Path, fay: int) -> None:
    deliver(tmp_path, as_aws("122", "Amazon Web Services, Inc."))
    deliver(tmp_path, as_aws("61"))
    (twin,) = BillTwin.objects.all()
    client = signed_in("finance")
    page = client.get("/bills").content.decode()
    assert "may be the same money" in page
    shown = client.get(f"/bills/twins/{twin.id}", {"choice": "new", "reason": "renamed"})
    assert "122" in shown.content.decode()
    assert "61" in shown.content.decode()
    finn, _ = rest.signed_in("finn@example.org", "finance")
    (listed,) = finn.get("bills/twins").json()["results"]
    assert (listed["old"]["billed"], listed["new"]["billed"], listed["choice"]) == (
        "122",
        "61",
        None,
    )
    address = f"bills/twins/{twin.id}/decide"
    assert (
        rest.with_token("manage").post(address, {"choice": "new", "reason": "x"}).status_code == 403
    )
    answer = finn.post(address, {"choice": "new", "reason": "renamed"}).json()
    assert (answer["choice"], bool(answer["decided_by"])) == ("new", True)
    assert finn.post(address, {"choice": "old", "reason": "no"}).status_code == 409
    assert billed() == 61
