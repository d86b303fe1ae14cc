"""What the process's surroundings say: where to send, which job this is, and which of its ranks."""

from __future__ import annotations

import os
import re
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
NAMES = ("TORCHELASTIC_RUN_ID", "SKYPILOT_TASK_ID", "JOBSET_NAME")
# What torchrun calls a start of its own accord is no name: "none", or with --standalone a UUID.
UNNAMED = re.compile(r"|none|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


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
    scheduler, job = _job(environ)
    cluster = environ.get("SLURM_CLUSTER_NAME", environ.get("RUNRATE_CLUSTER", ""))
    host = os.uname().nodename if hasattr(os, "uname") else environ.get("COMPUTERNAME", "")
    cache = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or _temporary()) / ".cache"
    return Surroundings(
        url=environ.get("RUNRATE_URL", "").rstrip("/"),
        token=environ.get("RUNRATE_TOKEN", ""),
        name=environ.get("RUNRATE_RUN") or _scheduled_name(environ, cluster, host),
        workload=environ.get("RUNRATE_WORKLOAD", ""),
        scheduler=scheduler,
        job=job,
        cluster=cluster,
        host=host,
        rank=_number(_first(environ, RANKS)),
        world_size=max(1, _number(_first(environ, WORLDS))),
        restarts=_number(_first(environ, RESTARTS)),
        spool=Path(environ.get("RUNRATE_SPOOL") or Path(cache) / "runrate"),
    )


def _scheduled_name(environ: Mapping[str, str], cluster: str, host: str) -> str:
    """What the launcher or the scheduler calls the run; "" where neither does.

    Two clusters may use one number or name, so the cluster is part of it where it is known. Ray
    numbers its jobs from 1 on in each of its own: without a cluster they are their machine's.
    """
    name = next(
        (each for each in map(environ.get, NAMES) if each and not UNNAMED.fullmatch(each)), ""
    )
    scheduler, job = _job(environ)
    if not name and environ.get("SLURM_ARRAY_TASK_ID"):
        # A Slurm job keeps its number when it is queued again, an array's task its own.
        name = f"{environ.get('SLURM_ARRAY_JOB_ID', '')}_{environ['SLURM_ARRAY_TASK_ID']}"
    if not name and scheduler == "ray":
        of_ray = environ.get("RAY_CLUSTER_NAME", "")
        return "/".join(filter(None, (cluster, of_ray or ("" if cluster else host), job)))
    name = name or job
    return "/".join(filter(None, (cluster, name))) if name else ""


def _job(environ: Mapping[str, str]) -> tuple[str, str]:
    """The scheduler and its id of the job."""
    return next(((kind, environ[name]) for kind, name in JOBS if environ.get(name)), ("", ""))


def _temporary() -> str:
    # It brings much that a run with a home never needs.
    from tempfile import gettempdir

    return gettempdir()


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((environ[name] for name in names if environ.get(name)), "")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
