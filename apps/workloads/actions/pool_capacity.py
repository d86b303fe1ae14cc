"""A pool measured without node names: one node stands for it, with a dated count."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import transaction

from apps.economics.refusal import Refusal
from apps.fleet import actions as fleet
from apps.fleet import queries as fleet_queries
from apps.logs.changes import answered, logged_change

INSTANT = timedelta(microseconds=1)
SAID_BY_FILE = "the end that its jobs' file says"


class CapacityOutsideLife(Refusal):
    """A count from before the pool's node began to live, or from after its end."""


@dataclass(frozen=True, slots=True)
class CountedPool:
    """The pool as a file of its jobs describes it; `counts` are (from when, how many units).

    `begins_at` is where the file's window begins: the pool stood there before its first job. `ends_at`
    None: the file says no end of it. `may_go_on`: it ends with the file's window alone, and one that
    counts it from then on gives it another life. `cluster` is opened where there is none.
    """

    described: fleet.EnteredPool
    cluster: str
    counts: Sequence[tuple[datetime, int]]
    begins_at: datetime | None = None
    ends_at: datetime | None = None
    may_go_on: bool = False

    @property
    def name(self) -> str:
        """Of the pool, and of the node that stands for it."""
        return self.described.name


@logged_change(count=answered)
@transaction.atomic
def count_pool(*, pool: CountedPool, at: datetime) -> int:
    """Give the pool its one node and its counts; what is so already stays untouched.

    Answers the node's id. A pool that exists keeps its price and purchase option, a node that ended
    its end. Refuses CapacityOutsideLife.
    """
    cluster_id = fleet.open_cluster(name=pool.cluster, at=at)
    node_id, began_at, ended_at = _node_of(pool, cluster_id, at)
    for from_at, units in pool.counts:
        if from_at < began_at:
            raise CapacityOutsideLife(
                "pool.capacity",
                f"{pool.name} is counted from {began_at:%Y-%m-%d %H:%M}Z on, "
                f"not from {from_at:%Y-%m-%d %H:%M}Z",
            )
        if ended_at is not None and from_at >= ended_at:
            raise CapacityOutsideLife(
                "pool.ends_at",
                f"{pool.name} ended at {ended_at:%Y-%m-%d %H:%M}Z, "
                f"and the file counts it from {from_at:%Y-%m-%d %H:%M}Z on",
            )
        if _units_at(node_id, from_at) != units:
            fleet.set_capacity(node_id=node_id, units=units, from_at=from_at, at=at)
    return node_id


def _node_of(
    pool: CountedPool, cluster_id: int, at: datetime
) -> tuple[int, datetime, datetime | None]:
    """The pool's node, from when it lived, and to when where that is known."""
    bearers = fleet_queries.nodes_named(cluster_id, [pool.name]).get(pool.name)
    if not bearers:
        return _add_life(pool, cluster_id, at)
    first_at = pool.counts[0][0]
    if pool.begins_at is not None and pool.may_go_on and pool.begins_at < bearers[0][1]:
        # The files of a trace need not come in its order.
        before = bearers[0][1]
        if pool.ends_at is not None:
            before = min(before, pool.ends_at)
        return _add_life(replace(pool, ends_at=before), cluster_id, at)
    around = (one for one in bearers if one[2] is None or first_at < one[2])
    node_id, began_at, ended_at = next(around, bearers[-1])
    if pool.may_go_on and ended_at is not None and first_at >= ended_at:
        return _add_life(pool, cluster_id, at)
    if ended_at is None and pool.ends_at is not None and began_at < pool.ends_at:
        fleet.end_node(node_id=node_id, ended_at=pool.ends_at, reason=SAID_BY_FILE, at=at)
        ended_at = pool.ends_at
    return node_id, began_at, ended_at


def _add_life(
    pool: CountedPool, cluster_id: int, at: datetime
) -> tuple[int, datetime, datetime | None]:
    began_at, units = pool.counts[0]
    if pool.begins_at is not None:
        began_at = min(began_at, pool.begins_at)
    if pool.ends_at is not None and began_at >= pool.ends_at:
        raise CapacityOutsideLife(
            "pool.ends_at",
            f"{pool.name} would end at {pool.ends_at:%Y-%m-%d %H:%M}Z, "
            f"before its first job starts at {began_at:%Y-%m-%d %H:%M}Z",
        )
    node = fleet.NewNode(
        name=pool.name,
        pool_id=_pool_of(pool, cluster_id, at),
        started_at=began_at,
        units=units,
        cluster_id=cluster_id,
        kind="pool",
        ended_at=pool.ends_at,
        end_reason=SAID_BY_FILE if pool.ends_at else "",
    )
    return fleet.add_node(node=node, at=at), began_at, pool.ends_at


def _pool_of(pool: CountedPool, cluster_id: int, at: datetime) -> int:
    for existing in fleet_queries.pools().values():
        if existing.name == pool.name:
            return existing.id
    return fleet.add_pool(pool=replace(pool.described, cluster_id=cluster_id), at=at)


def _units_at(node_id: int, moment: datetime) -> int | None:
    node_lives = fleet_queries.nodes_alive_between(moment, moment + INSTANT, [node_id])
    return node_lives[0].units if node_lives else None
