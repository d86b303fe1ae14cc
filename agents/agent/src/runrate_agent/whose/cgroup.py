"""What a cgroup path says: a Slurm job, a pod, a container; versions 1 and 2, all known drivers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from runrate_agent.compat import SLOTS
from runrate_agent.whose.proc import read_of

SLURM = re.compile(
    r"/(?:slurm[^/]*|[^/]*slurmstepd\.scope)/(?:uid_\d+/)?job_(\d+)(?:/step_([^/]+))?"
)
POD = re.compile(
    r"[/-]pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})"
    r"(?=[/.:]|$)"
)
CONTAINER = re.compile(
    r"(?:^|[/:-])(?:cri-containerd[-:]|crio-|docker-|libpod-)?([0-9a-f]{64})(?:\.scope)?(?=/|$)"
)


@dataclass(frozen=True, **SLOTS)
class CgroupFact:
    """What was found in a path; None where it says nothing of it."""

    slurm_job: str | None = None
    pod_uid: str | None = None
    container: str | None = None


def fact_of(text: str) -> CgroupFact:
    """Read the text of /proc/PID/cgroup: a line for each hierarchy, `id:controllers:path`."""
    job = pod = container = None
    for line in text.splitlines():
        path = line.rpartition(":")[2] if line.count(":") < 2 else line.split(":", 2)[2]
        slurm = SLURM.search(path)
        if slurm:
            job = job or slurm[1]
        uid = POD.search(path)
        if uid:
            pod = pod or uid[1].replace("_", "-")
        found = CONTAINER.findall(path)
        if found:
            container = container or found[-1]
    return CgroupFact(job, pod, container)


def cgroup_of(root: Path, pid: int) -> CgroupFact:
    """Of a process; nothing where it is gone."""
    found = read_of(root, pid, "cgroup")
    return CgroupFact() if found is None else fact_of(found.decode("utf-8", "replace"))
