"""Clusters, pools, nodes and teams as people name them."""

from datetime import datetime

from django.core.management.base import CommandError

from apps.accounts.queries import listing as teams
from apps.fleet import queries


def cluster_named(name: str) -> int:
    """The cluster of this name; refuses CommandError."""
    for cluster in queries.clusters().values():
        if cluster.name == name:
            return cluster.id
    raise CommandError(f"there is no cluster named {name!r}")


def living_node(name: str, at: datetime) -> int:
    """The node of this name that lives now, `CLUSTER/NAME` where several do; or CommandError."""
    cluster, _, bare = name.rpartition("/")
    asked: list[int | None] = [cluster_named(cluster)] if cluster else [None, *queries.clusters()]
    living = [
        node_id
        for cluster_id in asked
        for node_id, began_at, ended_at in queries.nodes_named(cluster_id, [bare]).get(bare, [])
        if began_at <= at and (ended_at is None or at < ended_at)
    ]
    if len(living) != 1:
        found = "several nodes live" if living else "no node lives"
        raise CommandError(f"{found} under the name {name!r}")
    return living[0]


def team_named(name: str) -> int:
    """The team of this name; refuses CommandError."""
    found = teams.team_named(name)
    if found is None:
        raise CommandError(f"there is no team named {name!r}")
    return found


def pool_named(name: str) -> queries.PoolFact:
    """The pool of this name; refuses CommandError."""
    for pool in queries.pools().values():
        if pool.name == name:
            return pool
    raise CommandError(f"there is no pool named {name!r}")
