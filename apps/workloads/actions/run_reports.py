"""Reports of training runs about themselves, taken once however often they are sent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple

import msgspec
from django.db import connection, transaction
from django.db.models import Q
from psycopg.types.json import Jsonb

from apps.accounts.queries.arriving import arriving_personal_fields, pseudonymise
from apps.economics.refusal import Refusal
from apps.fleet.queries import clusters
from apps.logs.changes import answered, logged_change
from apps.workloads.actions.report_shapes import (
    SCORE,
    RunEventIn,
    RunReportIn,
    RunWindowIn,
)
from apps.workloads.actions.run_changes import touch_runs
from apps.workloads.actions.run_jobs import join_attempts
from apps.workloads.actions.run_names import NamedRun, open_runs
from apps.workloads.models import Run, RunAttempt, Workload, WorkloadKind


@dataclass(frozen=True, slots=True)
class Reporter:
    """On whose word: a team (None: nobody's in particular), and the one cluster it may speak for."""

    team_id: int | None = None
    cluster_id: int | None = None


@dataclass(frozen=True, slots=True)
class ReportTaken:
    """The run and attempt that a report is of; unchanged where it had been taken before."""

    run_id: int
    attempt_id: int
    is_changed: bool


@logged_change(count=answered)
def record_reports(
    *, reports: Sequence[RunReportIn], teller: Reporter, at: datetime
) -> list[ReportTaken | Refusal]:
    """Take reports, in the order given; each answer is what became of it, or why it cannot be taken.

    An unknown run is opened. A team's word is of its own run of that name, and puts it into the
    workload it names, opened where the team has none of that name; anybody else's is of the run of
    its job's team, and its workload is kept as it was said. Reports of one attempt and sequence
    count once. Call it as often as they come: order is moot.
    """
    reports = _pseudonymised_reports(reports)
    # In one order, so that two deliveries never wait for each other.
    ordered = sorted(range(len(reports)), key=lambda i: (reports[i].run, reports[i].attempt, i))
    answers: dict[int, ReportTaken | Refusal] = {}
    with transaction.atomic():
        for place in ordered:
            answers[place] = _record_report(reports[place], teller, at)
    return [answers[place] for place in range(len(reports))]


def _pseudonymised_reports(reports: Sequence[RunReportIn]) -> Sequence[RunReportIn]:
    """Without names that were taken out: a run that was called by one goes on under what stands for it."""
    of_attempts = arriving_personal_fields(
        "workloads.runattempt", key="attempt", workload_named="workload"
    )
    clean_reports = pseudonymise(
        reports, of_attempts, arriving_personal_fields("workloads.run", key="run")
    )
    all_events = [event for report in clean_reports for event in report.events]
    scored = pseudonymise(all_events, arriving_personal_fields("workloads.runscore"))
    if scored is all_events:
        return clean_reports
    events = iter(scored)
    return [
        msgspec.structs.replace(report, events=tuple(islice(events, len(report.events))))
        for report in clean_reports
    ]


def _record_report(report: RunReportIn, teller: Reporter, at: datetime) -> ReportTaken | Refusal:
    cluster = clusters()[teller.cluster_id].name if teller.cluster_id is not None else None
    if cluster is not None and report.job.cluster not in ("", cluster):
        return Refusal(
            "job.cluster", f"this token writes cluster {cluster}, not {report.job.cluster}"
        )
    run = _run_of_report(report, teller, at)
    attempt_id, before = _keep_attempt(report, (run, teller), cluster or report.job.cluster, at)
    changes = [window.starts_at for window in _insert_windows(attempt_id, report)]
    changes += [event.at for event in _insert_events(attempt_id, report)]
    scores = _insert_scores(attempt_id, report)
    # What is better lower may say that the run is wrong since, or was not.
    changes += [score.at for score in scores if not score.higher_is_better]
    if before is None:
        changes.append(report.began_at)
    if report.ended_at is not None and (before is None or before.ended_at is None):
        changes.append(report.ended_at)
    if changes:
        if before is not None:
            # What lies between then and now was nobody's until now: it is this attempt's, untold.
            changes.append(before.heard_at)
        elif report.job.raw_id and join_attempts(attempt_ids=[attempt_id], at=at):
            run = RunAttempt.objects.values_list("run_id", flat=True).get(id=attempt_id)
        touch_runs({run: min(changes)}, at)
    return ReportTaken(run, attempt_id, bool(changes or scores))


def _run_of_report(report: RunReportIn, teller: Reporter, at: datetime) -> int:
    """The run that its attempt is of already; else that of its name, opened where there is none."""
    told_by = Q(team=None) if teller.team_id is None else Q(team_id=teller.team_id)
    attempts = RunAttempt.objects.filter(told_by, key=report.attempt, run__key=report.run)
    run_id = attempts.order_by("id").values_list("run_id", flat=True).first()
    if run_id is None:
        name = NamedRun(report.run, () if teller.team_id is None else (teller.team_id,))
        run_id = open_runs([name], at)[name]
    if teller.team_id is not None and report.workload_named:
        unplaced = Run.objects.filter(id=run_id, workload=None)
        if unplaced.exists():
            unplaced.update(workload=_open_workload(report.workload_named, teller.team_id))
    return run_id


def _open_workload(name: str, team_id: int) -> Workload:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO workloads_workload (team_id, name, kind) VALUES (%s, %s, %s)"
            " ON CONFLICT (team_id, name) DO NOTHING",
            [team_id, name, WorkloadKind.TRAINING],
        )
    return Workload.objects.get(team_id=team_id, name=name)


KEEPING = """
INSERT INTO workloads_runattempt AS kept (
    run_id, team_id, key, rank, world_size, restarts, host, scheduler, cluster_named, raw_id,
    workload_named, began_at, ended_at, heard_at, status, model, tags, first_step, last_step, dropped
) VALUES (
    %(run)s, %(team)s, %(key)s, %(rank)s, %(world_size)s, %(restarts)s, %(host)s, %(scheduler)s, %(cluster)s,
    %(raw_id)s, %(workload)s, %(began_at)s, %(ended_at)s, %(heard_at)s, %(status)s, %(model)s,
    %(tags)s, %(first_step)s, %(last_step)s, %(dropped)s
)
ON CONFLICT (run_id, key) DO UPDATE SET
    heard_at = greatest(kept.heard_at, excluded.heard_at),
    ended_at = coalesce(
        kept.ended_at,
        CASE WHEN excluded.ended_at IS NOT NULL
             THEN greatest(excluded.ended_at, kept.began_at) END
    ),
    status = CASE WHEN kept.ended_at IS NULL THEN excluded.status ELSE kept.status END,
    first_step = least(kept.first_step, excluded.first_step),
    last_step = greatest(kept.last_step, excluded.last_step),
    dropped = greatest(kept.dropped, excluded.dropped)
RETURNING id
"""


class _Before(NamedTuple):
    """An attempt as it was known."""

    ended_at: datetime | None
    heard_at: datetime


def _keep_attempt(
    report: RunReportIn, run_and_teller: tuple[int, Reporter], cluster: str, at: datetime
) -> tuple[int, _Before | None]:
    """Its id, of a run as somebody told it; what it was before, None where it is new."""
    run_id, teller = run_and_teller
    moments = [report.began_at, *(window.ends_at for window in report.windows)]
    moments += [event.at for event in report.events]
    moments += [] if report.ended_at is None else [report.ended_at]
    firsts = [window.first_step for window in report.windows if window.first_step is not None]
    lasts = [window.last_step for window in report.windows if window.last_step is not None]
    values: dict[str, Any] = {
        "run": run_id,
        "team": teller.team_id,
        "key": report.attempt,
        "rank": report.rank,
        "world_size": report.world_size,
        "restarts": report.restarts,
        "host": report.host,
        "scheduler": report.job.scheduler,
        "cluster": cluster,
        "raw_id": report.job.raw_id,
        "workload": report.workload_named,
        "began_at": report.began_at,
        "ended_at": report.ended_at,
        "heard_at": min(max(moments), max(at, report.began_at)),
        "status": report.status,
        "model": Jsonb(report.model),
        "tags": Jsonb(report.tags),
        "first_step": min(firsts, default=None),
        "last_step": max(lasts, default=None),
        "dropped": report.dropped,
    }
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT ended_at, heard_at FROM workloads_runattempt WHERE run_id = %s AND key = %s FOR UPDATE",
            [run_id, report.attempt],
        )
        earlier_row = cursor.fetchone()
        cursor.execute(KEEPING, values)
        (attempt_id,) = cursor.fetchone()
    return attempt_id, None if earlier_row is None else _Before(*earlier_row)


def _insert_windows(attempt_id: int, report: RunReportIn) -> list[RunWindowIn]:
    """Those that were not kept already."""
    rows = [
        (
            *(attempt_id, report.sequence, part, window.starts_at, window.ends_at, window.steps),
            *(window.first_step, window.last_step, window.tokens, window.examples, window.flops),
            *(window.productive_ms, Jsonb(window.phases_ms), list(window.step_times_ms)),
        )
        for part, window in enumerate(report.windows)
    ]
    return [report.windows[part] for part in _inserted_parts(WINDOWS, rows)]


WINDOWS = """
INSERT INTO workloads_runprogress (
    attempt_id, sequence, part, starts_at, ends_at, steps, first_step, last_step, tokens, examples,
    flops, productive_ms, phases_ms, step_times_ms
) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING RETURNING part
"""


def _insert_events(attempt_id: int, report: RunReportIn) -> list[RunEventIn]:
    rows = [
        (attempt_id, report.sequence, part, event.kind, event.at, event.step, event.metric)
        for part, event in enumerate(report.events)
        if event.kind != SCORE
    ]
    return [report.events[part] for part in _inserted_parts(EVENTS, rows)]


EVENTS = """
INSERT INTO workloads_runevent (attempt_id, sequence, part, kind, at, step, metric)
VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING RETURNING part
"""


def _insert_scores(attempt_id: int, report: RunReportIn) -> list[RunEventIn]:
    """Those that were not kept already."""
    rows = [
        (
            *(attempt_id, report.sequence, part, event.name.strip(), event.at, event.step),
            *(_finite(event.metric), event.higher_is_better),
        )
        for part, event in enumerate(report.events)
        if event.kind == SCORE
    ]
    return [report.events[part] for part in _inserted_parts(SCORES, rows)]


SCORES = """
INSERT INTO workloads_runscore (
    attempt_id, sequence, part, name, at, step, value, higher_is_better
) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING RETURNING part
"""


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _inserted_parts(statement: str, rows: Iterable[tuple[Any, ...]]) -> list[int]:
    parts: list[int] = []
    with connection.cursor() as cursor:
        for row in rows:
            cursor.execute(statement, row)
            parts += [part for (part,) in cursor.fetchall()]
    return parts
