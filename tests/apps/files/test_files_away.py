"""A bucket that does not answer for a while: what was sent waits, and is neither broken off nor forgotten."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from apps.files import BucketUnreachable, is_stored
from apps.files.bucket import BucketPlace
from apps.ledger.actions import bill_uploads
from apps.ledger.models import BillImport
from apps.ledger.tasks import bill_uploads as bill_sweep
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
    raise BucketUnreachable("Could not connect to the endpoint URL")
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
    assert (batch.state, batch.tries, batch.failure) == ("waiting", 0, "")
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
        assert (batch.state, batch.tries, batch.failure) == ("looking", 0, "")


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
    with pytest.raises(BucketUnreachable), place.local_copy("uploads/1.bill"):
        pass
    assert not list((tmp_path / "temporary").iterdir())
