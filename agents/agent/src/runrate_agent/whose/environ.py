"""What a process says of itself: an allow-list of environment names, nothing else is looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from runrate_agent.whose.proc import bytes_of

ALLOWED = frozenset(
    {
        "SLURM_JOB_ID", "SLURM_JOBID", "SLURM_CLUSTER_NAME", "SLURM_STEP_ID", "SLURM_RESTART_COUNT",
        "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_HET_JOB_ID", "SLURM_JOB_ACCOUNT",
        "SLURM_JOB_USER", "SLURM_JOB_NAME", "SLURM_JOB_PARTITION",
        "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT",
        "RAY_JOB_ID", "SKYPILOT_TASK_ID", "SKYPILOT_INTERNAL_JOB_ID", "SKYPILOT_USER_ID",
        "RUNRATE_WORKLOAD", "RUNRATE_RUN", "RUNRATE_TEAM", "RUNRATE_POD_UID",
    }
)  # fmt: skip
MOST_BYTES = 1 << 18
TORCHRUN = "TORCHELASTIC_RUN_ID"
# What torchrun calls a start of its own accord is no name: "none", or with --standalone a UUID.
UNNAMED = re.compile(r"none|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
SAID = ("RUNRATE_WORKLOAD", "RUNRATE_TEAM", TORCHRUN, "SKYPILOT_TASK_ID")


def environment_of(root: Path, pid: int) -> dict[str, str]:
    """The allowed names of a process's environment as it was when it was started.

    Empty where the process is gone; refuses PermissionError where it is not for us to read.
    """
    try:
        raw = bytes_of(root, pid, "environ", MOST_BYTES)
    except PermissionError:
        raise
    except OSError:
        raw = b""
    found = {}
    for entry in raw.split(b"\0"):
        name, _, value = entry.partition(b"=")
        key = name.decode("ascii", "replace")
        said = value.decode("utf-8", "replace")[:200]
        if key in ALLOWED and not (key == TORCHRUN and UNNAMED.fullmatch(said)):
            found[key] = said
    return found


def labels_of(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What a job is labelled with from its processes' words."""
    return tuple((name, environment[name]) for name in SAID if environment.get(name))
