"""Ray's autoscaler: node types of a cloud's region, the cheapest with the highest priority."""

from typing import Any

from apps.economics.purchase import PurchaseOption
from apps.placement.queries.scheduler_pools import (
    ScheduledPool,
    ScheduledPools,
    SchedulerDocuments,
)

POOL = "runrate-pool"
HEAD_IS_YOURS = "head_node_type and its node type are yours to add, and an SSH user (auth) where your images need one"


def ray_documents(scheduler_pools: ScheduledPools) -> SchedulerDocuments:
    """A cluster's configuration for each cloud and region that has pools, as `ray up` reads it once it has a head."""
    bundle = scheduler_pools.documents()
    places: dict[tuple[str, str], list[ScheduledPool]] = {}
    for pool in scheduler_pools.pools:
        offer = pool.offer
        if _node_config(pool) is None or not (offer.instance_type and offer.region):
            bundle.notes.append(f"left out: {offer.name}, Ray's autoscaler starts no such nodes")
        else:
            places.setdefault((offer.provider, offer.region), []).append(pool)
    for (provider, region), pools in sorted(places.items()):
        bundle.documents.append(
            {
                "cluster_name": f"runrate-{provider}-{region}",
                "provider": {"type": provider, _region_field(provider): region},
                "available_node_types": {
                    pool.name: _node_type(pool, priority)
                    for priority, pool in zip(range(len(pools), 0, -1), pools, strict=True)
                },
            }
        )
    if bundle.documents:
        bundle.notes.append(HEAD_IS_YOURS)
    return bundle


def _region_field(provider: str) -> str:
    return "location" if provider == "azure" else "region"


def _node_type(pool: ScheduledPool, priority: int) -> dict[str, Any]:
    node_type: dict[str, Any] = {
        "resources": {"GPU": pool.offer.gpus_per_node},
        "labels": {POOL: pool.name},
        "node_config": _node_config(pool),
        "min_workers": 0,
        "priority": priority,
    }
    if pool.most_gpus is not None:
        node_type["max_workers"] = pool.most_gpus // pool.offer.gpus_per_node
    return node_type


def _node_config(pool: ScheduledPool) -> dict[str, Any] | None:
    """As the cloud's own interface names the machine; None of a cloud that Ray's launcher does not know, or of own hardware."""
    offer = pool.offer
    is_spot = offer.option == PurchaseOption.SPOT
    if offer.option == PurchaseOption.OWNED:
        return None
    if offer.provider == "aws":
        market = {"InstanceMarketOptions": {"MarketType": "spot"}} if is_spot else {}
        return {"InstanceType": offer.instance_type, **market}
    if offer.provider == "gcp":
        scheduling = {"scheduling": [{"preemptible": True}]} if is_spot else {}
        return {"machineType": offer.instance_type, **scheduling}
    if offer.provider == "azure":
        priority = {"priority": "Spot"} if is_spot else {}
        return {"azure_arm_parameters": {"vmSize": offer.instance_type, **priority}}
    return None
