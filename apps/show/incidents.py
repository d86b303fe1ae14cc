"""Incidents and agents in words: what happened, and what somebody should do."""

from dataclasses import dataclass

from apps.show.xids import xid_words


@dataclass(frozen=True, slots=True)
class IncidentWords:
    """How a kind of incident is named, and what to do about it."""

    label: str
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
    "nvml_error": IncidentWords(
        "Driver reports a fault of one GPU",
        "What it withholds is unknown; run nvidia-smi -q there, and drain the GPU if it goes on.",
    ),
    "recovery_needed": IncidentWords(
        "Driver asks for a recovery", "Drain the GPU, then reset it or reboot, as the driver says."
    ),
    "reclaim_notice": IncidentWords(
        "The cloud takes the node back", "Nothing: the work should have saved a checkpoint."
    ),
    "stop_notice": IncidentWords(
        "The cloud stops the node", "It is charged on: end it here if it does not come back."
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
    "aside": "Let the proxy before this server take bodies of 5 MB (client_max_body_size in nginx).",
    "two_agents": "Stop one of the two: a unit and a DaemonSet on one node, or a copied machine.",
    "environments": "Run it by the unit or DaemonSet of this version, and runrate-agent check there.",
    "processes": "Give its pod hostPID, or its unit a /proc without hidepid and ProtectProc.",
    "slurm_notes": "Let the agent read and take away the files of holders.slurm_folder.",
    "scontrol": "Let the agent run scontrol there: its slurm.conf, and munge.",
    "grant_not_understood": "What holds this device has no GPU time by it: see docs/reference/gpus.md for what is read.",
    "device_not_understood": "It is not measured: see docs/reference/gpus.md for what is read.",
    "metrics_not_understood": "Have a gateway report this engine's requests: docs/guides/serving.md.",
    "no_kubernetes_api": "Let the agent's service account get pods, jobs and replica sets.",
}


def incident_label(kind: str, code: int | None = None) -> str:
    """`XID 79: The GPU has fallen …`; a kind nobody here knows keeps its own name."""
    label = KINDS[kind].label if kind in KINDS else kind.replace("_", " ")
    if kind != "xid" or code is None:
        return label
    words = xid_words(code)
    return f"XID {code}: {words.label}" if words else f"XID {code}"


def incident_advice(kind: str, code: int | None = None) -> str:
    """Return what somebody should do about an incident; empty where nobody here knows."""
    if kind == "xid":
        words = xid_words(code)
        return words.advice if words else "Look it up in NVIDIA's XID guide."
    return KINDS[kind].advice if kind in KINDS else ""
