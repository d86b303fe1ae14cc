"""Holdings of jobs, by node and time; and what they hold on nodes that nobody knows."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from django.db import connection

from apps.fleet.queries import nodes_named
from apps.workloads.models import ExcludedNodeName
from apps.workloads.queries.imports import reported_gpu_types


class HeldFact(NamedTuple):
    """A job's holding of a node inside the span asked for; `device_uuids` None: not pinned.

    A named tuple, because a fleet's hour makes tens of thousands of them.
    """

    allocation_id: int
    job_id: int
    node_id: int
    gpus: Fraction
    device_uuids: tuple[str, ...] | None
    held_from: datetime
    held_to: datetime
    divided_evenly: bool
    cpus: Fraction | None = None
    gpus_unknown: bool = False

    @property
    def may_hold_gpus(self) -> bool:
        """Whether it holds any, or may, or names devices: a slice counts whatever it was declared to be."""
        return self.gpus.numerator > 0 or self.gpus_unknown or self.device_uuids is not None


@dataclass(frozen=True, slots=True)
class UnknownNodeName:
    """A node name that jobs hold something on and that no node bears; `last_at` None: still.

    `gpus` is the most that was held of it at once, so it has at least as many; 0: no job held any.
    `gpu_type` is what an accounting file calls them; empty where none says it.
    """

    cluster_id: int
    cluster: str
    node_name: str
    allocations: int
    first_at: datetime
    last_at: datetime | None
    gpus: int = 0
    gpu_type: str = ""


@dataclass(frozen=True, slots=True)
class ExcludedNode:
    """A name that somebody said is not ours, and why; `decided_by` None: nobody is named."""

    id: int
    cluster: str
    node_name: str
    reason: str
    decided_by: str | None
    decided_at: datetime


def allocations_held(
    node_ids: Collection[int],
    starts_at: datetime,
    ends_at: datetime,
    *,
    in_cores: Collection[int] | None = None,
) -> list[HeldFact]:
    """Return what jobs held of these nodes in `[starts_at, ends_at)`, clipped to it, by node, then id.

    Of nodes that are not `in_cores` only what may be GPUs; None: of all of them everything.
    """
    with connection.cursor() as cursor:
        # By far the most began before and go on after: their moments need not be read.
        cursor.execute(
            """
            SELECT id, job_id, node_id, gpus_numerator, gpus_denominator, device_uuids,
                   CASE WHEN lower(period) > %(from)s THEN lower(period) END,
                   CASE WHEN upper(period) < %(to)s THEN upper(period) END,
                   divided_evenly, cpus_numerator, cpus_denominator, gpus_unknown
            FROM workloads_allocation
            WHERE period && tstzrange(%(from)s, %(to)s) AND node_id = ANY(%(nodes)s)
              AND (%(is_all)s OR gpus_numerator > 0 OR gpus_unknown OR device_uuids IS NOT NULL
                   OR node_id = ANY(%(in_cores)s))
            ORDER BY node_id, id
            """,
            {
                "from": starts_at,
                "to": ends_at,
                "nodes": list(node_ids),
                "is_all": in_cores is None,
                "in_cores": list(in_cores or ()),
            },
        )
        return [_held_fact(row, starts_at, ends_at) for row in cursor.fetchall()]


# An hour's thousands of allocations hold a handful of amounts.
_fraction_of = lru_cache(maxsize=4096)(Fraction)


def _held_fact(row: Sequence[Any], starts_at: datetime, ends_at: datetime) -> HeldFact:
    allocation_id, job_id, node_id, gpus, parts, uuids, since, until, evenly, *other_columns = row
    cpus, of_cpu, gpus_unknown = other_columns
    return HeldFact(
        allocation_id,
        job_id,
        node_id,
        _fraction_of(gpus, parts),
        None if uuids is None else tuple(uuids),
        since or starts_at,
        until or ends_at,
        evenly,
        None if cpus is None else _fraction_of(cpus, of_cpu),
        gpus_unknown,
    )


UNKNOWN_NODES = """
WITH waiting AS (
    SELECT job.cluster_id, held.node_name, held.period,
           held.gpus_numerator::numeric / held.gpus_denominator AS gpus
    FROM workloads_allocation AS held JOIN workloads_job AS job ON job.id = held.job_id
    WHERE held.node_id IS NULL AND (job.cluster_id, held.node_name) NOT IN (
        SELECT cluster_id, name FROM workloads_excludednodename
    )
), moves AS (
    SELECT cluster_id, node_name, lower(period) AS at, gpus AS change FROM waiting WHERE gpus > 0
    UNION ALL
    SELECT cluster_id, node_name, upper(period), -gpus FROM waiting
    WHERE gpus > 0 AND NOT upper_inf(period)
), held AS (
    SELECT cluster_id, node_name,
           sum(sum(change)) OVER (PARTITION BY cluster_id, node_name ORDER BY at) AS gpus
    FROM moves GROUP BY cluster_id, node_name, at
), most AS (
    SELECT cluster_id, node_name, ceil(max(gpus))::int AS gpus FROM held GROUP BY 1, 2
)
SELECT waiting.cluster_id, cluster.name, waiting.node_name, count(*), min(lower(period)),
       CASE WHEN bool_or(upper_inf(period)) THEN NULL ELSE max(upper(period)) END,
       coalesce(max(most.gpus), 0)
FROM waiting
JOIN fleet_cluster_fact AS cluster ON cluster.id = waiting.cluster_id
LEFT JOIN most USING (cluster_id, node_name)
GROUP BY waiting.cluster_id, cluster.name, waiting.node_name
ORDER BY cluster.name, waiting.node_name
"""


def unknown_nodes() -> list[UnknownNodeName]:
    """Names on which jobs hold something, borne by no node at that time; by cluster and name.

    Not those of which somebody said that they are not ours. Not those that a node bears from the end of these jobs on: somebody said from when it counts.
    """
    with connection.cursor() as cursor:
        cursor.execute(UNKNOWN_NODES)
        unknown_names = [UnknownNodeName(*row) for row in cursor.fetchall()]
    types = reported_gpu_types() if unknown_names else {}
    borne = {
        cluster_id: nodes_named(cluster_id, [unknown.node_name for unknown in of_cluster])
        for cluster_id, of_cluster in groupby(unknown_names, lambda unknown: unknown.cluster_id)
    }
    return [
        replace(name, gpu_type=types.get((name.cluster, name.node_name), ""))
        for name in unknown_names
        if not _was_before(name, borne[name.cluster_id].get(name.node_name, ()))
    ]


def excluded_nodes() -> list[ExcludedNode]:
    """Names that somebody said are not ours, by cluster and name."""
    excluded = ExcludedNodeName.objects.order_by("cluster__name", "name")
    fields = ("id", "cluster__name", "name", "reason", "decided_by__name", "decided_at")
    return [ExcludedNode(*row) for row in excluded.values_list(*fields)]


def _was_before(
    name: UnknownNodeName, bearer_lives: Sequence[tuple[int, datetime, datetime | None]]
) -> bool:
    first = min((began_at for _, began_at, _ in bearer_lives), default=None)
    return first is not None and name.last_at is not None and name.last_at <= first
