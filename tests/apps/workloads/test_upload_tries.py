"""A file whose reading ends its worker is taken up three times by itself, and then by a person's word alone."""

from datetime import timedelta

import pytest

from apps.planning.actions import series_uploads
from apps.planning.models import SeriesImport
from apps.uploads.files import StoredFile
from apps.uploads.imports import BROKEN_OFF, SILENT_AFTER
from apps.workloads.actions import uploads
from apps.workloads.models import ImportBatch
from tests import make

pytestmark = pytest.mark.django_db
FILE = StoredFile("jobs.csv", "0" * 32 + ".upload", 9, "0" * 64)


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
    uploads.ask_reading(batch_id=batch_id, asked={}, at=at)
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
