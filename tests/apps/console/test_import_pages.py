"""A file of jobs by browser: sent, looked at, its columns said, imported in the background."""

import csv
import gzip
import io
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.files.limits import FORM_BYTES, BodyKind
from apps.ledger.models import Close
from apps.marks.models import ChangedHour, Pass
from apps.uploads.imports import SILENT_AFTER
from apps.workloads.actions import uploads
from apps.workloads.models import Job
from apps.workloads.tasks import import_uploads
from tests import make
from tests.apps.console.people import client_of, words_of
from tests.browser.fleet import make_people

pytestmark = pytest.mark.django_db

JOBS = """job,start,end,host,num_gpus,user,proj
1,2026-03-01T10:00:00,2026-03-01T11:00:00,gpu-01,8,ida,nlp
2,2026-03-01T10:00:00,2026-03-01T09:00:00,gpu-01,8,ida,nlp
3,2026-03-01T12:00:00,2026-03-01T13:00:00,gpu-02,4,bo,vision
"""
REFRESHES = 'hx-trigger="every 2s"'
SACCT = """JobIDRaw|User|Account|Submit|Start|End|State|AllocTRES|NodeList
7|ida|nlp|2026-03-01T09:00:00|2026-03-01T10:00:00|2026-03-01T11:00:00|COMPLETED|gres/gpu=8|gpu-01
"""


@pytest.fixture(autouse=True)
def uploads_folder(settings, tmp_path) -> Path:
    cache.clear()
    make.make_organisation()
    make_people()
    settings.HOME = tmp_path
    return tmp_path / "uploads"


def sent(client: Client, content: str | bytes, name: str = "jobs.csv") -> str:
    raw = content if isinstance(content, bytes) else content.encode()
    answer = client.post("/setup/imports/upload", {"file": SimpleUploadedFile(name, raw)})
    assert answer.status_code == 302
    return str(answer["Location"])


def filled(client: Client, path: str) -> dict[str, str]:
    """The form as it stands there."""
    page = client.get(path).content.decode()
    form = page[page.index('id="reading"') :]
    chosen = dict(re.findall(r'<input id="[^"]*" name="([^"]+)" type="text" value="([^"]*)"', form))
    for name, options in re.findall(r'<select id="[^"]*" name="([^"]+)".*?>(.*?)</select>', form):
        found = re.search(r'value="([^"]*)" selected', options)
        chosen[name] = found[1] if found else ""
    return chosen


def test_a_csv_is_looked_at_and_its_columns_are_guessed(uploads_folder):
    client = client_of()
    path = sent(client, JOBS)
    assert "is being looked at" in words_of(client.get(path))
    assert [each.stat().st_mode & 0o777 for each in uploads_folder.iterdir()] == [0o600]
    import_uploads()
    page = client.get(path).content.decode()
    # Sign out, look again, discard: each form carries its token.
    assert page.count("csrfmiddlewaretoken") == page.count('method="post"') == 3
    form = filled(client, path)
    assert form["column.raw_id"] == "job"
    assert form["column.started_at"] == "start"
    assert form["column.node"] == "host"
    assert form["column.gpus"] == "num_gpus"
    assert form["column.account"] == ""
    assert "say in the mapping or the command whose jobs these are" in words_of(client.get(path))


def test_a_file_is_shown_as_it_would_be_taken_and_then_imported(uploads_folder):
    client = client_of()
    path = sent(client, JOBS)
    import_uploads()
    form = filled(client, path) | {"cluster": "atlas", "column.account": "proj"}
    client.post(f"{path}/reading", form)
    import_uploads()
    shown = words_of(client.get(path))
    assert "Of the first 3 rows of jobs.csv, 2 are jobs." in shown
    assert "atlas 1 ida nlp – 2026-03-01 10:00:00 2026-03-01 11:00:00 gpu-01 8" in shown
    assert "3 end is before the start" in shown
    assert Job.objects.count() == 0

    client.post(f"{path}/start")
    import_uploads()
    done = words_of(client.get(path))
    assert "2 jobs came from jobs.csv; 1 row could not be taken." in done
    assert Job.objects.count() == 2
    rows = csv.DictReader(io.StringIO(client.get(f"{path}.csv?table=rejected").content.decode()))
    assert list(rows) == [{"line": "3", "field": "end", "reason": "is before the start"}]
    assert not any(uploads_folder.iterdir())
    assert "jobs.csv" in words_of(client.get("/setup/imports"))


def test_accounting_of_slurm_needs_no_columns_said():
    client = client_of()
    path = sent(client, gzip.compress(SACCT.encode()), "accounting.psv.gz")
    import_uploads()
    assert "Of the first 1 row of accounting.psv.gz, 1 is a job." in words_of(client.get(path))
    client.post(f"{path}/start")
    import_uploads()
    assert Job.objects.count() == 1


def test_hours_of_a_closed_month_are_not_waited_for():
    client = client_of()
    path = sent(client, SACCT)
    import_uploads()
    client.post(f"{path}/start")
    import_uploads()
    ten = datetime(2026, 3, 1, 10, tzinfo=UTC)
    ChangedHour.objects.create(pass_id=Pass.SPLIT, hour=ten, unit=1, revision=1)
    open_month = client.get(path)
    assert "1 hour of its time waits to be settled; this page counts" in words_of(open_month)
    assert REFRESHES in open_month.content.decode()

    Close.objects.create(
        month=ten.date(), version=1, closed_at=ten, cut_off=ten, digest="", lines=0
    )
    closed_month = client.get(path)
    said = words_of(closed_month)
    assert "1 hour is of a closed month: finance posts corrections." in said
    assert "to be settled; this page counts" not in said
    assert REFRESHES not in closed_month.content.decode()


def test_the_same_file_again_changes_nothing():
    client = client_of()
    for known in (0, 1):
        path = sent(client, SACCT)
        import_uploads()
        client.post(f"{path}/start")
        import_uploads()
        assert f"{known} known already" in words_of(client.get(path))


def test_an_import_whose_worker_fell_silent_is_begun_again():
    client = client_of()
    path = sent(client, SACCT)
    import_uploads()
    client.post(f"{path}/start")
    at = make.NOON
    assert uploads.claim_file(at=at) is not None
    assert uploads.claim_file(at=at + SILENT_AFTER / 2) is None
    assert uploads.claim_file(at=at + 2 * SILENT_AFTER) is not None


def test_nothing_is_imported_before_it_can_be_read():
    client = client_of()
    path = sent(client, JOBS)
    for _ in range(2):
        refused = client.post(f"{path}/start")
        assert refused.status_code == 409
        assert "cannot be imported as it would be read now" in words_of(refused)
        import_uploads()


@pytest.mark.parametrize(
    "content",
    [
        b"\x1f\x8bnot really",
        b"\xff\xfe\x00",
        b"a\n",
        b"\n\n\n",
        pytest.param(JOBS.encode("utf-16"), id="utf-16"),
    ],
)
def test_what_is_no_table_of_jobs_says_so_and_can_be_discarded(uploads_folder, content):
    client = client_of()
    path = sent(client, content)
    import_uploads()
    assert client.get(path).status_code == 200
    client.post(f"{path}/discard")
    import_uploads()
    assert "was discarded" in words_of(client.get(path))
    assert not any(uploads_folder.iterdir())
    assert "already" in words_of(client.post(f"{path}/discard", follow=True))


def test_an_empty_form_and_a_file_too_large_leave_nothing_behind(uploads_folder, monkeypatch):
    client = client_of()
    assert "No file came" in words_of(client.post("/setup/imports/upload", {}))
    monkeypatch.setitem(settings.LARGEST_BODIES, BodyKind.JOBS, 10 - FORM_BYTES)
    given = {"file": SimpleUploadedFile("jobs.csv", JOBS.encode())}
    answer = client.post("/setup/imports/upload", given)
    assert answer.status_code == 413
    assert not uploads_folder.exists() or not any(uploads_folder.iterdir())


def test_a_file_without_its_token_is_refused_and_not_kept(uploads_folder):
    client = client_of(enforce_csrf_checks=True)
    given = {"file": SimpleUploadedFile("jobs.csv", JOBS.encode())}
    assert client.post("/setup/imports/upload", given).status_code == 403
    assert not uploads_folder.exists() or not any(uploads_folder.iterdir())


@pytest.mark.parametrize("name", ["finn", "vera"])
def test_only_the_platform_imports(uploads_folder, name):
    path = sent(client_of(), JOBS)
    client = client_of(name)
    for page in ("/setup/imports", path, f"{path}.csv?table=rejected"):
        assert client.get(page).status_code == 403
    for action in ("/setup/imports/upload", f"{path}/reading", f"{path}/start", f"{path}/discard"):
        given = {"file": SimpleUploadedFile("jobs.csv", b"x")}
        assert client.post(action, given).status_code == 403
    assert len(list(uploads_folder.iterdir())) == 1


def test_an_entry_that_is_too_long_is_refused_and_not_cut(uploads_folder):
    client = client_of()
    path = sent(client, JOBS)
    import_uploads()
    form = filled(client, path) | {"cluster": "atlas" * 50}
    answer = client.post(f"{path}/reading", form | {"column.account": "proj"})
    assert answer.status_code == 400
    assert "Say it in at most 200 characters. whose jobs these are" in words_of(answer)
    # What else was chosen stands there still, and nothing was looked at anew.
    assert '<option value="proj" selected>' in answer.content.decode()
    assert f'value="{"atlas" * 50}"' in answer.content.decode()
    assert filled(client, path)["cluster"] == ""


def test_imports_and_the_first_jobs_of_one_are_sheets():
    client = client_of()
    address = sent(client, JOBS)
    import_uploads()
    form = filled(client, address) | {"cluster": "atlas", "column.account": "proj"}
    client.post(f"{address}/reading", form)
    import_uploads()
    assert f"{address}.csv?table=trial" in client.get(address).content.decode()
    header, first, *_ = client.get(f"{address}.csv?table=trial").content.decode().splitlines()
    assert header == "cluster,job,user,account,state,started,ended,nodes,gpus"
    assert first.startswith("atlas,1,ida,nlp,")
    assert "/setup/imports.csv" in client.get("/setup/imports?sort=name").content.decode()
    (row,) = client.get("/setup/imports.csv").content.decode().splitlines()[1:]
    assert row.startswith("jobs.csv,")
    assert client_of("finn").get("/setup/imports.csv").status_code == 403
