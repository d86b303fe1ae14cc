"""Move an installation from the embedded Postgres to one of its keeper's, and back while nothing new was written.

A file under the home names the database that took its place; `RUNRATE_DATABASE_URL` wins over it. The embedded one stays
as it was, and the digests of that moment are kept, so that what was written since can be seen.
"""

import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from django.db import connection

from apps.web.queries.table_digests import table_digests
from controlplane.copies.finishing import MARK, MOVING_COPY, finish_restore, mark_of_database
from controlplane.copies.fitting import RestoreWanted
from controlplane.copies.making import Installation, MadeCopy, Progress, make_copy, sync_folder
from controlplane.copies.proving import prove_ledger
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.restoring import restore_copy
from controlplane.copies.server import Server
from controlplane.env import MOVED_TO, BadEnvironment, is_database_set
from controlplane.settings import database_of

NOTE, BEGUN = "moved.json", "moving.json"
INSTEAD = "name an empty one, or have that one emptied (DROP SCHEMA public CASCADE; CREATE SCHEMA public) and move again"
MOST_NAMED = 5


def move_to(url: str, of: Installation, progress: Progress, at: datetime) -> str:
    """Copy everything to the database at `url`, prove it, and have the next start use it; return where that is, without its password.

    What a move that was killed left there is replaced, if nothing was written to it since. Call it with services stopped.
    Refuses CopyRefused; then the embedded database is used as before.
    """
    chosen = _checked(url)
    finish_restore(of.home)
    with connected_to(chosen):
        is_ours = _is_left_by_a_move(of.home)
    copy = of.home / MOVING_COPY
    try:
        made = make_copy(of, copy, progress, at)
        _note_move(of.home, made)
        with connected_to(chosen), copy.open("rb") as source:
            wanted = RestoreWanted(
                replaces=is_ours, instead=INSTEAD, allows_older=True, takes_files=False
            )
            restore_copy(source, of.home, wanted, progress, prove_ledger)
            digests = {name: each.digest for name, each in table_digests().items()}
    finally:
        copy.unlink(missing_ok=True)
    place = place_of(url)
    note = {"at": at.isoformat(), "to": place, "digests": digests}
    _write_private(of.home / NOTE, json.dumps(note))
    # The switch: from here on every start uses the other.
    _write_private(of.home / MOVED_TO, url + "\n")
    (of.home / BEGUN).unlink(missing_ok=True)
    return place


def _note_move(home: Path, made: MadeCopy) -> None:
    """Keep what is about to be brought to the other database: after a kill it is known for this move's own."""
    moves = {**_begun_moves(home), str(made.manifest["id"]): made.digests}
    _write_private(home / BEGUN, json.dumps(moves))


def _begun_moves(home: Path) -> dict[str, dict[str, str]]:
    """Return the digests of the tables of each copy with which a move was begun, by its id."""
    try:
        moves: dict[str, dict[str, str]] = json.loads((home / BEGUN).read_text())
    except FileNotFoundError:
        return {}
    return moves


def _is_left_by_a_move(home: Path) -> bool:
    """Return whether all that is in the database is what a move brought there that was killed before it ended."""
    copy_id = mark_of_database().removeprefix(MARK).partition("-")[0]
    brought = _begun_moves(home).get(copy_id)
    return brought is not None and brought == {
        name: each.digest for name, each in table_digests().items()
    }


def move_back(home: Path) -> str:
    """Have the next start use the embedded database again; return where the other is.

    Refuses CopyRefused where nothing was moved, where something was written since, or where a setting names a database.
    """
    if is_database_set():
        raise CopyRefused(
            f"RUNRATE_DATABASE_URL names a database and wins over {home / MOVED_TO}, so that the embedded one would not be used: "
            "take it out of the environment, then run this again"
        )
    if not (home / MOVED_TO).exists():
        raise CopyRefused(f"nothing was moved: there is no {home / MOVED_TO}")
    if not (home / "postgres" / "PG_VERSION").exists():
        raise CopyRefused(
            f"the embedded database is not at {home / 'postgres'} any more; a start without {home / MOVED_TO} would begin with an empty one"
        )
    try:
        note = json.loads((home / NOTE).read_text())
    except FileNotFoundError as problem:
        raise CopyRefused(
            f"{home / NOTE} is gone, so it cannot be seen what was written since"
        ) from problem
    found = {name: each.digest for name, each in table_digests().items()}
    before = note["digests"]
    changed = sorted(name for name in {*found, *before} if found.get(name) != before.get(name))
    if changed:
        more = f" and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
        raise CopyRefused(
            f"since {note['at'][:16]} something was written to {note['to']} (tables {', '.join(changed[:MOST_NAMED])}{more}), "
            f"which the embedded database lacks. To go back with it: `manage.py backup FILE`, remove {home / MOVED_TO}, "
            "and `manage.py restore FILE --replace`"
        )
    (home / MOVED_TO).unlink()
    (home / NOTE).unlink()
    sync_folder(home)
    return str(note["to"])


@contextmanager
def connected_to(chosen: dict[str, object]) -> Iterator[None]:
    """Have this process work with another database while the block lasts."""
    before = dict(connection.settings_dict)
    connection.close()
    connection.settings_dict.update(chosen)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(before)


def place_of(url: str) -> str:
    """Return an address without its password and options."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.username or 'postgres'}@{parts.hostname or 'localhost'}{port}{parts.path}"


def _checked(url: str) -> dict[str, object]:
    """Return the database at an address that answers. Refuses CopyRefused."""
    try:
        chosen = database_of(url)
        if not urlsplit(url).path.strip("/"):
            raise CopyRefused("the address names no database: postgres://user:password@host/name")
        with closing(Server.of_settings(chosen).connect()):
            return chosen
    except BadEnvironment as problem:
        raise CopyRefused(
            str(problem).replace("RUNRATE_DATABASE_URL", "the address", 1)
        ) from problem
    except (psycopg.Error, ValueError) as problem:
        raise CopyRefused(f"{place_of(url)} does not answer: {str(problem).strip()}") from problem


def _write_private(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.part")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)
