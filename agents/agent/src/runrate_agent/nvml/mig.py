"""The MIG instances of a GPU as they are now."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pynvml

from runrate_agent.batch import DeviceRecord
from runrate_agent.compat import SLOTS
from runrate_agent.nvml.calls import Calls
from runrate_agent.nvml.processes import Instance

PROFILE = re.compile(r"MIG ([\w.+]+)\s*$")
MEMORY_SLICES = 8


@dataclass(frozen=True, **SLOTS)
class MigInstance:
    """A compute instance; `place` is its GPU instance and compute instance."""

    uuid: str
    profile: str
    compute_slices: int
    memory_slices: int
    place: Instance
    parent: str
    handle: Any = field(compare=False)

    def record(self, model: str, index: int) -> DeviceRecord:
        """As a batch names it."""
        return DeviceRecord(
            uuid=self.uuid,
            model=model,
            index=index,
            parent=self.parent,
            profile=self.profile,
            compute_slices=self.compute_slices,
            memory_slices=self.memory_slices,
        )


def instances_of(
    calls: Calls, handle: Any, parent: str, model: str
) -> tuple[bool, tuple[MigInstance, ...]]:
    """Whether MIG is on, and the instances there are."""
    mode = calls.ask(pynvml.nvmlDeviceGetMigMode, handle)
    if mode is None or mode[0] != pynvml.NVML_DEVICE_MIG_ENABLE:
        return False, ()
    most = calls.ask(pynvml.nvmlDeviceGetMaxMigDeviceCount, handle) or 0
    total = calls.ask(pynvml.nvmlDeviceGetMemoryInfo, handle)
    found = []
    for place in range(most):
        instance = calls.ask(pynvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, place)
        if instance is not None:
            found.append(_instance(calls, instance, parent, 0 if total is None else total.total))
    return True, tuple(sorted((each for each in found if each), key=lambda each: each.uuid))


def _instance(calls: Calls, handle: Any, parent: str, total_bytes: int) -> MigInstance | None:
    uuid = calls.ask(pynvml.nvmlDeviceGetUUID, handle)
    attributes = calls.ask(pynvml.nvmlDeviceGetAttributes_v2, handle)
    if uuid is None or attributes is None:
        return None
    name = calls.ask(pynvml.nvmlDeviceGetName, handle) or ""
    profile = PROFILE.search(name)
    memory = int(attributes.memorySizeMB) << 20
    return MigInstance(
        uuid=uuid,
        profile=profile[1] if profile else "",
        compute_slices=max(1, int(attributes.gpuInstanceSliceCount)),
        memory_slices=_memory_slices(memory, total_bytes),
        place=(
            calls.ask(pynvml.nvmlDeviceGetGpuInstanceId, handle) or 0,
            calls.ask(pynvml.nvmlDeviceGetComputeInstanceId, handle) or 0,
        ),
        parent=parent,
        handle=handle,
    )


def _memory_slices(memory_bytes: int, total_bytes: int) -> int:
    """In eighths of the GPU's memory: a slice of 10 GB of 80 GB is one, of 40 GB four."""
    if total_bytes <= 0:
        return 1
    return max(1, min(MEMORY_SLICES, round(memory_bytes * MEMORY_SLICES / total_bytes)))
