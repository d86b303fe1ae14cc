"""The private database server after a crash."""

import time
from contextlib import closing

import psutil
import psycopg

from controlplane import embedded_postgres


def is_living(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def test_no_server_starts_beside_a_backend_that_outlived_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded_postgres, "BACKEND_SECONDS", 0.5)
    with embedded_postgres.running(tmp_path) as url, closing(psycopg.connect(url)) as connection:
        backend = psutil.Process(connection.info.backend_pid)
        backend.suspend()
        pid = int((tmp_path / "postgres" / "postmaster.pid").read_text().split()[0])
        postmaster = psutil.Process(pid)
        postmaster.kill()
        while is_living(postmaster):
            time.sleep(0.01)
        assert is_living(backend)

        with embedded_postgres.running(tmp_path) as again:
            assert not is_living(backend)
            with psycopg.connect(again) as other:
                assert other.execute("SELECT 1").fetchone() == (1,)
