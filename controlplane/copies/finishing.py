"""Finish what a restore left to do once its database stands, or forget what one that was broken off left."""

import json
import secrets
import shutil
from pathlib import Path
from typing import Any

from django.db import connection
from psycopg.sql import SQL, Identifier

from apps.files import delete_file, list_files, write_file

REPLACED = "runrate_replaced"
MARK = "runrate restored "
STAGE = "restoring-"
FOLDERS = ("uploads", "exports")
DROPPED_AT_ONCE = 50
FILE_BLOCK = 1024 * 1024


def finish_restore(home: Path) -> None:
    """Finish what a restore left to do, or forget what one that was broken off left: by what the database says."""
    stages = list(home.glob(f"{STAGE}*"))
    if not stages:
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT obj_description(to_regnamespace('public')::oid, 'pg_namespace')")
        mark = (cursor.fetchone() or ("",))[0] or ""
    for stage in stages:
        if mark == MARK + stage.name.removeprefix(STAGE) and (stage / "list.json").exists():
            _put_in_place(home, stage)
    drop_replaced()
    for stage in stages:
        shutil.rmtree(stage)


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


def _some_tables(cursor: Any) -> list[str]:
    cursor.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s)"
        " AND relkind IN ('r', 'p') AND NOT relispartition LIMIT %s",
        [REPLACED, DROPPED_AT_ONCE],
    )
    return [name for (name,) in cursor.fetchall()]


def _put_in_place(home: Path, stage: Path) -> None:
    """Move files to where rows look for them, and delete what no row names; again as often as need be."""
    content = json.loads((stage / "list.json").read_text())
    for name in content["files"]:
        with (stage / "files" / name).open("rb") as source, write_file(name) as target:
            while block := source.read(FILE_BLOCK):
                target.write(block)
    for folder in FOLDERS if content["takes_files"] else ():
        for entry in list_files(folder):
            if entry.name not in content["files"]:
                delete_file(entry.name)
    if content["secret_key"]:
        draft = home / f"secret_key.{secrets.token_hex(4)}"
        draft.touch(mode=0o600)
        draft.write_text(content["secret_key"])
        draft.replace(home / "secret_key")
