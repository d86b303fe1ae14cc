"""The cost of one run, by where its time went, by day and by job."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

from apps.accounts import queries as accounts
from apps.accounts.queries import Viewer
from apps.economics.hours import first_hour
from apps.economics.money import sum_of_known
from apps.economics.run_time import Bucket
from apps.ledger.queries.kinds import Status
from apps.marks.queries import days_marked_of
from apps.unit_economics.queries.runs.list import run_rows
from apps.unit_economics.queries.runs.numbers import five_numbers
from apps.unit_economics.queries.runs.spent import RunCostPart, parts_of_runs
from apps.unit_economics.queries.runs.values import (
    RunAmounts,
    RunAnatomy,
    RunBucket,
    RunCost,
    RunDayCost,
    RunJobCost,
    RunRow,
)
from apps.workloads.queries.run_picture import RunJobFact, jobs_of_run

Key = TypeVar("Key", date, int, Bucket)


def run_costs(run_id: int, viewer: Viewer) -> RunAnatomy | None:
    """One run that the viewer may see; None where there is none."""
    run = _visible_runs([run_id], viewer).get(run_id)
    return None if run is None else _anatomy_of_run(run, viewer)


def runs_compared(run_ids: Sequence[int], viewer: Viewer) -> tuple[RunCost, ...]:
    """Those of these runs that the viewer may see, in the order asked."""
    visible_runs = _visible_runs(run_ids, viewer)
    parts = parts_of_runs(list(visible_runs))
    return tuple(
        RunCost(**_run_cost_fields(visible_runs[run_id], parts[run_id]))
        for run_id in dict.fromkeys(run_ids)
        if run_id in visible_runs
    )


def added(amounts: Iterable[RunAmounts]) -> RunAmounts:
    """The sum of what is known of each."""
    parts = list(amounts)
    sums = {
        name: sum_of_known(getattr(part, name) for part in parts) for name in RunAmounts.__slots__
    }
    return RunAmounts(**{name: total for name, total in sums.items() if total is not None})


def _visible_runs(run_ids: Sequence[int], viewer: Viewer) -> dict[int, RunRow]:
    rows_by_id = run_rows(list(run_ids))
    return {run_id: run for run_id, run in rows_by_id.items() if viewer.sees_team(run.team_id)}


def _run_cost_fields(run: RunRow, parts: Sequence[RunCostPart]) -> dict[str, Any]:
    """Return the fields that every RunCost has."""
    statuses = {part.status for part in parts}
    return {
        "run": run,
        "currency": accounts.organisation().currency,
        "amounts": added(part.amounts for part in parts),
        "status": next((status for status in Status.values if status in statuses), None),
        "numbers": five_numbers(run),
        "buckets": _buckets_of_parts(parts),
    }


def _anatomy_of_run(run: RunRow, viewer: Viewer) -> RunAnatomy:
    parts = parts_of_runs([run.id])[run.id]
    jobs = jobs_of_run(run.id, {part.job_id for part in parts}, viewer)
    return RunAnatomy(
        **_run_cost_fields(run, parts),
        as_of=run.computed_at,
        pending_days=_pending_days(parts, accounts.organisation().zone),
        days=tuple(
            RunDayCost(day, added(part.amounts for part in of), _buckets_of_parts(of))
            for day, of in _parts_by(parts, lambda part: part.day)
        ),
        jobs=_costs_of_jobs(jobs, parts),
        held_by=tuple(jobs),
    )


def _parts_by(
    parts: Sequence[RunCostPart], key: Callable[[RunCostPart], Key]
) -> list[tuple[Key, list[RunCostPart]]]:
    groups: dict[Key, list[RunCostPart]] = {}
    for part in parts:
        groups.setdefault(key(part), []).append(part)
    return sorted(groups.items(), key=lambda group: group[0])


def _buckets_of_parts(parts: Sequence[RunCostPart]) -> tuple[RunBucket, ...]:
    return tuple(
        RunBucket(bucket, added(part.amounts for part in of))
        for bucket, of in _parts_by(parts, lambda part: part.bucket)
    )


def _costs_of_jobs(
    jobs: Iterable[RunJobFact], parts: Sequence[RunCostPart]
) -> tuple[RunJobCost, ...]:
    """Those that carried it and those that cost it, in the order in which they began."""
    of_job = dict(_parts_by(parts, lambda part: part.job_id))
    job_costs = [_job_cost(job, of_job.get(job.fact.id, [])) for job in jobs]
    return tuple(sorted(job_costs, key=_start_order))


def _job_cost(job: RunJobFact, parts: Sequence[RunCostPart]) -> RunJobCost:
    fact = job.fact
    return RunJobCost(
        job_id=fact.id if job.is_seen else None,
        raw_id=fact.raw_id if job.is_seen else None,
        restart_count=fact.restart_count,
        state=fact.state,
        started_at=fact.started_at,
        ended_at=fact.ended_at,
        amounts=added(part.amounts for part in parts),
        buckets=_buckets_of_parts(parts),
    )


def _start_order(job: RunJobCost) -> tuple[bool, float, int]:
    started_at: datetime | None = job.started_at
    return started_at is None, started_at.timestamp() if started_at else 0.0, job.job_id or 0


def _pending_days(parts: Sequence[RunCostPart], zone: str) -> int:
    """How many of its days wait to be summed or divided, of a pool that it ran on."""
    days = {first_hour(part.day, zone) for part in parts}
    pools = {pool_id for part in parts for pool_id in part.pool_ids}
    return days_marked_of(days, pools)
