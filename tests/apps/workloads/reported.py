"""Reports of training runs on a real database: minutes are after ten, as of jobs."""

from datetime import datetime
from typing import Any

from apps.economics.run_time import Bucket
from apps.workloads.actions.folding_runs import fold_due_runs
from apps.workloads.actions.run_jobs import join_waiting_attempts
from apps.workloads.models import Run, RunHour, RunSpan, RunSummary
from tests.apps.workloads.told import NOW
from tests.economics.job_statements import at

MINUTE_MS = 60_000


def ms(minutes: float) -> int:
    """As a report says a moment."""
    return int(at(minutes).timestamp() * 1000)


def window(
    since: float, until: float, first: int = 0, steps: int = 10, **given: Any
) -> dict[str, Any]:
    """Steps of 100 tokens that take all of it, unless something else is said."""
    told = {
        "starts_at_ms": ms(since),
        "ends_at_ms": ms(until),
        "steps": steps,
        "first_step": first,
        "last_step": first + steps - 1,
        "tokens": 100 * steps,
        "examples": steps,
        "flops": 0.0,
        "productive_ms": ms(until) - ms(since),
        "phases_ms": {},
        "step_times_ms": [],
    }
    return told | given


def good(minutes: float, step: int, metric: float | None = None) -> dict[str, Any]:
    """A checkpoint that passed."""
    return {"kind": "good_checkpoint", "at_ms": ms(minutes), "step": step, "metric": metric}


def score(minutes: float, value: float | None, step: int | None = None) -> dict[str, Any]:
    """The loss at a step; None: it is no finite number."""
    told = {"kind": "score", "at_ms": ms(minutes), "step": step, "metric": value}
    return told | {"name": "loss", "higher_is_better": False}


def report(*windows: dict[str, Any], began: float = 10, **given: Any) -> dict[str, Any]:
    """A report as the SDK sends it; `ended` in minutes."""
    ended = given.pop("ended", None)
    told = {
        "run": "base-7b",
        "workload": "",
        "attempt": f"a{began}",
        "rank": 0,
        "world_size": 8,
        "restarts": 0,
        "host": "gpu-01",
        "job": {"scheduler": "slurm", "raw_id": "4711", "cluster": "atlas"},
        "began_at_ms": ms(began),
        "ended_at_ms": None if ended is None else ms(ended),
        "status": "",
        "model": {},
        "tags": {},
        "sequence": 0,
        "windows": list(windows),
        "events": [],
        "dropped": 0,
    }
    return told | given


def fold(when: datetime = NOW) -> None:
    """What the sweep does."""
    join_waiting_attempts(at=when)
    fold_due_runs(at=when)


def minutes(run: str = "base-7b", *, job: str | None = None) -> dict[str, float]:
    """Where a run's time went, in minutes; `job` by raw id, None: all."""
    spent: dict[str, float] = {}
    for hour in RunHour.objects.filter(run__key=run):
        for bucket in Bucket:
            if hour.bucket_ms[bucket] and (job is None or _raw_id(hour.job_key) == job):
                told = hour.bucket_ms[bucket] / MINUTE_MS
                spent[bucket.name] = spent.get(bucket.name, 0) + told
    return spent


def _raw_id(job_key: int) -> str:
    span = RunSpan.objects.filter(job_id=job_key).select_related("job").first()
    return "" if span is None else span.job.raw_id


def summary(run: str = "base-7b") -> RunSummary:
    """What the run folded to."""
    return RunSummary.objects.get(run__key=run)


def spans(run: str = "base-7b") -> list[tuple[str, datetime, datetime | None]]:
    """Which jobs carried it, from when to when."""
    rows = RunSpan.objects.filter(run__key=run).select_related("job").order_by("period", "job_id")
    return [(row.job.raw_id, row.period.lower, row.period.upper) for row in rows]


def run_id(run: str = "base-7b") -> int:
    """By its name."""
    return Run.objects.get(key=run).id
