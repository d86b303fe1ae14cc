"""Bring a copy back: everything in one transaction, so that whatever ends it leaves the old or the new, never between.

What was there is renamed out of the way and dropped once the new stands. Files wait in a folder of their own until the
transaction is committed, and the database itself says which copy it is of: whoever starts after a kill finishes or
forgets them (`finish_restore`).
"""

import json
import os
import secrets
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psycopg
from django.db import DatabaseError, connection, transaction
from psycopg.sql import SQL, Identifier, Literal

from apps.web.queries.table_digests import table_columns, table_digests
from controlplane.copies.archive import CopyDamaged, CopyReader, Json, Member
from controlplane.copies.contents import applied_migrations, copy_statement, set_sequences
from controlplane.copies.finishing import FOLDERS, MARK, REPLACED, STAGE, finish_restore
from controlplane.copies.installation import mark_of_key
from controlplane.copies.making import Progress, megabytes
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.release import age_of_schema
from controlplane.copies.server import OLDEST_MAJOR
from controlplane.copies.standing import see_that_nobody_works
from controlplane.migration_history import PREPARING_LOCK

# Rows and indexes as they were, and what the server notes of them until its next checkpoint.
SHARE_OF_DATABASE = 1.3


@dataclass(frozen=True, slots=True)
class RestoreWanted:
    """How a copy is brought back.

    `replaces` whatever is in the database. `allows_older` takes a server older than the copy's. `migrates` brings the
    schema to this Runrate and proves the ledger before anything is changed. `secret_key` is put under the home, None:
    the home keeps its own.
    """

    replaces: bool = False
    allows_older: bool = False
    migrates: bool = True
    takes_files: bool = True
    secret_key: str | None = None


@dataclass(frozen=True, slots=True)
class Restored:
    """What was brought back."""

    copy_id: str
    tables: int
    rows: int
    files: int
    migrated: tuple[str, ...]
    secret_key_mark: str


@dataclass(slots=True)
class _Restore:
    """One restore under way."""

    reader: CopyReader
    home: Path
    wanted: RestoreWanted
    progress: Progress
    whole_bytes: int
    source: IO[bytes]
    files: dict[str, int] = field(default_factory=dict)
    # Of its own: the same copy may have been brought back before.
    token: str = field(default_factory=lambda: secrets.token_hex(4))
    sequences: Json = field(default_factory=dict)
    _table: str = ""
    _copy: Any = None
    _copying: ExitStack = field(default_factory=ExitStack)

    @property
    def manifest(self) -> Json:
        return self.reader.manifest

    @property
    def stage(self) -> Path:
        return self.home / f"{STAGE}{self.name}"

    @property
    def name(self) -> str:
        return f"{self.manifest['id']}-{self.token}"


def restore_copy(
    source: IO[bytes],
    home: Path,
    wanted: RestoreWanted,
    progress: Progress,
    prove: Callable[[], None],
) -> Restored:
    """Bring a copy back into the configured database; `prove` refuses what does not add up.

    Call it with services stopped and the lock of `standing.alone` held. Refuses CopyRefused; then nothing is changed.
    """
    finish_restore(home)
    reader = CopyReader(source)
    size = os.fstat(source.fileno()).st_size
    restore = _Restore(reader, home, wanted, progress, size or 1, source)
    _refuse_what_does_not_fit(restore)
    migrated: tuple[str, ...] = ()
    try:
        with transaction.atomic():
            _lock_database()
            _put_aside(wanted)
            _load(restore)
            rows = _see_that_it_is_whole(restore)
            if wanted.migrates:
                migrated = _bring_up_to_date(restore)
                progress("proving that the ledger adds up", 0.97)
                prove()
            _mark(restore.name)
            with connection.cursor() as cursor:
                see_that_nobody_works(cursor)
    except DatabaseError as problem:
        raise _refusal_of(problem.__cause__ or problem) from problem
    except psycopg.Error as problem:
        raise _refusal_of(problem) from problem
    finally:
        finish_restore(home)
    return Restored(
        copy_id=str(reader.manifest["id"]),
        tables=len(reader.digests["tables"]),
        rows=rows,
        files=len(restore.files),
        migrated=migrated,
        secret_key_mark=str(reader.manifest.get("secret_key_mark")),
    )


def _refuse_what_does_not_fit(restore: _Restore) -> None:
    manifest, wanted = restore.manifest, restore.wanted
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int / 10000")
        major = int(cursor.fetchone()[0])
        cursor.execute(
            "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('public')"
            " AND relkind IN ('r', 'p')"
        )
        tables = int(cursor.fetchone()[0])
        see_that_nobody_works(cursor)
    made_by = int(manifest["postgres"])
    if major < OLDEST_MAJOR or (major < made_by and not wanted.allows_older):
        raise CopyRefused(
            f"the copy was made of Postgres {made_by}, and this server is {major}: restore into {made_by} or newer"
            + (
                f" (--older-postgres tries all the same: {OLDEST_MAJOR} has all that Runrate uses)"
                if major >= OLDEST_MAJOR
                else ""
            )
        )
    age = age_of_schema(manifest["migrations"])
    if age.unknown:
        made = manifest.get("runrate", {})
        raise CopyRefused(
            f"the copy is of a newer Runrate ({made.get('version')} {str(made.get('commit'))[:12]}): this one does not know "
            f"{age.unknown[0]}{f' and {len(age.unknown) - 1} more migrations' if len(age.unknown) > 1 else ''}; install that version first"
        )
    if (
        wanted.secret_key is not None
        and mark_of_key(wanted.secret_key) != manifest["secret_key_mark"]
    ):
        raise CopyRefused(
            "the file of secrets is not of this copy: the signing key in it is another than the copy's. "
            "Name the right one by --secrets FILE"
        )
    if tables and not wanted.replaces:
        raise CopyRefused(
            f"the database is not empty: it has {tables} tables; --replace puts the copy in their place"
        )
    _refuse_full_disk(restore)


def _refuse_full_disk(restore: _Restore) -> None:
    """Only where the server's files lie on a disk of ours can its room be known."""
    needed = int(int(restore.manifest["database_bytes"]) * SHARE_OF_DATABASE)
    folder = restore.home / "postgres"
    is_here = str(connection.settings_dict["HOST"]).startswith("/") and folder.is_dir()
    free = shutil.disk_usage(folder if is_here else restore.home).free
    if is_here and free < needed:
        raise CopyRefused(
            f"{folder} has {megabytes(free)} free, and the copy's database takes about {megabytes(needed)} besides what is there"
        )


def _lock_database() -> None:
    """Nobody prepares the database meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [PREPARING_LOCK])
        # One statement may take minutes, and so may a part of the file.
        for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
            cursor.execute(SQL("SET LOCAL {} = 0").format(Identifier(name)))
        cursor.execute("SET LOCAL maintenance_work_mem = '256MB'")
        cursor.execute("SET LOCAL synchronous_commit = on")


def _put_aside(wanted: RestoreWanted) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regnamespace('public') IS NOT NULL")
        has_public = cursor.fetchone()[0]
        if wanted.replaces and has_public:
            cursor.execute(SQL("ALTER SCHEMA public RENAME TO {}").format(Identifier(REPLACED)))
            cursor.execute("CREATE SCHEMA public")
            _bring_extensions_along(cursor)
        elif not has_public:
            cursor.execute("CREATE SCHEMA public")


def _bring_extensions_along(cursor: Any) -> None:
    """What a database's keeper installed there is not ours to drop."""
    cursor.execute(
        "SELECT extname FROM pg_extension WHERE extnamespace = to_regnamespace(%s)", [REPLACED]
    )
    for (name,) in cursor.fetchall():
        cursor.execute(SQL("ALTER EXTENSION {} SET SCHEMA public").format(Identifier(name)))


def _load(restore: _Restore) -> None:
    """Read the copy once, from its start to its end."""
    restore.stage.mkdir(mode=0o700)
    after: list[bytes] = []
    with restore._copying:
        for member in restore.reader.members():
            _take_member(restore, member, after)
    restore.progress("indexes and constraints", 0.7)
    _make_schema(b"".join(after))
    with connection.cursor() as cursor:
        set_sequences(cursor.cursor, restore.sequences)
        restore.progress("statistics", 0.85)
        cursor.execute("ANALYZE")


def _take_member(restore: _Restore, member: Member, after: list[bytes]) -> None:
    kind, _, rest = member.stream_name.partition("/")
    share = restore.source.tell() / restore.whole_bytes
    restore.progress(rest or member.name, 0.7 * share)
    if kind == "tables":
        _load_rows(restore, member, rest)
        return
    _end_copy(restore)
    if member.stream_name == "schema/pre-data":
        _make_schema(member.content)
    elif member.stream_name == "schema/post-data":
        after.append(member.content)
    elif kind == "files":
        _stage_file(restore, member, rest)
    elif member.name == "sequences.json":
        restore.sequences = json.loads(member.content)


def _make_schema(statements: bytes) -> None:
    raw = _raw_connection()
    raw.execute("SET LOCAL check_function_bodies = off")
    raw.execute("SET LOCAL search_path = ''")
    raw.execute(statements)
    raw.execute("SET LOCAL search_path TO DEFAULT")


def _load_rows(restore: _Restore, member: Member, table: str) -> None:
    if restore._table != table:
        _end_copy(restore)
        columns = restore.manifest["tables"].get(table)
        if columns is None:
            raise CopyDamaged(f"{member.name}: the manifest has no such table")
        restore._table = table
        cursor = _raw_connection().cursor()
        restore._copy = restore._copying.enter_context(
            cursor.copy(copy_statement(table, columns, "in"))
        )
    restore._copy.write(member.content)


def _end_copy(restore: _Restore) -> None:
    restore._table = ""
    restore._copying.close()


def _raw_connection() -> psycopg.Connection[Any]:
    """Django's own connection without its wrapper: it takes several statements at once, and rows as a stream."""
    connection.ensure_connection()
    raw: psycopg.Connection[Any] = connection.connection
    return raw


def _stage_file(restore: _Restore, member: Member, name: str) -> None:
    folder, _, file_name = name.partition("/")
    if folder not in FOLDERS or not file_name or Path(file_name).name != file_name:
        raise CopyDamaged(f"{member.name}: no file of Runrate lies there")
    if not restore.wanted.takes_files:
        return
    target = restore.stage / "files" / folder
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = target / file_name
    with path.open("ab") as file:
        path.chmod(0o600)
        restore.files[name] = restore.files.get(name, 0) + file.write(member.content)
        if member.part > 1:
            return


def _see_that_it_is_whole(restore: _Restore) -> int:
    """Hold every table against its digest; return how many rows there are. Refuses CopyDamaged."""
    restore.progress("digests of the tables", 0.88)
    expected = restore.reader.digests.get("tables") or {}
    with connection.cursor() as cursor:
        present = table_columns(cursor)
    if set(expected) != set(present):
        odd = min(set(expected) ^ set(present))
        raise CopyDamaged(f"tables/{odd}: the copy's digests and its tables are not of the same")
    found = table_digests()
    for name, digest in found.items():
        if digest.digest != expected[name]["digest"]:
            raise CopyDamaged(
                f"tables/{name}: its {digest.rows} rows are not the {expected[name]['rows']} that were copied"
            )
    _list_files(restore)
    return sum(digest.rows for digest in found.values())


def _list_files(restore: _Restore) -> None:
    """Keep on disk which files belong in place, before the transaction is committed."""
    content = {
        "files": sorted(restore.files),
        "takes_files": restore.wanted.takes_files,
        "secret_key": restore.wanted.secret_key,
    }
    path = restore.stage / "list.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(content))
    for each in (path, *restore.stage.rglob("files/*/*")):
        with each.open("rb") as file:
            os.fsync(file.fileno())


def _bring_up_to_date(restore: _Restore) -> tuple[str, ...]:
    """Migrate what an older Runrate made, in the same transaction; return what was applied."""
    from django.core.management import call_command

    with connection.cursor() as cursor:
        lacking = age_of_schema(applied_migrations(cursor.cursor)).lacking
    if lacking:
        restore.progress("migrating to this Runrate", 0.93)
        call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("ANALYZE")
    return lacking


def _mark(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(SQL("COMMENT ON SCHEMA public IS {}").format(Literal(MARK + name)))


def _refusal_of(problem: BaseException) -> CopyRefused:
    """Put what Postgres says into words where it is known what to do."""
    said = str(problem).strip()
    if isinstance(problem, psycopg.errors.DiskFull):
        return CopyRefused(f"the disk of the database is full; nothing was changed ({said})")
    if isinstance(problem, psycopg.errors.InsufficientPrivilege):
        return CopyRefused(
            f"the role may not do that; it has to own the database and its schema public ({said})"
        )
    if isinstance(problem, psycopg.errors.DataError | psycopg.errors.IntegrityError):
        return CopyDamaged(f"the copy's rows are not what its schema takes ({said})")
    return CopyRefused(f"Postgres would not take it; nothing was changed ({said})")
