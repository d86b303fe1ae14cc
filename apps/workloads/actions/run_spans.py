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
    found: list[CarriedSpan] = []
    for job_id, job in sorted(jobs.items()):
        of_job = [each for each in on_jobs if each.job_id == job_id]
        spans = joined_spans(
            [_carried_span(each, of_job, job) for each in of_job if each.run_id == run_id]
        )
        said = [
            (each.starts_at, each.ends_at or END_OF_TIME)
            for each in stated
            if each.job_id == job_id
        ]
        for starts_at, ends_at in spans_without(spans, sorted(said)):
            last = None if ends_at == END_OF_TIME else ends_at
            found.append(CarriedSpan(job_id, starts_at, last))
    return found


def _carried_span(attempt: AttemptOnJob, of_job: Sequence[AttemptOnJob], job: FoldJobRow) -> Span:
    starts_at = attempt.began_at
    if attempt is of_job[0] and job.started_at is not None:
        starts_at = min(starts_at, job.started_at)
    after = (
        each.began_at
        for each in of_job
        if each.run_id != attempt.run_id and each.began_at >= attempt.until
    )
    return starts_at, min(job.ended_at or END_OF_TIME, min(after, default=END_OF_TIME))
