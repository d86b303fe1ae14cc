"""Karpenter's NodePools, the cheapest with the highest weight, and NodeOverlays that tell it what a machine more costs."""

from typing import Any

from apps.economics.purchase import PurchaseOption
from apps.placement.queries.scheduler_pools import (
    POOL_LABEL,
    ScheduledPool,
    ScheduledPools,
    SchedulerDocuments,
    SchedulerNotUnderstood,
)

NODE_POOL, NODE_OVERLAY = "karpenter.sh/v1", "karpenter.sh/v1alpha1"
NODE_CLASSES = {
    "aws": ("karpenter.k8s.aws", "EC2NodeClass"),
    "azure": ("karpenter.azure.com", "AKSNodeClass"),
    "gcp": ("karpenter.k8s.gcp", "GCENodeClass"),
}
CAPACITY = {
    PurchaseOption.SPOT: ["spot"],
    PurchaseOption.ON_DEMAND: ["on-demand"],
    PurchaseOption.RESERVED: ["reserved", "on-demand"],
}
"""What was reserved by price alone is on demand to the cloud; what holds capacity is taken first."""
HIGHEST_WEIGHT = 100


def karpenter_documents(
    scheduler_pools: ScheduledPools, node_class: str = "default"
) -> SchedulerDocuments:
    """NodePools of clouds' pools that Karpenter knows, in the order of what they cost."""
    bundle = scheduler_pools.documents()
    for rank, pool in enumerate(_pools_for_karpenter(scheduler_pools, bundle)):
        bundle.documents.append(_node_pool(pool, max(1, HIGHEST_WEIGHT - rank), node_class))
    if bundle.documents:
        bundle.notes.append(f"the node class {node_class!r} of each cloud is yours to have")
    return bundle


def overlay_documents(scheduler_pools: ScheduledPools) -> SchedulerDocuments:
    """A price for each of these NodePools, in US dollars an hour of a machine. Refuses SchedulerNotUnderstood."""
    bundle = scheduler_pools.documents()
    per_dollar = scheduler_pools.book.per_dollar
    if per_dollar is None:
        raise SchedulerNotUnderstood(
            "", "nobody knows what a US dollar is worth: Karpenter reckons in dollars"
        )
    for pool in _pools_for_karpenter(scheduler_pools, bundle):
        spec = {
            "requirements": [_one_of("karpenter.sh/nodepool", pool.name)],
            "price": f"{pool.dollars_an_hour(per_dollar):f}",
        }
        bundle.documents.append(_karpenter_document(NODE_OVERLAY, "NodeOverlay", pool.name, spec))
    if bundle.documents:
        bundle.notes.append("NodeOverlay is alpha: Karpenter needs its feature gate NodeOverlay")
    return bundle


def _pools_for_karpenter(
    scheduler_pools: ScheduledPools, bundle: SchedulerDocuments
) -> list[ScheduledPool]:
    """Those that it can start; why not, of the others, among the notes."""
    startable_pools = []
    for pool in scheduler_pools.pools:
        offer = pool.offer
        if offer.provider not in NODE_CLASSES or offer.option not in CAPACITY:
            bundle.notes.append(f"left out: {offer.name}, Karpenter starts no such nodes")
        elif not (offer.instance_type and offer.region):
            bundle.notes.append(f"left out: {offer.name}, its machine type or region is not said")
        else:
            startable_pools.append(pool)
    return startable_pools


def _node_pool(pool: ScheduledPool, weight: int, node_class: str) -> dict[str, Any]:
    offer = pool.offer
    group, kind = NODE_CLASSES[offer.provider]
    spec: dict[str, Any] = {
        "template": {
            "metadata": {"labels": {POOL_LABEL: pool.name}},
            "spec": {
                "nodeClassRef": {"group": group, "kind": kind, "name": node_class},
                "requirements": [
                    _one_of("node.kubernetes.io/instance-type", offer.instance_type),
                    _one_of("topology.kubernetes.io/region", offer.region),
                    _one_of("karpenter.sh/capacity-type", *CAPACITY[PurchaseOption(offer.option)]),
                ],
            },
        },
        "weight": weight,
    }
    if pool.most_gpus is not None:
        spec["limits"] = {pool.resource: pool.most_gpus}
    return _karpenter_document(NODE_POOL, "NodePool", pool.name, spec)


def _one_of(key: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}


def _karpenter_document(version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}
