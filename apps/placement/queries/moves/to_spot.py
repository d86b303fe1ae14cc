"""Work that may be interrupted and ran on demand, held against spot of the same GPUs in its own region."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.economics.checkpoints import NotACadence
from apps.economics.moves.disruption import spot_disruption
from apps.economics.moves.saving import MONTH_HOURS
from apps.economics.moves.spot import CheckpointHabit, SpotMove, spot_move
from apps.economics.placement.estimates import LikelyRange
from apps.economics.placement.wall_time import NeverFinishes
from apps.economics.purchase import PurchaseOption
from apps.placement.queries.book import BookFact
from apps.placement.queries.moves.candidates import candidate_cells, why_not_by_hour
from apps.placement.queries.moves.offers import NO_BOOK, fill_there, offer_evidence
from apps.placement.queries.moves.proposal import (
    MoveKind,
    MoveKindDetection,
    MoveProposal,
    ProposalEvidence,
    move_key,
    one_time_cost,
)
from apps.placement.queries.moves.work import WEEKS, FleetWork, WorkCell
from apps.placement.queries.offer_facts import OfferFact
from apps.placement.queries.quote_request import are_same_model
from apps.unit_economics.queries.runs.habits import TrainingHabit, training_habits

HOUR_SECONDS = 3600
NOT_INTERRUPTIBLE = {
    "serving": "a service: nobody recorded what takes over while spot is away",
    "notebook": "people work on it: an interruption loses what they have open",
}


@dataclass(frozen=True, slots=True)
class SpotChoice:
    """An offer on spot and what the work comes to there."""

    offer: OfferFact
    move: SpotMove
    rate: LikelyRange


def detect_spot_moves(work: FleetWork, book: BookFact | None) -> MoveKindDetection:
    """Every workload on a pool; those that cost most first, by their runs' own checkpoints and starts."""
    kind_look = MoveKindDetection(MoveKind.TO_SPOT)

    def why_not(cell: WorkCell) -> str:
        reason = why_not_by_hour(cell, PurchaseOption.SPOT)
        reason = reason or NOT_INTERRUPTIBLE.get(cell.workload.kind, "")
        return reason or (NO_BOOK if book is None else "")

    candidates = candidate_cells(kind_look, work, why_not)
    if candidates and book is not None:
        habits = training_habits({cell.workload.id for cell in candidates}, work.span.window)
        for cell in candidates:
            _judge_cell(kind_look, work, cell, habits.get(cell.workload.id), book)
    return kind_look


def _judge_cell(
    kind_look: MoveKindDetection,
    work: FleetWork,
    cell: WorkCell,
    habit: TrainingHabit | None,
    book: BookFact,
) -> None:
    measured = _checkpoint_habit(habit)
    if isinstance(measured, str) or habit is None or not habit.gpus:
        kind_look.decline(
            move_key(MoveKind.TO_SPOT, cell.key),
            measured if isinstance(measured, str) else "its runs' GPUs are not known",
        )
        return
    there = [
        offer
        for offer in book.offers.values()
        if offer.option == PurchaseOption.SPOT
        and (offer.provider, offer.region) == (cell.pool.provider, cell.pool.region)
        and are_same_model(offer.gpu_model, cell.pool.gpu_model)
    ]
    outcomes = [_choice_at(cell, offer, measured, habit.gpus) for offer in there]
    choices = [outcome for outcome in outcomes if not isinstance(outcome, str)]
    if not choices:
        whys = [outcome for outcome in outcomes if isinstance(outcome, str)]
        kind_look.decline(
            move_key(MoveKind.TO_SPOT, cell.key),
            whys[0] if whys else "no spot of its GPU model is offered there",
        )
        return
    best = max(choices, key=lambda choice: (choice.move.saving.likely, choice.offer.key))
    kind_look.propose(_spot_proposal(work, cell, habit, measured, best))


def _checkpoint_habit(habit: TrainingHabit | None) -> CheckpointHabit | str:
    """Return what an interruption costs, as the newest run was measured; or why that is not known."""
    if habit is None:
        return "no run of it reported: whether it saves checkpoints is not known"
    if not habit.saved.saves or not habit.saved.cadence_seconds:
        return "its runs saved no checkpoint"
    return CheckpointHabit(
        write=(habit.saved.write_seconds or 0.0) / HOUR_SECONDS,
        cadence=habit.saved.cadence_seconds / HOUR_SECONDS,
        restart=(habit.start_seconds or 0.0) / HOUR_SECONDS,
    )


def _choice_at(
    cell: WorkCell, offer: OfferFact, habit: CheckpointHabit, gpus: int
) -> SpotChoice | str:
    """The work on this offer, or why not."""
    price = offer.price_range
    if price is None:
        return "its price on spot is not known"
    if offer.interruptions is None:
        return "nothing is known of interruptions there"
    if offer.free_gpus is not None and offer.free_gpus < gpus:
        return "a quota leaves fewer GPUs on spot than one run needs"
    rate = _job_rate(offer.interruptions, -(-gpus // offer.gpus_per_node))
    try:
        move = spot_move(
            cell.weeks,
            price,
            rate,
            habit,
            wait=float(offer.interruptions["wait"]),
            fill=fill_there(offer, gpus),
        )
    except (NeverFinishes, NotACadence) as refused:
        return str(refused)
    return SpotChoice(offer, move, rate)


def _job_rate(evidence: Mapping[str, object], nodes: int) -> LikelyRange:
    """Of the whole job; of a rate of one node, as if each went alone, at the low end all together."""
    low, likely, high = (float(str(evidence[name])) for name in ("low", "likely", "high"))
    if not evidence.get("is_per_node"):
        return LikelyRange(low, likely, high)
    return LikelyRange(low, likely * nodes, high * nodes)


def _spot_proposal(
    work: FleetWork,
    cell: WorkCell,
    habit: TrainingHabit,
    measured: CheckpointHabit,
    best: SpotChoice,
) -> MoveProposal:
    offer, move = best.offer, best.move
    job_hours = cell.gpu_hours / (habit.gpus or 1) * MONTH_HOURS / work.span.hours
    spend = work.monthly([cell])
    gpu_hour = cell.addressable_micros / cell.gpu_hours if cell.gpu_hours else 0.0
    restart = measured.restart * (habit.gpus or 1) * gpu_hour
    return MoveProposal(
        key=move_key(MoveKind.TO_SPOT, cell.key),
        kind=MoveKind.TO_SPOT,
        subject=cell.workload.name,
        source=f"{cell.pool.name}, on demand",
        target=f"spot, {offer.place}, {offer.instance_type or offer.gpu_model}",
        team_id=cell.workload.team_id,
        workload_id=cell.workload.id,
        pool_id=cell.pool.id,
        spend_micros=spend,
        saving=move.saving.capped(spend),
        one_time=one_time_cost(MoveKind.TO_SPOT, restart=restart),
        disruption=spot_disruption(
            move.interruptions_per_hour * job_hours,
            move.lost_hours_per_hour * job_hours,
            job_hours,
        ),
        evidence=_spot_evidence(cell, habit, offer),
        doubts=tuple(_spot_doubts(work, habit, offer)),
        why=_why_words(measured, move),
        cells=cell.money_cells,
    )


def _why_words(measured: CheckpointHabit, move: SpotMove) -> str:
    advice = (
        ""
        if move.advised_cadence is None
        else f" A checkpoint every {move.advised_cadence * 60:,.0f} minutes would be best there."
    )
    start = f"{measured.restart * 60:,.0f}" if measured.restart else "a time that is not known"
    return (
        f"Its runs save a checkpoint every {measured.cadence * 60:,.0f} minutes and start in"
        f" {start}; on spot they would be interrupted {move.interruptions_per_hour * 24:.2g}"
        f" times a day, and pay {(move.paid_factor - 1) * 100:.1f}\N{NO-BREAK SPACE}% more hours at the lower price.{advice}"
    )


def _spot_evidence(
    cell: WorkCell, habit: TrainingHabit, offer: OfferFact
) -> tuple[ProposalEvidence, ...]:
    evidence = offer.interruptions or {}
    return (
        ProposalEvidence("run", str(habit.run_id), f"Checkpoints and starts of {habit.run_key}"),
        ProposalEvidence("pool", str(cell.pool.id), f"Runs on {cell.pool.name} now"),
        ProposalEvidence(
            "interruptions", str(evidence.get("source", "")), str(evidence.get("words", ""))
        ),
        *offer_evidence(offer),
    )


def _spot_doubts(work: FleetWork, habit: TrainingHabit, offer: OfferFact) -> Sequence[str]:
    doubts = []
    if (offer.interruptions or {}).get("is_thin"):
        doubts.append("fewer than 5 interruptions were seen there")
    if len(work.span.weeks) < WEEKS:
        doubts.append(f"the ledger has {len(work.span.weeks)} of {WEEKS} weeks")
    if habit.start_seconds is None:
        doubts.append("no run reported what a start takes: none is counted")
    if (offer.interruptions or {}).get("is_stale"):
        doubts.append("interruptions there were last looked at long ago")
    if any(row["is_stale"] for row in offer.rates):
        doubts.append("its price was last said long ago")
    return doubts
