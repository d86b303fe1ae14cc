"""A file whose reading ends its worker is taken up three times by itself, and then by a person's word alone.

What the file did not do is no try of it: a worker that was asked to stop, or one that got further than those before.
"""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from celery.signals import worker_init, worker_shutting_down

import controlplane.celery  # noqa: F401  # its signals
from apps.files.stopping import STOP
from apps.planning.actions import series_uploads
from apps.planning.models import SeriesImport
from apps.planning.tasks import series_uploads as series_sweep
from apps.uploads.files import STOPPED, StoredFile, UploadDraft
from apps.uploads.imports import BROKEN_OFF, SILENT_AFTER
from apps.workloads.actions import uploads
from apps.workloads.models import ImportBatch
from apps.workloads.tasks import uploads as job_sweep
from tests import make

pytestmark = pytest.mark.django_db
FILE = StoredFile("jobs.csv", "0" * 32 + ".upload", 1_000, "0" * 64)


@pytest.fixture(autouse=True)
def _own_notice() -> Iterator[None]:
    STOP.renew()
    yield
    STOP.renew()


def test_a_file_of_jobs_is_broken_off_and_looked_at_again_when_somebody_asks() -> None:
    make.make_organisation()
    batch_id, at = uploads.keep_upload(upload=FILE, at=make.NOON), make.NOON
    for tries in (1, 2, 3):
        assert uploads.claim_file(at=at) is not None
        assert uploads.claim_file(at=at) is None
        assert ImportBatch.objects.get(id=batch_id).tries == tries
        at += SILENT_AFTER + timedelta(seconds=1)
    assert uploads.claim_file(at=at) is None
    batch = ImportBatch.objects.get(id=batch_id)
    assert (batch.state, batch.failure, batch.stored_as) == ("failed", BROKEN_OFF, FILE.stored_as)
    uploads.request_import_reading(batch_id=batch_id, options={}, at=at)
    assert uploads.claim_file(at=at) is not None
    assert ImportBatch.objects.get(id=batch_id).tries == 1


def test_a_history_is_broken_off_too() -> None:
    make.make_organisation()
    import_id = series_uploads.keep_series_file(upload=FILE, person_id=None, at=make.NOON)
    at = make.NOON
    for _ in range(3):
        assert series_uploads.claim_series_file(at=at) is not None
        at += SILENT_AFTER + timedelta(seconds=1)
    assert series_uploads.claim_series_file(at=at) is None
    batch = SeriesImport.objects.get(id=import_id)
    assert (batch.state, batch.failure) == ("failed", BROKEN_OFF)


def cut_at(read_bytes: int) -> None:
    """The worker that has the file was killed when it had read so much of it."""
    long_ago = make.NOON - timedelta(days=1)
    ImportBatch.objects.update(read_bytes=read_bytes, alive_at=long_ago)


def test_a_try_that_got_further_is_given_back_and_the_same_place_three_times_breaks_off() -> None:
    make.make_organisation()
    batch_id = uploads.keep_upload(upload=FILE, at=make.NOON)
    ImportBatch.objects.update(state="waiting")
    for read_bytes, tries in ((100, 1), (300, 2), (500, 2), (700, 2), (720, 2), (720, 3)):
        assert uploads.claim_file(at=make.NOON) is not None
        assert ImportBatch.objects.get(id=batch_id).tries == tries, read_bytes
        cut_at(read_bytes)
    # From 700 on nothing but a little was gained, three times.
    assert uploads.claim_file(at=make.NOON) is None
    assert ImportBatch.objects.get(id=batch_id).failure == BROKEN_OFF


def test_a_try_that_was_laid_down_is_given_back_once() -> None:
    make.make_organisation()
    batch_id = uploads.keep_upload(upload=FILE, at=make.NOON)
    ImportBatch.objects.update(state="waiting")
    for tries in (1, 2):
        assert uploads.claim_file(at=make.NOON) is not None
        assert ImportBatch.objects.get(id=batch_id).tries == tries
        cut_at(100)
    # The third got further, and its worker was asked to stop: the file had nothing to do with it.
    assert uploads.claim_file(at=make.NOON) is not None
    ImportBatch.objects.update(read_bytes=500)
    uploads.release_import_file(batch_id=batch_id, reason=STOPPED, at=None)
    assert uploads.claim_file(at=make.NOON) is not None
    assert ImportBatch.objects.get(id=batch_id).tries == 3
    cut_at(500)
    assert uploads.claim_file(at=make.NOON) is None
    assert ImportBatch.objects.get(id=batch_id).failure == BROKEN_OFF


def test_what_was_read_before_a_person_asked_again_is_not_compared() -> None:
    make.make_organisation()
    batch_id = uploads.keep_upload(upload=FILE, at=make.NOON)
    ImportBatch.objects.update(furthest_bytes=900, state="failed", tries=3)
    uploads.request_import_reading(batch_id=batch_id, options={}, at=make.NOON)
    batch = ImportBatch.objects.get(id=batch_id)
    assert (batch.tries, batch.furthest_bytes) == (0, 0)


def test_a_worker_that_was_asked_to_stop_lays_its_file_down_and_that_is_no_try(
    settings, tmp_path: Path, monkeypatch
) -> None:
    settings.HOME = tmp_path
    make.make_organisation()
    draft = UploadDraft()
    draft.write(b"time,value\n" + b"2026-03-02 10:00,1\n2026-03-02 11:00,2\n")
    draft.publish()
    stored = draft.stored("history.csv")
    batch_id = uploads.keep_upload(upload=stored, at=make.NOON)
    ImportBatch.objects.update(state="waiting", asked={}, kind="sacct")
    import_id = series_uploads.keep_series_file(upload=stored, person_id=None, at=make.NOON)
    # Asked to while it begins: a sweep that is asked before takes nothing up.
    real_jobs, real_series = uploads.claim_file, series_uploads.claim_series_file

    def stopped(claim):
        def claimed(**given):
            found = claim(**given)
            STOP.post()
            return found

        return claimed

    for _ in range(4):
        with monkeypatch.context() as patched:
            patched.setattr(uploads, "claim_file", stopped(real_jobs))
            patched.setattr(series_uploads, "claim_series_file", stopped(real_series))
            job_sweep.work_on_files()
            STOP.renew()
            series_sweep.work_on_series()
        job_sweep.work_on_files()
        STOP.renew()
    for batch in (ImportBatch.objects.get(id=batch_id), SeriesImport.objects.get(id=import_id)):
        assert (batch.tries, batch.failure, batch.alive_at) == (0, STOPPED, None)
    series_sweep.work_on_series()
    batch = SeriesImport.objects.get(id=import_id)
    assert (batch.state, batch.tries, batch.failure) == ("asking", 1, "")


def test_what_celery_says_to_a_worker_reaches_the_processes_that_it_forked() -> None:
    worker_init.send(sender=None)
    told, tell = os.pipe()
    pid = os.fork()
    if not pid:
        os.read(told, 1)
        os._exit(7 if STOP.is_posted() else 0)
    assert not STOP.is_posted()
    worker_shutting_down.send(sender="runrate", sig="SIGTERM", how="Warm", exitcode=0)
    os.write(tell, b"1")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    worker_init.send(sender=None)
    assert not STOP.is_posted()
