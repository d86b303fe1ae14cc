"""Nodes that jobs named before anybody knew them: what was held on them is put on them."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models.query import QuerySet

from apps.fleet.queries import nodes_named
from apps.workloads.actions.folding import fold_jobs
from apps.workloads.actions.job_rows import Key, lock_keys
from apps.workloads.models import Allocation

JOBS_AT_ONCE = 2_000


def link_allocations(*, at: datetime) -> int:
    """Put what jobs hold on names nobody bore on the nodes that bear them now; how many jobs.

    Marks the hours they held. Safe to run at any time; a sweep does, and whoever adds a node may.
    """
    names: dict[int, set[str]] = {}
    waiting = Allocation.objects.filter(node=None).values_list("job__cluster_id", "node_name")
    for cluster_id, name in waiting.distinct().order_by("job__cluster_id", "node_name"):
        names.setdefault(cluster_id, set()).add(name)
    linked = 0
    for cluster_id, found in names.items():
        borne = nodes_named(cluster_id, found).keys()
        waiting_here = Allocation.objects.filter(
            node=None, job__cluster_id=cluster_id, node_name__in=borne
        )
        linked += _place_again(cluster_id, _raw_ids(waiting_here), at)
    return linked


def adopt_node_name(*, cluster_id: int, name: str, at: datetime) -> int:
    """Put everything jobs hold under this name on the nodes that bore it then; how many jobs.

    For a name that passed from one node to another: what a job held went on on the second.
    """
    held = Allocation.objects.filter(job__cluster_id=cluster_id, node_name=name)
    return _place_again(cluster_id, _raw_ids(held), at)


def _raw_ids(held: QuerySet[Allocation]) -> list[str]:
    return sorted(set(held.values_list("job__raw_id", flat=True)))


def _place_again(cluster_id: int, raw_ids: Sequence[str], at: datetime) -> int:
    for keys in _chunks([(cluster_id, raw_id) for raw_id in raw_ids]):
        with transaction.atomic():
            lock_keys(keys)
            fold_jobs(dict.fromkeys(keys, ()), at)
    return len(raw_ids)


def _chunks(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    for first in range(0, len(keys), JOBS_AT_ONCE):
        yield keys[first : first + JOBS_AT_ONCE]
