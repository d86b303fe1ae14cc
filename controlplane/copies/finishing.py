"""Finish what a restore left to do once its database stands, or forget what one that was broken off left."""

import json
import secrets
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from django.db import DatabaseError, connection
from psycopg.sql import SQL, Identifier

from apps.files import delete_file, forget_drafts, list_files, write_file
from controlplane.copies.making import draft_path, megabytes
from controlplane.copies.members import Json
from controlplane.copies.refusal import CopyRefused, reason_of
from controlplane.copies.standing import alone

REPLACED = "runrate_replaced"
MARK = "runrate restored "
STAGE = "restoring-"
LIST = "list.json"
MOVING_COPY = "moving.copy"
FOLDERS = ("uploads", "exports")
DROPPED_AT_ONCE = 50
FILE_BLOCK = 1024 * 1024


class RestoreUnfinished(CopyRefused):
    """The database is that of the copy, and something is still to be done; the message says what, and how to."""


def finish_restore(home: Path) -> Json | None:
    """Finish what a restore left to do, or forget what one that was broken off left: by what the database says.

    Return the list of the restore that was finished (`_list_for_finish` of `restoring` has what is in it); None where
    there was none. Refuses RestoreUnfinished, and CopyRefused where what was broken off cannot be forgotten.
    """
    stages = list(home.glob(f"{STAGE}*"))
    if not stages:
        return None
    mark = mark_of_database()
    finished: Json | None = None
    for stage in stages:
        if mark == MARK + stage.name.removeprefix(STAGE) and (stage / LIST).exists():
            finished = _finish(home, stage)
    try:
        drop_replaced()
        for stage in stages:
            if stage.exists():
                shutil.rmtree(stage)
    except (OSError, DatabaseError, psycopg.Error) as problem:
        raise CopyRefused(
            f"what a restore that was broken off left cannot be removed ({reason_of(problem)}); "
            "the database is what it was before that"
        ) from problem
    return finished


def finish_restore_alone(home: Path) -> None:
    """Finish what a killed restore left, where nobody works on it. Refuses CopyRefused where somebody does."""
    if not any(home.glob(f"{STAGE}*")):
        return
    try:
        with alone(home):
            finish_restore(home)
    except RestoreUnfinished:
        raise
    except CopyRefused as refusal:
        raise CopyRefused(
            f"a restore is under way, or one was broken off and is yet to be finished: {refusal}"
        ) from refusal


def forget_killed_move(home: Path) -> str:
    """Delete the copy that a killed move left; return that in words, empty where there was none.

    It holds everything that the database held, and nobody goes on with it. Call it with the lock of `standing.alone` held:
    a move that is under way has it. Refuses CopyRefused where it cannot be deleted.
    """
    left = [path for path in _left_by_a_move(home) if path.exists()]
    size = sum(path.stat().st_size for path in left)
    try:
        for path in left:
            path.unlink()
    except OSError as problem:
        raise CopyRefused(
            f"the copy that a killed move left in {home} cannot be deleted ({reason_of(problem)})"
        ) from problem
    if not left:
        return ""
    return (
        f"A move to another database was killed: its copy in {home} ({megabytes(size)}) is deleted. "
        "The database that was used is used; `manage.py move_database` begins anew."
    )


def _left_by_a_move(home: Path) -> tuple[Path, Path]:
    return home / MOVING_COPY, draft_path(home / MOVING_COPY)


def mark_of_database() -> str:
    """Return the mark of the restore that the database is of; empty where it is of none."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT obj_description(to_regnamespace('public')::oid, 'pg_namespace')")
        return str((cursor.fetchone() or ("",))[0] or "")


def drop_replaced() -> None:
    """Drop the database's contents before the last restore, some tables at a time: each takes a lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regnamespace(%s) IS NOT NULL", [REPLACED])
        if not (cursor.fetchone() or (False,))[0]:
            return
        while names := _some_tables(cursor):
            tables = SQL(", ").join(Identifier(REPLACED, name) for name in names)
            cursor.execute(SQL("DROP TABLE {} CASCADE").format(tables))
        cursor.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(REPLACED)))


def _finish(home: Path, stage: Path) -> Json:
    """Do what is left of a restore whose database stands. Refuses RestoreUnfinished."""
    left = "its files are not all where rows look for them"
    try:
        content: Json = json.loads((stage / LIST).read_text())
        _put_in_place(home, stage, content)
        left = "what it replaced is not dropped yet"
        drop_replaced()
        shutil.rmtree(stage)
    except (OSError, ValueError, DatabaseError, psycopg.Error) as problem:
        raise RestoreUnfinished(
            f"the database is restored and proved, but {left} ({reason_of(problem)}). What is left to do waits in {stage}: "
            "see to the reason, then run the same command again, or start Runrate; either finishes it first"
        ) from problem
    return content


def _some_tables(cursor: Any) -> list[str]:
    cursor.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s)"
        " AND relkind IN ('r', 'p') AND NOT relispartition LIMIT %s",
        [REPLACED, DROPPED_AT_ONCE],
    )
    return [name for (name,) in cursor.fetchall()]


def _put_in_place(home: Path, stage: Path, content: Json) -> None:
    """Move files to where rows look for them, and delete what no row names; again as often as need be."""
    for name in content["files"]:
        with (stage / "files" / name).open("rb") as source, write_file(name) as target:
            while block := source.read(FILE_BLOCK):
                target.write(block)
    for folder in FOLDERS if content["takes_files"] else ():
        # Nobody else writes meanwhile: whatever is half written is of the try that was killed.
        forget_drafts(folder, datetime.max.replace(tzinfo=UTC))
        for entry in list_files(folder):
            if entry.name not in content["files"]:
                delete_file(entry.name)
    if content["secret_key"]:
        draft = home / f"secret_key.{secrets.token_hex(4)}"
        draft.touch(mode=0o600)
        draft.write_text(content["secret_key"])
        draft.replace(home / "secret_key")
