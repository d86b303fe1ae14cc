"""When jobs carried a run, as its own reports say."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from apps.economics.spans import END_OF_TIME, joined_spans, spans_without
from apps.workloads.queries.run_fold_facts import AttemptOnJob, CarriedSpan, FoldJobRow

Span = tuple[datetime, datetime]


def reported(
    run_id: int,
    on_jobs: Sequence[AttemptOnJob],
    jobs: Mapping[int, FoldJobRow],
    stated: Sequence[CarriedSpan],
) -> list[CarriedSpan]:
    """When each job carried the run, without what is stated of the job itself; by job and time.

    Of an attempt is the time from its start (the job's, for the first on it) until something of
    another run begins there after it, else until the job's end.
    """
    carried_spans: list[CarriedSpan] = []
    for job_id, job in sorted(jobs.items()):
        of_job = [on_job for on_job in on_jobs if on_job.job_id == job_id]
        spans = joined_spans(
            [_carried_span(attempt, of_job, job) for attempt in of_job if attempt.run_id == run_id]
        )
        stated_spans = [
            (span.starts_at, span.ends_at or END_OF_TIME)
            for span in stated
            if span.job_id == job_id
        ]
        for starts_at, ends_at in spans_without(spans, sorted(stated_spans)):
            last = None if ends_at == END_OF_TIME else ends_at
            carried_spans.append(CarriedSpan(job_id, starts_at, last))
    return carried_spans


def _carried_span(attempt: AttemptOnJob, of_job: Sequence[AttemptOnJob], job: FoldJobRow) -> Span:
    starts_at = attempt.began_at
    if attempt is of_job[0] and job.started_at is not None:
        starts_at = min(starts_at, job.started_at)
    after = (
        other.began_at
        for other in of_job
        if other.run_id != attempt.run_id and other.began_at >= attempt.until
    )
    return starts_at, min(job.ended_at or END_OF_TIME, min(after, default=END_OF_TIME))
