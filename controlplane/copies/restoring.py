"""Bring a copy back: everything in one transaction, so that whatever ends it leaves the old or the new, never between.

What was there is renamed out of the way and dropped once the new stands. Files wait in a folder of their own until the
transaction is committed, and the database itself says which copy it is of: whoever starts after a kill finishes or
forgets them (`finish_restore`).
"""

import json
import os
import secrets
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import psycopg
from django.db import DatabaseError, connection, transaction
from psycopg.sql import SQL, Identifier, Literal

from apps.files.names import BadFileName, checked_name
from apps.web.queries.table_digests import table_columns, table_digests
from controlplane.copies.archive import CopyReader, Member, json_of
from controlplane.copies.aside import GrantsOfOthers, grants_of_others, keep_grants, put_aside
from controlplane.copies.contents import applied_migrations, copy_statement, set_sequences
from controlplane.copies.finishing import (
    FOLDERS,
    LIST,
    MARK,
    STAGE,
    drop_replaced,
    finish_restore,
    mark_of_database,
)
from controlplane.copies.fitting import RestoreWanted, refuse_what_does_not_fit
from controlplane.copies.making import Progress, sync_folder
from controlplane.copies.members import CopyDamaged, Json, check_sequences
from controlplane.copies.refusal import CopyRefused, reason_of
from controlplane.copies.release import age_of_schema
from controlplane.copies.standing import see_that_nobody_works
from controlplane.migration_history import PREPARING_LOCK


@dataclass(frozen=True, slots=True)
class Restored:
    """What was brought back."""

    copy_id: str
    tables: int
    rows: int
    files: int
    migrated: tuple[str, ...]
    secret_key_mark: str
    # It was begun before, and only finished now.
    was_begun: bool = False


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


class RestoreUncertain(CopyRefused):
    """The server did not say whether it committed; the next try sees."""


def restore_copy(
    source: IO[bytes],
    home: Path,
    wanted: RestoreWanted,
    progress: Progress,
    prove: Callable[[], None],
) -> Restored:
    """Bring a copy back into the configured database; `prove` refuses what does not add up.

    Call it with services stopped and the lock of `standing.alone` held. Where the last restore was of this copy and had
    its files left to do, that is finished, and no more. Refuses CopyRefused; then nothing is changed, but where it is
    RestoreUnfinished or RestoreUncertain.
    """
    finished = finish_restore(home)
    reader = CopyReader(source)
    # A version before this one listed no more than files.
    before = finished.get("restored") if finished is not None else None
    if before is not None and before["copy_id"] == reader.manifest["id"]:
        return Restored(**{**before, "migrated": tuple(before["migrated"])}, was_begun=True)
    size = os.fstat(source.fileno()).st_size
    restore = _Restore(reader, home, wanted, progress, size or 1, source)
    refuse_what_does_not_fit(reader.manifest, home, wanted)
    drop_replaced()  # of a restore under another home that was killed
    try:
        restored = _in_one_transaction(restore, prove)
    except RestoreUncertain:
        raise
    except BaseException:
        _forget(home)
        raise
    finish_restore(home)
    return restored


def _in_one_transaction(restore: _Restore, prove: Callable[[], None]) -> Restored:
    """Load, prove and commit; return what was brought back. Refuses CopyRefused."""
    restored: Restored | None = None
    try:
        with transaction.atomic():
            _lock_database()
            before = _put_aside(restore.wanted)
            _load(restore)
            rows = _see_that_it_is_whole(restore)
            migrated: tuple[str, ...] = ()
            if restore.wanted.migrates:
                migrated = _bring_up_to_date(restore)
                restore.progress("proving that the ledger adds up", 0.97)
                prove()
            proved = _restored(restore, rows, migrated)
            _list_for_finish(restore, proved)
            _mark(restore.name)
            with connection.cursor() as cursor:
                keep_grants(cursor, before)
                see_that_nobody_works(cursor)
            # What fails from here on fails in the commit.
            restored = proved
    except (DatabaseError, psycopg.Error) as problem:
        if restored is None or not _was_committed(restore, problem):
            raise _refusal_of(problem.__cause__ or problem) from problem
    except OSError as problem:
        raise CopyRefused(
            f"{restore.home}: cannot be written ({reason_of(problem)}); nothing was changed"
        ) from problem
    return proved


def _was_committed(restore: _Restore, problem: Exception) -> bool:
    """Return whether the database is of this restore, though its answer to the commit was lost. Refuses RestoreUncertain."""
    connection.close()
    try:
        return mark_of_database() == MARK + restore.name
    except (DatabaseError, psycopg.Error) as silent:
        raise RestoreUncertain(
            f"the server went as the copy was committed, and does not answer ({reason_of(problem)}): the database is what it was, or that of "
            "the copy. Run the same command again when it answers: it sees which, and finishes or begins anew"
        ) from silent


def _restored(restore: _Restore, rows: int, migrated: tuple[str, ...]) -> Restored:
    manifest = restore.manifest
    return Restored(
        copy_id=manifest["id"],
        tables=len(restore.reader.digests["tables"]),
        rows=rows,
        files=len(restore.files),
        migrated=migrated,
        secret_key_mark=manifest["secret_key_mark"],
    )


def _forget(home: Path) -> None:
    """Leave nothing of a restore that was broken off, as far as can be now; whoever comes next does the rest."""
    with suppress(CopyRefused, OSError, DatabaseError, psycopg.Error):
        finish_restore(home)


def _lock_database() -> None:
    """Nobody prepares the database meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [PREPARING_LOCK])
        # One statement may take minutes, and so may a part of the file.
        for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
            cursor.execute(SQL("SET LOCAL {} = 0").format(Identifier(name)))
        cursor.execute("SET LOCAL maintenance_work_mem = '256MB'")
        cursor.execute("SET LOCAL synchronous_commit = on")


def _put_aside(wanted: RestoreWanted) -> GrantsOfOthers:
    """Make room for the copy; return what others were granted of what was there."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regnamespace('public') IS NOT NULL")
        if not cursor.fetchone()[0]:
            cursor.execute("CREATE SCHEMA public")
        before = grants_of_others(cursor)
        if wanted.replaces:
            put_aside(cursor)
        return before


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
        restore.sequences = check_sequences(member.name, json_of(member))


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
    try:
        checked_name(file_name)
    except BadFileName as problem:
        raise CopyDamaged(f"{member.name!r}: no file of Runrate is called so") from problem
    if folder not in FOLDERS or "/" in file_name:
        raise CopyDamaged(f"{member.name!r}: no file of Runrate lies there")
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
    expected = restore.reader.digests["tables"]
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
    return sum(digest.rows for digest in found.values())


def _list_for_finish(restore: _Restore, restored: Restored) -> None:
    """Keep on disk which files belong in place and what was brought back, before the transaction is committed."""
    content = {
        "files": sorted(restore.files),
        "takes_files": restore.wanted.takes_files,
        "secret_key": restore.wanted.secret_key,
        "restored": {key: value for key, value in asdict(restored).items() if key != "was_begun"},
    }
    path = restore.stage / LIST
    path.touch(mode=0o600)
    path.write_text(json.dumps(content))
    folders = [restore.home, restore.stage, *filter(Path.is_dir, restore.stage.rglob("files/**"))]
    for each in (path, *restore.stage.rglob("files/*/*")):
        with each.open("rb") as file:
            os.fsync(file.fileno())
    for folder in folders:
        sync_folder(folder)


def _bring_up_to_date(restore: _Restore) -> tuple[str, ...]:
    """Migrate what an older Runrate made, in the same transaction; return what was applied."""
    from django.core.management import call_command

    with connection.cursor() as cursor:
        lacking = age_of_schema(applied_migrations(cursor.cursor)).lacking
    if lacking:
        restore.progress("migrating to this Runrate", 0.93)
        with connection.cursor() as cursor:
            # Of a row that this transaction loaded every change has its keys checked, and what waits to be checked
            # keeps a migration from altering the table after it.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
        with connection.cursor() as cursor:
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
            f"the role may not do that; it has to own the database, its schema public and what is in it ({said})"
        )
    if isinstance(problem, psycopg.errors.OutOfMemory):
        return CopyRefused(
            f"the server has too few locks for all tables at once: raise its max_locks_per_transaction (256 is plenty), start it again and try again ({said})"
        )
    if isinstance(problem, psycopg.errors.DataError | psycopg.errors.IntegrityError):
        return CopyDamaged(f"the copy's rows are not what its schema takes ({said})")
    return CopyRefused(f"Postgres would not take it; nothing was changed ({said})")
