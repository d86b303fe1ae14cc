"""The kinds of recommendations there are, in the order in which they are looked for: a further one is a line here."""

from functools import partial

from apps.review.queries.recommending.checkpoint_cadence import detect_cadences
from apps.review.queries.recommending.fewer_replicas import detect_shrinkable
from apps.review.queries.recommending.idle_holders import detect_idle_holders
from apps.review.queries.recommending.lapsing_commitments import detect_lapsing
from apps.review.queries.recommending.model_routing import detect_routing
from apps.review.queries.recommending.moved_work import detect_moves
from apps.review.queries.recommending.oversized_pools import detect_oversized_pools
from apps.review.queries.recommending.prompt_caching import detect_uncached_prompts
from apps.review.queries.recommending.proposal import KeyOf, RecommendedKind, SavingBasis
from apps.review.queries.recommending.queued_beside_idle import detect_queued_with_idle
from apps.review.queries.recommending.self_hosting import detect_self_hosting
from apps.review.queries.recommending.spare_nodes import (
    detect_needless_floors,
    detect_unallocated_nodes,
)
from apps.review.queries.recommending.starved_runs import detect_starved_runs
from apps.review.queries.recommending.stranded_slices import detect_stranded_slices
from apps.review.queries.recommending.unearned_work import detect_retirable
from apps.review.queries.recommending.unused_work import detect_unused_work

HELD = ("held_idle", "no_requests", "failed")
"""Sorts of waste of what work holds."""
KINDS: tuple[RecommendedKind, ...] = (
    RecommendedKind(
        "to_spot",
        "To spot",
        "training on demand that saves checkpoints, held against spot of the same GPUs",
        partial(detect_moves, "to_spot"),
    ),
    RecommendedKind(
        "to_commitment",
        "Buy a commitment",
        "GPUs rented by the hour all along, held against what the newest portfolio commits to",
        partial(detect_moves, "to_commitment"),
        SavingBasis.COMMITTED,
    ),
    RecommendedKind(
        "elsewhere",
        "To another place",
        "work on demand, held against the same GPUs at other places",
        partial(detect_moves, "elsewhere"),
    ),
    RecommendedKind(
        "to_api",
        "Buy from an API",
        "services whose kept comparison advises the API",
        partial(detect_moves, "to_api"),
    ),
    RecommendedKind(
        "to_smaller",
        "Smaller GPUs",
        "work whose memory and activity fit a smaller GPU or a MIG slice",
        partial(detect_moves, "to_smaller"),
    ),
    RecommendedKind(
        "idle_holder",
        "Give back idle GPUs",
        "jobs and notebooks that hold GPUs week by week and leave a fifth of that time idle",
        detect_idle_holders,
        SavingBasis.HELD_IDLE,
        wastes=("held_idle",),
        key_of=KeyOf.WORK,
    ),
    RecommendedKind(
        "unallocated_nodes",
        "Give back unallocated machines",
        "machines rented by the hour that no job is on: to be given back, stopped by a schedule, or scaled down",
        detect_unallocated_nodes,
        SavingBasis.UNALLOCATED,
        wastes=("unallocated",),
        key_of=KeyOf.POOL,
    ),
    RecommendedKind(
        "autoscaling_floor",
        "Lower a minimum",
        "pools that scale, whose minimum is more than is ever needed while they are at it",
        detect_needless_floors,
        SavingBasis.UNALLOCATED,
        wastes=("unallocated",),
        key_of=KeyOf.POOL,
    ),
    RecommendedKind(
        "pool_too_large",
        "Make a pool smaller",
        "pools whose jobs and queue fit on fewer machines than they have",
        detect_oversized_pools,
        SavingBasis.UNALLOCATED,
        wastes=("unallocated",),
        key_of=KeyOf.POOL,
    ),
    RecommendedKind(
        "queued_beside_idle",
        "Let a queue use idle GPUs",
        "jobs that wait for GPUs in one pool while the same ones stand in another",
        detect_queued_with_idle,
        SavingBasis.UNALLOCATED,
        wastes=("unallocated",),
        key_of=KeyOf.POOL,
    ),
    RecommendedKind(
        "stranded_mig",
        "Cut GPUs otherwise",
        "MIG slices of a size that hardly a job takes",
        detect_stranded_slices,
        SavingBasis.UNALLOCATED,
        wastes=("stranded", "unallocated"),
    ),
    RecommendedKind(
        "let_lapse",
        "Let a commitment lapse",
        "commitments that end within 13 weeks and cost more than their use would by the hour",
        detect_lapsing,
        SavingBasis.COMMITTED,
        wastes=("unused_commitment",),
        key_of=KeyOf.COMMITMENT,
    ),
    RecommendedKind(
        "to_self_host",
        "Serve it yourself",
        "kept comparisons that advise to serve oneself what is bought from an API",
        detect_self_hosting,
    ),
    RecommendedKind(
        "starved_runs",
        "Feed starved runs",
        "training whose reported time waits for data week by week",
        detect_starved_runs,
        wastes=("held_idle",),
        key_of=KeyOf.WORKLOAD,
    ),
    RecommendedKind(
        "checkpoint_cadence",
        "Save checkpoints as often as is best",
        "training that saves checkpoints three times too rarely or too often for how often it fails",
        detect_cadences,
        wastes=("failed",),
        key_of=KeyOf.WORKLOAD,
    ),
    RecommendedKind(
        "unused_work",
        "Stop what nobody uses",
        "services without a request, and jobs without any activity, for two weeks and more",
        detect_unused_work,
        SavingBasis.HELD,
        wastes=HELD,
        key_of=KeyOf.WORK,
    ),
    RecommendedKind(
        "prompt_caching",
        "Read prompts from a cache",
        "calls to model APIs whose prompts are read anew, where others on the same model read them from a cache",
        detect_uncached_prompts,
        SavingBasis.API_TOKENS,
    ),
    RecommendedKind(
        "model_routing",
        "Send calls to a cheaper model",
        "features for which a model that costs less is in use too, and fails no more often",
        detect_routing,
        SavingBasis.API_TOKENS,
    ),
    RecommendedKind(
        "retire_work",
        "Retire work that returns less than it costs",
        "workloads that the weekly review's rule would retire: worth less than they cost, or nearly all of it waste",
        detect_retirable,
        SavingBasis.RETIRED,
        wastes=HELD,
        key_of=KeyOf.WORKLOAD,
    ),
    RecommendedKind(
        "shrink_work",
        "Run fewer replicas",
        "services that hold more replicas than their load needs: at p99 with headroom, by hours of the week, or with the load",
        detect_shrinkable,
        wastes=("held_idle", "no_requests"),
        gives_way=True,
        key_of=KeyOf.WORKLOAD,
    ),
)
KIND_LABELS = {kind.key: kind.label for kind in KINDS}
KIND_BASES = {kind.key: kind.basis for kind in KINDS}
KIND_KEYS = {kind.key: kind.key_of for kind in KINDS}
KIND_WASTES = {kind.key: kind.wastes for kind in KINDS}
GIVING_WAY = frozenset(kind.key for kind in KINDS if kind.gives_way)
