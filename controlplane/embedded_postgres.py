"""The embedded Postgres: a private server under RUNRATE_HOME on a Unix socket.

Only its binaries come from a package. Who may enter is said twice: the socket lies in a folder that
only the server's own account can enter, and the server asks the kernel whose process calls (`peer`).
No folder outside RUNRATE_HOME has its mode changed.
"""

import fcntl
import logging
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from urllib.parse import quote

import fasteners
import psutil

from controlplane.ending import signals_wait
from controlplane.folders import own_folder
from controlplane.postgres_programs import (
    Account,
    EmbeddedPostgresFailed,
    Ran,
    account_for,
    run,
    see_that_it_can_run,
)

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
listen_addresses = ''
unix_socket_permissions = 0700
"""
WHO_MAY_ENTER = "local all all peer map=runrate\n"
DATABASE = "runrate"
START_SECONDS = 120
BACKEND_SECONDS = 10.0
# A path in `sockaddr_un` has 108 bytes, the last of which is NUL.
LONGEST_SOCKET_PATH = 107
SOCKET = ".s.PGSQL.5432"
# The server's own folder, reached without a way there: under root, folders above it may be closed
# to the server's account, and they stay closed.
HERE = "/proc/self/cwd"
_used: list[Path] = []
"""The homes whose server this process put into its environment."""


@contextmanager
def running(home: Path) -> Iterator[str]:
    """Yield the URL of a running embedded server, stopped at the end by its last user.

    Several processes may hold it at once; the kernel lets go for one that is killed. Refuses
    EmbeddedPostgresFailed.
    """
    data = _data_under(home)
    with _users(data) as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        try:
            with signals_wait():
                url = start(home)
            _create_database(url)
            yield url
        finally:
            with signals_wait(), _locked(data):
                # Where the first start was refused there is nothing to stop.
                if _is_last(users) and data.is_dir():
                    _stop(data)


def start(home: Path) -> str:
    """See that the server runs and lets in only whom it should; its URL.

    Mends what an earlier version left open. Refuses EmbeddedPostgresFailed.
    """
    data = _data_under(home)
    with _locked(data):
        account = account_for(data)
        if _postmaster(data) is None:
            see_that_it_can_run(account)
        _make_data(data, account)
        folder = _socket_folder(data, account)
        is_changed = _write_settings(data, account)
        if _is_running_elsewhere(data, folder):
            # A version before this one may have left its socket where everybody can reach it.
            log.warning("postgres_started_again data=%s", data)
            _stop(data)
            folder = _socket_folder(data, account)
        folder = folder or _new_socket_folder(data, account)
        if _postmaster(data) is None:
            _forget_dead_postmaster(data, folder)
            _start(data, folder, account)
        elif is_changed:
            _control(data, account, "reload")
    return f"postgres://postgres@/{DATABASE}?host={quote(str(folder), safe='')}"


def is_used() -> bool:
    """Return whether this process works with the embedded server, and not with one that a setting names."""
    return bool(_used)


def revive() -> bool:
    """Start the server that this process uses again if it died; whether it had.

    Its address stays the same. Refuses EmbeddedPostgresFailed.
    """
    dead = [home for home in _used if _postmaster(_data_under(home)) is None]
    for home in dead:
        start(home)
    return bool(dead)


def url_in_use() -> str | None:
    """Return the address of the server that this process uses; None: it uses another's."""
    return os.environ.get("RUNRATE_DATABASE_URL") if _used else None


def end_hung_server(seconds: float) -> None:
    """Kill the server that this process uses and that says nothing; `revive` starts it again, as after a crash."""
    for home in _used:
        if (process := _postmaster(_data_under(home))) is not None:
            log.warning("postgres_hung pid=%s silent_seconds=%s", process.pid, seconds)
            with suppress(psutil.NoSuchProcess):
                process.kill()


def _data_under(home: Path) -> Path:
    return own_folder(home.expanduser().resolve()) / "postgres"


@contextmanager
def _locked(data: Path) -> Iterator[None]:
    """One process at a time starts, stops or mends the server."""
    with fasteners.InterProcessLock(data.parent / "postgres.lock"):
        yield


@contextmanager
def _users(data: Path) -> Iterator[IO[str]]:
    """The file whose shared lock each user holds."""
    with (data.parent / "postgres.users").open("a") as users:
        yield users


def _is_last(users: IO[str]) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _make_data(data: Path, account: Account) -> None:
    data.mkdir(mode=0o700, exist_ok=True)
    data.chmod(0o700)
    if (data / "PG_VERSION").exists():
        return
    os.chown(data, account.uid, account.gid)
    made = run(
        account,
        ["initdb", "--auth=peer", "--encoding=utf8", "-U", "postgres", "-D", HERE],
        cwd=data,
    )
    if made.returncode:
        raise EmbeddedPostgresFailed(f"a database could not be made in {data}: {made.stdout}")


def _socket_folder(data: Path, account: Account) -> Path | None:
    """Where the socket lies: in the data, or, where that path is too long, in a folder under /tmp.

    That one's name is not to be guessed. It is kept in a link beside the data, so that a server
    that is started again is found at the same address; None: it is still to be made.
    """
    if len(os.fsencode(data / SOCKET)) <= LONGEST_SOCKET_PATH:
        return data
    link = _link_to_socket(data)
    if link.is_symlink() and _is_private(link.readlink(), account):
        return link.readlink()
    return None


def _new_socket_folder(data: Path, account: Account) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="runrate-", dir="/tmp"))  # 0700, of a random name
    os.chown(folder, account.uid, account.gid)
    link = _link_to_socket(data)
    link.unlink(missing_ok=True)
    link.symlink_to(folder)
    return folder


def _link_to_socket(data: Path) -> Path:
    return data.with_name("postgres.socket")


def _is_private(folder: Path, account: Account) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    return (
        stat.S_ISDIR(found.st_mode)
        and found.st_uid == account.uid
        and stat.S_IMODE(found.st_mode) == 0o700
    )


def _write_settings(data: Path, account: Account) -> bool:
    """What is ours to say, at every start: a version before this one trusted everybody.

    Whether a server that runs has to read it again.
    """
    names = sorted({account.name, "root"})
    told = {
        "runrate.conf": SETTINGS,
        "pg_hba.conf": WHO_MAY_ENTER,
        "pg_ident.conf": "".join(f"runrate {each} postgres\n" for each in names),
    }
    main = _read(data / "postgresql.conf")
    if "runrate.conf" not in main:
        told["postgresql.conf"] = f"{main}\ninclude 'runrate.conf'\n"
    changed = {name: text for name, text in told.items() if _read(data / name) != text}
    for name, text in changed.items():
        _replace(data / name, text, account)
    return bool(changed)


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _replace(path: Path, text: str, account: Account) -> None:
    """At once, for a server may read meanwhile, and through no link that was laid there."""
    draft = path.with_name(f"{path.name}.draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
    os.chown(draft, account.uid, account.gid)
    draft.replace(path)


def _postmaster(data: Path) -> psutil.Process | None:
    """The living server of this data; a process that only has its number now is another."""
    try:
        found = psutil.Process(int((data / "postmaster.pid").read_text().split()[0]))
        return found if _is_of(found, data) else None
    except (OSError, ValueError, IndexError, psutil.Error):
        return None


def _is_of(process: psutil.Process, data: Path) -> bool:
    """Every process of a server works in its data folder."""
    return (
        process.status() != psutil.STATUS_ZOMBIE
        and process.name() == "postgres"
        and process.cwd() == str(data)
    )


def _is_running_elsewhere(data: Path, folder: Path | None) -> bool:
    """Whether a server runs whose socket is not where it belongs."""
    if _postmaster(data) is None:
        return False
    lines = (data / "postmaster.pid").read_text().splitlines()
    # As the server names it, from where it stands: "." is its own data.
    return len(lines) > 4 and data / lines[4].strip() != folder


def _forget_dead_postmaster(data: Path, folder: Path) -> None:
    """Remove the lock files of a server that was killed, when its backends are gone too.

    Where nobody reaps orphans a dead server stays a zombie, which Postgres itself takes for a living
    one; so it takes any process that has its number now. Without them Postgres does not see that
    a backend still holds the old shared memory; two servers writing the same data would destroy it.
    """
    path = data / "postmaster.pid"
    if path.exists():
        _outlive_backends(data)
        path.unlink()
    (folder / f"{SOCKET}.lock").unlink(missing_ok=True)


def _outlive_backends(data: Path) -> None:
    """They end by themselves when they notice; what does not is killed, as by a crash."""
    for backend in _left_after(BACKEND_SECONDS, data):
        log.warning("old_backend_killed pid=%s", backend.pid)
        with suppress(psutil.NoSuchProcess):
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
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if _is_of(process, data):
                found.append(process)
    return found


def _start(data: Path, folder: Path, account: Account) -> None:
    """Start it, waiting out a recovery."""
    started = _control(data, account, "start", "-o", f"-k {'.' if folder == data else folder}")
    if started.returncode:
        raise EmbeddedPostgresFailed(
            f"Postgres did not start, see {data / 'log'}: {started.stdout.strip()}"
        )


def _control(data: Path, account: Account, what: str, *options: str) -> Ran:
    waiting = ["-w", "-t", str(START_SECONDS), "-l", f"{HERE}/log"] if what == "start" else []
    return run(account, ["pg_ctl", what, "-D", HERE, *waiting, *options], cwd=data)


def _stop(data: Path) -> None:
    """End it: connections are cut, what was acknowledged is on disk."""
    account = account_for(data)
    _control(data, account, "stop", "-m", "fast", "-w", "-t", str(START_SECONDS))
    if (process := _postmaster(data)) is not None:
        log.warning("postgres_killed pid=%s", process.pid)
        process.kill()
        _outlive_backends(data)
    link = _link_to_socket(data)
    if link.is_symlink() and _is_private(link.readlink(), account):
        shutil.rmtree(link.readlink(), ignore_errors=True)
        link.unlink()


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
        before = os.environ.get("RUNRATE_DATABASE_URL")
        os.environ["RUNRATE_DATABASE_URL"] = url
        _used.append(home)
        try:
            yield url
        finally:
            _used.remove(home)
            if before is None:
                os.environ.pop("RUNRATE_DATABASE_URL", None)
            else:
                os.environ["RUNRATE_DATABASE_URL"] = before
