"""The same money under another name, or in another kind of file: asked about, and counted once."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib import import_module
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F, Sum

from apps.economics.focus.names import are_one_period, payer_key, provider_key
from apps.ledger.actions import bill_twins, bills, close
from apps.ledger.actions.bill_acceptance import accept_unread_rows
from apps.ledger.actions.exchanging import state_rate
from apps.ledger.models import Bill, BillImport, BillTwin, Line
from apps.ledger.queries.bills.twins import open_twins
from apps.ledger.queries.closes.checklist import checklist
from apps.pricing import actions as pricing
from controlplane.ledger_audit import audit_here
from tests import make, rest
from tests.apps.console.people import signed_in
from tests.apps.ledger import bill_files, scene
from tests.apps.ledger.bill_files import deliver, hour_row, take, take_file
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
        (("Lambda, Inc.", "Lambda"), ("Lambda Labs", "Lambda Labs")),
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
    # A spreadsheet dropped the zero; a table of numbers has fractions.
    assert payer_key("012345678901") == payer_key("12345678901") == payer_key("12345678901.0")
    assert payer_key("0a1") != payer_key("a1")
    feb, mar = datetime(2026, 2, 1, 8, tzinfo=UTC), datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert are_one_period(
        (feb, mar), (datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC))
    )
    assert are_one_period((feb, mar), (feb + timedelta(days=4), feb + timedelta(days=5)))
    assert not are_one_period((feb, mar), (mar, mar + timedelta(days=1)))
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


@pytest.mark.parametrize(("choice", "counts"), [("old", 122), ("new", 120), ("both", 242)])
def test_one_month_in_two_currencies_is_asked_about(
    tmp_path: Path, fay: int, choice: str, counts: int
) -> None:
    rate = pricing.NewExchangeRate(JULY.date(), "EUR", "USD", Decimal(2))
    state_rate(rate=rate, at=LATER)
    deliver(tmp_path, as_aws("122"))
    late = deliver(tmp_path, as_aws("60", BillingCurrency="EUR"))
    assert late.is_held
    assert billed() == 122
    assert "one is in USD, the other in EUR" in late.flags[0]
    (twin,) = BillTwin.objects.all()
    bill_twins.decide_twin(twin_id=twin.id, choice=choice, person_id=fay, reason="y", at=LATER)
    assert billed() == counts


def test_one_months_report_as_cur_and_then_as_focus_counts_once(tmp_path: Path, fay: int) -> None:
    cur = LEGACY | {"lineItem/UnblendedCost": "120"}
    take(bill_files.write(tmp_path / "cur.csv", [cur]))
    assert billed() == 120
    late = deliver(tmp_path, as_aws("120", "Amazon Web Services, Inc."))
    assert late.is_held
    assert billed() == 120
    assert "one came as cur" in late.flags[0]
    # The command names the one that decides it.
    with pytest.raises(CommandError, match=r"until somebody says which counts \(bill_twins\)"):
        call_command("import_focus", str(tmp_path / "bill.csv"))
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
    assert not deliver(tmp_path, as_aws("4", "AWS EMEA SARL"), is_addition=True).is_held
    assert not deliver(tmp_path, as_aws("5", BillingAccountId="999")).is_held
    assert not deliver(tmp_path, as_aws("6", "AWS India", BillingCurrency="INR")).is_held
    assert BillTwin.objects.count() == 0


@pytest.mark.parametrize(
    ("issuer", "told", "is_addition", "why"),
    [
        ("AWS", {"BillingAccountId": "01234"}, False, "1234 and 01234 are one account"),
        (
            "AWS",
            {"BillingPeriodStart": "2026-06-30T22:00:00Z", "BillingPeriodEnd": "2026-07-31T22:00Z"},
            False,
            "the periods 2026-07-01 00:00 to 2026-08-01 00:00 and 2026-06-30 22:00 to",
        ),
        (
            "AWS",
            {"BillingPeriodStart": "2026-07-03T00:00:00Z", "BillingPeriodEnd": "2026-07-04T00:00Z"},
            False,
            "and 2026-07-03 00:00 to 2026-07-04 00:00 are of one time",
        ),
        ("AWS Marketplace", {}, True, "AWS and AWS Marketplace are one provider"),
        ("AWS", {}, True, "the same in every cell"),
    ],
)
def test_the_same_rows_in_another_spelling_or_once_more_are_asked_about(
    tmp_path: Path, fay: int, issuer: str, told: dict[str, str], is_addition: bool, why: str
) -> None:
    deliver(tmp_path, as_aws("20"))
    again = bill_files.write(tmp_path / "again.csv.gz", [as_aws("20", issuer, **told)])

    held = take(again, is_addition=is_addition)

    assert held.is_held
    assert why in held.flags[0]
    assert billed() == 20
    (twin,) = BillTwin.objects.all()
    bill_twins.decide_twin(twin_id=twin.id, choice="new", person_id=fay, reason="y", at=LATER)
    assert billed() == 20


def test_further_rows_are_added_and_the_same_ones_asked_about_whatever_was_said_before(
    tmp_path: Path, fay: int
) -> None:
    deliver(tmp_path, as_aws("20"))
    three, four = as_aws("3"), as_aws("4")
    assert not deliver(tmp_path, as_aws("20"), three, four, is_addition=True).is_held
    assert billed() == 47

    assert deliver(tmp_path, three, four, is_addition=True).is_held
    assert billed() == 47
    (twin,) = BillTwin.objects.all()
    bill_twins.decide_twin(twin_id=twin.id, choice="both", person_id=fay, reason="y", at=LATER)
    assert billed() == 54
    assert deliver(tmp_path, four, three, is_addition=True).is_held
    assert billed() == 54


def test_a_held_file_that_is_dropped_is_asked_about_no_more(tmp_path: Path, fay: int) -> None:
    deliver(tmp_path, as_aws("122", "Amazon Web Services, Inc."))
    late = deliver(tmp_path, as_aws("61"))
    with pytest.raises(bills.NothingToAccept, match="say first which counts"):
        accept_unread_rows(import_id=late.import_id, person_id=fay, reason="z", at=LATER)
    bills.undo_delivery(import_id=late.import_id, at=LATER)
    assert not BillTwin.objects.exists()
    assert billed() == 122


def upgraded_pair(folder: Path) -> None:
    """Two bills that both count, as a version that asked nobody left them, and the upgrade's mark."""
    deliver(folder, as_aws("122", "Amazon Web Services, Inc."))
    deliver(folder, as_aws("61"))
    BillTwin.objects.all().delete()
    BillImport.objects.update(state="done", imported=F("rows"))
    Bill.objects.update(reconciled_at=None)
    assert billed() == 183


def upgrade() -> None:
    with connection.cursor() as cursor:
        cursor.execute(import_module("apps.ledger.migrations.0039_held_pairs_of_bills").HOLDS)


def close_july() -> None:
    asked = close.CloseRequest(
        month=JULY.date(),
        person_id=None,
        accepted=("unpriced", "unbilled", "unmatched", "unowned", "unobserved", "uninvoiced"),
    )
    close.close_month(request=asked, at=LATER)


@pytest.mark.parametrize("is_listed", [False, True])
@pytest.mark.parametrize(("choice", "counts"), [("old", 122), ("new", 61), ("both", 183)])
def test_of_a_pair_of_an_open_month_the_newer_gives_way_at_the_upgrade_until_it_is_decided(
    tmp_path: Path, fay: int, choice: str, counts: int, is_listed: bool
) -> None:
    upgraded_pair(tmp_path)
    if is_listed:
        old, new = Bill.objects.order_by("id")
        BillTwin.objects.create(bill=new, other=old, why="they are one", noticed_at=JULY)
    upgrade()

    assert billed() == 122
    (twin,) = BillTwin.objects.all()
    assert (twin.choice, twin.batch) == ("", None)
    assert twin.gave_way_to is not None
    (item,) = [each for each in checklist(JULY.date()) if each.code == "twins"]
    assert (item.count, item.is_blocking) == (1, True)
    (told,) = open_twins()
    assert (told.new_billed, told.other.sums.billed, told.both_count) == (61, 122, False)
    upgrade()
    assert billed() == 122

    bill_twins.decide_twin(twin_id=twin.id, choice=choice, person_id=fay, reason="y", at=LATER)

    assert billed() == counts
    upgrade()
    assert billed() == counts
    assert audit_here().places == ()


def test_a_bill_that_gave_way_is_asked_about_with_its_next_file_and_stays_where_that_is_dropped(
    tmp_path: Path, fay: int
) -> None:
    upgraded_pair(tmp_path)
    upgrade()
    assert billed() == 122
    dropped = deliver(tmp_path, as_aws("62"))
    assert dropped.is_held
    bills.undo_delivery(import_id=dropped.import_id, at=LATER)
    assert billed() == 122
    deliver(tmp_path, as_aws("63"))
    assert billed() == 122
    (twin,) = BillTwin.objects.all()
    (told,) = open_twins()
    assert told.new_billed == 63

    bill_twins.decide_twin(twin_id=twin.id, choice="new", person_id=fay, reason="y", at=LATER)

    assert billed() == 63


def test_a_pair_of_a_closed_month_counts_as_it_did_is_named_and_gives_way_once_it_is_opened(
    tmp_path: Path, fay: int
) -> None:
    upgraded_pair(tmp_path)
    close_july()
    upgrade()

    assert billed() == 183
    (twin,) = BillTwin.objects.all()
    assert twin.gave_way_to is None
    codes = {each.code: each for each in checklist(LATER.date().replace(day=1))}
    named = codes["closed_twins"]
    assert (named.count, named.is_blocking) == (1, False)
    assert "2026-07: Amazon Web Services, Inc. 1234 and AWS 1234" in named.meaning
    client = signed_in("finance")
    for bill in Bill.objects.all():
        page = client.get(f"/bills/{bill.id}").content.decode()
        assert "Both count, for their month is closed" in page
    assert "both count: their month is closed" in client.get("/bills").content.decode()
    assert audit_here().places == ()

    close.reopen_month(month=JULY.date(), reason="to see", person_id=None, at=LATER)
    assert billed() == 122
    assert audit_here().places == ()


def test_what_is_decided_of_a_closed_month_waits_for_its_corrections(
    tmp_path: Path, fay: int
) -> None:
    upgraded_pair(tmp_path)
    close_july()
    upgrade()
    scene.settle_all(LATER)
    (twin,) = BillTwin.objects.all()

    bill_twins.decide_twin(twin_id=twin.id, choice="old", person_id=fay, reason="y", at=LATER)

    assert billed() == 183
    close.post_corrections(month=JULY.date(), at=LATER)
    assert billed() == 122
    assert audit_here().places == ()


def test_pairs_are_decided_by_command(
    tmp_path: Path, fay: int, capsys: pytest.CaptureFixture[str]
) -> None:
    upgraded_pair(tmp_path)
    upgrade()
    assert billed() == 122
    (twin,) = BillTwin.objects.all()
    call_command("bill_twins", "--json")
    (told,) = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["new_billed"], told["old_billed"], told["both_count"]) == ("61", "122", False)
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


def test_a_correction_of_what_gave_way_is_undone_after_what_it_gave_way_to(
    tmp_path: Path, fay: int
) -> None:
    deliver(tmp_path, as_aws("122", "Amazon Web Services, Inc."))
    held = deliver(tmp_path, as_aws("61"))
    fixed = deliver(tmp_path, as_aws("120", "Amazon Web Services, Inc."))
    assert billed() == 120
    (twin,) = BillTwin.objects.all()
    bill_twins.decide_twin(twin_id=twin.id, choice="new", person_id=fay, reason="y", at=LATER)
    assert billed() == 61

    with pytest.raises(bills.DeliveryNotNewest, match="came into force later; undo it first"):
        bills.undo_delivery(import_id=fixed.import_id, at=LATER)
    assert billed() == 61
    bills.undo_delivery(import_id=held.import_id, at=LATER)
    assert billed() == 120
    bills.undo_delivery(import_id=fixed.import_id, at=LATER)
    assert billed() == 122
    assert audit_here().places == ()


@pytest.mark.parametrize("is_decided", [False, True])
def test_what_comes_back_beside_what_it_gave_way_to_gives_way_again(
    tmp_path: Path, fay: int, is_decided: bool
) -> None:
    deliver(tmp_path, as_aws("122", "Amazon Web Services, Inc."))
    deliver(tmp_path, as_aws("61"))
    (twin,) = BillTwin.objects.all()
    bill_twins.decide_twin(twin_id=twin.id, choice="both", person_id=fay, reason="y", at=LATER)
    path = bill_files.write(tmp_path / "fixed.csv", [as_aws("60")])
    fixed = take_file(path, clock=lambda: LATER)
    assert billed() == 182
    BillTwin.objects.all().delete()
    bill_twins.notice_twins(at=LATER)
    (twin,) = BillTwin.objects.all()
    if is_decided:
        bill_twins.decide_twin(twin_id=twin.id, choice="old", person_id=fay, reason="y", at=LATER)
    assert billed() == 122

    bills.undo_delivery(import_id=fixed.import_id, at=LATER)

    assert billed() == 122
    bill_twins.notice_twins(at=LATER)
    assert BillTwin.objects.count() == 1
    assert audit_here().places == ()


def test_a_pair_that_counts_twice_in_spite_of_a_decision_is_asked_about_again(
    tmp_path: Path, fay: int
) -> None:
    upgraded_pair(tmp_path)
    old, new = Bill.objects.order_by("id")
    BillTwin.objects.create(
        bill=new, other=old, why="they are one", noticed_at=JULY, choice="new", decided_at=JULY
    )

    bill_twins.notice_twins(at=LATER)

    assert [each.choice for each in BillTwin.objects.order_by("id")] == ["new", ""]
    assert billed() == 122
    (item,) = [each for each in checklist(JULY.date()) if each.code == "twins"]
    assert (item.count, item.is_blocking) == (1, True)
