"""All that tells whose a device is, in the order it is trusted: grants, cgroups, environments."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runrate_agent.compat import SLOTS
from runrate_agent.dcgm.samples import pod_itself
from runrate_agent.jobs import JobEvent
from runrate_agent.whose import Held, Places
from runrate_agent.whose.cgroup import cgroup_of
from runrate_agent.whose.environ import environment_of, labels_of
from runrate_agent.whose.kubernetes import KubernetesPods
from runrate_agent.whose.proc import read_of
from runrate_agent.whose.slurm import SlurmNotes
from runrate_agent.whose.withheld import Withheld

MOST_REMEMBERED = 4_096
READ_EVERY_MS = 10_000
FORGOTTEN_MS = 600_000


@dataclass(**SLOTS)
class Resolving:
    """Holders of this node. `slurm` and `kubernetes` are None where there are none."""

    root: Path
    host: str
    cluster: str
    slurm: SlurmNotes | None = None
    kubernetes: KubernetesPods | None = None
    problems: tuple[tuple[str, str], ...] = ()
    withheld: Withheld = field(default_factory=Withheld)
    _processes: OrderedDict[tuple[int, str], tuple[Held, int]] = field(default_factory=OrderedDict)
    _living: dict[int, str] = field(default_factory=dict)
    _read_at_ms: int = 0

    @property
    def unread_grants(self) -> Sequence[str]:
        """What pods hold that looks like a GPU and is not understood."""
        return () if self.kubernetes is None else sorted(self.kubernetes.unread)

    @property
    def unread_environments(self) -> int:
        """How many processes there were whose environment was refused."""
        return self.withheld.environments

    def refresh(self, now_ms: int) -> Sequence[JobEvent]:
        """Read notes and sockets, at most every ten seconds."""
        if abs(now_ms - self._read_at_ms) < READ_EVERY_MS:
            return ()
        self._read_at_ms = now_ms
        self._forget(now_ms - FORGOTTEN_MS)
        self.withheld.forget(now_ms)
        events: list[JobEvent] = []
        problems = dict(self.withheld.problems())
        if self.slurm is not None:
            events += self.slurm.read(now_ms)
            problems |= self.slurm.problems()
        if self.kubernetes is not None:
            events += self.kubernetes.read(now_ms)
            problems |= self.kubernetes.problems
        self.problems = tuple(sorted(problems.items()))
        return events

    def place(self, places: Places) -> None:
        """Where the GPUs are; for Slurm a slice has its parent's number."""
        minors = places.minors
        of_slices = {uuid: minors[on] for uuid, on in places.parents.items() if on in minors}
        if self.slurm is not None:
            self.slurm.minors = {**minors, **of_slices}
        if self.kubernetes is not None:
            self.kubernetes.places = places

    def of_device(self, uuid: str) -> Sequence[Held]:
        """Who was granted it, by either scheduler."""
        granted = self.slurm.of_device(uuid) if self.slurm is not None else []
        return [*granted, *(self.kubernetes.of_device(uuid) if self.kubernetes is not None else ())]

    def holder_of_pod(self, namespace: str, pod: str) -> str:
        """The holder key of a pod that an exporter names, as a grant of its device would be told."""
        if self.kubernetes is None:
            return pod_itself(self.cluster)(namespace, pod)
        held = self.kubernetes.of_pod_named(namespace, pod)
        return "" if held is None else held.key

    def note(self, pids: Sequence[int]) -> None:
        """Look at processes while they live; they may be gone when their time is added up."""
        for pid in pids:
            self.of_process(pid)

    def of_process(self, pid: int) -> Held | None:
        """By its cgroup, then by its environment; remembered by pid and start while it is seen."""
        started = _start_of(self.root, pid) or self._living.get(pid)
        if started is None:
            self.withheld.note_missing(pid, self._read_at_ms)
            return None
        key = pid, started
        self.withheld.note_seen(pid, started, self._read_at_ms)
        known = self._processes.pop(key, None)
        held = self._found(pid, started) if known is None else known[0]
        if held is None:
            # Its pod may be heard of later.
            return None
        self._processes[key] = held, self._read_at_ms
        self._living[pid] = started
        return held

    def _forget(self, before_ms: int) -> None:
        """Those last seen before, and the oldest where there are too many."""
        while self._processes:
            (pid, started), (_, seen_at_ms) = next(iter(self._processes.items()))
            if seen_at_ms >= before_ms and len(self._processes) <= MOST_REMEMBERED:
                return
            del self._processes[pid, started]
            if self._living.get(pid) == started:
                del self._living[pid]

    def _found(self, pid: int, started: str) -> Held | None:
        fact = cgroup_of(self.root, pid)
        try:
            said = environment_of(self.root, pid)
        except PermissionError:
            # Its cgroup has to do.
            self.withheld.note_refusal(pid, started, self._read_at_ms)
            said = {}
        run, labels = said.get("RUNRATE_RUN"), labels_of(said)
        job_id = fact.slurm_job or said.get("SLURM_JOB_ID") or said.get("SLURM_JOBID")
        if job_id:
            if self.slurm is not None:
                return self.slurm.of_job(job_id, said)
            cluster = self.cluster or said.get("SLURM_CLUSTER_NAME", "slurm")
            evidence = "cgroup" if fact.slurm_job else "environment"
            return Held(f"slurm/{cluster}/{job_id}", evidence, run, labels)
        pod = fact.pod_uid or said.get("RUNRATE_POD_UID")
        if pod:
            # The grant says whose a pod is where nobody told its controller.
            return self.kubernetes.of_pod(pod) if self.kubernetes is not None else None
        for scheduler, name in (("ray", "RAY_JOB_ID"), ("skypilot", "SKYPILOT_TASK_ID")):
            if said.get(name):
                key = f"{scheduler}/{self.cluster or self.host}/{said[name]}"
                return Held(key, "environment", run, labels)
        if fact.container:
            return Held(f"docker/{self.host}/{fact.container[:12]}", "cgroup", run, labels)
        own = run or said.get("TORCHELASTIC_RUN_ID") or said.get("RUNRATE_WORKLOAD")
        return Held(f"process/{self.host}/{own}", "environment", run, labels) if own else None


def _start_of(root: Path, pid: int) -> str | None:
    """The kernel's start time of a process, which tells it from a later one of its number."""
    found = read_of(root, pid, "stat")
    if found is None:
        return None
    # The name, in parentheses, may hold anything; the fields after the last one do not.
    fields = found.rpartition(b")")[2].split()
    return fields[19].decode("ascii", "replace") if len(fields) > 19 else None
