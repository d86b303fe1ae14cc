"""A week's look at what could be moved: kept once, and never made again."""

from dataclasses import asdict
from datetime import date, datetime, timedelta
from typing import Any

from django.db import transaction

from apps.economics.refusal import Refusal
from apps.logs.changes import logged_pass
from apps.placement.models import FleetMove, FleetMoveLook, FleetMoveProposal
from apps.placement.queries.moves.proposal import MoveProposal, declined_by_key
from apps.placement.queries.moves.weekly_search import FleetDetection, detect_fleet_moves
from apps.placement.queries.moves.work import has_whole_week, move_week

SETTLED_AFTER = timedelta(hours=6)
"""After midnight of the week's first day, until when the last day of the week before is settled."""
NOT_SEEN = "its work was not seen in the weeks looked at"


class FleetMovesKept(Refusal):
    """The week's look is kept, or a later one is: a look is frozen, and weeks come in order."""


def detect_moves_if_due(*, at: datetime) -> int:
    """This week's look where there is none yet; how many proposals. 0 also before the ledger has a whole week."""
    week = move_week(at - SETTLED_AFTER)
    if FleetMoveLook.objects.filter(week__gte=week).exists() or not has_whole_week(week):
        return 0
    return int(detect_moves(week=week, at=at))


@logged_pass("look_for_moves")
@transaction.atomic
def detect_moves(*, week: date, at: datetime) -> int:
    """Look and keep; how many proposals. Refuses FleetMovesKept."""
    if FleetMoveLook.objects.select_for_update().filter(week__gte=week).exists():
        raise FleetMovesKept("week", f"the look of {week} or of a later week is kept already")
    return store_fleet_detection(fleet_look=detect_fleet_moves(week, at), week=week, at=at)


@transaction.atomic
def store_fleet_detection(*, fleet_look: FleetDetection, week: date, at: datetime) -> int:
    """Keep a look as it is: its proposals, and why what the look before proposed is not among them; how many proposals."""
    look_row = FleetMoveLook.objects.create(
        week=week,
        made_at=at,
        seen_from=fleet_look.work.span.window.first_day,
        weeks=len(fleet_look.work.span.weeks),
        book_made_at=fleet_look.book.made_at if fleet_look.book else None,
        addressable_micros=fleet_look.work.addressable_micros,
        counted_micros=fleet_look.counted_micros,
        kinds=fleet_look.kinds_document,
        declined=_declined_document(fleet_look, week),
        digest=fleet_look.digest,
    )
    moves = _opened_moves(fleet_look, week)
    FleetMoveProposal.objects.bulk_create(
        FleetMoveProposal(
            look=look_row,
            move=moves[proposal.key],
            place=place,
            exclusive_group=fleet_look.groups[proposal.key],
            is_counted=proposal.key in fleet_look.counted,
            document=_proposal_document(proposal),
        )
        for place, proposal in enumerate(fleet_look.proposals)
    )
    return len(fleet_look.proposals)


def _opened_moves(fleet_look: FleetDetection, week: date) -> dict[str, FleetMove]:
    """The matter of each proposal, opened where it is new, with whose it is now."""
    proposed = {proposal.key: proposal for proposal in fleet_look.proposals}
    rows = FleetMove.objects.select_for_update().filter(key__in=proposed)
    moves_by_key = {move.key: move for move in rows.order_by("id")}
    for key, move in moves_by_key.items():
        for name, value in _owner_columns(proposed[key]).items():
            setattr(move, name, value)
    names = ["kind", "team_id", "workload_id", "pool_id"]
    FleetMove.objects.bulk_update(moves_by_key.values(), names, batch_size=500)
    fresh = [
        FleetMove(key=key, opened_week=week, **_owner_columns(proposal))
        for key, proposal in proposed.items()
        if key not in moves_by_key
    ]
    FleetMove.objects.bulk_create(fresh)
    return moves_by_key | {move.key: move for move in fresh}


def _declined_document(fleet_look: FleetDetection, week: date) -> dict[str, str]:
    """Why each matter of the look before is proposed no more, by its key."""
    before = FleetMoveLook.objects.filter(week__lt=week).order_by("-week").first()
    proposed = {proposal.key for proposal in fleet_look.proposals}
    declined = declined_by_key(fleet_look.kinds)
    keys = FleetMoveProposal.objects.filter(look=before).values_list("move__key", flat=True)
    return {key: declined.get(key, NOT_SEEN) for key in sorted(keys) if key not in proposed}


def _owner_columns(proposal: MoveProposal) -> dict[str, Any]:
    return {
        "kind": str(proposal.kind),
        "team_id": proposal.team_id,
        "workload_id": proposal.workload_id,
        "pool_id": proposal.pool_id,
    }


def _proposal_document(proposal: MoveProposal) -> dict[str, Any]:
    """Return what is kept of a proposal, and read again by `fleet_moves`; its keys are the row's."""
    fields = asdict(proposal)
    for name in ("key", "kind", "team_id", "workload_id", "pool_id"):
        del fields[name]
    return fields | {
        "cells": sorted(proposal.cells),
        "confidence": proposal.confidence,
        "payback_months": proposal.payback_months,
        "one_time_micros": proposal.one_time.micros,
        "worth_micros": round(proposal.worth),
    }
