"""Makes exports: a day at a time from Postgres into a file under RUNRATE_HOME."""

import logging
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.utils import timezone

from apps.accounts import queries as accounts
from apps.ledger.actions import exports
from apps.ledger.queries.export_rows import rows_expected, rows_of_day
from apps.ledger.queries.exports import (
    ExportFact,
    FileForm,
    chosen_teams,
    export_fact,
    file_of,
    wanted_of,
)
from apps.ledger.queries.wanted import Wanted
from apps.ledger.tasks.export_files import Hashed, rows_file

log = logging.getLogger(__name__)

DAY = timedelta(days=1)


class Unwanted(Exception):
    """It was called off, or another has taken it up."""


class NoLongerAllowed(Exception):
    """Whoever asked may not read any more."""


def make_waiting() -> None:
    """Make one export after the other until none is due."""
    folder = Path(settings.HOME) / "exports"
    while (turn := exports.take_up_export(at=timezone.now())) is not None:
        part = folder / f"{turn.export_id}.{turn.attempt}.part"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make_file(turn, part)
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


def _make_file(turn: exports.Turn, part: Path) -> None:
    fact = export_fact(turn.export_id)
    wanted = wanted_of(fact, _teams_now(fact))
    exports.begin_export(turn=turn, team_ids=wanted.team_ids, rows_estimated=rows_expected(wanted))
    with part.open("xb") as out:
        part.chmod(0o600)
        hashed = Hashed(out)
        rows = _write_rows(turn, wanted, fact.form, hashed)
    written = exports.WrittenExport(rows, hashed.size, hashed.digest.hexdigest())
    with transaction.atomic():
        if not exports.end_export(turn=turn, written=written, at=timezone.now()):
            raise Unwanted
        # Before the row says that it is there; if it never says so, the next attempt writes anew.
        part.replace(file_of(part.parent, turn.export_id, fact.form))


def _write_rows(turn: exports.Turn, wanted: Wanted, form: FileForm, out: Hashed) -> int:
    """Everything, with a word after every day; how many rows. Refuses Unwanted."""
    currency, rows = accounts.organisation().currency, 0
    with rows_file(form, wanted.what, out) as file:
        for day in _days_wanted(wanted):
            for block in rows_of_day(wanted, day, currency):
                rows += block.count(b"\n")
                file.write(block)
            file.end_day()
            if not exports.tell_rows(turn=turn, rows=rows, at=timezone.now()):
                raise Unwanted
    return rows


def _days_wanted(wanted: Wanted) -> Iterator[date]:
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
