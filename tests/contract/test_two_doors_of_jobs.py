"""Two doors, one dollar: a job that a file, a table, a scheduler's hook or an agent tells of costs the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.economics.states import State
from apps.fleet.queries.not_understood import not_understood
from apps.ledger.models import Line
from apps.workloads.models import Allocation, Job
from controlplane.ledger_audit import audit_here
from runrate_agent.jobs import Allocation as AgentAllocation
from runrate_agent.jobs import JobEvent as AgentJobEvent
from runrate_agent.jobs import bulks
from tests import make
from tests.apps.ledger import scene
from tests.contract.sampling import by_turns
from tests.rest import with_token

pytestmark = pytest.mark.django_db

HEADER = (
    "JobIDRaw|JobID|Cluster|Account|User|Submit|Start|End|ElapsedRaw|State|AllocTRES|NodeList|"
    "JobName"
)
MAPPING = """
cluster = "atlas"
[columns]
raw_id = "id"
restart_count = "restarts"
submitted_at = "submit"
started_at = "start"
ended_at = "end"
state = "state"
account = "account"
array_id = "array"
node = "node"
gpus = "gpus"
gpu_share = "share"
"""


@dataclass(frozen=True)
class Attempt:
    """A time that a job held what it holds, within the hour from ten; no end: it goes on.

    Slurm submits a job that it requeues again, in the second in which its attempt ends.
    """

    start: str = "10:00:00"
    end: str = "11:00:00"
    state: str = "COMPLETED"
    submit: str = "09:00:00"

    @property
    def minutes(self) -> int:
        until = self.end or "11:00:00"
        return (int(until[:2]) - int(self.start[:2])) * 60 + int(until[3:5]) - int(self.start[3:5])


@dataclass(frozen=True)
class JobFact:
    """What a job held of a node of eight GPUs at 8 an hour; `gpus` None: nobody counts them.

    `tres` is how Slurm writes it. `paused_minutes` it was suspended, which holds its GPUs.
    `nodes` it is on, its GPUs spread evenly; `said` is its state in its accounting's words.
    """

    gpus: int | None
    share: Fraction = Fraction(1)
    tres: str = ""
    attempts: tuple[Attempt, ...] = (Attempt(),)
    said: str = ""
    job_id: str = "1"
    paused_minutes: int = 0
    nodes: tuple[str, ...] = ("g1",)

    @property
    def gpu_minutes(self) -> Fraction:
        """Of the node g1."""
        minutes = sum(each.minutes for each in self.attempts)
        return (self.gpus or 0) * self.share * minutes / len(self.nodes)

    @property
    def array_id(self) -> str:
        return self.job_id.partition("_")[0] if "_" in self.job_id else ""

    @property
    def het_id(self) -> str:
        return self.job_id.partition("+")[0] if "+" in self.job_id else ""


def ended(state: str, said: str = "", **given: Any) -> JobFact:
    attempt = Attempt(end="10:30:00", state=state)
    return JobFact(4, tres="gres/gpu=4", attempts=(attempt,), said=said or state, **given)


REQUEUED = (
    Attempt(end="10:20:00", state="REQUEUED"),
    Attempt(start="10:30:00", submit="10:20:00"),
)
FACTS = {
    "a whole node": JobFact(8, tres="gres/gpu=8"),
    "three of eight": JobFact(3, tres="gres/gpu=3"),
    "typed GPUs": JobFact(2, tres="gres/gpu:h100=2"),
    "typed GPUs beside their sum": JobFact(2, tres="gres/gpu=2,gres/gpu:h100=2"),
    "half an hour": JobFact(4, tres="gres/gpu=4", attempts=(Attempt("10:30:00"),)),
    "twenty minutes": JobFact(6, tres="gres/gpu=6", attempts=(Attempt("10:10:00", "10:30:00"),)),
    "half a GPU": JobFact(1, Fraction(1, 2), tres="gres/gpu:h100_3g.40gb=1"),
    "a quarter of two": JobFact(2, Fraction(1, 4), tres="gres/shard=2"),
    "two slices of a seventh": JobFact(2, Fraction(1, 7), tres="gres/gpu:a100_1g.5gb=2,gres/gpu=2"),
    "none": JobFact(0, tres="gres/gpu=0"),
    "of nobody knows how many": JobFact(None),
    "still running": JobFact(2, tres="gres/gpu=2", attempts=(Attempt(end="", state="RUNNING"),)),
    "suspended for half its time": JobFact(2, tres="gres/gpu=2", paused_minutes=30),
    "requeued": JobFact(4, tres="gres/gpu=4", attempts=REQUEUED),
    "a task of an array": JobFact(1, tres="gres/gpu=1", job_id="90_4"),
    "a part of a heterogeneous job": JobFact(1, tres="gres/gpu=1", job_id="90+1"),
    "on two nodes": JobFact(8, tres="gres/gpu=8", nodes=("g1", "g2")),
    "cancelled by somebody": ended("CANCELLED", "CANCELLED by 1001"),
    "failed": ended("FAILED"),
    "over its limit": ended("TIMEOUT"),
    "out of memory": ended("OUT_OF_MEMORY"),
    "on a node that broke": ended("NODE_FAIL"),
    "preempted": ended("PREEMPTED"),
}


def day(clock: str) -> str:
    return f"2026-03-02T{clock}"


def by_sacct(fact: JobFact, folder: Path) -> None:
    rows = [
        f"1|{fact.job_id}|atlas|research|ada|{day(each.submit)}|{day(each.start)}|"
        f"{day(each.end) if each.end else 'Unknown'}|{(each.minutes - fact.paused_minutes) * 60}|"
        f"{fact.said or each.state}|cpu=8,{fact.tres}|{','.join(fact.nodes)}|train"
        for each in fact.attempts
    ]
    if fact.gpus is not None:
        # Another job's row says that this accounting tracks GPUs.
        rows.append(rows[0].replace("1|", "2|", 1).replace("|g1", "|elsewhere"))
        rows[-1] = rows[-1].replace(fact.tres, "gres/gpu=1")
    file = folder / "sacct.psv"
    file.write_text("\n".join((HEADER, *rows)) + "\n")
    call_command("import_sacct", str(file), "--shards-per-gpu", "4")


def by_table(fact: JobFact, folder: Path) -> None:
    file, mapping = folder / "jobs.csv", folder / "jobs.toml"
    share = "" if fact.share == 1 else str(fact.share)
    rows = [
        f"1,0,{day(each.submit)}Z,{day(each.start)}Z,{day(each.end) + 'Z' if each.end else ''},"
        f'{each.state},research,{fact.array_id},"{",".join(fact.nodes)}",'
        f"{'' if fact.gpus is None else fact.gpus},{share}"
        for each in fact.attempts
    ]
    header = "id,restarts,submit,start,end,state,account,array,node,gpus,share"
    file.write_text("\n".join((header, *rows)) + "\n")
    mapping.write_text(MAPPING)
    call_command("import_jobs", str(file), "--mapping", str(mapping))


def by_events(fact: JobFact, source: str) -> None:
    events = [event for each in fact.attempts for event in events_of(fact, each, source)]
    tell({"events": events})


def tell(body: object) -> None:
    answer = with_token("jobs").post("jobs/bulk", body)
    assert (answer.status_code, answer.json().get("errors", [])) == (200, []), answer.content


def events_of(fact: JobFact, attempt: Attempt, source: str) -> list[dict[str, Any]]:
    held: dict[str, Any] = {}
    if fact.gpus is not None:
        held["gpus"] = fact.gpus // len(fact.nodes)
    if fact.share != 1:
        held["share"] = str(fact.share)
    about: dict[str, Any] = {
        "cluster": "atlas",
        "raw_id": "1",
        "submitted_at": f"{day(attempt.submit)}Z",
        "account": "research",
        "source": source,
        "array_id": fact.array_id or None,
        "het_id": fact.het_id or None,
    }
    allocations = [{"node": node, **held} for node in fact.nodes]
    events = [
        about | {"event": "start", "at": f"{day(attempt.start)}Z", "allocations": allocations}
    ]
    if fact.paused_minutes:
        events += [
            about | {"event": "update", "at": f"{day('10:15:00')}Z", "state": "SUSPENDED"},
            about | {"event": "update", "at": f"{day('10:45:00')}Z", "state": "RUNNING"},
        ]
    if attempt.end:
        said = fact.said or attempt.state
        events.append(about | {"event": "end", "at": f"{day(attempt.end)}Z", "state": said})
    return events


def by_agents(fact: JobFact, folder: Path) -> None:
    """Each node's agent tells of itself, and knows no submission; of attempts it counts restarts."""
    events = []
    for place, each in enumerate(fact.attempts):
        share = None if fact.share == 1 else str(fact.share)
        for node in fact.nodes:
            gpus = None if fact.gpus is None else fact.gpus // len(fact.nodes)
            about = AgentJobEvent(
                cluster="atlas",
                raw_id="1",
                submitted_at=None,
                restart_count=place,
                event="start",
                at=f"{day(each.start)}Z",
                state="RUNNING",
                details={"account": "research", "array_id": fact.array_id or None}
                | {"het_id": fact.het_id or None},
                allocations=(AgentAllocation(node, gpus, share, None, 8),),
                source="agent",
            )
            events.append(about)
            if each.end:
                at, state = f"{day(each.end)}Z", each.state
                events.append(replace(about, event="end", at=at, state=state, allocations=()))
    for body in bulks(events):
        tell(body)


DOORS: dict[str, Callable[[JobFact, Path], None]] = {
    "sacct": by_sacct,
    "a table": by_table,
    "a scheduler's hook": lambda fact, folder: by_events(fact, "scheduler"),
    "an accounting over REST": lambda fact, folder: by_events(fact, "accounting"),
    "agents": by_agents,
}


@pytest.fixture(autouse=True)
def _node() -> None:
    make.make_organisation()
    pool_id = make.make_pool("pool of g1")
    scene.make_rate(pool_id, Decimal(8))
    make.make_node(
        "g1",
        pool_id=pool_id,
        cluster_id=make.make_cluster(),
        started_at=scene.TEN,
        at=scene.LATER,
    )


def is_counted_as(fact: JobFact, told: int = 1) -> None:
    """Hold cost, GPU-hours and status of the hour, and of the job, however it was told."""
    scene.settle(ends_at=scene.TEN + scene.HOUR)
    jobs = Job.objects.filter(raw_id="1", merged_into=None).order_by("started_at")
    assert [job.state for job in jobs] == [each.state for each in fact.attempts]
    assert {(job.account, job.array_id) for job in jobs} == {("research", fact.array_id)}
    lines = Line.objects.filter(hour=scene.TEN)
    of_job = [line for line in lines if line.job_id is not None]
    hours = sum((Fraction(line.unit_milliseconds, 3_600_000) for line in of_job), Fraction(0))
    micros = sum(line.effective_micros or 0 for line in of_job)
    # A slice's seventh is no whole millisecond.
    assert float(hours) == pytest.approx(float(fact.gpu_minutes / 60), abs=1e-6)
    assert micros == pytest.approx(float(fact.gpu_minutes / 60 * 10**6), abs=1)
    free = State.UNOBSERVED if fact.gpus is None else State.UNALLOCATED
    rest = [line for line in lines if line.job_id is None and line.state == free]
    assert sum(line.effective_micros or 0 for line in rest) == 8_000_000 - micros
    unknown = Allocation.objects.filter(job__raw_id="1", gpus_unknown=True)
    assert unknown.exists() == (fact.gpus is None)
    assert bool([each for each in not_understood() if each.place == "atlas"]) == (fact.gpus is None)
    assert audit_here().adds_up


@pytest.mark.parametrize(("fact", "told"), by_turns(FACTS, DOORS, 2))
def test_a_job_costs_the_same_through_every_door(
    tmp_path: Path, fact: JobFact, told: Callable[[JobFact, Path], None]
) -> None:
    told(fact, tmp_path)
    is_counted_as(fact)


@pytest.mark.parametrize(
    ("fact", "doors"),
    by_turns(FACTS, {"files first": [*DOORS], "agents first": [*reversed(DOORS)]}, 1),
)
def test_a_job_that_every_door_tells_is_one(
    tmp_path: Path, fact: JobFact, doors: Sequence[str]
) -> None:
    for door in doors:
        DOORS[door](fact, tmp_path)
    is_counted_as(fact)


@pytest.mark.parametrize("teller", DOORS)
def test_who_counts_no_gpus_does_not_overrule_who_does(tmp_path: Path, teller: str) -> None:
    known, unknown = FACTS["three of eight"], FACTS["of nobody knows how many"]
    DOORS[teller](unknown, tmp_path)
    by_events(known, "scheduler")
    scene.settle(ends_at=scene.TEN + scene.HOUR)
    of_job = Line.objects.filter(hour=scene.TEN).exclude(job_id=None)
    assert sum(line.effective_micros or 0 for line in of_job) == 3_000_000


def test_a_job_that_was_cancelled_in_the_queue_holds_nothing(tmp_path: Path) -> None:
    row = f"1|1|atlas|research|ada|{day('09:00:00')}|None|{day('10:00:00')}|0|CANCELLED by 5||None assigned|x"
    file = tmp_path / "sacct.psv"
    file.write_text(f"{HEADER}\n{row}\n")
    call_command("import_sacct", str(file))
    about = {"cluster": "atlas", "raw_id": "3", "submitted_at": f"{day('09:00:00')}Z"}
    tell(
        {
            "events": [
                about | {"event": "end", "at": f"{day('10:00:00')}Z", "state": "CANCELLED by 5"}
            ]
        }
    )
    assert set(Job.objects.values_list("state", "started_at")) == {("CANCELLED", None)}
    assert not Allocation.objects.exists()
    assert not not_understood("atlas")
