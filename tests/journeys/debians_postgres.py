"""Debian's own Postgres, with a database whose role owns it and may do no more."""

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.journeys.test_processes import free_port

DEBIANS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
ENCRYPTED_ALONE = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n"
"""Who may enter: from afar, whoever has a password and speaks TLS."""
CERTIFICATE = (
    *("openssl", "req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=localhost"),
    *("-keyout", "server.key", "-out", "server.crt"),
)


@contextmanager
def debians_postgres(*, takes_plain: bool = True) -> Iterator[str]:
    """The URL of an empty database of Debian's own server, which takes unencrypted connections or does not."""
    if not DEBIANS or os.geteuid():
        pytest.skip("Debian's Postgres is not installed")
    binaries = DEBIANS[-1].parent
    # Its account may enter no folder of the tests'.
    data = Path(tempfile.mkdtemp(prefix="debian-", dir="/tmp"))
    shutil.chown(data, "postgres", "postgres")
    port, password = free_port(), secrets.token_urlsafe(12)

    def run(*command: str | Path) -> None:
        subprocess.run(
            command,
            user="postgres",
            group="postgres",
            cwd=data,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    initdb = ("--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync")
    run(binaries / "initdb", "-D", data, *initdb)
    started = f"-p {port} -k {data} -c listen_addresses=127.0.0.1 -c fsync=off"
    if not takes_plain:
        run(*CERTIFICATE)
        (data / "pg_hba.conf").write_text(ENCRYPTED_ALONE)
        started += " -c ssl=on"
    run(binaries / "pg_ctl", "-D", data, "start", "-w", "-l", data / "log", "-o", started)
    try:
        with psycopg.connect(
            host=str(data), port=port, user="postgres", dbname="postgres", autocommit=True
        ) as server:
            server.execute(f"CREATE ROLE runrate LOGIN PASSWORD '{password}'".encode())
            server.execute("CREATE DATABASE runrate OWNER runrate")
        yield f"postgres://runrate:{password}@127.0.0.1:{port}/runrate"
    finally:
        run(binaries / "pg_ctl", "-D", data, "stop", "-m", "immediate")
        shutil.rmtree(data)
