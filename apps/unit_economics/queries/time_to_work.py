"""How long work waits from its entry in the queue until GPUs do something useful for it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import LiteralString

from apps.economics.states import State
from apps.economics.waiting import Wait, WaitQuantile, wait_quantile
from apps.ledger.queries.tables import Row, rows
from apps.ledger.queries.windows import Window
from apps.workloads import queries as workloads

MOST_JOBS = 500
ENDED_RUNS = ("finished", "failed", "interrupted")


@dataclass(frozen=True, slots=True)
class FirstWork:
    """A run or a job: when it entered the queue, and when it first worked (None: it has not yet).

    `until` is then how far it is known to have waited, and `is_waiting` whether it waits still; it
    may have ended without, or have been observed no longer. `is_told`: its own SDK told of its first step; else it is the first
    minute in which a GPU of the job's was seen at work.
    """

    team_id: int | None
    workload_id: int | None
    entered_at: datetime
    worked_at: datetime | None
    until: datetime
    is_waiting: bool
    is_told: bool

    @property
    def wait(self) -> Wait:
        """From the one to the other, or so far."""
        return Wait((self.worked_at or self.until) - self.entered_at, self.worked_at is not None)


@dataclass(frozen=True, slots=True)
class Waits:
    """The waits of a workload's work: half of it, and nine in ten, worked within so long.

    `count` have worked, `told` of them by their own word; `waiting` wait still, and are in the
    quantiles as far as they have waited.
    """

    team_id: int | None
    workload_id: int | None
    count: int
    told: int
    waiting: int
    median: WaitQuantile
    ninth: WaitQuantile


def first_work(window: Window, team_ids: frozenset[int] | None, at: datetime) -> list[FirstWork]:
    """Return what entered the queue in the window, by entry; None: of every team.

    A run with an SDK is one; its jobs are not counted again. Of jobs without one, the newest 500
    that started, each looked for minute by minute, and the newest 500 that did not, of partitions
    in which jobs held GPUs.
    """
    params = {
        "from": window.starts_at,
        "to": window.ends_at,
        "is_all": team_ids is None,
        "teams": sorted(team_ids or ()),
        "active": int(State.ACTIVE),
        "unobserved": int(State.UNOBSERVED),
        "most": MOST_JOBS,
        "stopped": list(ENDED_RUNS),
    }
    entries = [
        FirstWork(team_id, workload_id, entered_at, worked_at, min(ended_at or at, at),
                  worked_at is None and ended_at is None, is_told)
        for team_id, workload_id, entered_at, worked_at, ended_at, is_told in rows(ENTERED, params)
    ]  # fmt: skip
    queued = (job for job in queued_jobs(window, MOST_JOBS) if job[1] >= window.starts_at)
    entries += _queued_jobs(list(queued), team_ids, at)
    possible = [work for work in entries if work.wait.length >= timedelta(0)]
    return sorted(possible, key=lambda entry: entry.entered_at)


def queued_jobs(window: Window, most: int | None) -> list[Row]:
    """Id, entry and end (None: it waits still) of jobs that were never let run and waited in the window.

    Of partitions in which jobs held GPUs in it; the newest `most`, None: all.
    """
    span = {"from": window.starts_at, "to": window.ends_at, "most": most}
    return rows(QUEUED, span)


def _queued_jobs(
    jobs: Sequence[Row], team_ids: frozenset[int] | None, at: datetime
) -> Iterator[FirstWork]:
    """Jobs that nobody let run, as whose they are by the rules of now: no line says it yet."""
    owners = workloads.owners([job_id for job_id, *_ in jobs], at) if jobs else {}
    for job_id, entered_at, ended_at in jobs:
        owner = owners[job_id]
        if team_ids is None or owner.team_id in team_ids:
            until = min(ended_at or at, at)
            yield FirstWork(
                owner.team_id, owner.workload_id, entered_at, None, until, ended_at is None, False
            )


def waits_of(work: Iterable[FirstWork]) -> list[Waits]:
    """By workload, those that wait the longest first."""
    by_workload: dict[tuple[int | None, int | None], list[FirstWork]] = {}
    for entry in work:
        by_workload.setdefault((entry.team_id, entry.workload_id), []).append(entry)
    waits = []
    for (team_id, workload_id), of in by_workload.items():
        count, reported_count, waiting, median, ninth = quantiles_of(of)
        waits.append(Waits(team_id, workload_id, count, reported_count, waiting, median, ninth))
    return sorted(waits, key=lambda wait: wait.median.length, reverse=True)


def quantiles_of(work: Sequence[FirstWork]) -> tuple[int, int, int, WaitQuantile, WaitQuantile]:
    """How many have worked, told of it, and wait still; within which time half and nine in ten worked.

    Refuses ValueError where there are none.
    """
    waits = [entry.wait for entry in work]
    median, ninth = wait_quantile(waits, 0.5), wait_quantile(waits, 0.9)
    if median is None or ninth is None:
        raise ValueError("nothing waited")
    worked = [entry for entry in work if entry.worked_at is not None]
    reported_count, waiting = (
        sum(entry.is_told for entry in worked),
        sum(entry.is_waiting for entry in work),
    )
    return len(worked), reported_count, waiting, median, ninth


TOLD: LiteralString = """
SELECT figured.team_id, figured.workload_id, told.submitted_at, first.worked_at,
       CASE WHEN told.status = ANY(%(stopped)s) THEN told.ended_at END, true
FROM workloads_runsummary_fact AS told
JOIN ledger_runfigures AS figured ON figured.run_id = told.run_id
CROSS JOIN LATERAL (
    SELECT min(progress.starts_at) AS worked_at
    FROM workloads_runattempt_fact AS attempt
    JOIN workloads_runprogress_fact AS progress ON progress.attempt_id = attempt.id
    WHERE attempt.run_id = told.run_id AND progress.productive_ms > 0
) AS first
WHERE told.submitted_at >= %(from)s AND told.submitted_at < %(to)s
  AND (%(is_all)s OR figured.team_id = ANY(%(teams)s))
"""
SEEN: LiteralString = """
WITH entered AS (
    SELECT job.id, job.submitted_at, job.started_at, job.ended_at
    FROM workloads_job_fact AS job
    WHERE job.started_at >= %(from)s AND job.submitted_at >= %(from)s
      AND job.submitted_at < %(to)s AND job.merged_into_id IS NULL
      AND NOT EXISTS (SELECT FROM workloads_runattempt_fact AS attempt WHERE attempt.job_id = job.id)
    ORDER BY job.started_at DESC, job.id DESC LIMIT %(most)s
)
SELECT line.team_id, line.workload_id, entered.submitted_at,
       CASE WHEN line.state = %(active)s THEN greatest(
           entered.started_at, line.hour + coalesce(minute.first, 0) * interval '1 minute') END,
       CASE WHEN line.state = %(active)s THEN entered.ended_at
            ELSE least(entered.ended_at, greatest(entered.started_at, dark.since)) END, false
FROM entered
CROSS JOIN LATERAL (
    SELECT hour, team_id, workload_id, state FROM ledger_line_fact
    WHERE job_id = entered.id AND state IS NOT NULL
      AND hour >= entered.started_at - interval '1 hour'
    ORDER BY state <> %(active)s, hour, id LIMIT 1
) AS line
LEFT JOIN LATERAL (
    SELECT min(place) AS first
    FROM workloads_allocation_fact AS held
    JOIN fleet_device_fact AS device ON device.node_id = held.node_id
     AND (held.device_uuids IS NULL OR device.uuid = ANY(held.device_uuids))
    JOIN telemetry_usagehour_fact AS used ON used.device_id = device.id AND used.hour = line.hour,
         generate_series(0, 59) AS place
    WHERE held.job_id = entered.id AND line.state = %(active)s AND get_byte(used.worked, place) > 0
      AND line.hour + (place + 1) * interval '1 minute' > entered.started_at
) AS minute ON true
LEFT JOIN LATERAL (
    SELECT min(hour) AS since FROM ledger_line_fact
    WHERE job_id = entered.id AND state = %(unobserved)s
      AND hour >= entered.started_at - interval '1 hour'
) AS dark ON line.state <> %(active)s
WHERE (%(is_all)s OR line.team_id = ANY(%(teams)s))
"""
ENTERED: LiteralString = "(" + TOLD + ") UNION ALL (" + SEEN + ")"
# A job that was never let run has no line, and holds nothing that would tell GPUs from cores.
QUEUED: LiteralString = """
WITH gpu_partition AS (
    SELECT DISTINCT job.cluster_id, job.partition
    FROM workloads_allocation_fact AS held JOIN workloads_job_fact AS job ON job.id = held.job_id
    WHERE held.gpus_numerator > 0 AND held.period && tstzrange(%(from)s, %(to)s)
)
SELECT job.id, job.submitted_at, job.ended_at
FROM workloads_job_fact AS job JOIN gpu_partition USING (cluster_id, partition)
WHERE job.started_at IS NULL AND job.merged_into_id IS NULL
  AND job.submitted_at < %(to)s AND (job.ended_at IS NULL OR job.ended_at > %(from)s)
  AND NOT EXISTS (SELECT FROM workloads_runattempt_fact AS attempt WHERE attempt.job_id = job.id)
ORDER BY job.submitted_at DESC, job.id DESC LIMIT %(most)s
"""
