"""What Slurm granted: notes that the prolog and epilog leave on this node, read by their age.

A note is a file `<job id>-<restart>.start` or `….end` of NAME=value lines, written whole and then
renamed, so that a reader never sees half of one. Slurm numbers GPUs in the order of its gres.conf,
which need not be NVML's: a number means /dev/nvidia<number>, unless the note names the devices.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from runrate_agent.compat import SLOTS, UTC
from runrate_agent.jobs import Allocation, JobEvent
from runrate_agent.whose import Held
from runrate_agent.whose.environ import SAID
from runrate_agent.whose.scontrol import SlurmFact

MOST_BYTES = 1 << 16
FORGOTTEN_MS = 7 * 86_400_000
REQUEUED = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED"})
STILL = frozenset({"RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED"})


@dataclass(**SLOTS)
class _Job:
    """A job that this node's prolog told of."""

    held: Held
    gpus: tuple[int, ...]
    uuids: tuple[str, ...] = ()


@dataclass(**SLOTS)
class SlurmNotes:
    """The jobs on this node by their notes. `minors` are /dev numbers by UUID."""

    folder: Path
    cluster: str
    node: str
    ask: Callable[[str], SlurmFact | None] = lambda job_id: None
    minors: Mapping[str, int] = field(default_factory=dict)
    trouble: Callable[[], str] = lambda: ""
    """What keeps the controller from being asked; "" while nothing does."""
    _jobs: dict[str, _Job] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)
    _faults: dict[str, str] = field(default_factory=dict)
    """By note, and "" for the folder: what kept it from being read or taken away."""

    def problems(self) -> dict[str, str]:
        """What could not be done with the notes at the last reading, by code."""
        trouble = self.trouble()
        told = {"scontrol": f"ends and names of jobs are not known: {trouble}"} if trouble else {}
        if not self._faults:
            return told
        count = sum(1 for name in self._faults if name)
        said = f"{count} notes in {self.folder}" if count else str(self.folder)
        fault = next(iter(self._faults.values()))
        return {**told, "slurm_notes": f"{said} cannot be used: {fault}"}

    def read(self, now_ms: int) -> list[JobEvent]:
        """Take in new notes; an event for each. A note that was told and is over is removed."""
        events = []
        self._faults = {}
        notes = self._notes()
        names = {path.name for path in notes}
        for path in notes:
            name = path.name
            if name in self._told:
                self._tidy(path, now_ms, is_over=f"{path.stem}.end" in names & self._told)
                continue
            try:
                values = _values(path)
            except PermissionError as refused:
                self._faults[name] = str(refused.strerror)
                continue
            if values is None:
                continue
            job_id, _, restart = path.stem.partition("-")
            values["SLURM_JOB_RESTART_COUNT"] = restart
            self._told.add(name)
            if path.suffix == ".start":
                self._begin(job_id, values)
                events.append(self._event("start", job_id, values))
            else:
                events.append(self._event("end", job_id, values))
                self._jobs.pop(job_id, None)
        return events

    def of_device(self, uuid: str) -> list[Held]:
        """The jobs that were granted this device."""
        minor = self.minors.get(uuid)
        return [
            job.held
            for job in self._jobs.values()
            if uuid in job.uuids or (not job.uuids and minor is not None and minor in job.gpus)
        ]

    def of_job(self, job_id: str, environment: Mapping[str, str]) -> Held:
        """A job that a process names; known by its note or not."""
        known = self._jobs.get(job_id)
        if known is not None:
            return known.held
        return Held(f"slurm/{self.cluster}/{job_id}", "cgroup", environment.get("RUNRATE_RUN"))

    def _notes(self) -> list[Path]:
        try:
            found = [p for p in self.folder.iterdir() if p.suffix in (".start", ".end")]
        except PermissionError as refused:
            self._faults[""] = str(refused.strerror)
            return []
        except OSError:
            # No prolog ran yet.
            return []
        # A start before its end and an end before the next start, also when all came at once.
        return sorted(found, key=_place)

    def _begin(self, job_id: str, values: Mapping[str, str]) -> None:
        listed = (_whole(each) for each in _listed(values, "SLURM_JOB_GPUS"))
        numbers = tuple(each for each in listed if each is not None)
        self._jobs[job_id] = _Job(
            Held(f"slurm/{self.cluster}/{job_id}", "allocation", values.get("RUNRATE_RUN")),
            numbers,
            tuple(_listed(values, "RUNRATE_GPU_UUIDS")),
        )

    def _event(self, event: str, job_id: str, values: Mapping[str, str]) -> JobEvent:
        job, fact = self._jobs.get(job_id), self.ask(job_id)
        devices = self._granted(job)
        count = len(job.gpus or job.uuids) if job else 0
        share = None if fact is None or fact.share is None else str(fact.share)
        cpus = _whole(values.get("SLURM_CPUS_ON_NODE"))
        is_held = count and event == "start"
        gpus: int | None = count
        if fact is not None and fact.is_share_unknown:
            # Shards of nobody knows how many: not the whole GPU that they are of.
            gpus, devices = None, None
        allocations = (Allocation(self.node, gpus, share, devices, cpus),) if is_held else ()
        return JobEvent(
            cluster=self.cluster,
            raw_id=job_id,
            submitted_at=None,
            restart_count=_whole(values.get("SLURM_JOB_RESTART_COUNT")) or 0,
            event=event,
            at=_moment(values.get("RUNRATE_AT", "")),
            state="RUNNING" if event == "start" else _end_state(values, fact),
            details=_details(values, fact),
            allocations=allocations,
            source="agent",
        )

    def _granted(self, job: _Job | None) -> tuple[str, ...] | None:
        """The UUIDs, where every number is known to be one of ours."""
        if job is None:
            return None
        if job.uuids:
            return job.uuids
        by_minor = {minor: uuid for uuid, minor in self.minors.items()}
        found = tuple(by_minor[number] for number in job.gpus if number in by_minor)
        return found if found and len(found) == len(job.gpus) else None

    def _tidy(self, path: Path, now_ms: int, *, is_over: bool) -> None:
        """An ended job's notes go; so do those of a job that never told its end, after a week."""
        try:
            is_old = now_ms - path.stat().st_mtime * 1000 > FORGOTTEN_MS
            if is_over or is_old:
                path.unlink(missing_ok=True)
                self._told.discard(path.name)
                if is_old:
                    self._jobs.pop(path.stem.partition("-")[0], None)
        except PermissionError as refused:
            self._faults[path.name] = f"taken away: {refused.strerror}"
        except OSError:
            return


def _place(path: Path) -> tuple[str, int, bool]:
    job_id, _, restart = path.stem.partition("-")
    return job_id, _whole(restart) or 0, path.suffix == ".end"


def _values(path: Path) -> dict[str, str] | None:
    """None where it is gone or no note: only who owns the folder, or root, leaves a plain file.

    Refuses PermissionError where it is not for us to read.
    """
    try:
        # A link may lead anywhere, and a pipe would hold up whoever opens it.
        note = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError:
        raise
    except OSError:
        return None
    try:
        told = os.fstat(note)
        if not stat.S_ISREG(told.st_mode) or told.st_uid not in (0, path.parent.stat().st_uid):
            return None
        text = os.read(note, MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(note)
    # A job's name is its user's word: only the end of a line begins another, as the hook wrote it.
    pairs = (line.partition("=") for line in text.split("\n"))
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}


def _listed(values: Mapping[str, str], name: str) -> Iterable[str]:
    return [each.strip() for each in values.get(name, "").split(",") if each.strip()]


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _moment(text: str) -> str:
    """Seconds since 1970 as the hook wrote them; now where it wrote none."""
    try:
        moment = datetime.fromtimestamp(float(text), tz=UTC)
    except (ValueError, OverflowError, OSError):
        moment = datetime.now(tz=UTC)
    return moment.isoformat().replace("+00:00", "Z")


def _end_state(values: Mapping[str, str], fact: SlurmFact | None) -> str:
    """The controller's word; else by the exit code, which does not tell a cancelled job."""
    if fact is not None and fact.state in REQUEUED:
        return "REQUEUED"
    if fact is not None and fact.state is not None and fact.state not in STILL:
        return fact.state
    return "COMPLETED" if values.get("SLURM_JOB_EXIT_CODE2", "0:0") == "0:0" else "FAILED"


def _details(values: Mapping[str, str], fact: SlurmFact | None) -> dict[str, object]:
    names = {
        "user": "SLURM_JOB_USER",
        "account": "SLURM_JOB_ACCOUNT",
        "partition": "SLURM_JOB_PARTITION",
        "name": "SLURM_JOB_NAME",
        "array_id": "SLURM_ARRAY_JOB_ID",
        "het_id": "SLURM_HET_JOB_ID",
        "run": "RUNRATE_RUN",
    }
    told: dict[str, object] = {
        ours: values[theirs] for ours, theirs in names.items() if values.get(theirs)
    }
    if fact is not None:
        asked = {name: getattr(fact, name) for name in ("name", "account", "array_id", "het_id")}
        told |= {name: value for name, value in asked.items() if value is not None}
    labels = {name: values[name] for name in SAID if values.get(name)}
    labels |= {} if fact is None else fact.placement
    return told | ({"labels": labels} if labels else {})
