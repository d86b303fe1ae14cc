"""Incidents and agents in words: what happened, what an XID means, and what somebody should do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IncidentWords:
    """How a kind of incident is named, and what to do about it."""

    label: str
    advice: str


@dataclass(frozen=True, slots=True)
class Xid:
    """What the driver means by a code: restated from NVIDIA's public *XID Errors* guide."""

    meaning: str
    advice: str


KINDS = {
    "xid": IncidentWords("XID", "Look the code up; the meaning is beside it."),
    "gpu_lost": IncidentWords(
        "GPU fell off the bus", "Drain the node, reset or reseat the GPU, then reboot."
    ),
    "gpu_missing": IncidentWords(
        "Fewer GPUs than expected", "Compare the inventory; drain the node until they are back."
    ),
    "gpu_added": IncidentWords("GPU added", "Confirm it on the node's page."),
    "mig_changed": IncidentWords("MIG geometry changed", "Nothing, if somebody meant it."),
    "driver_unresponsive": IncidentWords(
        "Driver does not answer", "Drain the node; reset the GPUs or reboot."
    ),
    "driver_mismatch": IncidentWords(
        "Driver and library differ", "Reboot: the driver was updated under running work."
    ),
    "driver_reloaded": IncidentWords("Driver was reloaded", "Nothing, if somebody meant it."),
    "ecc_uncorrected": IncidentWords(
        "Uncorrectable memory errors", "Restart the work; replace the GPU if it happens again."
    ),
    "recovery_needed": IncidentWords(
        "Driver asks for a recovery", "Drain the GPU, then reset it or reboot, as the driver says."
    ),
    "reclaim_notice": IncidentWords(
        "The cloud takes the node back", "Nothing: the work should have saved a checkpoint."
    ),
    "windows_dropped": IncidentWords(
        "Measurements lost", "Look at the agent's spool and its way to this server."
    ),
    "clock_stepped": IncidentWords("Clock stepped", "Run NTP or chrony on the node."),
    "silent_zero": IncidentWords(
        "Exporter says zero while the GPU works", "Restart dcgm-exporter and the hostengine."
    ),
    "exporter_unreachable": IncidentWords(
        "Exporter does not answer", "See that dcgm-exporter runs and its address is right."
    ),
}

# While one of these lasts, nothing can run on what it names: what that cost is lost.
UNUSABLE = frozenset(
    {
        *("gpu_lost", "gpu_missing", "driver_unresponsive", "driver_mismatch", "recovery_needed"),
    }
)
WHOLE_NODE = frozenset({"driver_unresponsive", "driver_mismatch"})
"""Of those, the ones that take every GPU of the node with them."""

_APPLICATION = "Usually the application's own fault: look at its log first."
_RESET = "Drain the GPU and reset it; replace it if it happens again."
_NVLINK = "Check the NVLink bridges, cables and switch; reset the GPUs of the node."
XIDS = {
    13: Xid("graphics engine exception", _APPLICATION),
    31: Xid("GPU memory page fault", _APPLICATION),
    32: Xid("corrupted push buffer", _RESET),
    38: Xid("driver firmware error", "Update the driver."),
    43: Xid("the application's work on the GPU was stopped", _APPLICATION),
    45: Xid("work was cleaned up after an earlier error", "Look for the error before it."),
    48: Xid("double-bit ECC error", _RESET),
    61: Xid("internal microcontroller warning", _RESET),
    62: Xid("internal microcontroller halt", _RESET),
    63: Xid("a faulty memory row or page was retired", "Nothing now; it takes effect at a reset."),
    64: Xid("a faulty memory row or page could not be retired", _RESET),
    68: Xid("video decoder exception", _APPLICATION),
    69: Xid("graphics engine class error", _APPLICATION),
    74: Xid("NVLink error", _NVLINK),
    79: Xid("the GPU fell off the bus", "Drain the node, check power and seating, reboot."),
    92: Xid("many single-bit ECC errors", "Watch it; replace the GPU if they go on."),
    94: Xid("contained memory error", "Restart the work that was hit; reset when drained."),
    95: Xid("uncontained memory error", _RESET),
    109: Xid("context switch timeout", _RESET),
    119: Xid("the GPU's system processor did not answer", _RESET),
    120: Xid("error of the GPU's system processor", _RESET),
    121: Xid("corrected error of the chip-to-chip link", "Watch it; reset when drained."),
    136: Xid("NVLink training failed", _NVLINK),
    137: Xid("remote NVLink memory access was refused", _APPLICATION),
    140: Xid("unrecovered ECC error", _RESET),
    143: Xid("the GPU could not be initialised", _RESET),
    154: Xid("the driver changed the recovery it asks for", "See the recovery it names."),
}

AGENT_STATES = {
    "ok": IncidentWords("Works", ""),
    "starting": IncidentWords("Starting", "Wait a minute."),
    "driver_unresponsive": KINDS["driver_unresponsive"],
    "driver_mismatch": KINDS["driver_mismatch"],
    "driver_missing": IncidentWords(
        "No NVIDIA driver", "Install the driver, or give the agent's container its libraries."
    ),
    "no_gpus": IncidentWords(
        "Sees no GPU", "Give the agent the GPUs, or take it off this node if it has none."
    ),
    "gpus_missing": KINDS["gpu_missing"],
    "exporter_unreachable": KINDS["exporter_unreachable"],
}
PROBLEMS = {
    "no_pod_resources": "Mount the kubelet's pod-resources socket into the agent's pod.",
    "no_kubernetes_api": "Let the agent's service account get pods, jobs and replica sets.",
}


def incident_label(kind: str, code: int | None = None) -> str:
    """`XID 79: the GPU fell off the bus`; a kind nobody here knows keeps its own name."""
    label = KINDS[kind].label if kind in KINDS else kind.replace("_", " ")
    if kind != "xid" or code is None:
        return label
    return f"XID {code}: {XIDS[code].meaning}" if code in XIDS else f"XID {code}"


def incident_advice(kind: str, code: int | None = None) -> str:
    """What somebody should do; empty where nobody here knows."""
    if kind == "xid":
        return XIDS[code].advice if code in XIDS else "Look it up in NVIDIA's XID guide."
    return KINDS[kind].advice if kind in KINDS else ""
