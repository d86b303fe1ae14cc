"""What one run cost, by where its time went, by day and by job."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, LiteralString, TypeVar

from apps.accounts import queries as accounts
from apps.accounts.queries import Viewer
from apps.economics.hours import first_hour
from apps.economics.money import sum_of_known
from apps.economics.run_time import Bucket
from apps.economics.states import Flag
from apps.ledger.queries.core_time import gpu_time
from apps.ledger.queries.kinds import Status
from apps.ledger.queries.tables import rows
from apps.marks.queries import days_marked_of
from apps.unit_economics.queries.runs.list import run_rows
from apps.unit_economics.queries.runs.numbers import five_numbers
from apps.unit_economics.queries.runs.values import (
    RunAmounts,
    RunAnatomy,
    RunBucket,
    RunCost,
    RunDayCost,
    RunJobCost,
    RunRow,
)
from apps.workloads import queries as workloads
from apps.workloads.queries import listing

Key = TypeVar("Key", date, int, Bucket)


@dataclass(frozen=True, slots=True)
class _Part:
    """What a run cost on a day, by a job, in a bucket, with one status."""

    day: date
    job_id: int
    bucket: Bucket
    status: str
    pool_ids: tuple[int, ...]
    amounts: RunAmounts


def run_costs(run_id: int, viewer: Viewer) -> RunAnatomy | None:
    """One run that the viewer may see; None where there is none."""
    run = _seen_runs([run_id], viewer).get(run_id)
    return None if run is None else _anatomy_of_run(run, viewer)


def runs_compared(run_ids: Sequence[int], viewer: Viewer) -> tuple[RunCost, ...]:
    """Those of these runs that the viewer may see, in the order asked."""
    seen = _seen_runs(run_ids, viewer)
    parts = _parts_of_runs(list(seen))
    return tuple(
        RunCost(**_whole_cost(seen[run_id], parts[run_id]))
        for run_id in dict.fromkeys(run_ids)
        if run_id in seen
    )


def added(amounts: Iterable[RunAmounts]) -> RunAmounts:
    """The sum of what is known of each."""
    parts = list(amounts)
    sums = {
        name: sum_of_known(getattr(part, name) for part in parts) for name in RunAmounts.__slots__
    }
    return RunAmounts(**{name: total for name, total in sums.items() if total is not None})


def _seen_runs(run_ids: Sequence[int], viewer: Viewer) -> dict[int, RunRow]:
    return run_rows(run_ids, None if viewer.sees_everything else viewer.team_ids)


def _whole_cost(run: RunRow, parts: Sequence[_Part]) -> dict[str, Any]:
    """What every RunCost has."""
    told = {each.status for each in parts}
    return {
        "run": run,
        "currency": accounts.organisation().currency,
        "amounts": added(each.amounts for each in parts),
        "status": next((status for status in Status.values if status in told), None),
        "numbers": five_numbers(run),
        "buckets": _buckets_of_parts(parts),
    }


def _anatomy_of_run(run: RunRow, viewer: Viewer) -> RunAnatomy:
    parts = _parts_of_runs([run.id])[run.id]
    return RunAnatomy(
        **_whole_cost(run, parts),
        as_of=run.computed_at,
        pending_days=_pending_days(parts, accounts.organisation().zone),
        days=tuple(
            RunDayCost(day, added(each.amounts for each in of), _buckets_of_parts(of))
            for day, of in _parts_by(parts, lambda each: each.day)
        ),
        jobs=_jobs_of_run(run, parts, viewer),
    )


def _parts_of_runs(run_ids: list[int]) -> dict[int, list[_Part]]:
    """The parts of each of these runs, also of one that has none."""
    found: dict[int, list[_Part]] = {run_id: [] for run_id in run_ids}
    for run_id, day, job_id, bucket, status, pool_ids, *amounts in rows(
        PARTS, {"runs": run_ids, "shared_idle": int(Flag.SHARED_IDLE)}
    ):
        part = _Part(day, job_id, Bucket(bucket), status, tuple(pool_ids), RunAmounts(*amounts))
        found[run_id].append(part)
    return found


def _parts_by(parts: Sequence[_Part], key: Callable[[_Part], Key]) -> list[tuple[Key, list[_Part]]]:
    groups: dict[Key, list[_Part]] = {}
    for each in parts:
        groups.setdefault(key(each), []).append(each)
    return sorted(groups.items(), key=lambda group: group[0])


def _buckets_of_parts(parts: Sequence[_Part]) -> tuple[RunBucket, ...]:
    return tuple(
        RunBucket(bucket, added(each.amounts for each in of))
        for bucket, of in _parts_by(parts, lambda each: each.bucket)
    )


def _jobs_of_run(run: RunRow, parts: Sequence[_Part], viewer: Viewer) -> tuple[RunJobCost, ...]:
    """Those that carried it and those that cost it, in the order in which they began."""
    known = {"id": run.id, "key": run.key, "workload_id": run.workload_id}
    (told,) = listing.runs_told([known], viewer)
    seen = set(told["jobs"])
    of_job = dict(_parts_by(parts, lambda each: each.job_id))
    facts = workloads.jobs(sorted(seen | set(of_job)))
    found = [_job_cost(facts, job_id, of_job.get(job_id, []), seen) for job_id in sorted(facts)]
    return tuple(sorted(found, key=_start_order))


def _job_cost(
    facts: Mapping[int, workloads.JobFact], job_id: int, parts: Sequence[_Part], seen: set[int]
) -> RunJobCost:
    fact, is_seen = facts[job_id], job_id in seen
    return RunJobCost(
        job_id=job_id if is_seen else None,
        raw_id=fact.raw_id if is_seen else None,
        restart_count=fact.restart_count,
        state=fact.state,
        started_at=fact.started_at,
        ended_at=fact.ended_at,
        amounts=added(each.amounts for each in parts),
        buckets=_buckets_of_parts(parts),
    )


def _start_order(job: RunJobCost) -> tuple[bool, float, int]:
    started_at: datetime | None = job.started_at
    return started_at is None, started_at.timestamp() if started_at else 0.0, job.job_id or 0


def _pending_days(parts: Sequence[_Part], zone: str) -> int:
    """How many of its days wait to be summed or divided, of a pool that it ran on."""
    days = {first_hour(each.day, zone) for each in parts}
    pools = {pool_id for each in parts for pool_id in each.pool_ids}
    return days_marked_of(days, pools)


# Idle that is shared out is in `loaded_micros` alone.
PARTS: LiteralString = """
SELECT run_id, day, job_id, bucket, status, array_agg(DISTINCT coalesce(pool_id, 0)),
       sum(list_micros) FILTER (WHERE is_charged)::int8,
       sum(contracted_micros) FILTER (WHERE is_charged)::int8,
       sum(effective_micros) FILTER (WHERE is_charged)::int8,
       sum(billed_micros) FILTER (WHERE is_charged)::int8,
       sum(marginal_micros) FILTER (WHERE is_charged)::int8,
       sum(effective_micros)::int8,
       coalesce(sum(unit_milliseconds) FILTER (WHERE is_charged AND is_gpu), 0)::int8,
       coalesce(sum(unpriced_milliseconds) FILTER (WHERE is_charged), 0)::int8,
       sum(energy_joules) FILTER (WHERE is_charged)
FROM (
    SELECT *, flags & %(shared_idle)s = 0 AS is_charged, <gpu> AS is_gpu
    FROM ledger_runday WHERE run_id = ANY(%(runs)s)
) AS part
GROUP BY run_id, day, job_id, bucket, status
ORDER BY run_id, day, job_id, bucket, status
""".replace("<gpu>", gpu_time())
