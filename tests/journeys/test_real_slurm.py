"""Jobs of a real Slurm arrive at the server with their GPUs, users and end states, by the agent's notes."""

import json
import time
from collections.abc import Iterator

import pytest
from django.test import Client

from apps.workloads.models import Allocation, Job
from runrate_agent.jobs import JobEvent, bulks
from runrate_agent.whose.scontrol import Scontrol
from runrate_agent.whose.slurm import SlurmNotes
from tests import make
from tests.journeys.slurm import Slurm, slurm_in_temporary_folder

UUIDS = [f"GPU-{number}" for number in range(4)]
# NVML counts this node's GPUs the other way round than Slurm does.
MINORS = {uuid: 3 - number for number, uuid in enumerate(UUIDS)}


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    with slurm_in_temporary_folder() as started:
        yield started


def events_of(slurm: Slurm, until: int) -> list[JobEvent]:
    """Read the notes, as the agent does every ten seconds, until so many events came."""
    notes = SlurmNotes(slurm.notes, "atlas", slurm.host, Scontrol(slurm.host).job, minors=MINORS)
    events: list[JobEvent] = []
    limit = time.monotonic() + 30
    while len(events) < until and time.monotonic() < limit:
        events += notes.read(time.time_ns() // 1_000_000)
        time.sleep(0.3)
    return events


def tell(events: list[JobEvent]) -> None:
    token = make.make_token("jobs").secret
    for bulk in bulks(events):
        answer = Client().post(
            "/api/v1/jobs/bulk",
            json.dumps(bulk),
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        assert answer.status_code == 200
        assert answer.json()["errors"] == []


@pytest.mark.django_db
def test_jobs_arrive_with_their_gpus_users_and_end_states(
    slurm: Slurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm.folder / "slurm.conf"))
    make.make_organisation()
    cluster_id = make.make_cluster("atlas")
    make.make_node(slurm.host, cluster_id=cluster_id, units=4)
    whole = slurm.submit("sleep 2", "--gres=gpu:2", "--job-name=pretrain")
    array = slurm.submit("sleep 1", "--gres=gpu:1", "--array=0-1")
    failing = slurm.submit("sleep 1; exit 3", "--gres=gpu:1")
    slurm.until(lambda: slurm.state(whole) == "COMPLETED", "the end of the first job")
    slurm.until(lambda: slurm.state(failing) == "FAILED", "the failure")
    shared = slurm.submit("sleep 60", "--gres=shard:1")
    again = slurm.submit("sleep 60", "--gres=gpu:1", "--requeue")
    for job_id in (shared, again):
        slurm.until(lambda job_id=job_id: slurm.state(job_id) == "RUNNING", "the later jobs")
    slurm.run("scancel", shared)
    slurm.run("scontrol", "requeue", again)
    slurm.until(lambda: len(list(slurm.notes.glob("*.end"))) == 6, "the notes of six ends")

    tell(events_of(slurm, until=12))

    jobs = {job.raw_id: job for job in Job.objects.filter(merged_into=None)}
    tasks = sorted(raw_id for raw_id, job in jobs.items() if job.array_id == array)
    assert {job.user for job in jobs.values()} == {"root"}
    assert jobs[whole].name == "pretrain"
    assert len(tasks) == 2
    assert {raw_id: jobs[raw_id].state for raw_id in jobs} == {
        whole: "COMPLETED",
        **dict.fromkeys(tasks, "COMPLETED"),
        failing: "FAILED",
        shared: "CANCELLED",
        again: "REQUEUED",
    }
    held = {each.job.raw_id: each for each in Allocation.objects.select_related("job")}
    assert sorted(held[whole].device_uuids or ()) == ["GPU-2", "GPU-3"]
    assert {len(held[raw_id].device_uuids or ()) for raw_id in (*tasks, failing, again)} == {1}
    assert (held[shared].gpus_numerator, held[shared].gpus_denominator) == (1, 2)
    assert {each.node.name for each in held.values() if each.node} == {slurm.host}
