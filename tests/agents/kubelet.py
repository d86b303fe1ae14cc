"""A kubelet's pod-resources socket: the real service and messages, as protobuf itself writes them.

https://github.com/kubernetes/kubelet/blob/master/pkg/apis/podresources/v1/api.proto, of which these
are the fields that a List answers with for devices.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

TEXT, MESSAGE, WHOLE = 9, 11, 3
ONE, MANY = 1, 3
MESSAGES: Mapping[str, Sequence[tuple[str, int, int, int, str]]] = {
    "ListPodResourcesRequest": (),
    "ListPodResourcesResponse": (("pod_resources", 1, MANY, MESSAGE, "PodResources"),),
    "PodResources": (
        ("name", 1, ONE, TEXT, ""),
        ("namespace", 2, ONE, TEXT, ""),
        ("containers", 3, MANY, MESSAGE, "ContainerResources"),
    ),
    "ContainerResources": (
        ("name", 1, ONE, TEXT, ""),
        ("devices", 2, MANY, MESSAGE, "ContainerDevices"),
        ("cpu_ids", 3, MANY, WHOLE, ""),
        ("dynamic_resources", 5, MANY, MESSAGE, "DynamicResource"),
    ),
    "DynamicResource": (
        ("claim_name", 2, ONE, TEXT, ""),
        ("claim_namespace", 3, ONE, TEXT, ""),
        ("claim_resources", 4, MANY, MESSAGE, "ClaimResource"),
    ),
    "ClaimResource": (
        ("driver_name", 2, ONE, TEXT, ""),
        ("pool_name", 3, ONE, TEXT, ""),
        ("device_name", 4, ONE, TEXT, ""),
    ),
    "ContainerDevices": (
        ("resource_name", 1, ONE, TEXT, ""),
        ("device_ids", 2, MANY, TEXT, ""),
        ("topology", 3, ONE, MESSAGE, "TopologyInfo"),
    ),
    "TopologyInfo": (("nodes", 1, MANY, MESSAGE, "NUMANode"),),
    "NUMANode": (("ID", 1, ONE, WHOLE, ""),),
}


def _message_classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(
        name="tests/podresources.proto", package="v1", syntax="proto3"
    )
    for name, members in MESSAGES.items():
        message = file.message_type.add(name=name)
        for member, number, label, kind, of in members:
            message.field.add(
                name=member, number=number, label=label, type=kind,
                type_name=f".v1.{of}" if of else None,
            )  # fmt: skip
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"v1.{name}"))
        for name in MESSAGES
    }


CLASSES = _message_classes()


@dataclass
class Kubelet:
    """What it granted: devices of `nvidia.com/gpu` by namespace and pod, beside a NIC and CPUs."""

    socket: Path
    granted: dict[tuple[str, str], Sequence[str]] = field(default_factory=dict)
    resource: str = "nvidia.com/gpu"
    claims: dict[tuple[str, str], str] = field(default_factory=dict)
    """The driver of a dynamic resource that a pod holds."""

    def answer(self, request: Any, context: Any) -> Any:
        """A ListPodResourcesResponse of all pods, those without a GPU too."""
        told = CLASSES["ListPodResourcesResponse"]()
        told.pod_resources.add(name="coredns", namespace="kube-system").containers.add(name="dns")
        for (namespace, pod), devices in self.granted.items():
            container = told.pod_resources.add(name=pod, namespace=namespace).containers.add(
                name="main", cpu_ids=range(64)
            )
            container.devices.add(resource_name="rdma/hca", device_ids=["mlx5_0"])
            for each in devices:
                # The kubelet names each NUMA node's devices in an entry of its own.
                own = container.devices.add(resource_name=self.resource, device_ids=[each])
                own.topology.nodes.add(ID=1)
        for (namespace, pod), driver in self.claims.items():
            container = told.pod_resources.add(name=pod, namespace=namespace).containers.add()
            claim = container.dynamic_resources.add(claim_name="gpu", claim_namespace=namespace)
            claim.claim_resources.add(driver_name=driver, pool_name="gpu-01", device_name="gpu-0")
        return told


@contextmanager
def kubelet_at(socket: Path) -> Iterator[Kubelet]:
    """A kubelet that serves its socket meanwhile."""
    kubelet = Kubelet(socket)
    server = grpc.server(futures.ThreadPoolExecutor(2))
    handler = grpc.unary_unary_rpc_method_handler(
        kubelet.answer,
        request_deserializer=CLASSES["ListPodResourcesRequest"].FromString,
        response_serializer=lambda told: told.SerializeToString(),
    )
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("v1.PodResourcesLister", {"List": handler}),)
    )
    server.add_insecure_port(f"unix://{socket}")
    server.start()
    try:
        yield kubelet
    finally:
        server.stop(0).wait()
