"""The real SDK against the real server: a run of two attempts, its failure, and what it folds to."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache

import runrate
from apps.economics.run_time import Bucket
from apps.workloads.models import RunHour, RunScore, RunSpan, RunSummary
from apps.workloads.tasks import fold_runs
from runrate import delivery, running
from tests import make
from tests.apps.workloads.told import node
from tests.rest import Caller

pytestmark = pytest.mark.django_db(transaction=True)
STEP_SECONDS = 0.02


class LossIsNan(Exception):
    """The training's own."""


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(delivery, "SECONDS_BETWEEN", 0.05)
    # The first answer of a server waits for all that it imports.
    monkeypatch.setattr(delivery, "ANSWER_SECONDS", 60.0)
    monkeypatch.setattr(running, "CLOSES_WITHIN_SECONDS", 60.0)


def told(caller: Caller, event: str, at: datetime, **given: Any) -> None:
    """What the scheduler says of the job."""
    body = {"cluster": "atlas", "raw_id": "4711", "event": event, "at": at.isoformat()}
    held = {"allocations": [{"node": "gpu-01", "gpus": 8}]}
    assert caller.post("jobs", body | held | given).status_code == 200


def environ(url: str, secret: str, spool: Path) -> dict[str, str]:
    return {
        "RUNRATE_URL": url,
        "RUNRATE_TOKEN": secret,
        "RUNRATE_SPOOL": str(spool),
        "SLURM_JOB_ID": "4711",
        "SLURM_CLUSTER_NAME": "atlas",
    }


def steps(run: runrate.Run, count: int) -> None:
    for _ in range(count):
        with run.step(tokens=100):
            time.sleep(STEP_SECONDS)


def attempt(env: dict[str, str], goes_on_from: int | None) -> None:
    """Ten steps, of which five are kept by a checkpoint; then the loss is no number."""
    with runrate.run(workload="pretrain", name="base-7b", environ=env) as run:
        if goes_on_from is not None:
            run.restored(goes_on_from)
        steps(run, 5)
        run.good_checkpoint(4 if goes_on_from is None else goes_on_from + 4, metric=2.5)
        steps(run, 5)
        raise LossIsNan


def test_a_run_that_failed_twice_is_told_whole(live_server: Any, tmp_path: Path) -> None:
    make.make_organisation()
    team = make.make_team()
    node(since=datetime.now(UTC) - timedelta(hours=1))
    machine = Caller(make.make_token("jobs").secret)
    token = make.make_token("runs", team_id=team)
    began = datetime.now(UTC) - timedelta(seconds=2)
    submitted = began - timedelta(seconds=3)
    told(machine, "start", began, submitted_at=submitted.isoformat())
    env = environ(live_server.url, token.secret, tmp_path)

    with pytest.raises(LossIsNan):
        attempt(env, None)
    time.sleep(0.1)
    with pytest.raises(LossIsNan):
        attempt(env, 5)
    told(machine, "end", datetime.now(UTC), submitted_at=submitted.isoformat(), state="FAILED")
    fold_runs()

    summary = RunSummary.objects.select_related("run__workload").get()
    assert summary.run.workload is not None
    assert (summary.run.workload.name, summary.run.workload.team_id) == ("pretrain", team)
    assert (summary.status, summary.attempts, summary.jobs, summary.gpus) == ("failed", 2, 1, 8)
    assert (summary.steps, summary.tokens, summary.redone_tokens) == (15, 1500, 500)
    assert (summary.good_checkpoints, summary.last_good_step, summary.dropped) == (2, 9, 0)
    spent = {
        bucket: sum(hour.bucket_ms[bucket] for hour in RunHour.objects.filter(job_key__gt=0))
        for bucket in Bucket
    }
    step_ms = 5 * STEP_SECONDS * 1000
    for bucket in (Bucket.PRODUCTIVE, Bucket.LOST, Bucket.FAILED):
        assert spent[bucket] >= step_ms - 5
    assert spent[Bucket.STARTUP] >= 2000
    assert spent[Bucket.RECOVERY] >= 100
    span = RunSpan.objects.get().period
    assert abs(sum(spent.values()) - (span.upper - span.lower) / timedelta(milliseconds=1)) <= 1
    (waited,) = [hour.bucket_ms for hour in RunHour.objects.filter(job_key=0)]
    assert waited[Bucket.CAPACITY_WAIT] == pytest.approx(3000, abs=2)


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), float("-inf")])
def test_a_loss_that_is_no_number_arrives_and_what_follows_is_diverged(
    live_server: Any, tmp_path: Path, loss: float
) -> None:
    make.make_organisation()
    node(since=datetime.now(UTC) - timedelta(hours=1))
    told(Caller(make.make_token("jobs").secret), "start", datetime.now(UTC))
    env = environ(live_server.url, make.make_token("runs").secret, tmp_path)
    with runrate.run(name="base-7b", environ=env) as run:
        steps(run, 5)
        run.score("loss", 2.5, higher_is_better=False)
        run.score("loss", loss, higher_is_better=False)
        # What is told of a time before the report is one window, and not wrong.
        run.good_checkpoint(4)
        steps(run, 5)
    fold_runs()
    assert RunSummary.objects.get().dropped == 0
    assert list(RunScore.objects.order_by("part").values_list("value", flat=True)) == [2.5, None]
    spent = {
        bucket: sum(hour.bucket_ms[bucket] for hour in RunHour.objects.filter(job_key__gt=0))
        for bucket in Bucket
    }
    step_ms = 5 * STEP_SECONDS * 1000
    assert spent[Bucket.DIVERGED] >= step_ms - 5
    assert spent[Bucket.PRODUCTIVE] >= step_ms - 5


def test_a_server_that_is_gone_costs_the_run_nothing_and_hears_of_it_later(
    live_server: Any, tmp_path: Path
) -> None:
    secret = make.make_token("runs").secret
    gone = environ("http://127.0.0.1:9", secret, tmp_path)
    with runrate.run(name="base-7b", environ=gone) as run:
        began = time.perf_counter()
        for _ in range(5_000):
            with run.step(tokens=1):
                pass
        assert time.perf_counter() - began < 2
    assert not RunSummary.objects.exists()

    with runrate.run(name="base-7b", environ=environ(live_server.url, secret, tmp_path)):
        pass
    fold_runs()
    assert RunSummary.objects.get().tokens + RunSummary.objects.get().redone_tokens == 5_000
    assert not list(tmp_path.glob("*.json.gz"))
