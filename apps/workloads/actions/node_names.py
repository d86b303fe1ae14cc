"""Jobs name nodes; who bears a name can become known after them, and change."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models.query import QuerySet

from apps.fleet.actions.lives import ChangedLife
from apps.fleet.queries import nodes_named
from apps.logs.changes import answered, logged_change
from apps.workloads.actions.folding import fold_jobs
from apps.workloads.actions.grants import place_on_only_bearer
from apps.workloads.actions.job_rows import Key, lock_keys
from apps.workloads.models import Allocation

JOBS_AT_ONCE = 2_000


def follow_life(change: ChangedLife) -> None:
    """Put what jobs held under the name since then on the nodes that bore it, and mark the hours.

    What a job held goes on on the second node of its name. In the transaction of the change, so
    that nobody ever settles the one without the other; it keeps everybody else from placing jobs.
    """
    allocations = Allocation.objects.filter(
        job__cluster_id=change.cluster_id,
        node_name=change.name,
        period__overlap=(change.starts_at, change.ends_at),
    )
    placed_before = _raw_ids(allocations.exclude(node=None))
    place_on_only_bearer(cluster_id=change.cluster_id, name=change.name, at=change.at)
    _place_again(
        change.cluster_id, [*placed_before, *_raw_ids(allocations.filter(node=None))], change.at
    )


@logged_change(count=answered)
def link_allocations(*, at: datetime) -> int:
    """Put what jobs hold on names nobody bore on the nodes that bear them now; how many jobs.

    Marks the hours they held. Whoever adds a node or tells a job has it done already: a sweep looks
    for what was kept before they did.
    """
    names: dict[int, set[str]] = {}
    waiting = Allocation.objects.filter(node=None).values_list("job__cluster_id", "node_name")
    for cluster_id, name in waiting.distinct().order_by("job__cluster_id", "node_name"):
        names.setdefault(cluster_id, set()).add(name)
    linked = 0
    for cluster_id, node_names in names.items():
        borne = nodes_named(cluster_id, node_names).keys()
        waiting_here = Allocation.objects.filter(
            node=None, job__cluster_id=cluster_id, node_name__in=borne
        )
        raw_ids = _raw_ids(waiting_here)
        for some in _chunks_of_jobs(raw_ids):
            _place_again(cluster_id, some, at)
        linked += len(raw_ids)
    return linked


def _raw_ids(allocations: QuerySet[Allocation]) -> list[str]:
    return sorted(set(allocations.values_list("job__raw_id", flat=True)))


@transaction.atomic
def _place_again(cluster_id: int, raw_ids: Sequence[str], at: datetime) -> None:
    if not raw_ids:
        return
    # All locks at once: taken in order, no two wait for each other.
    lock_keys([(cluster_id, raw_id) for raw_id in raw_ids])
    for some in _chunks_of_jobs(raw_ids):
        keys: list[Key] = [(cluster_id, raw_id) for raw_id in some]
        fold_jobs(dict.fromkeys(keys, ()), at)


def _chunks_of_jobs(raw_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for first in range(0, len(raw_ids), JOBS_AT_ONCE):
        yield raw_ids[first : first + JOBS_AT_ONCE]
