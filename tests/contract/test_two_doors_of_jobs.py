"""Two doors, one dollar: a job that a file, a table or a scheduler's hook tells of costs the same."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.economics.states import State
from apps.ledger.models import Line
from apps.workloads.models import Job
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene
from tests.rest import with_token

pytestmark = pytest.mark.django_db

HEADER = "JobIDRaw|Cluster|Account|User|Submit|Start|End|State|AllocTRES|NodeList|JobName"
MAPPING = """
cluster = "atlas"
[columns]
raw_id = "id"
submitted_at = "submit"
started_at = "start"
ended_at = "end"
state = "state"
account = "account"
node = "node"
gpus = "gpus"
gpu_share = "share"
"""


@dataclass(frozen=True)
class JobFact:
    """What a job held of a node of eight GPUs at 8 an hour, from when to when within an hour."""

    gpus: int
    share: Fraction = Fraction(1)
    tres: str = ""
    start: str = "10:00:00"
    end: str = "11:00:00"

    @property
    def micros(self) -> int:
        """A GPU-hour costs one."""
        minutes = int(self.end[3:5]) or 60
        return round(self.gpus * self.share * (minutes - int(self.start[3:5])) * 10**6 / 60)


FACTS = {
    "a whole node": JobFact(8, tres="gres/gpu=8"),
    "three of eight": JobFact(3, tres="gres/gpu=3"),
    "typed GPUs": JobFact(2, tres="gres/gpu:h100=2"),
    "typed GPUs beside their sum": JobFact(2, tres="gres/gpu=2,gres/gpu:h100=2"),
    "half an hour": JobFact(4, tres="gres/gpu=4", start="10:30:00"),
    "twenty minutes": JobFact(6, tres="gres/gpu=6", start="10:10:00", end="10:30:00"),
    "half a GPU": JobFact(1, Fraction(1, 2), tres="gres/gpu:h100_3g.40gb=1"),
    "none": JobFact(0, tres="gres/gpu=0"),
}


def day(clock: str) -> str:
    return f"2026-03-02T{clock}"


def by_sacct(fact: JobFact, folder: Path) -> None:
    row = (
        f"1|atlas|research|ada|{day('09:00:00')}|{day(fact.start)}|{day(fact.end)}|COMPLETED|"
        f"cpu=8,{fact.tres}|g1|train"
    )
    # Another job's row says that this accounting tracks GPUs.
    other = row.replace("1|atlas", "2|atlas").replace("|g1|", "|elsewhere|")
    file = folder / "sacct.psv"
    file.write_text("\n".join((HEADER, row, other.replace(fact.tres, "gres/gpu=1"))) + "\n")
    call_command("import_sacct", str(file))


def by_table(fact: JobFact, folder: Path) -> None:
    file, mapping = folder / "jobs.csv", folder / "jobs.toml"
    file.write_text(
        "id,submit,start,end,state,account,node,gpus,share\n"
        f"1,{day('09:00:00')}Z,{day(fact.start)}Z,{day(fact.end)}Z,COMPLETED,research,g1,{fact.gpus},"
        f"{float(fact.share)}\n"
    )
    mapping.write_text(MAPPING)
    call_command("import_jobs", str(file), "--mapping", str(mapping))


def by_events(fact: JobFact, source: str) -> None:
    held: dict[str, Any] = {"node": "g1", "gpus": fact.gpus}
    if fact.share != 1:
        held |= {"share": str(fact.share)}
    about = {
        "cluster": "atlas",
        "raw_id": "1",
        "submitted_at": f"{day('09:00:00')}Z",
        "account": "research",
        "source": source,
    }
    events = [
        about | {"event": "start", "at": f"{day(fact.start)}Z", "allocations": [held]},
        about | {"event": "end", "at": f"{day(fact.end)}Z", "state": "COMPLETED"},
    ]
    answer = with_token("jobs").post("jobs/bulk", {"events": events})
    assert (answer.status_code, answer.json().get("errors", [])) == (200, []), answer.content


DOORS: dict[str, Callable[[JobFact, Path], None]] = {
    "sacct": by_sacct,
    "a table": by_table,
    "a scheduler's hook": lambda fact, folder: by_events(fact, "scheduler"),
    "an accounting over REST": lambda fact, folder: by_events(fact, "accounting"),
    "an agent": lambda fact, folder: by_events(fact, "agent"),
}


def cases() -> Iterator[Any]:
    for name, fact in FACTS.items():
        for door in DOORS:
            yield pytest.param(fact, door, id=f"{name} by {door}")


@pytest.mark.parametrize(("fact", "door"), list(cases()))
def test_a_job_costs_the_same_through_every_door(tmp_path: Path, fact: JobFact, door: str) -> None:
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
    DOORS[door](fact, tmp_path)
    scene.settle()
    of_job = [line for line in Line.objects.filter(hour=scene.TEN) if line.job_id is not None]
    assert Job.objects.filter(raw_id="1").count() == 1
    assert sum(line.effective_micros or 0 for line in of_job) == fact.micros
    rest = Line.objects.filter(hour=scene.TEN, job_id=None, state=State.UNALLOCATED)
    assert sum(line.effective_micros or 0 for line in rest) == 8_000_000 - fact.micros
    assert audit_here().adds_up
