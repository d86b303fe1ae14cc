"""Work that ran on demand, held against the same GPUs on demand at other places, net of moving its data there."""

from dataclasses import dataclass
from math import ceil

from apps.economics.moves.disruption import DisruptionClass, MoveDisruption
from apps.economics.moves.saving import (
    SavingRange,
    elsewhere_points,
    first_year_month,
    saving_range,
)
from apps.economics.placement.estimates import LikelyRange
from apps.economics.purchase import PurchaseOption
from apps.placement.queries.book import BookFact
from apps.placement.queries.moves.candidates import candidate_cells, why_not_by_hour
from apps.placement.queries.moves.datasets import WorkDataset, datasets_of_work
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
from apps.placement.queries.places import EgressFact, egress_from, egress_micros
from apps.placement.queries.quote_request import are_same_model, lies_within

DISRUPTION = MoveDisruption(
    DisruptionClass.MEDIUM,
    "it is set up once in another place; what reads its results from there pays egress, which is not counted",
)


@dataclass(frozen=True, slots=True)
class PlaceChoice:
    """An offer elsewhere, what it saves a month, and micro-units to bring the data there."""

    offer: OfferFact
    saving: SavingRange
    egress: float


def detect_place_moves(work: FleetWork, book: BookFact | None) -> MoveKindDetection:
    """Every workload on a pool; those that cost most first."""
    kind_look = MoveKindDetection(MoveKind.ELSEWHERE)
    data = datasets_of_work()
    egress: dict[str, dict[str, EgressFact]] = {}
    candidates = candidate_cells(
        kind_look, work, lambda cell: why_not_by_hour(cell) or (NO_BOOK if book is None else "")
    )
    if book is None:
        return kind_look
    for cell in candidates:
        of_work = data.get(cell.workload.id)
        if of_work is not None and of_work.place not in egress:
            egress[of_work.place] = egress_from(of_work.place)
        prices = egress[of_work.place] if of_work else {}
        _judge_cell(kind_look, work, cell, (book, of_work, prices))
    return kind_look


def _judge_cell(
    kind_look: MoveKindDetection,
    work: FleetWork,
    cell: WorkCell,
    context: tuple[BookFact, WorkDataset | None, dict[str, EgressFact]],
) -> None:
    book, data, prices = context
    key = move_key(MoveKind.ELSEWHERE, cell.key)
    cheaper = _cheaper_offers(cell, book)
    if not cheaper:
        kind_look.decline(key, "its GPU model is offered nowhere else on demand for less")
        return
    if data is None:
        kind_look.decline(key, "how much data it needs is not known: no quote of it says so")
        return
    allowed = [
        (offer, price)
        for offer, price in cheaper
        if not data.residency or lies_within(offer.place, data.residency)
    ]
    if not allowed:
        kind_look.decline(key, "where it costs less, its data may not be")
        return
    needed = _needed_gpus(work, cell)
    roomy = [
        (offer, price)
        for offer, price in allowed
        if offer.free_gpus is None or offer.free_gpus >= needed
    ]
    if not roomy:
        kind_look.decline(key, "where it costs less, a quota leaves fewer GPUs than it needs")
        return
    choices = []
    for offer, price in roomy:
        choice = _choice_at(cell, (offer, price), data, (prices.get(offer.place), book))
        if choice is not None:
            choices.append(choice)
    if not choices:
        kind_look.decline(key, "what its data costs to move there is not known")
        return
    best = max(
        choices,
        key=lambda option: (first_year_month(option.saving, option.egress), option.offer.key),
    )
    kind_look.propose(_place_proposal(work, cell, data, best))


def _cheaper_offers(cell: WorkCell, book: BookFact) -> list[tuple[OfferFact, LikelyRange]]:
    """Of its GPU model, on demand, of another place, for less than it costs where it is."""
    pool = cell.pool
    return [
        (offer, price)
        for offer in book.offers.values()
        if offer.option == PurchaseOption.ON_DEMAND
        and (offer.provider, offer.region) != (pool.provider, pool.region)
        and are_same_model(offer.gpu_model, pool.gpu_model)
        and (price := offer.price_range) is not None
        and price.likely * cell.gpu_hours < cell.addressable_micros
    ]


def _needed_gpus(work: FleetWork, cell: WorkCell) -> int:
    """At once, at the least: a machine of its pool, or what it held on average where that is more."""
    mean_gpus = cell.gpu_hours / work.span.hours if work.span.hours else 0.0
    return max(cell.pool.gpus_per_node, ceil(mean_gpus))


def _choice_at(
    cell: WorkCell,
    there: tuple[OfferFact, LikelyRange],
    data: WorkDataset,
    moving: tuple[EgressFact | None, BookFact],
) -> PlaceChoice | None:
    """None where the way of the data has no price."""
    (offer, price), (egress, book) = there, moving
    cost = 0.0
    if data.place != offer.place:
        if egress is None or book.per_dollar is None:
            return None
        cost = egress_micros(data.gigabytes, egress, book.per_dollar)
    # How many GPUs a job takes at once is not asked here: as many as a machine of its pool has.
    points = elsewhere_points(cell.weeks, price, fill=fill_there(offer, cell.pool.gpus_per_node))
    return PlaceChoice(offer, saving_range(points), cost)


def _place_proposal(
    work: FleetWork, cell: WorkCell, data: WorkDataset, best: PlaceChoice
) -> MoveProposal:
    offer, spend = best.offer, work.monthly([cell])
    doubts = []
    if len(work.span.weeks) < WEEKS:
        doubts.append(f"the ledger has {len(work.span.weeks)} of {WEEKS} weeks")
    if any(row["is_stale"] for row in offer.rates):
        doubts.append("its price was last said long ago")
    moved = (
        f"its {data.gigabytes:,.0f} GB are there already"
        if data.place == offer.place
        else f"its {data.gigabytes:,.0f} GB are moved once from {data.place}"
    )
    return MoveProposal(
        key=move_key(MoveKind.ELSEWHERE, cell.key),
        kind=MoveKind.ELSEWHERE,
        subject=cell.workload.name,
        source=f"{cell.pool.name}, on demand, {cell.pool.provider}:{cell.pool.region}",
        target=f"on demand, {offer.place}, {offer.instance_type or offer.gpu_model}",
        team_id=cell.workload.team_id,
        workload_id=cell.workload.id,
        pool_id=cell.pool.id,
        spend_micros=spend,
        saving=best.saving.capped(spend),
        one_time=one_time_cost(MoveKind.ELSEWHERE, egress=best.egress),
        disruption=DISRUPTION,
        evidence=(
            ProposalEvidence("pool", str(cell.pool.id), f"Runs on {cell.pool.name} now"),
            ProposalEvidence(
                "quote", str(data.quote_id), f"{data.gigabytes:,.0f} GB at {data.place}", True
            ),
            *offer_evidence(offer),
        ),
        doubts=tuple(doubts),
        why=f"The same GPUs cost less there by the hour; {moved}.",
        cells=cell.money_cells,
    )
