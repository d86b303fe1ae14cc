"""A bill by browser: sent, taken in by a sweep, looked at, undone; for finance and platform."""

from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.ledger.actions import bill_uploads
from apps.ledger.actions.reconcile import reconcile_bill
from apps.ledger.models import Bill, BillImport, BillRow
from apps.ledger.tasks import take_bills
from apps.uploads.files import UploadDraft
from tests import make
from tests.apps.console.people import client_of, confirmed, words_of
from tests.apps.ledger.bill_files import deliver, hour_row, text_of
from tests.browser.fleet import make_people

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def uploads_folder(settings, tmp_path) -> Path:
    cache.clear()
    make.make_organisation()
    make_people()
    settings.HOME = tmp_path
    return tmp_path / "uploads"


def sent(client: Client, *rows: dict[str, str], **more: str) -> str:
    file = SimpleUploadedFile("july.csv", text_of(rows).encode())
    answer = client.post("/bills/upload", {"file": file, **more})
    assert answer.status_code == 302
    return str(answer["Location"])


def test_a_bill_is_sent_waits_and_is_in_after_the_next_sweep(uploads_folder: Path) -> None:
    client = client_of()

    page = sent(client, hour_row("1.5"), hour_row("x"), hour_row("2"))
    before = client.get(page)
    take_bills()
    after = client.get(page)

    assert "july.csv is about to be taken in." in words_of(before)
    assert 'hx-trigger="every 2s"' in before.content.decode()
    assert "2 new rows came from july.csv; 1 row could not be read." in words_of(after)
    assert "FOCUS 1.3" in words_of(after)
    assert "3 BilledCost 'x' is no number" in words_of(after)
    assert "hx-trigger" not in after.content.decode().split('id="content"')[1]
    assert list(uploads_folder.iterdir()) == []
    assert BillImport.objects.get().person.email == "petra@example.org"


def test_the_list_tells_each_bill_by_basis_and_exactly_as_csv() -> None:
    client = client_of()
    sent(client, hour_row("1.000000000001"), hour_row("2"))
    take_bills()

    listed = words_of(client.get("/bills"))

    assert "A Cloud 1234 July 2026 2" in listed
    assert "$3.00 $3.00 $181.00 $196.64 being reconciled" in listed
    assert "1 bill of 1 waits." in listed
    rows = client.get("/bills.csv").content.decode().splitlines()
    assert rows[1] == (
        "A Cloud,1234,2026-07-01T00:00:00Z,2026-08-01T00:00:00Z,USD,2,"
        "3.000000000001,3.000000000001,181,196.64,being reconciled"
    )
    assert 'href="/bills.csv?table=files"' in client.get("/bills").content.decode()
    (file,) = client.get("/bills.csv?table=files").content.decode().splitlines()[1:]
    assert file.startswith("july.csv,")
    assert file.endswith(",done,2,2,0,0,0")


def test_sums_follow_what_is_in_force(tmp_path: Path) -> None:
    client = client_of()
    deliver(tmp_path, hour_row("1"))
    assert "$1.00" in words_of(client.get("/bills"))
    sent(client, hour_row("7"))
    take_bills()

    assert "$7.00" in words_of(client.get("/bills"))


def test_a_file_that_lacks_rows_is_accepted_with_a_reason_on_its_page() -> None:
    client = client_of("finn")
    sent(client, hour_row("310.07"), hour_row("2"))
    take_bills()
    page = sent(client, hour_row("x"), hour_row("2"))
    take_bills()
    bill = Bill.objects.get()

    assert "july.csv is held: 1 row could not be read." in words_of(client.get(page))
    assert "1 row of july.csv : it is held" in words_of(client.get(f"/bills/{bill.id}"))
    assert "Say why it is right" not in words_of(client.get(f"{page}/accept"))
    assert "Say why it is right" in words_of(client.get(f"{page}/accept", {"reason": " "}))
    looked = words_of(client.get(f"{page}/accept", {"reason": "a refund"}))
    assert "July 2026: billed $312.07 becomes $2.00, effective $312.07 becomes $2.00." in looked
    assert client.post(f"{page}/accept", {"reason": "a refund"}).status_code == 409
    assert BillImport.objects.get(state="held").accepted_at is None
    done = words_of(confirmed(client, f"{page}/accept", {"reason": "a refund"}, follow=True))

    assert "Accepted without 1 row by Finn" in done
    assert "a refund" in done
    assert "Rows of it could not be read" not in words_of(client.get(f"/bills/{bill.id}"))
    reconcile_bill(bill_id=bill.id, at=make.NOON)
    listed = words_of(client.get("/bills"))
    assert "The bill is in the ledger." in listed
    assert "reconciled" not in listed
    assert client_of("vera").post(f"{page}/accept", {"reason": "x"}).status_code == 403


def test_an_import_is_undone_and_says_so() -> None:
    client = client_of("finn")
    page = sent(client, hour_row("1"))
    take_bills()

    later = sent(client, hour_row("7"), hour_row("2"))
    take_bills()

    assert "Undo this import" in words_of(client.get(page))
    refused = confirmed(client, f"{page}/undo", {})
    assert (refused.status_code, "undo it first" in words_of(refused)) == (400, True)
    looked = words_of(client.get(f"{later}/undo"))
    assert "Its 2 new rows go, and the 1 that it replaced count again." in looked
    assert "July 2026: billed $9.00 becomes $1.00, effective $9.00 becomes $1.00." in looked
    confirmed(client, f"{later}/undo", {})
    assert "$1.00" in words_of(client.get("/bills"))
    assert "billed $1.00 becomes nothing" in words_of(client.get(f"{page}/undo"))
    assert "july.csv was undone." in words_of(confirmed(client, f"{page}/undo", {}, follow=True))
    again = confirmed(client, f"{page}/undo", {})

    assert (again.status_code, "july.csv is undone" in words_of(again)) == (409, True)
    assert BillRow.objects.count() == 0


def test_a_bill_that_waits_is_called_off_and_its_file_forgotten(uploads_folder: Path) -> None:
    client = client_of()
    page = sent(client, hour_row("1"))

    client.post(f"{page}/call-off")
    take_bills()

    assert "Nothing of july.csv was taken. " in words_of(client.get(page))
    assert list(uploads_folder.iterdir()) == []
    assert Bill.objects.count() == 0
    answer = client.post(f"{page}/call-off")
    assert (answer.status_code, "July.csv is broken off." in words_of(answer)) == (409, True)


def test_the_same_file_sent_twice_is_taken_once_and_added_ones_too() -> None:
    client = client_of()
    sent(client, hour_row("1"))
    take_bills()
    page = sent(client, hour_row("1"), add="yes")
    take_bills()

    assert "july.csv changed nothing." in words_of(client.get(page))
    assert BillRow.objects.count() == 1


def test_an_import_whose_worker_died_is_begun_again_from_its_first_row() -> None:
    client = client_of()
    sent(client, hour_row("1"), hour_row("x"))
    claimed = bill_uploads.claim_bill(at=make.NOON)
    assert claimed is not None
    BillImport.objects.update(rows=5, rejected=2)

    take_bills()

    batch = BillImport.objects.get()
    assert (batch.state, batch.rows, batch.imported, batch.rejected) == ("done", 2, 1, 1)


def test_what_is_no_bill_says_why_and_leaves_nothing(uploads_folder: Path) -> None:
    client = client_of()
    file = SimpleUploadedFile("jobs.csv", b"job,start\n1,2\n")
    page = client.post("/bills/upload", {"file": file})["Location"]

    take_bills()

    said = words_of(client.get(page))
    assert "the header has no BilledCost" in said
    assert "Read it again" in said
    assert len(list(uploads_folder.iterdir())) == 1


def test_what_was_broken_off_is_read_again_by_a_button(uploads_folder: Path) -> None:
    client = client_of()
    page = sent(client, hour_row("1"))
    BillImport.objects.update(state="failed", failure="it ran out of memory", tries=3)

    assert "Read it again" in words_of(client.get(page))
    client.post(f"{page}/read-again")
    take_bills()

    assert "1 new row came from july.csv." in words_of(client.get(page))
    assert list(uploads_folder.iterdir()) == []
    answer = client.post(f"{page}/read-again")
    assert (answer.status_code, "is not kept: send it again" in words_of(answer)) == (409, True)


def test_an_upload_whose_file_is_gone_says_so(uploads_folder: Path) -> None:
    client = client_of()
    page = sent(client, hour_row("1"))
    for file in uploads_folder.iterdir():
        file.unlink()

    take_bills()

    assert "the uploaded file is no longer there" in words_of(client.get(page))


def test_an_upload_without_a_file_or_too_large_a_one_is_refused() -> None:
    client = client_of()

    empty = client.post("/bills/upload", {"add": "yes"})
    assert (empty.status_code, "choose one that is not empty" in words_of(empty)) == (400, True)
    assert '<option value="yes" selected>' in empty.content.decode()
    answer = client.post("/bills/upload", {}, CONTENT_LENGTH=str(10**12))
    assert answer.status_code == 413
    assert "send it as gzip or Parquet" in words_of(answer)


def test_only_finance_and_platform_see_bills_and_the_way_to_them() -> None:
    client = client_of("finn")
    page = sent(client, hour_row("1"))
    member = client_of("vera")

    assert 'href="/bills"' in client.get("/").content.decode()
    assert 'href="/bills"' not in member.get("/").content.decode()
    for address in ("/bills", "/bills.csv", page, f"{page}.csv"):
        assert client.get(address).status_code == 200
        assert member.get(address).status_code == 403
        assert Client().get(address).status_code == 302
    for address in ("/bills/upload", f"{page}/undo", f"{page}/call-off", f"{page}/read-again"):
        assert member.post(address).status_code == 403
    assert client.get("/bills/imports/999999").status_code == 404


def test_bills_over_rest_are_exact_and_for_who_sees_prices() -> None:
    sent(client_of(), hour_row("1.000000000001"), hour_row("2", EffectiveCost=""))
    take_bills()
    reads = {"Authorization": f"Bearer {make.make_token('read').secret}"}
    team = make.make_token("read", team_id=make.make_team())

    answer = Client().get("/api/v1/bills", headers=reads)

    (bill,) = answer.json()["results"]
    assert (bill["issuer"], bill["rows"], bill["state"]) == ("A Cloud", 2, "waiting")
    assert (bill["billed"], bill["effective"]) == ("3.000000000001", "1.000000000001")
    refused = Client().get("/api/v1/bills", headers={"Authorization": f"Bearer {team.secret}"})
    assert refused.status_code == 403


def test_a_file_for_which_there_is_no_room_is_refused_in_words(
    uploads_folder: Path, monkeypatch
) -> None:
    file = SimpleUploadedFile("july.csv", text_of([hour_row("1")]).encode())
    real = UploadDraft.__init__

    def on_a_full_disk(draft: UploadDraft, ending: str = "upload") -> None:
        real(draft, ending)
        draft._draft.out.close()
        draft._draft.out = Path("/dev/full").open("wb", buffering=0)  # noqa: SIM115

    monkeypatch.setattr(UploadDraft, "__init__", on_a_full_disk)
    answer = client_of().post("/bills/upload", {"file": file})
    assert (answer.status_code, "has no room" in words_of(answer)) == (507, True)
    secret = make.make_token("manage").secret
    file.seek(0)
    answer = Client(headers={"Authorization": f"Bearer {secret}"}).post(
        "/api/v1/bills/imports", {"file": file}
    )
    assert (answer.status_code, answer["Content-Type"]) == (507, "application/problem+json")
    assert "has no room" in answer.json()["detail"]
    assert list(uploads_folder.iterdir()) == []
    assert not BillImport.objects.exists()
