"""Makes exports: a day at a time from Postgres into a stored file."""

import logging
from collections.abc import Iterator
from datetime import date, timedelta

from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.utils import timezone

from apps.accounts import queries as accounts
from apps.files import PlaceUnreachable, delete_file, forget_drafts, write_file
from apps.files.stopping import STOP, WorkerStops, refuse_to_go_on, stopping_between_rows
from apps.ledger.actions import exports
from apps.ledger.queries.export_rows import rows_expected, rows_of_day
from apps.ledger.queries.exports import (
    EXPORTS,
    ExportFact,
    FileForm,
    chosen_teams,
    export_fact,
    stored_name,
    wanted_of,
)
from apps.ledger.queries.wanted import Wanted
from apps.ledger.tasks.export_files import Hashed, rows_file

log = logging.getLogger(__name__)

DAY = timedelta(days=1)
HALF_MADE_FOR = timedelta(days=1)
"""What nobody wrote to for so long is of a worker that died."""
AWAY = "it waits for the place where files are kept: {}"
STOPPED = "the worker that made it was asked to stop; it is made anew"
NOT_KEPT = "the place where files are kept would not take it"


class ExportCancelled(Exception):
    """It was called off, or another has taken it up."""


class NoLongerAllowed(Exception):
    """Whoever asked may not read any more."""


def make_waiting() -> None:
    """Make one export after the other until none is due."""
    with stopping_between_rows():
        while not STOP.is_posted() and _make_next():
            pass


def _make_next() -> bool:
    """Make one export; False: none is due."""
    turn = exports.take_up_export(at=timezone.now())
    if turn is None:
        return False
    try:
        _make_file(turn)
    except ExportCancelled:
        log.info("export_unwanted export=%s", turn.export_id)
    except WorkerStops:
        exports.release_export(turn=turn, reason=STOPPED, at=None)
    except PlaceUnreachable as away:
        log.warning("export_place_away export=%s reason=%s", turn.export_id, away)
        exports.release_export(turn=turn, reason=AWAY.format(away), at=timezone.now())
    except (NoLongerAllowed, OSError) as broken:
        log.warning("export_broken_off export=%s reason=%s", turn.export_id, broken)
        failure = str(broken) if isinstance(broken, NoLongerAllowed) else NOT_KEPT
        exports.break_off_export(turn=turn, failure=failure, at=timezone.now())
    return True


def forget_files() -> None:
    """Delete files that are expired, called off or half made."""
    at = timezone.now()
    for export_id in exports.exports_to_forget(at=at):
        for form in FileForm:
            delete_file(stored_name(export_id, form))
        exports.forget_export(export_id=export_id)
    forget_drafts(EXPORTS, at - HALF_MADE_FOR)


def _make_file(turn: exports.ExportLease) -> None:
    fact = export_fact(turn.export_id)
    wanted = wanted_of(fact, _teams_now(fact))
    exports.begin_export(turn=turn, team_ids=wanted.team_ids, rows_estimated=rows_expected(wanted))
    with write_file(stored_name(turn.export_id, fact.form)) as draft:
        hashed = Hashed(draft)
        rows = _write_rows(turn, wanted, fact.form, hashed)
        written = exports.WrittenExport(rows, hashed.size, hashed.digest.hexdigest())
        with transaction.atomic():
            if not exports.end_export(turn=turn, written=written, at=timezone.now()):
                raise ExportCancelled
            # Before the row says that it is there; if it never says so, the next attempt writes anew.
            draft.publish()


def _write_rows(turn: exports.ExportLease, wanted: Wanted, form: FileForm, out: Hashed) -> int:
    """Everything, with a word after every day; how many rows. Refuses ExportCancelled."""
    currency, rows = accounts.organisation().currency, 0
    with rows_file(form, wanted.what, out) as file:
        for day in _days_wanted(wanted):
            for block in rows_of_day(wanted, day, currency):
                refuse_to_go_on()
                rows += block.count(b"\n")
                file.write(block)
            file.end_day()
            if not exports.record_export_progress(turn=turn, rows=rows, at=timezone.now()):
                raise ExportCancelled
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
