"""Runs folded by the hour from what they told and from the jobs that carried them."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import connection, transaction
from psycopg.types.range import Range

from apps.accounts.queries.facts import fields_of
from apps.economics.hours import HOUR, epoch_ms, from_epoch_ms, hour_of
from apps.economics.run_divergence import StepBack, WrongSpan, diverged_spans
from apps.economics.run_fold import (
    NO_JOB,
    CarrierSpan,
    ReportedAttempt,
    ReportedRun,
    ReportedWindow,
    Rewind,
    folded,
)
from apps.economics.spans import END_OF_TIME, joined_spans, spans_without
from apps.logs.changes import logged_pass
from apps.workloads.actions.run_spans import reported
from apps.workloads.actions.run_summing import RunSummaryInput, keep_summary, status_of
from apps.workloads.actions.touched_hours import TouchedHours
from apps.workloads.models import Allocation, RunHour, RunSpan, RunStatus, RunSummary
from apps.workloads.queries import run_fold_facts as facts
from apps.workloads.queries.run_fold_facts import (
    CarriedSpan,
    EventRow,
    FoldAttemptRow,
    HourRow,
)
from apps.workloads.queries.run_losses import losses_of

log = logging.getLogger(__name__)

Hours = Mapping[tuple[int, datetime], HourRow]


@dataclass(frozen=True, slots=True)
class _RunInputs(RunSummaryInput):
    """A run as it stands, with when it went back to a checkpoint.

    `rewinds` are from when on the run went on from which step, as which attempt says.
    """

    rewinds: Sequence[tuple[datetime, int, int]]

    def last_good(self, before: datetime | None = None) -> datetime | None:
        """When a checkpoint last passed."""
        moments = (
            checkpoint.at for checkpoint in self.good if before is None or checkpoint.at < before
        )
        return max(moments, default=None)


@logged_pass("fold_runs")
def fold_due_runs(*, at: datetime) -> int:
    """Fold every run of which something new is known; how many. A sweep does, at any time.

    One that cannot be folded is said in the log, and holds up no other.
    """
    count = 0
    for run_id in facts.runs_due(at):
        try:
            count += fold_run(run_id=run_id, at=at)
        except Exception:
            log.exception("run_not_folded run=%s", run_id)
    return count


@transaction.atomic
def fold_run(*, run_id: int, at: datetime) -> bool:
    """Fold a run up to `at`, from the first hour that may have changed; False: another does it.

    Writes which jobs carry it as it reports, its hours and its summary, and has the local days of
    the pools divided again where its jobs held nodes in hours that are over and came out otherwise.
    """
    summary = RunSummary.objects.select_for_update(skip_locked=True).filter(run_id=run_id).first()
    if summary is None:
        return False
    inputs = _run_inputs(run_id)
    since = _first_changed_hour(inputs, summary)
    stored_hours = facts.hours_since(run_id, since)
    folded_hours = _folded_hours(inputs, since, at)
    _write_hours(run_id, stored_hours, folded_hours)
    _mark_changed_hours(stored_hours, folded_hours, summary.folded_at, at)
    keep_summary(summary, inputs, at)
    return True


def _run_inputs(run_id: int) -> _RunInputs:
    attempts = facts.attempts_of(run_id)
    lowest = min((attempt.rank for attempt in attempts), default=0)
    lead = [attempt for attempt in attempts if attempt.rank == lowest]
    lead_ids = [attempt.id for attempt in lead]
    stated = facts.stated_spans(run_id)
    job_ids = {attempt.job_id for attempt in attempts if attempt.job_id is not None}
    jobs = facts.jobs_of(job_ids | {stated_span.job_id for stated_span in stated})
    spans = reported(run_id, facts.attempts_on(job_ids), jobs, stated)
    _keep_spans(run_id, spans)
    rewinds = _rewinds_of(lead, facts.events_of(lead_ids, "restored"))
    return _RunInputs(
        attempts=attempts,
        lead=lead,
        jobs=jobs,
        spans=[*stated, *spans],
        good=facts.events_of(lead_ids, "good_checkpoint"),
        status=status_of(lead, jobs),
        diverged=diverged_spans(
            losses_of(lead, [at for at, _, _ in rewinds]),
            [StepBack(at, step) for at, step, _ in rewinds],
        ),
        rewinds=rewinds,
    )


def _rewinds_of(
    lead: Sequence[FoldAttemptRow], restored: Sequence[EventRow]
) -> list[tuple[datetime, int, int]]:
    rewinds = [
        (attempt_row.began_at, attempt_row.first_step, attempt_row.id)
        for attempt_row in lead
        if attempt_row.first_step is not None
    ]
    return rewinds + [
        (event_row.at, event_row.step, event_row.attempt_id)
        for event_row in restored
        if event_row.step is not None
    ]


def _keep_spans(run_id: int, spans: Sequence[CarriedSpan]) -> None:
    if facts.reported_spans(run_id) == spans:
        return
    RunSpan.objects.filter(run_id=run_id, is_reported=True).delete()
    RunSpan.objects.bulk_create(
        RunSpan(
            run_id=run_id,
            job_id=span.job_id,
            period=Range(span.starts_at, span.ends_at),
            is_reported=True,
        )
        for span in spans
    )


def _first_changed_hour(inputs: _RunInputs, summary: RunSummary) -> datetime | None:
    """The first hour that may come out otherwise than last time; None: any.

    What is done again makes lost what was done before; a failure, going on after one, and a
    checkpoint of a failed run that passed, turn what was done since the last good checkpoint; with
    the first thing that an attempt tells, its time until then has become its start. What its loss
    says turns all that was done since it was wrong, or since it was taken for wrong.
    """
    if summary.folded_at is None:
        return None
    is_new = summary.told_at > summary.folded_at
    if is_new and summary.changed_from is None:
        return None
    changed = summary.changed_from if is_new and summary.changed_from else summary.folded_at
    moments = [changed, summary.folded_at, *_changed_by_loss(inputs.diverged, summary.diverged)]
    if is_new:
        moments += [
            attempt.began_at
            for attempt in inputs.lead
            if attempt.first_told_at is not None and attempt.first_told_at >= changed
        ]
        lead_ids = [attempt.id for attempt in inputs.lead]
        for at, step, _ in inputs.rewinds:
            if at >= changed:
                undone = facts.first_undone(lead_ids, step, at)
                moments += [] if undone is None else [undone]
    has_turned = summary.status != inputs.status or any(
        checkpoint.at >= changed for checkpoint in inputs.good
    )
    if has_turned and RunStatus.FAILED in (summary.status, inputs.status):
        began_at = [attempt.began_at for attempt in inputs.attempts]
        moments.append(inputs.last_good(changed) or min(began_at, default=changed))
    return hour_of(min(moments))


def _changed_by_loss(
    wrong_spans: Sequence[WrongSpan], stored_spans: Sequence[Range[datetime]]
) -> list[datetime]:
    """From when on the run is wrong otherwise than it was; nothing where it is not."""
    now = joined_spans((since, until or END_OF_TIME) for since, until in wrong_spans)
    before = joined_spans(
        (span.lower, span.upper or END_OF_TIME) for span in stored_spans if span.lower is not None
    )
    differences = spans_without(now, before) + spans_without(before, now)
    return [since for since, _ in differences]


def _folded_hours(
    inputs: _RunInputs, since: datetime | None, at: datetime
) -> dict[tuple[int, datetime], HourRow]:
    windows: dict[int, list[ReportedWindow]] = {}
    for attempt_id, row in facts.windows_of([attempt.id for attempt in inputs.lead], since):
        starts_at, ends_at, *values = row
        windows.setdefault(attempt_id, []).append(
            ReportedWindow(epoch_ms(starts_at), epoch_ms(ends_at), *values)
        )
    last_good = inputs.last_good()
    failed_after = 0 if last_good is None else epoch_ms(last_good)
    run_report = ReportedRun(
        attempts=[
            _reported_attempt(attempt, windows.get(attempt.id, ())) for attempt in inputs.lead
        ],
        held=[
            CarrierSpan(
                span.job_id, epoch_ms(span.starts_at), epoch_ms(min(span.ends_at or at, at))
            )
            for span in inputs.spans
            if span.starts_at < at
        ],
        rewinds=[Rewind(epoch_ms(moment), step, of) for moment, step, of in inputs.rewinds],
        waits=list(_queue_waits(inputs, at)),
        failed_after_ms=failed_after if inputs.status == RunStatus.FAILED else None,
        diverged=[(epoch_ms(since), epoch_ms(until or at)) for since, until in inputs.diverged],
    )
    return {
        (job, from_epoch_ms(hour)): HourRow(**asdict(sums) | {"bucket_ms": tuple(sums.bucket_ms)})
        for (job, hour), sums in folded(run_report, 0 if since is None else epoch_ms(since)).items()
    }


def _reported_attempt(row: FoldAttemptRow, windows: Sequence[ReportedWindow]) -> ReportedAttempt:
    return ReportedAttempt(
        id=row.id,
        job=row.job_id or NO_JOB,
        start_ms=epoch_ms(row.began_at),
        end_ms=epoch_ms(row.until),
        is_ended=row.ended_at is not None,
        first_told_ms=None if row.first_told_at is None else epoch_ms(row.first_told_at),
        windows=windows,
    )


def _queue_waits(inputs: _RunInputs, at: datetime) -> Iterable[tuple[int, int]]:
    """When the run's jobs were queued, of those that carried it from their start."""
    for job in inputs.jobs.values():
        if job.submitted_at is None or job.started_at is None:
            continue
        first = min((s.starts_at for s in inputs.spans if s.job_id == job.id), default=None)
        if first is not None and first <= job.started_at and job.submitted_at < job.started_at:
            yield epoch_ms(job.submitted_at), epoch_ms(min(job.started_at, at))


def _write_hours(run_id: int, stored_hours: Hours, folded_hours: Hours) -> None:
    removed = stored_hours.keys() - folded_hours.keys()
    new = {key: row for key, row in folded_hours.items() if stored_hours.get(key) != row}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            DELETE FROM workloads_runhour AS kept
            USING unnest(%s::int8[], %s::timestamptz[]) AS gone (job_key, hour)
            WHERE kept.run_id = %s AND kept.job_key = gone.job_key AND kept.hour = gone.hour
            """,
            [
                [job for job, _ in (*removed, *new)],
                [hour for _, hour in (*removed, *new)],
                run_id,
            ],
        )
    RunHour.objects.bulk_create(
        (
            RunHour(
                run_id=run_id,
                job_key=job,
                hour=hour,
                **fields_of(row) | {"bucket_ms": list(row.bucket_ms)},
            )
            for (job, hour), row in new.items()
        ),
        batch_size=500,
    )


def _mark_changed_hours(
    stored_hours: Hours, folded_hours: Hours, folded_at: datetime | None, at: datetime
) -> None:
    """Have the days divided again of hours that are over, and came out otherwise.

    An hour that was last folded before it was over was never marked.
    """
    changed = {
        (job, hour)
        for job, hour in stored_hours.keys() | folded_hours.keys()
        if job != NO_JOB
        and hour + HOUR <= at
        and (
            stored_hours.get((job, hour)) != folded_hours.get((job, hour))
            or (folded_at is not None and hour <= folded_at < hour + HOUR)
        )
    }
    if not changed:
        return
    hours_of: dict[int, list[datetime]] = {}
    for job, hour in changed:
        hours_of.setdefault(job, []).append(hour)
    touched = TouchedHours(at)
    _touch_allocations(touched, hours_of)
    touched.mark()


def _touch_allocations(touched: TouchedHours, hours_of: Mapping[int, Collection[datetime]]) -> None:
    rows = Allocation.objects.filter(job_id__in=list(hours_of), node__isnull=False)
    for job_id, node_id, period in rows.order_by("id").values_list("job_id", "node_id", "period"):
        for hour in hours_of[job_id]:
            since, until = max(hour, period.lower), min(hour + HOUR, period.upper or hour + HOUR)
            if since < until:
                touched.divide(node_id, since, until)
