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


def live_node_id(name: str, at: datetime) -> int:
    """The node of this name that lives now, `CLUSTER/NAME` where several do; or CommandError."""
    cluster, _, bare = name.rpartition("/")
    cluster_ids: list[int | None] = (
        [cluster_named(cluster)] if cluster else [None, *queries.clusters()]
    )
    node_ids = [
        node_id
        for cluster_id in cluster_ids
        for node_id, began_at, ended_at in queries.nodes_named(cluster_id, [bare]).get(bare, [])
        if began_at <= at and (ended_at is None or at < ended_at)
    ]
    if len(node_ids) != 1:
        subject = "several nodes live" if node_ids else "no node lives"
        raise CommandError(f"{subject} under the name {name!r}")
    return node_ids[0]


def team_named(name: str) -> int:
    """The team of this name; refuses CommandError."""
    team_id = teams.team_named(name)
    if team_id is None:
        raise CommandError(f"there is no team named {name!r}")
    return team_id


def pool_named(name: str) -> queries.PoolFact:
    """The pool of this name; refuses CommandError."""
    for pool in queries.pools().values():
        if pool.name == name:
            return pool
    raise CommandError(f"there is no pool named {name!r}")
