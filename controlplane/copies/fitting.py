"""Whether a copy can be brought back as things are: what is refused before anything is read of it."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db import connection

from apps.web.queries.table_digests import of_no_extension
from controlplane.copies.aside import things_of_others
from controlplane.copies.installation import mark_of_key
from controlplane.copies.making import megabytes
from controlplane.copies.members import Json
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.release import age_of_schema
from controlplane.copies.server import OLDEST_MAJOR
from controlplane.copies.standing import see_that_nobody_works

# Rows and indexes as they were, and what the server notes of them until its next checkpoint.
SHARE_OF_DATABASE = 1.3
MOST_NAMED = 5
TABLES_THERE = f"""
SELECT count(*) FROM pg_class
 WHERE relnamespace = to_regnamespace('public') AND relkind IN ('r', 'p') AND {of_no_extension("pg_class.oid")}
"""  # noqa: S608  # words of our own


@dataclass(frozen=True, slots=True)
class RestoreWanted:
    """How a copy is brought back.

    `replaces` whatever is in the database; else one that is not empty is refused, with what to do `instead`. `allows_older` takes a server older than the copy's. `migrates` brings the
    schema to this Runrate and proves the ledger before anything is changed. `secret_key` is put under the home, None:
    the home keeps its own. `drops_of_others`: what lies in other schemas and depends on what is replaced goes with it; else that is refused.
    """

    replaces: bool = False
    instead: str = "--replace puts the copy in their place"
    allows_older: bool = False
    migrates: bool = True
    takes_files: bool = True
    drops_of_others: bool = False
    secret_key: str | None = None


def refuse_what_does_not_fit(manifest: Json, home: Path, wanted: RestoreWanted) -> None:
    """Refuse CopyRefused of a copy that cannot be brought back into the configured database as things are."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int / 10000")
        major = int(cursor.fetchone()[0])
        cursor.execute(TABLES_THERE)
        tables = int(cursor.fetchone()[0])
        see_that_nobody_works(cursor)
        others = things_of_others(cursor) if tables and wanted.replaces else []
    made_by = manifest["postgres"]
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
        made = manifest["runrate"]
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
        raise CopyRefused(f"the database is not empty: it has {tables} tables; {wanted.instead}")
    if others and not wanted.drops_of_others:
        raise CopyRefused(
            f"{_named(others)} in other schemas of the database depends on tables that are replaced, and would be dropped with them: "
            "keep how it is made (pg_dump --schema-only of its schema), drop it, and make it again after this"
        )
    _refuse_full_disk(manifest, home)


def _named(things: Sequence[str]) -> str:
    more = f" and {len(things) - MOST_NAMED} more" if len(things) > MOST_NAMED else ""
    return ", ".join(things[:MOST_NAMED]) + more


def _refuse_full_disk(manifest: Json, home: Path) -> None:
    """Only where the server's files lie on a disk of ours can its room be known."""
    needed = int(manifest["database_bytes"] * SHARE_OF_DATABASE)
    folder = home / "postgres"
    is_here = str(connection.settings_dict["HOST"]).startswith("/") and folder.is_dir()
    free = shutil.disk_usage(folder if is_here else home).free
    if is_here and free < needed:
        raise CopyRefused(
            f"{folder} has {megabytes(free)} free, and the copy's database takes about {megabytes(needed)} besides what is there"
        )
