"""How large a MIG instance is, by its profile and its GPU's name."""

from __future__ import annotations

import re

PROFILE = re.compile(r"(\d+)g\.(\d+)gb")
MEMORY_IN_NAME = re.compile(r"(\d+)\s*GB")
MEMORY_GB = {
    "NVIDIA A30": 24,
    "NVIDIA H20": 96,
    "NVIDIA H100 PCIe": 80,
    "NVIDIA H100 NVL": 94,
    "NVIDIA H200": 141,
    "NVIDIA H200 NVL": 141,
    # The name has the processor's memory.
    "NVIDIA GH200 480GB": 96,
    "NVIDIA GH200 144G HBM3e": 144,
    "NVIDIA B200": 180,
    "NVIDIA GB200": 186,
    "NVIDIA B300 SXM6 AC": 270,
    "NVIDIA GB300": 279,
    "NVIDIA RTX PRO 6000 Blackwell Server Edition": 96,
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": 96,
    "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition": 96,
}
"""Of GPUs whose name does not say it. NVIDIA MIG User Guide, Supported GPUs, 2026-11."""
MEMORY_SLICES = 8


def slices_of(profile: str, model: str) -> tuple[int | None, int | None]:
    """Compute slices as the profile says, and memory in eighths of the GPU's; None: unknown."""
    found = PROFILE.match(profile)
    if found is None:
        return None, None
    compute, gigabytes = int(found[1]), int(found[2])
    named = MEMORY_IN_NAME.search(model)
    whole = MEMORY_GB.get(model) or (int(named[1]) if named else None)
    if whole is None:
        return compute, None
    return compute, max(1, min(MEMORY_SLICES, round(gigabytes * MEMORY_SLICES / whole)))
