"""Services and notebooks on whole GPUs, held against smaller models in their region and MIG slices of their own."""

from collections.abc import Iterator
from dataclasses import dataclass

from apps.economics.gpu_catalogue import gpu_model
from apps.economics.gpu_model import GpuModel, Precision
from apps.economics.model_flops import NoPeak, peak_of
from apps.economics.moves.disruption import DisruptionClass, MoveDisruption
from apps.economics.moves.saving import MONTH_HOURS, SavingRange, elsewhere_points, saving_range
from apps.economics.moves.shrinking import (
    MEMORY_MARGIN,
    MOST_WORKED,
    slice_part,
    slice_saving,
    smallest_slice,
)
from apps.economics.purchase import PurchaseOption
from apps.placement.queries.book import BookFact
from apps.placement.queries.moves.candidates import candidate_cells, why_not_by_hour
from apps.placement.queries.moves.gpu_needs import ObservedNeed, observed_needs
from apps.placement.queries.moves.offers import fill_there, offer_evidence
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

GIB = 1 << 30
SHRINKABLE = ("serving", "notebook")
MOST_GPUS_SEEN = 500
"""GPUs held in the mean by all that is looked into, what costs most first: their windows are read one by one."""
NOT_LOOKED_INTO = f"not among those that cost most, whose {MOST_GPUS_SEEN} GPUs are looked into"
WELL_SEEN = 0.9
DISRUPTION = MoveDisruption(
    DisruptionClass.MEDIUM,
    "it is set up once on other GPUs: answers take longer there, and its busiest hour is to be tried first",
)


@dataclass(frozen=True, slots=True)
class SmallerChoice:
    """Where it fits, in words, and what that saves; `offer` None: a slice of the GPUs it has."""

    target: str
    saving: SavingRange
    offer: OfferFact | None = None


def detect_smaller_gpu_moves(work: FleetWork, book: BookFact | None) -> MoveKindDetection:
    """Every workload on a pool; of services and notebooks what they were seen to need is looked up, the dearest first."""
    kind_look = MoveKindDetection(MoveKind.TO_SMALLER)
    candidates = candidate_cells(
        kind_look, work, _why_not_smaller, most_gpus=MOST_GPUS_SEEN, too_many=NOT_LOOKED_INTO
    )
    needs = observed_needs(work.span, candidates) if candidates else {}
    for cell in candidates:
        model = gpu_model(cell.pool.gpu_model)
        if model is None:
            continue
        seen_need = needs[cell.key]
        if isinstance(seen_need, str):
            kind_look.decline(move_key(MoveKind.TO_SMALLER, cell.key), seen_need)
            continue
        choices = [
            *_smaller_models(cell, model, seen_need, book),
            *_slice_choices(cell, model, seen_need),
        ]
        if not choices:
            kind_look.decline(
                move_key(MoveKind.TO_SMALLER, cell.key),
                "nothing smaller that can be had there has what it needs",
            )
            continue
        best = max(choices, key=lambda choice: (choice.saving.likely, choice.target))
        kind_look.propose(_smaller_proposal(work, (cell, model), seen_need, best))
    return kind_look


def _why_not_smaller(cell: WorkCell) -> str:
    why = why_not_by_hour(cell)
    if not why and cell.workload.kind not in SHRINKABLE:
        return "neither a service nor a notebook"
    if not why and gpu_model(cell.pool.gpu_model) is None:
        return "its GPU model is not one that is known"
    return why


def _smaller_models(
    cell: WorkCell, model: GpuModel, seen_need: ObservedNeed, book: BookFact | None
) -> Iterator[SmallerChoice]:
    """On demand in its region, GPU for GPU, of less memory: at the price there."""
    peak = peak_of(model.name, Precision.BF16)
    for offer in book.offers.values() if book else ():
        there, price = gpu_model(offer.gpu_model), offer.price_range
        if (
            offer.option != PurchaseOption.ON_DEMAND
            or (offer.provider, offer.region) != (cell.pool.provider, cell.pool.region)
            or there is None
            or there.memory_bytes >= model.memory_bytes
            or price is None
            or (offer.free_gpus is not None and offer.free_gpus < seen_need.gpus)
        ):
            continue
        slower = peak_of(there.name, Precision.BF16)
        if isinstance(peak, NoPeak) or isinstance(slower, NoPeak):
            continue
        if seen_need.need.fits(there.memory_bytes, slower.flops / peak.flops):
            points = elsewhere_points(cell.weeks, price, fill=fill_there(offer, seen_need.gpus))
            yield SmallerChoice(
                f"{there.name}, on demand, {offer.place}, {offer.instance_type or offer.name}",
                saving_range(points),
                offer,
            )


def _slice_choices(
    cell: WorkCell, model: GpuModel, seen_need: ObservedNeed
) -> Iterator[SmallerChoice]:
    """Of a job with one GPU: a process uses one slice."""
    profile = smallest_slice(model, seen_need.need) if seen_need.gpus == 1 else None
    if profile is not None:
        saving = slice_saving(cell.weeks, slice_part(model, profile))
        yield SmallerChoice(f"a slice {profile.name} of its GPU, {cell.pool.name}", saving)


def _smaller_proposal(
    work: FleetWork, of: tuple[WorkCell, GpuModel], seen_need: ObservedNeed, best: SmallerChoice
) -> MoveProposal:
    (cell, model), spend = of, work.monthly([of[0]])
    monthly_hours = cell.gpu_hours * MONTH_HOURS / work.span.hours
    pool = ProposalEvidence("pool", str(cell.pool.id), f"Runs on {cell.pool.name} now")
    windows = ProposalEvidence(
        "windows",
        cell.key,
        f"At most {seen_need.need.memory_bytes / GIB:,.1f} GiB on one GPU; its GPUs were active at most"
        f" {seen_need.need.worked_ratio:.0%} of an hour in 19 hours of 20; seen in {seen_need.coverage:.0%} of the time",
    )
    return MoveProposal(
        key=move_key(MoveKind.TO_SMALLER, cell.key),
        kind=MoveKind.TO_SMALLER,
        subject=cell.workload.name,
        source=f"{cell.pool.name}, on demand, {model.name}",
        target=best.target,
        team_id=cell.workload.team_id,
        workload_id=cell.workload.id,
        pool_id=cell.pool.id,
        spend_micros=spend,
        saving=best.saving.capped(spend),
        one_time=one_time_cost(MoveKind.TO_SMALLER),
        disruption=DISRUPTION,
        evidence=(pool, windows, *(offer_evidence(best.offer) if best.offer else ())),
        doubts=tuple(_smaller_doubts(work, seen_need, best.offer)),
        why=(
            f"It holds {monthly_hours:,.0f} GPU-hours a month of {model.memory_bytes / GIB:,.0f} GiB each and used at most"
            f" {seen_need.need.memory_bytes / GIB:,.1f} GiB: {MEMORY_MARGIN:g} times that fits, and by their peaks"
            f" it would be active less than {MOST_WORKED:.0%} of the time there."
        ),
        cells=cell.money_cells,
    )


def _smaller_doubts(
    work: FleetWork, seen_need: ObservedNeed, offer: OfferFact | None
) -> Iterator[str]:
    if offer is None:
        yield "what a slice leaves free saves only what other work takes of it: from nothing to all, likely half"
    elif seen_need.gpus > 1:
        yield "its GPUs work together: how fast they are joined there is not compared"
    if seen_need.coverage < WELL_SEEN:
        yield f"its memory was seen in {seen_need.coverage:.0%} of the time that it held GPUs"
    if len(work.span.weeks) < WEEKS:
        yield f"the ledger has {len(work.span.weeks)} of {WEEKS} weeks"
    if offer is not None and any(row["is_stale"] for row in offer.rates):
        yield "its price was last said long ago"
