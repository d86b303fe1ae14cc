"""The exporter's text taken apart: one sample a line, labels as they are spelled by any version."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from runrate_agent.compat import SLOTS
from runrate_agent.prometheus import labels_in

LINE = re.compile(r"^(DCGM_[A-Z0-9_]+)\{(.*)\}\s+(\S+)")
# Blank, not found, not supported, not permissioned: as 64 bits, 32 bits and as a float.
SENTINELS = frozenset(
    {
        *(float(2**63 - 16 + offset) for offset in range(16)),
        *(float(0x7FFFFFF0 + offset) for offset in range(4)),
        *(float(2**47 + offset) for offset in range(4)),
    }
)
FOREIGN = re.compile(
    r"^((?:amd|amdgpu|rocm|habana|habanalabs|gaudi|tpu|npu|neuron|ascend|mlu|dcu|xpu|xpum|gpu(?!_operator))_)"
    r"[a-z0-9_]*[{ ]",
    re.IGNORECASE,
)
"""Samples of other makers' devices, where one exporter speaks for several."""
OF_NO_GPU = frozenset({"nvswitch", "nvlink", "cpu", "cpucore"})
EXPORTER = re.compile(r"dcgm-exporter")


@dataclass(frozen=True, **SLOTS)
class Sample:
    """A number of one device, or of one instance of it, with whose it is said to be."""

    name: str
    uuid: str
    instance: str
    value: float
    labels: Mapping[str, str]


def samples_in(text: str) -> Iterator[Sample]:
    """Every sample of a device; what is a way of saying "not supported" is left out."""
    for line in text.splitlines():
        found = LINE.match(line)
        if found is None:
            continue
        # Versions spell the labels with and without capitals.
        labels = {name.lower(): value for name, value in labels_in(found[2]).items()}
        try:
            value = float(found[3])
        except ValueError:
            continue
        if "uuid" not in labels or value in SENTINELS or not math.isfinite(value):
            continue
        yield Sample(found[1], labels["uuid"], labels.get("gpu_i_id", ""), value, labels)


def unread_in(text: str) -> Iterator[str]:
    """What of the text is of a GPU or its like and is not understood, by the form of its line.

    Lines of switches, links and processors are of no GPU.
    """
    for line in text.splitlines():
        foreign = FOREIGN.match(line)
        if foreign:
            yield f"metrics {foreign[1]}…"
            continue
        found = LINE.match(line)
        if found is None:
            continue
        labels = {name.lower() for name in labels_in(found[2])}
        if "uuid" not in labels and not labels & OF_NO_GPU:
            yield f"DCGM's device without a UUID, by {', '.join(sorted(labels)) or 'no label'}"[
                :200
            ]


PodHolder = Callable[[str, str], str]
"""The holder key of a pod, by its namespace and name; empty for one that holds nothing."""


def pod_itself(cluster: str) -> PodHolder:
    """Where nobody knows a pod's controller it stands for itself."""
    return lambda namespace, pod: f"kubernetes/{cluster}/{namespace}.{pod}"


def pod_of(labels: Mapping[str, str]) -> tuple[str, str] | None:
    """Namespace and name of the pod that the labels name.

    After a relabelling Prometheus keeps the holder's labels as `exported_…`, and the plain ones are
    the exporter's own pod, which holds nothing.
    """
    is_exported = any(name.startswith("exported_") for name in labels)
    before = "exported_" if is_exported else ""
    pod = labels.get(f"{before}pod") or labels.get(f"{before}pod_name", "")
    space = labels.get(f"{before}namespace") or labels.get(f"{before}pod_namespace", "")
    container = labels.get(f"{before}container") or labels.get(f"{before}container_name", "")
    if not pod or (not is_exported and EXPORTER.search(f"{pod} {container}")):
        return None
    return space, pod


def holder_of(labels: Mapping[str, str], cluster: str, of_pod: PodHolder) -> str:
    """The holder key that the labels name; empty for nobody."""
    job = labels.get("hpc_job", "")
    if job:
        return f"slurm/{cluster}/{job}"
    pod = pod_of(labels)
    return "" if pod is None else of_pod(*pod)
