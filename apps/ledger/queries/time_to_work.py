"""How long work waits from its entry in the queue until GPUs do something useful for it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import LiteralString

from apps.economics.states import State
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window

MOST_JOBS = 500


@dataclass(frozen=True, slots=True)
class FirstWork:
    """A run or a job: when it entered the queue, when it was let run, when it first worked.

    `is_told`: its own SDK told of its first step; else it is the first minute in which a GPU of the
    job's was seen at work.
    """

    team_id: int | None
    workload_id: int | None
    entered_at: datetime
    worked_at: datetime
    is_told: bool

    @property
    def waited(self) -> timedelta:
        """From the one to the other."""
        return self.worked_at - self.entered_at


@dataclass(frozen=True, slots=True)
class Waits:
    """The waits of a workload's work: how many, half of them, and nine in ten, at most so long."""

    team_id: int | None
    workload_id: int | None
    count: int
    told: int
    median: timedelta
    ninth: timedelta


def first_work(window: Window, team_ids: frozenset[int] | None) -> list[FirstWork]:
    """What entered the queue in the window and has worked since, by entry; None: of every team.

    A run with an SDK is one; its jobs are not counted again. Of jobs without one, the
    newest 500: each is looked for minute by minute.
    """
    params = {
        "from": window.starts_at,
        "to": window.ends_at,
        "is_all": team_ids is None,
        "teams": sorted(team_ids or ()),
        "active": int(State.ACTIVE),
        "most": MOST_JOBS,
    }
    found = [
        FirstWork(team_id, workload_id, entered_at, worked_at, is_told)
        for query, is_told in ((TOLD, True), (SEEN, False))
        for team_id, workload_id, entered_at, worked_at in rows(query, params)
        if worked_at >= entered_at
    ]
    return sorted(found, key=lambda each: each.entered_at)


def waits_of(work: Iterable[FirstWork]) -> list[Waits]:
    """By workload, those that wait the longest first."""
    by_workload: dict[tuple[int | None, int | None], list[FirstWork]] = {}
    for each in work:
        by_workload.setdefault((each.team_id, each.workload_id), []).append(each)
    found = [
        Waits(
            *key,
            count=len(of),
            told=sum(each.is_told for each in of),
            median=at_most([each.waited for each in of], 1, 2),
            ninth=at_most([each.waited for each in of], 9, 10),
        )
        for key, of in by_workload.items()
    ]
    return sorted(found, key=lambda each: each.median, reverse=True)


def at_most(waits: Iterable[timedelta], part: int, of: int) -> timedelta:
    """The smallest wait that so many parts of all are no longer than."""
    ordered = sorted(waits)
    return ordered[max(0, -(-len(ordered) * part // of) - 1)]


TOLD: LiteralString = """
SELECT figured.team_id, figured.workload_id, told.submitted_at, first.worked_at
FROM workloads_runsummary AS told
JOIN ledger_runfigures AS figured ON figured.run_id = told.run_id
CROSS JOIN LATERAL (
    SELECT min(progress.starts_at) AS worked_at
    FROM workloads_runattempt AS attempt
    JOIN workloads_runprogress AS progress ON progress.attempt_id = attempt.id
    WHERE attempt.run_id = told.run_id AND progress.productive_ms > 0
) AS first
WHERE told.submitted_at >= %(from)s AND told.submitted_at < %(to)s AND first.worked_at IS NOT NULL
  AND (%(is_all)s OR figured.team_id = ANY(%(teams)s))
ORDER BY told.run_id
"""
SEEN: LiteralString = """
WITH entered AS (
    SELECT job.id, job.submitted_at, job.started_at
    FROM workloads_job AS job
    WHERE job.started_at >= %(from)s AND job.submitted_at >= %(from)s
      AND job.submitted_at < %(to)s AND job.merged_into_id IS NULL
      AND NOT EXISTS (SELECT FROM workloads_runattempt AS attempt WHERE attempt.job_id = job.id)
    ORDER BY job.started_at DESC, job.id DESC LIMIT %(most)s
)
SELECT line.team_id, line.workload_id, entered.submitted_at,
       greatest(entered.started_at, line.hour + coalesce(minute.first, 0) * interval '1 minute')
FROM entered
CROSS JOIN LATERAL (
    SELECT hour, team_id, workload_id FROM ledger_line
    WHERE job_id = entered.id AND state = %(active)s
      AND hour >= entered.started_at - interval '1 hour'
    ORDER BY hour, id LIMIT 1
) AS line
LEFT JOIN LATERAL (
    SELECT min(place) AS first
    FROM workloads_allocation AS held
    JOIN fleet_device AS device ON device.node_id = held.node_id
     AND (held.device_uuids IS NULL OR device.uuid = ANY(held.device_uuids))
    JOIN telemetry_usagehour AS used ON used.device_id = device.id AND used.hour = line.hour,
         generate_series(0, 59) AS place
    WHERE held.job_id = entered.id AND get_byte(used.worked, place) > 0
      AND line.hour + (place + 1) * interval '1 minute' > entered.started_at
) AS minute ON true
WHERE (%(is_all)s OR line.team_id = ANY(%(teams)s))
ORDER BY entered.id
"""
