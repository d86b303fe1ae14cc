"""Bills and closed months over REST: brought in, compared, taken back and closed by whose they are."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from apps.files.limits import BodyKind
from apps.ledger.actions.reconcile import bills_due, reconcile_bill
from apps.ledger.api.bill_imports import BillImports
from apps.ledger.models import BillImport, BillRow
from apps.ledger.tasks.bill_uploads import take_uploaded
from tests import make
from tests.apps.ledger import bill_files
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db
ROWS = [
    bill_files.hour_row("55.04"),
    bill_files.hour_row("12.345678901", ResourceId="i-02"),
    bill_files.hour_row("many", ResourceId="i-03"),
]
IMPORTS = "/api/v1/bills/imports"


@pytest.fixture(autouse=True)
def _home(settings: Any, tmp_path: Path) -> None:
    cache.clear()
    settings.HOME = tmp_path
    make.make_organisation()


def send(caller: Caller, *rows: dict[str, str], **form: Any) -> Any:
    """The rows as the file of a form."""
    headers = caller.headers | {
        name.replace("_", "-"): form.pop(name) for name in ("Idempotency_Key",) if name in form
    }
    file = SimpleUploadedFile("july.csv", bill_files.text_of(rows).encode())
    return caller.client.post(IMPORTS, {"file": file, **form}, headers=headers)


def test_a_bill_is_brought_in_looked_at_and_taken_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    caller = with_token("manage")
    sent = send(caller, *ROWS)
    assert (sent.status_code, sent.json()["state"]) == (202, "waiting")
    assert sent.headers["Location"] == sent.json()["address"]

    take_uploaded()

    told = caller.client.get(sent.headers["Location"], headers=caller.headers).json()
    assert (told["state"], told["rows"], told["imported"], told["rejected"]) == ("done", 3, 2, 1)
    path = bill_files.write(tmp_path / "same.csv", ROWS)
    call_command("import_focus", str(path), json=True)
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    (total,) = told["totals"]
    for name in ("billed", "effective", "list", "contracted"):
        assert total[name] == figures[name]
    assert total["billed"] == "67.385678901"
    rejected = caller.get(f"bills/imports/{told['id']}/rejected")
    assert [(row["line"], row["field"]) for row in rejected.json()["results"]] == [
        (4, "BilledCost")
    ]
    table = caller.get(f"bills/imports/{told['id']}/rejected", accept="text/csv")
    assert table.content.decode().splitlines()[0] == "line,field,reason"

    undone = caller.post(f"bills/imports/{told['id']}/undo")
    assert (undone.status_code, undone.json()["state"]) == (200, "undone")
    assert caller.post(f"bills/imports/{told['id']}/undo").json() == undone.json()
    assert not BillRow.objects.exists()


def test_a_bill_that_was_broken_off_is_read_again_and_one_that_waits_is_called_off() -> None:
    caller = with_token("manage")
    failed = caller.client.post(
        IMPORTS, {"file": SimpleUploadedFile("july.csv", b"no bill\n")}, headers=caller.headers
    ).json()["id"]
    take_uploaded()
    assert BillImport.objects.get(id=failed).state == "failed"

    reader = with_token("read")
    for ending in ("read-again", "call-off"):
        assert act(reader, failed, ending).status_code == 403
        assert act(caller, 987_654, ending).status_code == 404
    again = act(caller, failed, "read-again")
    assert (again.status_code, again.json()["state"]) == (202, "waiting")
    # Said twice it is done once.
    assert act(caller, failed, "read-again").json()["state"] == "waiting"
    off = act(caller, failed, "call-off")
    assert (off.json()["state"], off.json()["failure"]) == ("failed", "it was called off")
    over = act(caller, failed, "call-off")
    assert (over.status_code, over.json()["title"]) == (409, "Bill import over")

    done = send(caller, *ROWS).json()["id"]
    take_uploaded()
    for ending in ("read-again", "call-off"):
        assert act(caller, done, ending).status_code == 409
    assert BillImport.objects.get(id=done).state == "done"


def act(caller: Caller, import_id: int, ending: str) -> Any:
    path = f"{IMPORTS}/{import_id}/{ending}"
    return caller.client.post(path, content_type="application/json", headers=caller.headers)


def test_the_same_key_sends_one_bill_and_another_bill_under_it_is_refused() -> None:
    caller = with_token("manage")
    first = send(caller, ROWS[0], Idempotency_Key="july")
    again = send(caller, ROWS[0], Idempotency_Key="july")
    other = send(caller, ROWS[1], Idempotency_Key="july")

    assert again.json() == first.json()
    assert (other.status_code, BillImport.objects.count()) == (409, 1)


def test_what_is_no_bill_is_refused_by_its_field_and_too_much_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caller = with_token("manage")
    empty = caller.client.post(IMPORTS, {"addition": "true"}, headers=caller.headers)
    assert (empty.status_code, empty.json()["errors"][0]["field"]) == (400, "file")
    unknown = send(caller, ROWS[0], period="2026-07")
    assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (400, "period")
    assert caller.post("bills/imports", {"file": "x"}).status_code == 415
    monkeypatch.setattr(BillImports, "body", BodyKind.NOTHING)
    large = send(caller, ROWS[0])
    assert (large.status_code, large.json()["title"]) == (413, "Body too large")
    assert not BillImport.objects.exists()


def test_an_addition_is_kept_as_one_and_finance_may_send_it_though_a_reader_may_not() -> None:
    finn, _ = signed_in("finn@example.org", "finance")
    sent = send(finn, ROWS[0], addition="true")
    assert (sent.status_code, sent.json()["addition"]) == (202, True)
    assert send(with_token("read"), ROWS[0]).status_code == 403
    assert send(signed_in("vera@example.org", "viewer")[0], ROWS[0]).status_code == 403
    assert with_token("read").get("bills/imports").status_code == 200


def test_a_bill_tells_why_it_differs_once_it_is_reconciled(tmp_path: Path) -> None:
    bill_files.deliver(tmp_path, ROWS[0])
    (bill_id,) = bills_due()
    caller = with_token("read")
    assert caller.get(f"bills/{bill_id}").json()["reconciliation"] is None

    reconcile_bill(bill_id=bill_id, at=make.NOON)

    told = caller.get(f"bills/{bill_id}").json()["reconciliation"]
    assert told["unmatched"] == told["billed"] == {"amount": "55.040000", "currency": "USD"}
    assert [row["reason"] for row in told["apart"]] == ["no node has this resource id"]
    assert caller.get(f"bills/{bill_id + 1}").status_code == 404


def test_finance_closes_a_month_and_reads_what_was_told(tmp_path: Path) -> None:
    bill_files.deliver(tmp_path, ROWS[0])
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=make.NOON)
    finn, _ = signed_in("finn@example.org", "finance")
    asked = {"month": "2026-01", "accept": [], "note": "as agreed"}

    made = finn.post("closes", asked)

    assert (made.status_code, made.json()["month"]) == (201, "2026-01")
    assert finn.post("closes", asked).status_code == 409
    assert with_token("manage").post("closes", asked).status_code == 403
    refused = finn.post("closes", {"month": "July"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "month")
    assert finn.post("closes", asked | {"accept": ["all"]}).status_code == 400
    (told,) = finn.get("closes").json()["results"]
    assert told == made.json()
    assert finn.get(f"closes/{told['id']}/statements").json()["results"] == []
    assert finn.get(f"closes/{told['id']}/journal").json()["results"] == []
    assert signed_in("vera@example.org", "viewer")[0].get("closes").status_code == 403


@pytest.mark.parametrize("month", ["0001-01", "9999-12", "2026-7"])
def test_a_month_beyond_the_calendar_is_refused_at_its_field(month: str) -> None:
    finance, _ = signed_in("fin@example.com", "finance")
    answer = finance.post("closes", {"month": month})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "month")
