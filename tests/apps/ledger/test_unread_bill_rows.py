"""A row that cannot be read never shrinks a bill: it replaces nothing, and somebody has to say so."""

import json
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.ledger.actions import bills, close
from apps.ledger.actions.bill_acceptance import accept_unread_rows
from apps.ledger.actions.reconcile import bills_due, reconcile_bill
from apps.ledger.models import Bill, BillImport, BillRow, RejectedBillRow
from apps.ledger.queries.bills.deliveries import bill_fact
from apps.ledger.queries.closes.checklist import checklist
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.bill_files import deliver, hour_row, write
from tests.rest import signed_in, with_token

pytestmark = pytest.mark.django_db
JULY, AUGUST = date(2026, 7, 1), date(2026, 8, 1)
AFTER_JULY = datetime(2026, 8, 2, tzinfo=UTC)
WRONG = {"BilledCost": "310.07 USD"}


@pytest.fixture(autouse=True)
def organisation() -> None:
    make.make_organisation()


def in_force() -> Counter[str]:
    found = BillRow.objects.filter(replaced_by=None, batch__state="done")
    return Counter(f"{cost.normalize():f}" for cost in found.values_list("billed_cost", flat=True))


def unread(month: date = JULY) -> int:
    return {item.code: item for item in checklist(month)}["unread"].count


def state() -> str:
    found = bill_fact(Bill.objects.get().id)
    assert found is not None
    return found.state


def reconcile() -> None:
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=make.NOON)
    scene.settle_all(AFTER_JULY)


def close_july() -> None:
    codes = [item.code for item in checklist(JULY)]
    close.close_month(request=close.CloseRequest(JULY, None, codes), at=AFTER_JULY)


def short_of_a_row(folder: Path) -> bills.Taken:
    """July's bill, and the same file again with an amount nobody can read."""
    deliver(folder, hour_row("310.07"), hour_row("2"))
    return deliver(folder, hour_row("310.07", **WRONG), hour_row("2"))


def test_a_file_with_an_unread_row_replaces_nothing_until_a_person_accepts_it(
    tmp_path: Path,
) -> None:
    held = short_of_a_row(tmp_path)
    reconcile()

    assert (held.is_held, held.imported, held.replaced, held.rejected) == (True, 0, 0, 1)
    assert "it would replace 1 that are in force" in held.flags[-1]
    assert in_force() == {"310.07": 1, "2": 1}
    assert (unread(), state()) == (1, "incomplete")
    with pytest.raises(close.MonthNotReady, match="could not be read: 1"):
        close_july()

    finn = make.make_person("finn@example.org", role="finance")
    for person_id, reason in ((finn, " "), (None, "fine")):
        with pytest.raises(bills.ReasonMissing):
            accept_unread_rows(
                import_id=held.import_id, person_id=person_id, reason=reason, at=make.NOON
            )
    accept_unread_rows(import_id=held.import_id, person_id=finn, reason="a refund", at=make.NOON)
    reconcile()

    assert in_force() == {"2": 1}
    assert (unread(), state()) == (0, "reconciled")
    kept = BillImport.objects.get(id=held.import_id)
    assert (kept.state, kept.replaced, kept.unchanged) == ("done", 1, 1)
    assert (kept.accepted_by_id, kept.accepted_reason) == (finn, "a refund")
    with pytest.raises(bills.NothingToAccept):
        accept_unread_rows(import_id=kept.id, person_id=finn, reason="again", at=make.NOON)
    close_july()


@pytest.mark.parametrize("is_addition", [False, True])
def test_what_replaces_nothing_comes_in_without_its_unread_row_and_keeps_the_month_open(
    tmp_path: Path, is_addition: bool
) -> None:
    deliver(tmp_path, hour_row("1"))
    more = [hour_row("1"), hour_row("2"), hour_row("3", **WRONG)]
    taken = deliver(tmp_path, *more, is_addition=is_addition)
    reconcile()

    assert (taken.is_held, taken.rejected) == (False, 1)
    assert in_force() == ({"1": 2, "2": 1} if is_addition else {"1": 1, "2": 1})
    assert (unread(), state()) == (1, "incomplete")
    with pytest.raises(close.MonthNotReady):
        close_july()

    deliver(tmp_path, hour_row("1"), hour_row("2"), hour_row("3"))
    reconcile()

    assert (unread(), state()) == (0, "reconciled")
    assert in_force() == {"1": 1, "2": 1, "3": 1}
    close_july()


def test_rows_that_are_all_a_file_has_of_a_month_keep_that_month_open(tmp_path: Path) -> None:
    august = {"BillingPeriodStart": "2026-08-01", "BillingPeriodEnd": "2026-09-01"}
    in_august = {"ChargePeriodStart": "2026-08-03", "ChargePeriodEnd": "2026-08-04"} | august
    both = [hour_row("1"), hour_row("2", **in_august)]
    held = deliver(tmp_path, both[0], both[1] | WRONG)
    assert (unread(), unread(AUGUST), unread(date(2026, 9, 1))) == (1, 1, 0)

    deliver(tmp_path, hour_row("7", BillingAccountId="5678", **in_august))
    deliver(tmp_path, both[0], hour_row("5"))
    assert (unread(), unread(AUGUST)) == (0, 1)
    deliver(tmp_path, both[1])

    assert (unread(), unread(AUGUST)) == (0, 0)
    assert BillImport.objects.get(id=held.import_id).state == "done"


def test_a_file_of_which_every_row_is_rejected_fails(tmp_path: Path) -> None:
    deliver(tmp_path, hour_row("1"), hour_row("2"))

    with pytest.raises(
        bills.DeliveryRefused, match="none of its 2 rows could be read; line 2, Billed"
    ):
        deliver(tmp_path, hour_row("1", **WRONG), hour_row("2", **WRONG))

    assert in_force() == {"1": 1, "2": 1}
    failed = BillImport.objects.latest("id")
    assert (failed.state, failed.rejected) == ("failed", 2)
    assert RejectedBillRow.objects.filter(batch=failed).count() == 2


def test_a_held_file_gives_way_to_the_corrected_one_and_waits_but_once(tmp_path: Path) -> None:
    held = short_of_a_row(tmp_path)
    again = deliver(tmp_path, hour_row("310.07", **WRONG), hour_row("2"))
    assert (again.import_id, again.is_held) == (held.import_id, True)

    deliver(tmp_path, hour_row("300"), hour_row("2"))

    assert in_force() == {"300": 1, "2": 1}
    old = BillImport.objects.get(id=held.import_id)
    assert (old.state, old.failure) == (
        "failed", "it was held until bill.csv came in its place"
    )  # fmt: skip
    assert not BillRow.objects.filter(batch=old).exists()
    assert unread() == 0


def test_a_held_file_of_two_bills_is_not_accepted_over_a_later_one_of_either(
    tmp_path: Path,
) -> None:
    other = {"BillingAccountId": "5678"}
    deliver(tmp_path, hour_row("1"), hour_row("9", **other))
    held = deliver(tmp_path, hour_row("1", **WRONG), hour_row("2"), hour_row("9", **other))
    deliver(tmp_path, hour_row("3"))
    finn = make.make_person("finn@example.org", role="finance")

    with pytest.raises(bills.DeliveryNotNewest):
        accept_unread_rows(import_id=held.import_id, person_id=finn, reason="x", at=make.NOON)
    assert (unread(), in_force()) == (1, {"3": 1, "9": 1})
    bills.undo_delivery(import_id=held.import_id, at=make.NOON)

    assert (unread(), in_force()) == (0, {"3": 1, "9": 1})
    assert BillRow.objects.filter(batch=held.import_id).count() == 0


def test_commands_tell_what_is_held_and_accept_it(tmp_path: Path, capsys) -> None:
    make.make_person("finn@example.org", role="finance")
    deliver(tmp_path, hour_row("310.07"))
    path = write(tmp_path / "short.csv", [hour_row("310.07", **WRONG), hour_row("2")])

    with pytest.raises(
        CommandError, match=r"nothing of it counts yet: 1 of its rows.*\(accept_bill\)"
    ):
        call_command("import_focus", str(path), "--json")
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (figures["held"], figures["rejected"]) == (True, 1)
    delivery = str(figures["import"])
    with pytest.raises(CommandError, match="nobody here has the address"):
        call_command("accept_bill", delivery, "--by", "no@example.org", "--reason", "known")
    call_command("accept_bill", delivery, "--by", "finn@example.org", "--reason", "known")

    assert in_force() == {"2": 1}


def test_over_rest_a_person_accepts_and_a_token_does_not(tmp_path: Path) -> None:
    held = short_of_a_row(tmp_path)
    address = f"bills/imports/{held.import_id}"
    token, (finn, _) = with_token("manage"), signed_in("finn@example.org", "finance")

    assert token.get(address).json()["state"] == "held"
    assert token.get("bills").json()["results"][0]["unread_rows"] == 1
    assert token.post(f"{address}/accept", {"reason": "a refund"}).status_code == 403
    assert finn.post(f"{address}/accept", {"reason": ""}).status_code == 400
    told = finn.post(f"{address}/accept", {"reason": "a refund"}).json()

    assert (told["state"], told["accepted_reason"]) == ("done", "a refund")
    assert told["accepted_by"]
    assert finn.post(f"{address}/accept", {"reason": "a refund"}).status_code == 409
    assert Decimal(token.get("bills").json()["results"][0]["billed"]) == 2


def test_a_bill_without_a_rate_of_exchange_keeps_no_other_from_being_reconciled(
    tmp_path: Path, capsys
) -> None:
    deliver(tmp_path, hour_row("1", BillingCurrency="EUR"))
    deliver(tmp_path, hour_row("2", BillingAccountId="5678"))

    with pytest.raises(CommandError, match=r"bill \d+: .*EUR"):
        call_command("reconcile_bills", "--json")

    told = json.loads(capsys.readouterr().out.splitlines()[-1])["bills"]
    assert ["refused" in each for each in told] == [True, False]
    euros, dollars = Bill.objects.order_by("id")
    assert (euros.reconciled_at, "EUR" in euros.failure) == (None, True)
    assert dollars.reconciled_at is not None
