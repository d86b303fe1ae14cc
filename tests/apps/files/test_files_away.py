"""A place of files that is away for a while: what was sent or asked for waits, and is neither broken off nor forgotten."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from apps.files import (
    PlaceFull,
    PlaceUnreachable,
    begin_file,
    delete_file,
    is_stored,
    list_files,
    local_copy,
    open_file,
    write_file,
)
from apps.files.bucket import BucketPlace
from apps.files.marks import MARK, NOTE
from apps.ledger.actions import bill_uploads, exports
from apps.ledger.models import BillImport, Export
from apps.ledger.queries import Window
from apps.ledger.queries.exports import Asker, export_fact, file_parts
from apps.ledger.tasks import bill_uploads as bill_sweep
from apps.ledger.tasks import make_exports
from apps.planning.actions import series_uploads
from apps.planning.models import SeriesImport
from apps.planning.tasks import series_uploads as series_sweep
from apps.uploads.files import StoredFile, UploadDraft
from apps.uploads.imports import MOST_TRIES
from apps.workloads.actions import uploads
from apps.workloads.models import ImportBatch
from apps.workloads.tasks import uploads as job_sweep
from tests import make

pytestmark = pytest.mark.django_db


@contextmanager
def away(_stored_as: str) -> Iterator[Path]:
    raise PlaceUnreachable("Could not connect to the endpoint URL")
    yield


@pytest.fixture
def stored(settings, tmp_path: Path) -> StoredFile:
    settings.HOME = tmp_path
    make.make_organisation()
    draft = UploadDraft("bill")
    draft.write(b"no bill\n")
    draft.publish()
    return draft.stored("sent.csv")


def test_a_bill_waits_for_its_bucket(stored: StoredFile, monkeypatch) -> None:
    upload = bill_uploads.BillUpload(
        stored.name, stored.stored_as, stored.size_bytes, stored.digest
    )
    import_id = bill_uploads.keep_bill(upload=upload, at=make.NOON)
    with monkeypatch.context() as patched:
        patched.setattr(bill_sweep, "stored_path", away)
        for _ in range(MOST_TRIES + 1):
            bill_sweep.take_uploaded()
    batch = BillImport.objects.get(id=import_id)
    assert (batch.state, batch.tries) == ("waiting", 0)
    assert batch.failure.startswith("it waits for the place where files are kept: Could not conn")
    assert is_stored(f"uploads/{stored.stored_as}")
    bill_sweep.take_uploaded()
    batch.refresh_from_db()
    assert (batch.state, batch.tries) == ("failed", 1)
    assert "header" in batch.failure or "column" in batch.failure


def test_files_of_jobs_and_of_histories_wait_too(stored: StoredFile, monkeypatch) -> None:
    batch_id = uploads.keep_upload(upload=stored, at=make.NOON)
    import_id = series_uploads.keep_series_file(upload=stored, person_id=None, at=make.NOON)
    monkeypatch.setattr(job_sweep, "stored_path", away)
    monkeypatch.setattr(series_sweep, "stored_path", away)
    for _ in range(MOST_TRIES + 1):
        job_sweep.work_on_files()
        series_sweep.work_on_series()
        ImportBatch.objects.update(alive_at=make.NOON)
        SeriesImport.objects.update(alive_at=make.NOON)
    for batch in (ImportBatch.objects.get(id=batch_id), SeriesImport.objects.get(id=import_id)):
        assert (batch.state, batch.tries) == ("looking", 0)
        assert batch.failure.startswith("it waits for the place where files are kept: Could not")


@pytest.mark.parametrize("trouble", [OSError("Please reduce your request rate"), PermissionError()])
def test_what_breaks_a_read_off_is_the_bucket_s_trouble(trouble, tmp_path, monkeypatch) -> None:
    class Broken:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def read(self, _size: int = -1) -> bytes:
            raise trouble

    place = BucketPlace("s3://bucket/prefix", tmp_path / "temporary")
    monkeypatch.setattr(place, "open", lambda name: Broken())
    with pytest.raises(PlaceUnreachable), place.local_copy("uploads/1.bill"):
        pass
    assert not list((tmp_path / "temporary").iterdir())


@pytest.fixture
def mounted(settings, tmp_path: Path) -> Path:
    """A folder that is mounted, of which the home is not."""
    settings.HOME, settings.FILES = tmp_path / "home", str(tmp_path / "mounted")
    make.make_organisation()
    return tmp_path / "mounted"


@contextmanager
def unmounted(mounted: Path) -> Iterator[None]:
    """What is left of a mount: an empty folder."""
    kept = mounted.with_name("elsewhere")
    mounted.rename(kept)
    mounted.mkdir()
    yield
    mounted.rmdir()
    kept.rename(mounted)


def sent_bill(content: bytes) -> BillImport:
    draft = UploadDraft("bill")
    draft.write(content)
    draft.publish()
    stored = draft.stored("sent.csv")
    upload = bill_uploads.BillUpload(
        stored.name, stored.stored_as, stored.size_bytes, stored.digest
    )
    return BillImport.objects.get(id=bill_uploads.keep_bill(upload=upload, at=make.NOON))


def test_a_bill_waits_for_a_folder_that_is_not_mounted(mounted: Path) -> None:
    batch = sent_bill(b"no bill\n")
    with unmounted(mounted):
        for _ in range(MOST_TRIES + 1):
            bill_sweep.take_uploaded()
        batch.refresh_from_db()
        assert (batch.state, batch.tries) == ("waiting", 0)
        assert "Is it mounted?" in batch.failure
        answer = Client().get("/readyz")
        assert (answer.status_code, answer.json()["ready"]) == (200, True)
        assert "Is it mounted?" in answer.json()["files"]
    bill_sweep.take_uploaded()
    batch.refresh_from_db()
    assert (batch.state, batch.tries) == ("failed", 1)
    assert "header" in batch.failure or "column" in batch.failure
    assert Client().get("/readyz").json() == {"ready": True}


def test_a_file_that_is_gone_from_a_folder_that_is_there_is_gone(mounted: Path) -> None:
    batch = sent_bill(b"no bill\n")
    (mounted / "uploads" / batch.stored_as).unlink()
    bill_sweep.take_uploaded()
    batch.refresh_from_db()
    assert (batch.state, batch.failure) == ("failed", "the uploaded file is no longer there")


def test_nothing_is_written_listed_or_forgotten_where_a_folder_is_not_mounted(
    mounted: Path,
) -> None:
    with write_file("exports/1.csv") as draft:
        draft.write(b"one")
    with unmounted(mounted):
        for act in (begin_file, open_file, delete_file, is_stored):
            with pytest.raises(PlaceUnreachable, match="mounted"):
                act("exports/1.csv")
        for folder in ("exports", "uploads"):
            with pytest.raises(PlaceUnreachable, match="mounted"):
                list_files(folder)
        with pytest.raises(PlaceUnreachable, match="mounted"), local_copy("exports/1.csv"):
            pass
        assert list(mounted.iterdir()) == []
    assert [entry.name for entry in list_files("exports")] == ["exports/1.csv"]


def test_another_host_knows_the_place_by_its_mark_and_does_not_take_an_empty_one_for_it(
    mounted: Path, settings, tmp_path: Path
) -> None:
    with write_file("exports/1.csv") as draft:
        draft.write(b"one")
    settings.HOME = tmp_path / "another"
    with unmounted(mounted), pytest.raises(PlaceUnreachable, match="nothing was ever kept"):
        open_file("exports/1.csv")
    assert not is_stored("exports/2.csv")
    with unmounted(mounted), pytest.raises(PlaceUnreachable, match="not what it was"):
        open_file("exports/1.csv")


def test_another_place_under_the_same_name_is_told_until_somebody_takes_it(
    mounted: Path, settings
) -> None:
    with write_file("exports/1.csv") as draft:
        draft.write(b"one")
    (mounted / MARK).write_text("f" * 32)
    with pytest.raises(PlaceUnreachable, match="another place than before"):
        begin_file("exports/2.csv")
    (settings.HOME / NOTE).unlink()
    begin_file("exports/2.csv").discard()


def test_a_place_that_was_used_before_there_were_marks_gets_one(mounted: Path) -> None:
    (mounted / "uploads").mkdir(parents=True)
    (mounted / "uploads" / "1.csv").write_bytes(b"old")
    assert not is_stored("uploads/2.csv")
    assert (mounted / MARK).exists()


def test_an_export_waits_for_its_place_and_is_made_then(mounted: Path) -> None:
    with write_file("exports/0.csv") as draft:
        draft.write(b"one")
    window = Window("2026-03-02", date(2026, 3, 2), date(2026, 3, 3), "UTC")
    wanted = exports.NewExport(exports.ExportWhat.DAYS, window, {}, {})
    asker = Asker(token_id=make.make_token("read").id)
    export_id = exports.request_export(wanted=wanted, asker=asker, at=make.NOON)
    with unmounted(mounted):
        for _ in range(exports.MOST_TRIES + 1):
            make_exports()
            Export.objects.update(alive_at=make.NOON)
        export = Export.objects.get(id=export_id)
        assert (export.state, export.tries) == ("queued", 0)
        assert "Is it mounted?" in export.failure
    make_exports()
    export.refresh_from_db()
    assert (export.state, export.failure) == ("done", "")
    assert b"".join(file_parts(export_fact(export_id)))


def test_an_export_that_waits_is_not_asked_for_again_at_once(mounted: Path) -> None:
    with write_file("exports/0.csv") as draft:
        draft.write(b"one")
    window = Window("2026-03-02", date(2026, 3, 2), date(2026, 3, 3), "UTC")
    wanted = exports.NewExport(exports.ExportWhat.DAYS, window, {}, {})
    asker = Asker(token_id=make.make_token("read").id)
    exports.request_export(wanted=wanted, asker=asker, at=make.NOON)
    with unmounted(mounted):
        make_exports()
    assert exports.take_up_export(at=timezone.now()) is None
    assert exports.take_up_export(at=timezone.now() + timedelta(minutes=6)) is not None


def test_a_folder_that_goes_away_while_it_is_read_is_no_fault_of_the_file(mounted: Path) -> None:
    with write_file("uploads/1.csv") as draft:
        draft.write(b"one")
    with pytest.raises(PlaceUnreachable, match="went away"), local_copy("uploads/1.csv"):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))


def test_a_place_without_room_says_so_and_keeps_nothing_half_written(mounted: Path) -> None:
    draft = begin_file("uploads/1.csv")
    draft.out.close()
    # A disk that is always full.
    draft.out = Path("/dev/full").open("wb")  # noqa: SIM115
    draft.write(b"x")
    with pytest.raises(PlaceFull, match="has no room"):
        draft.publish()
    draft.discard()
    assert [path.name for path in mounted.rglob("*") if path.is_file()] == [MARK]


def test_more_drafts_than_a_bucket_lists_at_once_are_forgotten_too(monkeypatch, tmp_path) -> None:
    begun = datetime(2026, 3, 1, tzinfo=UTC)
    there = [{"Key": f"uploads/{n}", "UploadId": str(n), "Initiated": begun} for n in range(2_500)]

    class Driver:
        """The bucket's far end: it lists a thousand after a marker, as S3 does."""

        def call_s3(self, act: str, **asked):
            assert asked["Bucket"] == "bucket"
            if act == "abort_multipart_upload":
                there.remove(next(each for each in there if each["Key"] == asked["Key"]))
                return None
            after = asked.get("UploadIdMarker")
            first = 0 if after is None else int(after) + 1
            page = [each for each in there if int(each["UploadId"]) >= first][:1_000]
            more = bool(page) and page[-1] != there[-1]
            last = page[-1] if page else {"Key": "", "UploadId": ""}
            return {
                "Uploads": page,
                "IsTruncated": more,
                "NextKeyMarker": last["Key"],
                "NextUploadIdMarker": last["UploadId"],
            }

    place = BucketPlace("s3://bucket", tmp_path)
    monkeypatch.setattr(place, "_system", Driver)
    assert place.forget_drafts("uploads", begun) == 0
    assert place.forget_drafts("uploads", begun + timedelta(days=1)) == 2_500
    assert there == []
