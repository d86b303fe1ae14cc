"""Makes exports: a day at a time from Postgres through gzip into a file under RUNRATE_HOME."""

import gzip
import hashlib
import logging
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.utils import timezone

from apps.accounts import queries as accounts
from apps.ledger.actions import exports
from apps.ledger.queries.export_rows import heading, rows_expected, rows_of_day
from apps.ledger.queries.exports import (
    ExportFact,
    chosen_teams,
    export_fact,
    file_of,
    wanted_of,
)
from apps.ledger.queries.wanted import Wanted

log = logging.getLogger(__name__)

DAY = timedelta(days=1)
LEVEL = 6


class Unwanted(Exception):
    """It was called off, or another has taken it up."""


class NoLongerAllowed(Exception):
    """Whoever asked may not read any more."""


class Hashed:
    """A file that knows the digest and the number of the bytes it was given."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out = out
        self.digest = hashlib.sha256()
        self.size = 0

    def write(self, block: bytes) -> int:
        """On to the file."""
        self.digest.update(block)
        self.size += len(block)
        return self.out.write(block)

    def flush(self) -> None:
        """What gzip asks of a file."""
        self.out.flush()


def make_waiting() -> None:
    """Make one export after the other until none is due."""
    folder = Path(settings.HOME) / "exports"
    while (turn := exports.take_up_export(at=timezone.now())) is not None:
        part = folder / f"{turn.export_id}.{turn.attempt}.csv.gz.part"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make(turn, part)
        except Unwanted:
            log.info("export_unwanted export=%s", turn.export_id)
        except (NoLongerAllowed, OSError) as broken:
            log.warning("export_broken_off export=%s reason=%s", turn.export_id, broken)
            said = (
                str(broken) if isinstance(broken, NoLongerAllowed) else "the disk would not take it"
            )
            exports.break_off_export(turn=turn, failure=said, at=timezone.now())
        finally:
            part.unlink(missing_ok=True)


def forget_files() -> None:
    """Delete files that are expired, called off or half made."""
    folder = Path(settings.HOME) / "exports"
    for export_id in exports.exports_to_forget(at=timezone.now()):
        for path in folder.glob(f"{export_id}.*"):
            path.unlink(missing_ok=True)
        exports.forget_export(export_id=export_id)


def _make(turn: exports.Turn, part: Path) -> None:
    fact = export_fact(turn.export_id)
    wanted = wanted_of(fact, _teams_now(fact))
    exports.begin_export(turn=turn, team_ids=wanted.team_ids, rows_estimated=rows_expected(wanted))
    with part.open("xb") as out:
        part.chmod(0o600)
        hashed = Hashed(out)
        rows = _write(turn, wanted, hashed)
    written = exports.Written(rows, hashed.size, hashed.digest.hexdigest())
    with transaction.atomic():
        if not exports.end_export(turn=turn, written=written, at=timezone.now()):
            raise Unwanted
        # Before the row says that it is there; if it never says so, the next attempt writes anew.
        part.replace(file_of(part.parent, turn.export_id))


def _write(turn: exports.Turn, wanted: Wanted, out: Hashed) -> int:
    """Everything, with a word after every day; how many rows. Refuses Unwanted."""
    currency, rows = accounts.organisation().currency, 0
    # No time and no name in the file: the same rows are the same bytes.
    with gzip.GzipFile("", "wb", LEVEL, fileobj=out, mtime=0) as zipped:
        zipped.write(heading(wanted.what).encode())
        for day in _days(wanted):
            for block in rows_of_day(wanted, day, currency):
                rows += block.count(b"\n")
                zipped.write(block)
            if not exports.tell_rows(turn=turn, rows=rows, at=timezone.now()):
                raise Unwanted
    return rows


def _days(wanted: Wanted) -> Iterator[date]:
    day = wanted.window.first_day
    while day < wanted.window.end_day:
        yield day
        day += DAY


def _teams_now(fact: ExportFact) -> frozenset[int] | None:
    """Of the teams that were asked for, those that the asker sees now; None: of all."""
    viewer = _viewer_now(fact)
    chosen = chosen_teams(fact)
    if viewer.sees_everything:
        return chosen
    return viewer.team_ids if chosen is None else chosen & viewer.team_ids


def _viewer_now(fact: ExportFact) -> accounts.Viewer:
    asker = fact.asker
    if asker.token_id is not None:
        token = accounts.token_in_force(asker.token_id, timezone.now())
        if token is None:
            raise NoLongerAllowed("the token that asked is no longer valid")
        return accounts.viewer_of_token(token)
    try:
        return accounts.viewer_of_user(asker.person_id or 0)
    except ObjectDoesNotExist as gone:
        raise NoLongerAllowed("whoever asked has left") from gone
