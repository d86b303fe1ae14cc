"""Jobs that wait for GPUs in one pool while the same GPUs stand unallocated in another."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from apps.accounts.queries.reading import once
from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.idle import is_idle_again
from apps.economics.moves.queues import Room
from apps.economics.moves.saving import MONTH_HOURS, SavingRange
from apps.placement.queries.moves.work import FleetWork, MoveSpan
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.cut_gpus import unheld_slice_gpus_by_pool
from apps.review.queries.recommending.pool_capacity import (
    PoolCapacity,
    is_within_reach,
    pass_over_pool,
    pool_capacities,
)
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendationProposal,
    effort_cost,
)
from apps.review.queries.recommending.queues import Queue, Queues, met_of, queues_of
from apps.review.queries.recommending.weeks import weekly_detector

KIND = "queued_beside_idle"
EFFORT_HOURS = 4
"""To let a queue send its jobs to another pool: ours, not measured."""
LEAST_SERVED, LEAST_MONTH = 0.1, MONTH_HOURS / 10
"""Of what waited in a week, and GPU-hours a month, that would have found GPUs there."""
NONE_ALIKE = "no other pool within reach has the same GPUs"
NONE_STOOD = "while jobs waited, no other pool's GPUs on which they fit stood week by week"
COMPUTED = (
    "GPU-hours of waiting in hours in which the same GPUs stood unallocated in the other pool on machines that the jobs fit on, each of them met once. No bill falls by it: what stands there is paid, and is"
    " used instead"
)


@dataclass(frozen=True, slots=True)
class IdlePoolMatch:
    """A pool that jobs wait for, another one, and GPUs of both that would have met, hour by hour."""

    waited: PoolCapacity
    beside: PoolCapacity
    met: tuple[float, ...]

    @property
    def month(self) -> float:
        """GPU-hours."""
        return sum(self.met) * MONTH_HOURS / len(self.met)


@weekly_detector(KIND, "pools of GPUs that jobs waited for")
def detect_queued_with_idle(detected: DetectedKind, work: FleetWork, _: datetime) -> None:
    """Every pool with a queue, held against every other of the same GPUs in which some stand; the one that would serve most."""
    for waited, best, why in match_queues_with_idle(work.span).looked_at:
        if best is None:
            pass_over_pool(detected, waited, why)
        else:
            detected.propose(_proposal_of(best))


@dataclass(frozen=True, slots=True)
class QueueMatches:
    """Pools with a queue, each with the one that would serve most, or None and why; and what is left of all queues then."""

    looked_at: tuple[tuple[PoolCapacity, IdlePoolMatch | None, str], ...]
    queues: Queues


@once
def match_queues_with_idle(span: MoveSpan) -> QueueMatches:
    """Return what queues would find on GPUs that stand: they come before machines that are cut otherwise, which get what is left."""
    capacities = pool_capacities(span)
    queues = dict(queues_of(span))
    cut = unheld_slice_gpus_by_pool(span)
    rooms = {
        capacity.pool.id: _room_of(capacity, cut.get(capacity.pool.id, 0.0))
        for capacity in capacities
    }
    looked_at: list[tuple[PoolCapacity, IdlePoolMatch | None, str]] = []
    queued_pools = [capacity for capacity in capacities if any(capacity.queued.values())]
    # The queue that waits most goes first: what it would hold stands no more for the next.
    for waited in sorted(
        queued_pools, key=lambda capacity: (-sum(capacity.queued.values()), capacity.pool.id)
    ):
        queue = queues.get(waited.pool.id, {})
        choices = list(_idle_pool_matches(waited, capacities, queue, rooms))
        best = max(choices, key=lambda choice: (choice.month, choice.beside.pool.id), default=None)
        if best is None:
            looked_at.append((waited, None, NONE_ALIKE))
        elif not _is_again(best) or best.month < LEAST_MONTH:
            looked_at.append((waited, None, NONE_STOOD))
        else:
            beside_id = best.beside.pool.id
            _, queues[waited.pool.id], rooms[beside_id] = met_of(queue, rooms[beside_id])
            looked_at.append((waited, best, ""))
    return QueueMatches(tuple(looked_at), queues)


def _room_of(capacity: PoolCapacity, cut: float) -> dict[datetime, Room]:
    """Without so many GPUs as stand in slices, on machines that are held in part as far as there are any."""
    rooms = {}
    for use in capacity.used:
        partly = max(0.0, use.unallocated - use.free_gpus)
        rooms[use.hour] = Room(
            max(0.0, use.free_gpus - max(0.0, cut - partly)),
            capacity.of_machine,
            max(0.0, partly - cut),
            max(0.0, use.nodes - use.free_nodes),
        )
    return rooms


def _idle_pool_matches(
    waited: PoolCapacity,
    capacities: Sequence[PoolCapacity],
    queue: Queue,
    rooms: Mapping[int, Mapping[datetime, Room]],
) -> Iterator[IdlePoolMatch]:
    for capacity in capacities:
        is_other = capacity.pool.id != waited.pool.id and not capacity.is_gone
        if not is_other or not is_within_reach(waited.pool, capacity.pool):
            continue
        met, _, _ = met_of(queue, rooms[capacity.pool.id])
        yield IdlePoolMatch(waited, capacity, tuple(met.get(use.hour, 0.0) for use in waited.used))


def _is_again(pair: IdlePoolMatch) -> bool:
    queued = [pair.waited.queued.get(use.hour, 0.0) for use in pair.waited.used]
    weeks = pair.waited.by_week(queued)
    return is_idle_again(pair.waited.by_week(pair.met), weeks, LEAST_SERVED)


def _proposal_of(pair: IdlePoolMatch) -> RecommendationProposal:
    waited, idle_pool = pair.waited, pair.beside
    days = len(waited.hours) // 24
    waited_hours = sum(waited.queued.values())
    own_hours = sum(min(waited.queued.get(use.hour, 0.0), use.unallocated) for use in waited.used)
    return RecommendationProposal(
        key=str(waited.pool.id),
        title=f"Let jobs that wait for {waited.pool.name} run on {idle_pool.pool.name}, where GPUs stand",
        subject=f"{waited.pool.name} and {idle_pool.pool.name}",
        team_id=None,
        workload_id=None,
        pool_id=idle_pool.pool.id,
        spend_micros=idle_pool.spend_micros,
        saving=SavingRange(0, 0, 0),
        effort_hours=EFFORT_HOURS,
        risk=DisruptionClass.LOW,
        risk_reason="jobs start sooner; whose GPUs they use stays apart in the ledger",
        why=f"Jobs waited {waited_hours:,.0f} GPU-hours for {waited.pool.name} in {days} days; in {sum(met > 0 for met in pair.met):,} of these hours GPUs of the same model stood in"
        f" {idle_pool.pool.name}.",
        computed=COMPUTED,
        cells=frozenset([idle_pool.cell]),
        evidence=(
            RecommendationEvidence(
                "GPU-hours that would have met, week by week",
                ", ".join(f"{hours:,.0f}" for hours in waited.by_week(pair.met)),
                reverse("fleet"),
            ),
        ),
        doubts=(
            f"looked for GPUs that stood in {waited.pool.name} itself while its jobs waited, in the last {days} days: {own_hours:,.0f} GPU-hours; what kept jobs from those may keep them"
            " from the others",
        ),
        one_time_micros=effort_cost(EFFORT_HOURS),
        frees_gpu_hours=pair.month,
        baseline={"queued_gpu_hours": waited_hours, "met_gpu_hours_month": pair.month},
    )
