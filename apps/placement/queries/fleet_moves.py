"""Fleet moves as they were kept: what stands proposed, what each week's look saw, and why a matter is proposed no more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from django.db.models import Count

from apps.economics.moves.saving import SavingRange
from apps.placement.models import FleetMove, FleetMoveLook, FleetMoveProposal
from apps.placement.queries.moves.proposal import ProposalEvidence


@dataclass(frozen=True, slots=True)
class MoveDetectionRunFact:
    """A week's look; see its table for what each field is."""

    week: date
    made_at: datetime
    seen_from: date
    weeks: int
    book_made_at: datetime | None
    addressable_micros: int
    counted_micros: int
    kinds: list[dict[str, Any]]
    digest: str


@dataclass(frozen=True, slots=True)
class OpenFleetMove:
    """A move as the newest look proposes it. Micro-units of a month of 730 h at the marginal price.

    `saving` is the p10, the median and the p90, none above `spend_micros`, what is spent there. `one_time_micros` is what
    moving costs as far as known: `egress_micros`, `restart_micros` and, where an engineer's hour has a price, `effort_micros`
    for `effort_hours`. `disruption` is low, medium or high. Of one `exclusive_group` only those with `is_counted` may be
    added up; `cells` are the dollars that it touches. `opened_week` and `weeks_proposed` are of the matter, by its `key`.
    """

    id: int
    key: str
    kind: str
    subject: str
    source: str
    target: str
    team_id: int | None
    workload_id: int | None
    pool_id: int | None
    week: date
    seen_from: date
    opened_week: date
    weeks_proposed: int
    spend_micros: int
    saving: SavingRange
    one_time_micros: int
    egress_micros: int
    restart_micros: int
    effort_hours: int
    effort_micros: int | None
    payback_months: float | None
    disruption: str
    disruption_reason: str
    interruptions_per_month: float | None
    restart_hours_per_month: float | None
    confidence: str
    doubts: tuple[str, ...]
    why: str
    evidence: tuple[ProposalEvidence, ...]
    exclusive_group: int
    is_counted: bool
    cells: frozenset[str]

    def without_prices(self) -> "OpenFleetMove":
        """Return the move for who reads no prices: with the evidence that names none."""
        return replace(self, evidence=tuple(one for one in self.evidence if not one.is_price))


@dataclass(frozen=True, slots=True)
class ClosedFleetMove:
    """A matter that is proposed no more, since when and why, as it was last proposed."""

    id: int
    key: str
    kind: str
    subject: str
    target: str
    team_id: int | None
    workload_id: int | None
    opened_week: date
    closed_week: date
    closed_reason: str


LOOK_FIELDS = MoveDetectionRunFact.__slots__


def latest_move_detection_run(at: datetime | None = None) -> MoveDetectionRunFact | None:
    """The newest look; with a moment, the newest that was made until then. None before the first."""
    look_rows = FleetMoveLook.objects.order_by("-week")
    if at is not None:
        look_rows = look_rows.filter(made_at__lte=at)
    row = look_rows.values_list(*LOOK_FIELDS).first()
    return None if row is None else MoveDetectionRunFact(*row)


def move_detection_run(week: date) -> MoveDetectionRunFact | None:
    """A week's look; None where there is none."""
    row = FleetMoveLook.objects.filter(week=week).values_list(*LOOK_FIELDS).first()
    return None if row is None else MoveDetectionRunFact(*row)


def move_detection_runs() -> list[MoveDetectionRunFact]:
    """All of them, the newest first."""
    rows = FleetMoveLook.objects.order_by("-week").values_list(*LOOK_FIELDS)
    return [MoveDetectionRunFact(*row) for row in rows]


def open_fleet_moves(
    at: datetime, team_ids: frozenset[int] | None = None
) -> tuple[OpenFleetMove, ...]:
    """Return the moves that the newest look made until `at` proposes, worth most first.

    `team_ids` None: all of it. Else only what moves these teams' own workloads, without prices.
    """
    look_fact = latest_move_detection_run(at)
    return () if look_fact is None else moves_of_week(look_fact.week, team_ids)


def moves_of_week(week: date, team_ids: frozenset[int] | None = None) -> tuple[OpenFleetMove, ...]:
    """Return the moves that a week's look proposes, worth most first; none of a week without one."""
    rows = FleetMoveProposal.objects.filter(look__week=week).select_related("look", "move")
    if team_ids is not None:
        rows = rows.filter(move__team_id__in=team_ids, move__workload__isnull=False)
    proposals = list(rows.order_by("place"))
    counts = _weeks_proposed([row.move_id for row in proposals], week)
    moves = (_open_move(row, counts[row.move_id]) for row in proposals)
    return tuple(move if team_ids is None else move.without_prices() for move in moves)


def weeks_of_move(key: str, team_ids: frozenset[int] | None = None) -> tuple[OpenFleetMove, ...]:
    """The matter of this key as each week's look proposed it, the earliest first; scope as in `open_fleet_moves`."""
    rows = FleetMoveProposal.objects.filter(move__key=key).select_related("look", "move")
    if team_ids is not None:
        rows = rows.filter(move__team_id__in=team_ids, move__workload__isnull=False)
    moves = (
        _open_move(row, place) for place, row in enumerate(rows.order_by("look__week"), start=1)
    )
    return tuple(move if team_ids is None else move.without_prices() for move in moves)


def key_of_move(move_id: int) -> str | None:
    """The key of a matter by its id; None where there is none."""
    return FleetMove.objects.filter(pk=move_id).values_list("key", flat=True).first()


def closed_fleet_moves(team_ids: frozenset[int] | None = None) -> list[ClosedFleetMove]:
    """Matters that are proposed no more, the latest closed first; what became of each is its recommendation's to say."""
    closings = _latest_closings()
    rows = FleetMove.objects.filter(key__in=closings)
    if team_ids is not None:
        rows = rows.filter(team_id__in=team_ids, workload__isnull=False)
    moves = list(rows.order_by("id"))
    last = (
        FleetMoveProposal.objects.filter(move__in=moves)
        .order_by("move_id", "-look__week")
        .distinct("move_id")
    )
    documents_by_move = dict(last.values_list("move_id", "document"))
    closed = [
        _closed_move(move, *closings[move.key], documents_by_move[move.pk])
        for move in moves
        if move.pk in documents_by_move
    ]
    return sorted(closed, key=lambda move: move.closed_week, reverse=True)


def _latest_closings() -> dict[str, tuple[date, str]]:
    """In which week each matter that the newest look does not propose was closed, and why, by its key."""
    look_rows = FleetMoveLook.objects.order_by("week")
    closings: dict[str, tuple[date, str]] = {}
    for week, declined in look_rows.exclude(declined={}).values_list("week", "declined"):
        closings |= {key: (week, why) for key, why in declined.items()}
    newest = FleetMoveProposal.objects.filter(look=look_rows.last())
    for key in newest.values_list("move__key", flat=True):
        closings.pop(key, None)
    return closings


def _weeks_proposed(move_ids: Sequence[int], week: date) -> dict[int, int]:
    rows = FleetMoveProposal.objects.filter(move_id__in=move_ids, look__week__lte=week)
    return dict(rows.values_list("move_id").annotate(Count("id")).order_by())


def _open_move(row: FleetMoveProposal, weeks_proposed: int) -> OpenFleetMove:
    document: Mapping[str, Any] = row.document
    one_time, disruption = document["one_time"], document["disruption"]
    return OpenFleetMove(
        id=row.move_id,
        key=row.move.key,
        kind=row.move.kind,
        subject=document["subject"],
        source=document["source"],
        target=document["target"],
        team_id=row.move.team_id,
        workload_id=row.move.workload_id,
        pool_id=row.move.pool_id,
        week=row.look.week,
        seen_from=row.look.seen_from,
        opened_week=row.move.opened_week,
        weeks_proposed=weeks_proposed,
        spend_micros=document["spend_micros"],
        saving=SavingRange(**document["saving"]),
        one_time_micros=document["one_time_micros"],
        egress_micros=one_time["egress_micros"],
        restart_micros=one_time["restart_micros"],
        effort_hours=one_time["effort_hours"],
        effort_micros=one_time["effort_micros"],
        payback_months=document["payback_months"],
        disruption=disruption["level"],
        disruption_reason=disruption["reason"],
        interruptions_per_month=disruption["interruptions_per_month"],
        restart_hours_per_month=disruption["restart_hours_per_month"],
        confidence=document["confidence"],
        doubts=tuple(document["doubts"]),
        why=document["why"],
        evidence=tuple(
            ProposalEvidence(**evidence_fields) for evidence_fields in document["evidence"]
        ),
        exclusive_group=row.exclusive_group,
        is_counted=row.is_counted,
        # Looks that kept no cells yet had their group: whatever touches it is for the same dollars.
        cells=frozenset(
            document.get("cells") or [f"moves of {row.look.week}, group {row.exclusive_group}"]
        ),
    )


def _closed_move(
    move: FleetMove, closed_week: date, closed_reason: str, document: Mapping[str, Any]
) -> ClosedFleetMove:
    return ClosedFleetMove(
        move.pk,
        move.key,
        move.kind,
        document["subject"],
        document["target"],
        move.team_id,
        move.workload_id,
        move.opened_week,
        closed_week,
        closed_reason,
    )
