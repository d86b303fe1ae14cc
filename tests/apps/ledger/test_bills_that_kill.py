"""A bill's file that would take its worker down: the worker lives, or the file is broken off after three tries."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from django.conf import settings
from django.db import connection
from pyarrow import parquet

from apps.files import is_stored
from apps.ledger.actions import bill_uploads
from apps.ledger.models import BillImport
from apps.uploads.files import UploadDraft
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).parents[3]
SWEEP = """
import django; django.setup()
from apps.ledger.tasks import take_bills
{before}
take_bills.apply(throw=True)
# Of this program alone: ru_maxrss begins with what the tests' own process had come to.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(int(peak.split()[1]) >> 10)
"""
KILLED = "import os; from apps.ledger.tasks import bill_uploads; bill_uploads.open_bill = lambda *a, **k: os.kill(os.getpid(), 9)"


def send(content: bytes) -> int:
    draft = UploadDraft("bill")
    draft.write(content)
    draft.publish()
    stored = draft.stored("bill")
    upload = bill_uploads.BillUpload(
        stored.name, stored.stored_as, stored.size_bytes, stored.digest
    )
    return bill_uploads.keep_bill(upload=upload, at=make.NOON)


def sweep(before: str = "") -> "subprocess.CompletedProcess[str]":
    """A worker's sweep, in a process of its own on this database."""
    told = connection.settings_dict
    url = f"postgres://postgres@/{told['NAME']}?host={told['HOST'].replace('/', '%2F')}"
    given = {
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "RUNRATE_DATABASE_URL": url,
        "RUNRATE_HOME": str(settings.HOME),
    }
    return subprocess.run(
        [sys.executable, "-c", SWEEP.format(before=before)],
        cwd=ROOT,
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        check=False,
    )


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
    done = sweep()
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 700
    for import_id in imports:
        batch = BillImport.objects.get(id=import_id)
        assert (batch.state, batch.tries) == ("failed", 1)
        assert batch.failure
        assert not batch.stored_as


def test_a_file_that_kills_its_worker_is_broken_off_after_three_tries(tmp_path: Path) -> None:
    import_id = send(b"whatever")
    for tries in (1, 2, 3):
        assert sweep(KILLED).returncode == -9
        batch = BillImport.objects.get(id=import_id)
        assert (batch.state, batch.tries) == ("running", tries)
    stored_as = f"uploads/{batch.stored_as}"
    assert is_stored(stored_as)
    assert sweep(KILLED).returncode == 0
    batch.refresh_from_db()
    assert (batch.state, batch.failure) == ("failed", bill_uploads.BROKEN_OFF)
    assert "3 times" in batch.failure
    assert not is_stored(stored_as)
