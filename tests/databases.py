"""Databases of tests: each is a copy of one that was migrated once, until a migration changes."""

import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from inspect import getfile
from pathlib import Path
from shutil import disk_usage
from typing import TypeVar
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.migrations.loader import MigrationLoader
from django.test import TransactionTestCase
from psycopg.sql import SQL, Identifier, Literal

Answer = TypeVar("Answer")

# Arbitrary but fixed: workers of one run, and runs beside it, wait for whoever makes the template.
MAKING = 7_305_099
MEMORY = Path("/dev/shm")
MOST_BYTES = 4 << 30
"""What a run may come to take of the memory."""
KEPT = timedelta(days=3)
"""How long a template stays that nobody asked for: another checkout may copy from it."""


def home_of_tests() -> Path:
    """Return the home whose server the tests use: in memory, where that has room.

    Every table that a test makes or empties is several files, and some disks are slow to make one.
    """
    checkout = Path(__file__).resolve().parent.parent
    if os.access(MEMORY, os.W_OK) and disk_usage(MEMORY).free > MOST_BYTES:
        mark = sha256(bytes(checkout)).hexdigest()[:12]
        return MEMORY / f"runrate-tests-{os.getuid()}-{mark}"
    return checkout / "var" / "test"


def forget_durability(url: str) -> None:
    """Let a server lose what it was told when the machine itself ends, as no test will see."""
    with psycopg.connect(url, autocommit=True) as server:
        for name in ("fsync", "full_page_writes", "synchronous_commit", "wal_compression"):
            server.execute(SQL("ALTER SYSTEM SET {} = off").format(Identifier(name)))
        server.execute("ALTER SYSTEM SET max_wal_size = '256MB'")
        server.execute("SELECT pg_reload_conf()")


def empty_tables() -> None:
    """Leave nothing in any table but what migrations put there."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT format('SELECT %L WHERE EXISTS (SELECT FROM %I)', relname, relname)
            FROM pg_class
            WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
              AND NOT relispartition
              AND relname !~ '^(django_(migrations|content)|auth_perm|telemetry_holderkey$)'
            """
        )
        cursor.execute(" UNION ALL ".join(row[0] for row in cursor.fetchall()))
        filled = ", ".join(f'"{row[0]}"' for row in cursor.fetchall())
        if filled:
            cursor.execute(f"TRUNCATE {filled} CASCADE")
        # Nobody's key is the one that a migration made.
        cursor.execute("DELETE FROM telemetry_holderkey WHERE id <> 0")


@contextmanager
def new_database(template: str = "template0") -> Iterator[str]:
    """The name of a database beside the tests', a copy of `template`; dropped at the end."""
    name = f"{connection.settings_dict['NAME']}_{secrets.token_hex(3)}"
    drop = SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name))
    # Nobody may be connected to what is copied.
    connection.close()
    with connection._nodb_cursor() as cursor:
        copy = SQL("CREATE DATABASE {} TEMPLATE {}")
        cursor.execute(copy.format(Identifier(name), Identifier(template)))
    try:
        yield name
    finally:
        with connection._nodb_cursor() as cursor:
            cursor.execute(drop)


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """`connection` is to this database instead of the tests'."""
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        # Who was connected before may still be leaving.
        wait_until(_is_alone)
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


def _is_alone() -> bool:
    """Whether nobody else is connected to the database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        return bool(cursor.fetchone() == (0,))


@contextmanager
def other_database(template: str = "template0") -> Iterator[None]:
    """A database of its own beside the tests', a copy of `template`; dropped at the end."""
    with new_database(template) as name, connected_to(name):
        yield


def address() -> str:
    """The URL of the database that `connection` is of."""
    parts = urlsplit(os.environ["RUNRATE_DATABASE_URL"])
    name = quote(connection.settings_dict["NAME"])
    return f"{parts.scheme}://{parts.netloc}/{name}?{parts.query}"


@contextmanager
def kept_until_the_end() -> Iterator[None]:
    """Tests that commit leave what they find, up to the end: then the tables are emptied."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: None)
        yield
    empty_tables()


def somebody_waits() -> bool:
    """Whether a connection to this database waits for a lock."""
    with connection.cursor() as cursor:
        # All of a transaction sees who was there when it first asked.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_stat_activity"
            " WHERE wait_event_type = 'Lock' AND datname = current_database())"
        )
        return bool(cursor.fetchone()[0])


def wait_until(holds: Callable[[], Answer], seconds: float = 180) -> Answer:
    """Its first true answer, asked for ever less often; so long in vain fails."""
    until, pause = time.monotonic() + seconds, 0.005
    while not (answer := holds()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(pause)
        pause = min(1.2 * pause, 0.2)
    return answer


def meanwhile(first: Callable[[], object], second: Callable[[], object]) -> Future[object]:
    """`second` on a connection of its own, begun when `first` is done and not yet committed."""

    def alone() -> object:
        try:
            return second()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            first()
            begun = pool.submit(alone)
            wait_until(lambda: begun.done() or somebody_waits())
        return begun


def migrated_template() -> str:
    """The name of a database with every migration applied; made where there is none yet.

    Its comment is the day it was last asked for, so that nobody drops what is about to be copied.
    """
    begins = f"template_{connection.settings_dict['NAME']}_"
    name = f"{begins}{_migrations_digest()}"
    today = datetime.now(UTC).date()
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MAKING])
        cursor.execute(
            "SELECT datname, shobj_description(oid, 'pg_database') FROM pg_database "
            "WHERE starts_with(datname, %s)",
            [begins],
        )
        found = dict(cursor.fetchall())
        if name not in found:
            for old in (*_unused(found, today), draft := f"{begins}draft"):
                cursor.execute(SQL("DROP DATABASE IF EXISTS {}").format(Identifier(old)))
            cursor.execute(SQL("CREATE DATABASE {}").format(Identifier(draft)))
            _migrate(draft)
            rename = SQL("ALTER DATABASE {} RENAME TO {}")
            cursor.execute(rename.format(Identifier(draft), Identifier(name)))
        if found.get(name) != today.isoformat():
            comment = SQL("COMMENT ON DATABASE {} IS {}")
            cursor.execute(comment.format(Identifier(name), Literal(today.isoformat())))
    return name


def _unused(found: Mapping[str, str | None], today: date) -> list[str]:
    """Those of these templates, by the day they were last asked for, that nobody did for KEPT."""
    return [name for name, asked_on in found.items() if asked_on and asked_on < f"{today - KEPT}"]


def _migrations_digest() -> str:
    """Of all that migrations are made of, Django's own too."""
    loader = MigrationLoader(None)
    folders = {Path(getfile(type(each))).parent for each in loader.disk_migrations.values()}
    files = sorted(path for folder in folders for path in folder.glob("*.py"))
    whole = sha256()
    for path in files:
        whole.update(path.name.encode() + path.read_bytes())
    return whole.hexdigest()[:16]


def _migrate(database: str) -> None:
    """As `manage.py migrate` would, in a database of this name."""
    connection.close()
    before = connection.settings_dict["NAME"]
    connection.settings_dict["NAME"] = database
    try:
        call_command("migrate", verbosity=0, interactive=False)
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before
