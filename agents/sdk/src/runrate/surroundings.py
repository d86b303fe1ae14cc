"""What the process's surroundings say: where to send, which job this is, and which of its ranks."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
WORLDS = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
RESTARTS = ("SLURM_RESTART_COUNT", "TORCHELASTIC_RESTART_COUNT", "SKYPILOT_NUM_RESTARTS")
JOBS = (
    ("slurm", "SLURM_JOB_ID"),
    ("ray", "RAY_JOB_ID"),
    ("skypilot", "SKYPILOT_TASK_ID"),
    ("kubernetes", "RUNRATE_POD_UID"),
    ("kubernetes", "POD_UID"),
)
NAMES = ("RUNRATE_RUN", "TORCHELASTIC_RUN_ID", "SKYPILOT_TASK_ID", "JOBSET_NAME")


class Surroundings(NamedTuple):
    """Empty texts where nothing is said. `name` is of the run, across restarts."""

    url: str
    token: str
    name: str
    workload: str
    scheduler: str
    job: str
    cluster: str
    host: str
    rank: int
    world_size: int
    restarts: int
    spool: Path


def surroundings(environ: Mapping[str, str] = os.environ) -> Surroundings:
    """Read once, at the run's start; what is no number is as if it were not said."""
    scheduler, job = next(
        ((kind, environ[name]) for kind, name in JOBS if environ.get(name)), ("", "")
    )
    name = _first(environ, NAMES)
    if name in {"", "none", "None"}:
        # A Slurm job keeps its number when it is queued again, an array's task its own.
        array = f"{environ.get('SLURM_ARRAY_JOB_ID', '')}_{environ.get('SLURM_ARRAY_TASK_ID', '')}"
        name = array if environ.get("SLURM_ARRAY_TASK_ID") else job
    cache = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or _temporary()) / ".cache"
    return Surroundings(
        url=environ.get("RUNRATE_URL", "").rstrip("/"),
        token=environ.get("RUNRATE_TOKEN", ""),
        name=name,
        workload=environ.get("RUNRATE_WORKLOAD", ""),
        scheduler=scheduler,
        job=job,
        cluster=environ.get("SLURM_CLUSTER_NAME", environ.get("RUNRATE_CLUSTER", "")),
        host=os.uname().nodename if hasattr(os, "uname") else environ.get("COMPUTERNAME", ""),
        rank=_number(_first(environ, RANKS)),
        world_size=max(1, _number(_first(environ, WORLDS))),
        restarts=_number(_first(environ, RESTARTS)),
        spool=Path(environ.get("RUNRATE_SPOOL") or Path(cache) / "runrate"),
    )


def _temporary() -> str:
    # It brings much that a run with a home never needs.
    from tempfile import gettempdir

    return gettempdir()


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((environ[name] for name in names if environ.get(name)), "")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
