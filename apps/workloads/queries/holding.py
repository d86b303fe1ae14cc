"""What jobs hold, by node and time; and what they hold on nodes that nobody knows."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Count, F, Func, Max, Min

from apps.workloads.models import Allocation


class HeldFact(NamedTuple):
    """What a job held of a node inside the span asked for; `device_uuids` None: not pinned.

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

    @property
    def may_hold_gpus(self) -> bool:
        """Whether it holds any, or names devices: a slice counts whatever it was declared to be."""
        return self.gpus.numerator > 0 or self.device_uuids is not None


@dataclass(frozen=True, slots=True)
class UnknownNodeName:
    """A node name that jobs hold something on and that no node bears; `last_at` None: still."""

    cluster_id: int
    cluster: str
    node_name: str
    allocations: int
    first_at: datetime
    last_at: datetime | None


def allocations_held(
    node_ids: Collection[int],
    starts_at: datetime,
    ends_at: datetime,
    *,
    in_cores: Collection[int] | None = None,
) -> list[HeldFact]:
    """What jobs held of these nodes in `[starts_at, ends_at)`, clipped to it, by node, then id.

    Of nodes that are not `in_cores` only what may be GPUs; None: of all of them everything.
    """
    with connection.cursor() as cursor:
        # By far the most began before and go on after: their moments need not be read.
        cursor.execute(
            """
            SELECT id, job_id, node_id, gpus_numerator, gpus_denominator, device_uuids,
                   CASE WHEN lower(period) > %(from)s THEN lower(period) END,
                   CASE WHEN upper(period) < %(to)s THEN upper(period) END,
                   divided_evenly, cpus_numerator, cpus_denominator
            FROM workloads_allocation
            WHERE period && tstzrange(%(from)s, %(to)s) AND node_id = ANY(%(nodes)s)
              AND (%(is_all)s OR gpus_numerator > 0 OR device_uuids IS NOT NULL
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
    allocation_id, job_id, node_id, gpus, parts, uuids, since, until, evenly, cpus, of_cpu = row
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
    )


def unknown_nodes() -> list[UnknownNodeName]:
    """Names on which jobs hold something, borne by no node at that time; by cluster and name."""
    ends_at = Func(F("period"), function="upper")
    is_open = Func(F("period"), function="upper_inf")
    rows = (
        Allocation.objects.filter(node=None)
        .values("job__cluster_id", "job__cluster__name", "node_name")
        .annotate(
            count=Count("id"),
            first_at=Min(Func(F("period"), function="lower")),
            last_at=Max(ends_at),
            is_open=Max(Func(is_open, function="int4", template="%(expressions)s::int")),
        )
        .order_by("job__cluster__name", "node_name")
    )
    return [
        UnknownNodeName(
            cluster_id=row["job__cluster_id"],
            cluster=row["job__cluster__name"],
            node_name=row["node_name"],
            allocations=row["count"],
            first_at=row["first_at"],
            last_at=None if row["is_open"] else row["last_at"],
        )
        for row in rows
    ]
