"""All kinds of moves of a week, which of them are counted, and the look as it is kept."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from typing import Any

from apps.accounts.queries.reading import reading_once
from apps.economics.moves.choice import CountedMoves, WeighedMove, counted_moves, exclusive_groups
from apps.placement.queries.book import BookFact, newest_book
from apps.placement.queries.moves.committing import detect_commitment_moves
from apps.placement.queries.moves.elsewhere import detect_place_moves
from apps.placement.queries.moves.proposal import (
    MoveKindDetection,
    MoveProposal,
    proposals_of,
    reasons_in_order,
)
from apps.placement.queries.moves.to_api import detect_api_moves
from apps.placement.queries.moves.to_smaller import detect_smaller_gpu_moves
from apps.placement.queries.moves.to_spot import detect_spot_moves
from apps.placement.queries.moves.work import FleetWork, fleet_work

NOT_TRIED = "Moves of its group are too many to try every choice: which are counted is a good one, not surely the best."


@dataclass(frozen=True)
class FleetDetection:
    """A look at a week: what was looked at and found. `groups` number the proposals' exclusive groups, by key."""

    work: FleetWork
    book: BookFact | None
    kinds: tuple[MoveKindDetection, ...]
    proposals: tuple[MoveProposal, ...]
    groups: dict[str, int]
    counted: frozenset[str]

    @property
    def counted_micros(self) -> int:
        """The likely saving of the counted proposals together in a month; never more than is paid by the hour."""
        likely = sum(
            proposal.saving.likely for proposal in self.proposals if proposal.key in self.counted
        )
        return min(likely, self.work.addressable_micros)

    @property
    def kinds_document(self) -> list[dict[str, Any]]:
        """Candidates by kind, and why they are no proposal, with how many."""
        return [
            {
                "kind": str(kind.kind),
                "seen": kind.seen,
                "proposed": len(kind.proposals),
                "reasons": [{"why": why, "count": count} for why, count in reasons_in_order(kind)],
            }
            for kind in self.kinds
        ]

    @property
    def digest(self) -> str:
        """SHA-256 of all of it."""
        parts = [
            [asdict(proposal) | {"cells": sorted(proposal.cells)} for proposal in self.proposals],
            self.kinds_document,
            self.groups,
            sorted(self.counted),
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def detect_fleet_moves(week: date, at: datetime) -> FleetDetection:
    """Every kind's candidates in the weeks before `week`, and the proposals, worth most first."""
    with reading_once():
        work, book = fleet_work(week), newest_book()
        kinds = (
            detect_spot_moves(work, book),
            detect_commitment_moves(work, at),
            detect_place_moves(work, book),
            detect_api_moves(work),
            detect_smaller_gpu_moves(work, book),
        )
    proposals = proposals_of(kinds)
    weighed = [WeighedMove(proposal.key, proposal.cells, proposal.worth) for proposal in proposals]
    chosen = counted_moves(weighed)
    return FleetDetection(
        work=work,
        book=book,
        kinds=kinds,
        proposals=_marked_not_tried(proposals, chosen),
        groups=_group_numbers(weighed),
        counted=chosen.keys,
    )


def _marked_not_tried(
    proposals: Sequence[MoveProposal], chosen: CountedMoves
) -> tuple[MoveProposal, ...]:
    """Return the proposals; those of a group of which not every choice was tried say so."""
    return tuple(
        replace(proposal, why=f"{proposal.why} {NOT_TRIED}")
        if proposal.key in chosen.not_tried
        else proposal
        for proposal in proposals
    )


def _group_numbers(weighed: Sequence[WeighedMove]) -> dict[str, int]:
    """From 1 on, by key."""
    groups = exclusive_groups(weighed)
    return {move.key: number for number, group in enumerate(groups, start=1) for move in group}
