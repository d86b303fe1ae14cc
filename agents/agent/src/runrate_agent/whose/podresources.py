"""What the kubelet granted: its pod-resources socket, spoken by gRPC with the four messages we need.

grpcio comes with `runrate-agent[kubernetes]`; the messages are so few that they are read by hand.
https://github.com/kubernetes/kubelet/blob/master/pkg/apis/podresources/v1/api.proto has them.
"""

from __future__ import annotations

import re
import socket as sockets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runrate_agent.compat import SLOTS

LIST = "/v1.PodResourcesLister/List"
TIMEOUT_SECONDS = 2.0
GPU_RESOURCE = re.compile(r"nvidia\.com/(?:gpu|gpu\.shared|mig-.+)")
ACCELERATOR = re.compile(
    r".*(?:gpu|mig-|gaudi|tpu|npu|neuron|ascend|mlu|dcu|xpu|accelerator).*"
    r"|(?:nvidia|amd|habana|huawei|cambricon|intel|run|aliyun|volcano)\.(?:com|ai|sh)/.*"
    r"(?:gpu|gaudi|ascend|mlu|vgpu).*"
    r"|nvidia\.com/(?!.*(?:hostdev|rdma|sriov|roce|nic|infiniband)).*"
    r"|.*/(?:.*[-_.])?(?:[abhvl]\d{2,3}[a-z]{0,2}|[tl]4|g[bh]\d{3}|mi\d{3}[a-z]?|rtx.*)(?:[-_.].*)?",
    re.IGNORECASE,
)
"""Resources of device plugins that are, or share, a GPU or another accelerator; plugins let operators rename them."""
UUID_OF_GPU = re.compile(
    r"(?:GPU|MIG)-(?:GPU-)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?:/\d+/\d+)?(?:::\d+)?"
)
"""An id of which its form alone says that it is a GPU of NVIDIA's, whatever the resource is called."""
DIGITS = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{8,}|[0-9a-f]{6,}|\d+", re.IGNORECASE)
UUID = re.compile(r"(?P<uuid>(?:GPU|MIG)-[0-9A-Za-z/-]+?)(?:::(?P<replica>\d+))?")
GKE = re.compile(r"nvidia(?P<minor>\d+)(?:/gi(?P<instance>\d+))?(?:/vgpu(?P<replica>\d+))?")


class PodResourcesUnreachable(Exception):
    """The kubelet's socket is not there, not ours to open, or does not answer."""


@dataclass(frozen=True, **SLOTS)
class DeviceId:
    """A granted device: by UUID, or by GKE's number of /dev/nvidia and GPU instance."""

    uuid: str | None
    minor: int | None = None
    instance: int | None = None
    is_replica: bool = False


@dataclass(frozen=True, **SLOTS)
class PodGrant:
    """The GPUs of one pod, all its containers together.

    `unread` names what else it was granted that looks like a GPU and is not understood: by the
    resource and the form of its ids, which are left out.
    """

    namespace: str
    name: str
    devices: tuple[DeviceId, ...]
    unread: tuple[str, ...] = ()


def pod_grants(socket: Path) -> list[PodGrant]:
    """Pods on this node that were granted GPUs. Refuses PodResourcesUnreachable."""
    try:
        import grpc
    except ImportError as missing:
        raise PodResourcesUnreachable(
            "grpcio is missing: install runrate-agent[kubernetes]"
        ) from missing
    if not may_be_there(socket):
        raise PodResourcesUnreachable(f"{socket} is not there; is it mounted into the container?")
    with grpc.insecure_channel(f"unix://{socket}") as channel:
        ask = channel.unary_unary(LIST, request_serializer=bytes, response_deserializer=bytes)
        try:
            answer = ask(b"", timeout=TIMEOUT_SECONDS)
        except grpc.RpcError as refused:
            said = _refusal(socket) or refused.code().name
            raise PodResourcesUnreachable(f"{socket}: {said}") from refused
    return grants_in(answer)


def may_be_there(path: Path) -> bool:
    """Whether a file is there, or in a folder that is not for us to look into."""
    try:
        path.stat()
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _refusal(path: Path) -> str:
    """What to do where the socket is not for this user to open; "" where it is."""
    try:
        with sockets.socket(sockets.AF_UNIX) as trial:
            trial.settimeout(TIMEOUT_SECONDS)
            trial.connect(str(path))
    except PermissionError:
        return "it is root's: run the DaemonSet on a Kubernetes node, or give the unit CAP_DAC_OVERRIDE"
    except OSError:
        return ""
    return ""


def grants_in(message: bytes) -> list[PodGrant]:
    """Read a ListPodResourcesResponse; pods without GPUs, or what looks like one, are left out."""
    grants = []
    for number, pod in _fields(message):
        if number == 1 and isinstance(pod, bytes):
            grant = _grant(pod)
            if grant.devices or grant.unread:
                grants.append(grant)
    return grants


def device_of(text: str) -> DeviceId | None:
    """All the forms in which device plugins name a GPU; None for another thing."""
    by_uuid = UUID.fullmatch(text)
    if by_uuid:
        return DeviceId(by_uuid["uuid"], is_replica=by_uuid["replica"] is not None)
    by_number = GKE.fullmatch(text)
    if by_number:
        instance = by_number["instance"]
        return DeviceId(
            None,
            minor=int(by_number["minor"]),
            instance=None if instance is None else int(instance),
            is_replica=by_number["replica"] is not None,
        )
    return None


def form_of(resource: str, device: str) -> str:
    """A resource with the form of a device's id: `nvidia.com/gpu as #`."""
    return f"{resource} as {DIGITS.sub('#', device)}"[:200]


def _grant(pod: bytes) -> PodGrant:
    name = namespace = ""
    devices: list[DeviceId | str] = []
    for number, value in _fields(pod):
        if not isinstance(value, bytes):
            continue
        if number == 1:
            name = value.decode("utf-8", "replace")
        elif number == 2:
            namespace = value.decode("utf-8", "replace")
        elif number == 3:
            devices += _container(value)
    read = tuple(dict.fromkeys(each for each in devices if isinstance(each, DeviceId)))
    unread = tuple(dict.fromkeys(each for each in devices if isinstance(each, str)))
    return PodGrant(namespace, name, read, unread)


def _container(message: bytes) -> Iterator[DeviceId | str]:
    for number, value in _fields(message):
        if number == 2 and isinstance(value, bytes):
            yield from _devices(value)
        elif number == 5 and isinstance(value, bytes):
            yield from _claims(value)


def _claims(message: bytes) -> Iterator[str]:
    """Dynamic resources of a container, by the drivers of their claims."""
    drivers = [
        value.decode("utf-8", "replace")
        for number, claim in _fields(message)
        if number == 4 and isinstance(claim, bytes)
        for inner, value in _fields(claim)
        if inner == 2 and isinstance(value, bytes)
    ]
    yield from (f"dynamic resource of {driver}"[:200] for driver in drivers or ("no driver",))


def _devices(message: bytes) -> Iterator[DeviceId | str]:
    resource, ids = "", []
    for number, value in _fields(message):
        if not isinstance(value, bytes):
            continue
        if number == 1:
            resource = value.decode("utf-8", "replace")
        elif number == 2:
            ids.append(value.decode("utf-8", "replace"))
    if GPU_RESOURCE.fullmatch(resource):
        yield from (device_of(each) or form_of(resource, each) for each in ids)
        return
    by_form = [device_of(each) for each in ids if UUID_OF_GPU.fullmatch(each)]
    yield from (each for each in by_form if each is not None)
    if len(by_form) < len(ids) and ACCELERATOR.fullmatch(resource):
        yield resource[:200]


def _fields(message: bytes) -> Iterator[tuple[int, bytes | int]]:
    """The fields of a protobuf message: length-delimited as bytes, numbers as they are."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == 2:
            length, at = _varint(message, at)
            yield tag >> 3, message[at : at + length]
            at += length
        elif kind == 0:
            value, at = _varint(message, at)
            yield tag >> 3, value
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            return


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            break
        shift += 7
    return value, at
