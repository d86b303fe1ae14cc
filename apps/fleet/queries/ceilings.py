"""The most that a node's machine can have: of GPUs, slices and names, unless a person approved more."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db.models import OuterRef, Subquery

from apps.fleet.models import Device, Node, NodeCapacity, NodeCeiling, TrustKind

SLICES: Mapping[str, int] = {"A30": 4, "RTX PRO 6000": 4, "A100": 7, "H100": 7, "H200": 7}
"""The most instances that MIG cuts one GPU into, by what its model is called (NVIDIA's MIG guide)."""


@dataclass(frozen=True, slots=True)
class NodeCeilings:
    """How many of each a node may have; `approved` is what a person allows it in their place."""

    gpus: int
    approved: Mapping[str, int]

    def most_gpus(self) -> int:
        """GPUs that one list of devices may name."""
        return max(self.gpus, self.approved.get(TrustKind.DEVICES, 0))

    def most_slices(self, model: str) -> int:
        """Slices of one GPU of this model."""
        model_limit = next((most for name, most in SLICES.items() if name in model), None)
        most = settings.MOST_SLICES_PER_GPU if model_limit is None else model_limit
        return max(most, self.approved.get(TrustKind.SLICES, 0))

    def most_holders(self) -> int:
        """Holders of one device in an hour."""
        return max(settings.MOST_HOLDERS_PER_GPU, self.approved.get(TrustKind.HOLDERS, 0))

    def most_names(self) -> int:
        """New names in a day."""
        return max(settings.MOST_NEW_NAMES, self.approved.get(TrustKind.NAMES, 0))


def ceilings_of_nodes(node_ids: Collection[int]) -> dict[int, NodeCeilings]:
    """Return what the machine of each node can have.

    A pool that says its instance type says how many GPUs that has; of others nobody knows.
    """
    units = NodeCapacity.objects.filter(node_id=OuterRef("pk")).order_by("-period").values("units")
    nodes = Node.objects.filter(pk__in=node_ids).values_list(
        "id", "pool__instance_type", "pool__gpus_per_node", Subquery(units[:1])
    )
    approved: dict[int, dict[str, int]] = {}
    for node_id, kind, most in NodeCeiling.objects.filter(node_id__in=node_ids).values_list(
        "node_id", "kind", "most"
    ):
        approved.setdefault(node_id, {})[kind] = most
    ceilings = {}
    for node_id, instance_type, of_pool, declared in nodes:
        machine = max(of_pool, declared or 0)
        is_known = bool(instance_type) and machine > 0
        gpus = machine if is_known else max(machine, settings.MOST_GPUS_PER_NODE)
        ceilings[node_id] = NodeCeilings(gpus, approved.get(node_id, {}))
    return ceilings


def uuids_on_record(node_ids: Collection[int], uuids: Collection[str]) -> dict[int, set[str]]:
    """Those of these devices that live on each node."""
    devices = Device.objects.filter(node_id__in=node_ids, uuid__in=uuids, period__endswith=None)
    uuids_by_node: dict[int, set[str]] = {node_id: set() for node_id in node_ids}
    for node_id, uuid in devices.values_list("node_id", "uuid"):
        uuids_by_node[node_id].add(uuid)
    return uuids_by_node
