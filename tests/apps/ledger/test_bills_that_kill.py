"""A bill's file that would take its worker down: the worker lives, or the file is broken off after three tries."""

import gzip
import os
import signal
import subprocess
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone
from pyarrow import parquet

from apps.files import is_stored
from apps.ledger.actions import bill_taking, bill_uploads
from apps.ledger.actions.bill_taking import stage_rows
from apps.ledger.models import BillImport, BillRow
from apps.ledger.tasks import bill_uploads as bill_sweep
from apps.ledger.tasks import take_bills
from apps.uploads.files import STOPPED as UPLOAD_STOPPED
from apps.uploads.files import UploadDraft
from tests import make
from tests.apps.ledger.bill_files import hour_row, text_of
from tests.forked import forked

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).parents[3]
SWEEP = """
import django; django.setup()
from apps.ledger.tasks import take_bills
take_bills.apply(throw=True)
# Of this program alone: ru_maxrss begins with what the tests' own process had come to.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(int(peak.split()[1]) >> 10)
"""


def send(content: bytes) -> int:
    draft = UploadDraft("bill")
    draft.write(content)
    draft.publish()
    stored = draft.stored("bill")
    upload = bill_uploads.BillUpload(
        stored.name, stored.stored_as, stored.size_bytes, stored.digest
    )
    return bill_uploads.keep_bill(upload=upload, at=make.NOON)


def sweep_alone() -> "subprocess.CompletedProcess[str]":
    """A worker's sweep, by a program of its own on this database."""
    told = connection.settings_dict
    url = f"postgres://postgres@/{told['NAME']}?host={told['HOST'].replace('/', '%2F')}"
    given = {
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "RUNRATE_DATABASE_URL": url,
        "RUNRATE_HOME": str(settings.HOME),
    }
    return subprocess.run(
        [sys.executable, "-c", SWEEP],
        cwd=ROOT,
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        check=False,
    )


def exit_code_of_sweep() -> int | None:
    """How a worker's sweep ended, in a process of its own."""
    process = forked(partial(take_bills.apply, throw=True))
    process.join()
    return process.exitcode


def killed(*arguments: object, **given: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def staged_and_stopped(**given: Any) -> None:
    stage_rows(**given)
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.fixture(autouse=True)
def _home(settings, tmp_path: Path) -> None:
    settings.HOME = tmp_path
    make.make_organisation()


def test_a_tiny_file_that_decodes_to_eighty_gigabytes_leaves_its_worker_alive(
    tmp_path: Path,
) -> None:
    cells = pa.DictionaryArray.from_arrays(
        pa.array([0] * 5_000, pa.int32()), pa.array(["x" * (16 << 20)])
    )
    path = tmp_path / "bomb.parquet"
    names = ("BilledCost", "ChargePeriodStart", "ResourceId")
    parquet.write_table(pa.table(dict.fromkeys(names, cells)), path, compression="zstd")
    bombs = [path.read_bytes(), gzip.compress(b"BilledCost," + b"x" * (64 << 20))]
    imports = [send(content) for content in bombs]
    done = sweep_alone()
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 700
    for import_id in imports:
        batch = BillImport.objects.get(id=import_id)
        assert (batch.state, batch.tries) == ("failed", 1)
        assert batch.failure
        assert batch.stored_as


def test_a_file_that_kills_its_worker_is_broken_off_after_three_tries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bill_sweep, "open_bill", killed)
    import_id = send(b"whatever")
    for tries in (1, 2, 3):
        assert exit_code_of_sweep() == -signal.SIGKILL
        batch = BillImport.objects.get(id=import_id)
        assert (batch.state, batch.tries) == ("running", tries)
    stored_as = f"uploads/{batch.stored_as}"
    assert is_stored(stored_as)
    assert exit_code_of_sweep() == 0
    batch.refresh_from_db()
    assert (batch.state, batch.failure) == ("failed", bill_uploads.BROKEN_OFF)
    assert "3 times" in batch.failure
    assert is_stored(stored_as)


def test_a_worker_that_is_stopped_again_and_again_breaks_no_bill_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [hour_row("1", ResourceId=f"node-{number}") for number in range(21_000)]
    import_id = send(text_of(rows).encode())
    with monkeypatch.context() as patched:
        patched.setattr(bill_taking, "stage_rows", staged_and_stopped)
        for _ in range(4):
            assert exit_code_of_sweep() == -signal.SIGTERM
            batch = BillImport.objects.get(id=import_id)
            assert (batch.state, batch.tries, batch.failure) == ("waiting", 0, UPLOAD_STOPPED)
            assert not BillRow.objects.exists()
    assert exit_code_of_sweep() == 0
    batch.refresh_from_db()
    assert (batch.state, batch.imported, batch.failure) == ("done", 21_000, "")


def test_a_try_that_read_more_rows_is_given_back() -> None:
    import_id = send(b"whatever")
    for rows, tries in ((2_500, 1), (5_000, 2), (7_500, 2), (7_600, 2), (7_600, 3)):
        assert bill_uploads.claim_bill(at=make.NOON) is not None
        assert BillImport.objects.get(id=import_id).tries == tries, rows
        BillImport.objects.update(rows=rows)
    assert bill_uploads.claim_bill(at=make.NOON) is None
    assert BillImport.objects.get(id=import_id).failure == bill_uploads.BROKEN_OFF


def test_a_broken_off_bill_is_read_again_for_a_day_and_then_forgotten() -> None:
    import_id = send(b"no bill\n")
    bill_sweep.take_uploaded()
    batch = BillImport.objects.get(id=import_id)
    assert (batch.state, batch.tries, bool(batch.ended_at)) == ("failed", 1, True)
    bill_uploads.read_bill_again(import_id=import_id, at=make.NOON)
    batch.refresh_from_db()
    assert (batch.state, batch.tries, batch.failure) == ("waiting", 0, "")
    bill_sweep.take_uploaded()
    BillImport.objects.update(ended_at=timezone.now() - timedelta(days=1, minutes=1))
    bill_sweep.take_uploaded()
    batch.refresh_from_db()
    assert (batch.state, batch.stored_as) == ("failed", "")
    with pytest.raises(bill_uploads.BillFileNotStored, match="send it again"):
        bill_uploads.read_bill_again(import_id=import_id, at=make.NOON)
