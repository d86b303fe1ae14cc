"""What jobs hold, by node and time; and what they hold on nodes that nobody knows."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import lru_cache

from django.db import connection
from django.db.models import Count, F, Func, Max, Min

from apps.workloads.models import Allocation


@dataclass(frozen=True, slots=True)
class HeldFact:
    """What a job held of a node inside the span asked for; `device_uuids` None: not pinned."""

    allocation_id: int
    job_id: int
    node_id: int
    gpus: Fraction
    device_uuids: tuple[str, ...] | None
    held_from: datetime
    held_to: datetime
    divided_evenly: bool
    cpus: Fraction | None = None


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
    node_ids: Collection[int], starts_at: datetime, ends_at: datetime
) -> list[HeldFact]:
    """What jobs held of these nodes in `[starts_at, ends_at)`, clipped to it, by node, then id."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT id, job_id, node_id, gpus_numerator, gpus_denominator, device_uuids,
                   greatest(lower(period), %(from)s), least(upper(period), %(to)s),
                   divided_evenly, cpus_numerator, cpus_denominator
            FROM workloads_allocation
            WHERE period && tstzrange(%(from)s, %(to)s) AND node_id = ANY(%(nodes)s)
            ORDER BY node_id, id
            """,
            {"from": starts_at, "to": ends_at, "nodes": list(node_ids)},
        )
        return [
            HeldFact(
                allocation_id=row[0],
                job_id=row[1],
                node_id=row[2],
                gpus=_fraction_of(row[3], row[4]),
                device_uuids=None if row[5] is None else tuple(row[5]),
                held_from=row[6],
                held_to=row[7],
                divided_evenly=row[8],
                cpus=None if row[9] is None else _fraction_of(row[9], row[10]),
            )
            for row in cursor
        ]


# An hour's thousands of allocations hold a handful of amounts.
_fraction_of = lru_cache(maxsize=4096)(Fraction)


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
