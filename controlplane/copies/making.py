"""Make a copy: everything as one moment has it, while the installation works on."""

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import psycopg
from psycopg import Cursor

from apps.files import PlaceUnreachable, open_file
from apps.web.queries.table_digests import (
    table_columns,
    table_digest,
    write_values_alike,
)
from controlplane.copies.archive import FORMAT, MANIFEST, CopyWriter, WrittenTo
from controlplane.copies.contents import (
    CopiedTable,
    WantedFiles,
    applied_migrations,
    begin_reading,
    copied_tables,
    copy_statement,
    sequence_values,
    table_changed_since,
    wanted_files,
)
from controlplane.copies.installation import mark_of_key, settings_to_keep, wanted_names
from controlplane.copies.members import Json
from controlplane.copies.refusal import CopyRefused, reason_of
from controlplane.copies.release import runrate_release
from controlplane.copies.server import OLDEST_MAJOR, Server, schema_statements
from controlplane.env import Environment
from controlplane.ledger_audit import ledger_tables

Progress = Callable[[str, float], None]
"""Is told what is being done, and which share of it all is."""

# A copy is about an eighth of its database; so much of it has to be free before one begins.
SHARE_OF_DATABASE = 0.2
TRIES = 3
FILE_BLOCK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Installation:
    """What a copy is made of: a database, a home, settings and the key that signs."""

    server: Server
    home: Path
    chosen: Environment
    secret_key: str


@dataclass(frozen=True, slots=True)
class MadeCopy:
    """A copy that was made: its manifest, its size, files that rows name and that are not there, and the digest of each table."""

    manifest: Json
    size: int
    database_bytes: int
    missing_files: tuple[str, ...]
    digests: dict[str, str]


class TablesChanged(CopyRefused):
    """A table was dropped or detached while it was copied, as partitions are that are over; another try takes the rest."""


def make_copy(of: Installation, path: Path, progress: Progress, at: datetime) -> MadeCopy:
    """Write a copy to a file: whole, or not there at all. Refuses CopyRefused."""
    try:
        with _draft_of(path) as draft:
            _see_that_it_fits(of.server, path.parent)

            def write() -> MadeCopy:
                draft.seek(0)
                draft.truncate()
                return write_copy(of, draft, progress, at)

            return try_again(write)
    except psycopg.Error as problem:
        raise CopyRefused(reason_of(problem)) from problem


def try_again(write: Callable[[], MadeCopy]) -> MadeCopy:
    """Write a copy, anew where tables changed meanwhile. Refuses CopyRefused."""
    for _ in range(TRIES - 1):
        with suppress(TablesChanged):
            return write()
    return write()


def draft_path(path: Path) -> Path:
    """Return where a copy is written before it is whole."""
    return path.with_name(f".{path.name}.part")


@contextmanager
def _draft_of(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file beside it, which one process at a time writes; what a killed one left is written over."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.is_dir():
            raise CopyRefused(f"{path} is a folder: name a file in it")
        if path.exists() and not path.is_file():
            # What takes its place would be a file: of /dev/null too.
            raise CopyRefused(f"{path} is a device or a pipe: name a file")
        draft = draft_path(path)
        opened = os.open(draft, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
    except OSError as problem:
        raise CopyRefused(f"{path}: cannot be written ({reason_of(problem)})") from problem
    with os.fdopen(opened, "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise CopyRefused(f"{path}: another process is writing this copy") from problem
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            draft.replace(path)
            sync_folder(path.parent)
        except OSError as problem:
            raise CopyRefused(f"{path}: cannot be written ({reason_of(problem)})") from problem
        finally:
            draft.unlink(missing_ok=True)


def write_copy(of: Installation, draft: WrittenTo, progress: Progress, at: datetime) -> MadeCopy:
    """Write a copy to whatever takes its bytes one after the other. Refuses CopyRefused."""
    copy_id = secrets.token_hex(8)
    writer = CopyWriter(draft, at.timestamp())
    with closing(of.server.connect()) as reading:
        cursor = reading.cursor()
        major = reading.info.server_version // 10_000
        if major < OLDEST_MAJOR:
            raise CopyRefused(f"Postgres {major} is too old: Runrate needs {OLDEST_MAJOR} or newer")
        snapshot = begin_reading(cursor)
        database_bytes = _database_size(cursor)
        tables = copied_tables(cursor)
        migrations = applied_migrations(cursor)
        if not migrations:
            raise CopyRefused("the database is empty: there is nothing to copy")
        wanted = wanted_files(cursor)
        manifest = {
            **_about(of, copy_id, at),
            "postgres": major,
            "database_bytes": database_bytes,
            "migrations": migrations,
            "tables": {table.name: list(table.columns) for table in tables},
        }
        writer.add_json(MANIFEST, manifest)
        writer.add_json("settings.json", settings_to_keep(of.chosen))
        with _digests_meanwhile(of.server, snapshot) as digests:
            try:
                with _tables_as_listed(of.server, tables):
                    for section in ("pre-data", "post-data"):
                        with writer.stream(f"schema/{section}") as parts:
                            parts.write(schema_statements(reading, section, snapshot).encode())
                    _write_tables(cursor, writer, tables, progress)
                    missing = _files_written(wanted, writer)
                    writer.add_json("sequences.json", sequence_values(cursor))
                    progress("waiting for the digests", 0.95)
                    found = digests.result()
                writer.finish({"tables": found})
            except BaseException:
                writer.abandon()
                raise
    return MadeCopy(
        {"id": copy_id, "made_at": at.isoformat()},
        draft.tell(),
        database_bytes,
        missing,
        {name: digest["digest"] for name, digest in found.items()},
    )


def _about(of: Installation, copy_id: str, at: datetime) -> Json:
    """Return what the manifest says of the installation and of this Runrate."""
    return {
        "about": "A copy of a Runrate installation; manage.py restore brings it back. Its secrets are in a file of their own.",
        "format": FORMAT,
        "id": copy_id,
        "made_at": at.isoformat(),
        "runrate": runrate_release(),
        "secret_key_mark": mark_of_key(of.secret_key),
    }


@contextmanager
def _tables_as_listed(server: Server, tables: list[CopiedTable]) -> Iterator[None]:
    """Refuse TablesChanged of what is read in the block, whether or not it failed over it, where a table is another at its end."""
    try:
        yield
    except (CopyRefused, psycopg.Error) as problem:
        if changed := _changed_table(server, tables):
            raise TablesChanged(_words_of_change(changed)) from problem
        raise
    if changed := _changed_table(server, tables):
        raise TablesChanged(_words_of_change(changed))


def _changed_table(server: Server, tables: list[CopiedTable]) -> str | None:
    with closing(server.connect()) as looking:
        return table_changed_since(looking.cursor(), tables)


def _words_of_change(table: str) -> str:
    return f"{table} was dropped or detached while it was copied: try again"


def _see_that_it_fits(server: Server, folder: Path) -> None:
    with closing(server.connect()) as reading:
        size = _database_size(reading.cursor())
    free, needed = shutil.disk_usage(folder).free, int(size * SHARE_OF_DATABASE)
    if free < needed:
        raise CopyRefused(
            f"{folder} has {megabytes(free)} free, and the copy of a database of {megabytes(size)} may take {megabytes(needed)}"
        )


def _database_size(cursor: Cursor[Any]) -> int:
    cursor.execute("SELECT pg_database_size(current_database())")
    row = cursor.fetchone()
    return int(row[0]) if row else 0


def _write_tables(
    cursor: Cursor[Any], writer: CopyWriter, tables: list[CopiedTable], progress: Progress
) -> None:
    whole, done = sum(table.size for table in tables) or 1, 0
    for table in tables:
        progress(table.name, 0.9 * done / whole)
        statement = copy_statement(table.name, table.columns, "out")
        with writer.stream(f"tables/{table.name}") as parts, cursor.copy(statement) as copy:
            for block in copy:
                parts.write(bytes(block))
        done += table.size


def _files_written(wanted: WantedFiles, writer: CopyWriter) -> tuple[str, ...]:
    """Write the files; return those that rows name and that are not there. Refuses CopyRefused where their place does not answer."""
    try:
        return _write_files(wanted, writer)
    except PlaceUnreachable as problem:
        raise CopyRefused(f"files cannot be read: {reason_of(problem)}") from problem


def _write_files(wanted: WantedFiles, writer: CopyWriter) -> tuple[str, ...]:
    """Write the files; return those that rows name and that are not there."""
    names, missing = wanted_names(wanted)
    for name in names:
        try:
            opened = open_file(name)
        except FileNotFoundError:
            missing.append(name)  # its import was over meanwhile
            continue
        with opened, writer.stream(f"files/{name}") as parts:
            parts.write(b"")
            while block := opened.read(FILE_BLOCK):
                parts.write(block)
    return tuple(missing)


@contextmanager
def _digests_meanwhile(server: Server, snapshot: str) -> Iterator[Future[Json]]:
    """Yield the digest of every table, computed beside what the block does; while it does, the snapshot must live."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(_digests_of_snapshot, server, snapshot)


def _digests_of_snapshot(server: Server, snapshot: str) -> Json:
    of_ledger = ledger_tables()
    with closing(server.connect()) as reading:
        cursor = reading.cursor()
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute(f"SET TRANSACTION SNAPSHOT '{snapshot}'".encode())
        write_values_alike(cursor)
        columns = table_columns(cursor)
        return {
            name: asdict(table_digest(cursor, name, columns[name]))
            | {"is_ledger": name in of_ledger}
            for name in sorted(columns)
        }


def megabytes(size: int) -> str:
    """Return a size in words."""
    return f"{size / 1e6:,.0f} MB"


def sync_folder(folder: Path) -> None:
    """Have the disk keep which files are in a folder."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def say_nothing(words: str, share: float) -> None:
    """Take progress, and tell nobody."""


class PrintedProgress:
    """Tells on a terminal, once in a while, how far a copy is."""

    def __init__(self, write: Callable[[str], object], every: float = 1.0) -> None:
        self._write, self._every, self._last = write, every, 0.0

    def __call__(self, words: str, share: float) -> None:
        """Take what is being done."""
        now = time.monotonic()
        if now - self._last >= self._every:
            self._last = now
            self._write(f"{share:4.0%}  {words}")
