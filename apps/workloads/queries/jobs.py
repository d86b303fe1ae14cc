"""Jobs by the keys that processes carry, their tags, and one job for whoever asks."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models.fields.json import KeyTextTransform

from apps.economics.spans import END_OF_TIME
from apps.fleet.queries import clusters
from apps.workloads.models import Job, RunSpan

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class JobSpan:
    """A key was this job's between these moments, in whole minutes."""

    job_id: int
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class JobFact:
    """One attempt of a job as it is known now."""

    id: int
    cluster: str
    raw_id: str
    restart_count: int
    state: str
    submitted_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    name: str
    user: str
    account: str
    partition: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Submitter:
    """The name that a job bears at its scheduler: what a rule for it would most likely ask.

    The partition is told where nothing else is.
    """

    cluster_id: int
    cluster: str
    account: str
    namespace: str
    user: str
    partition: str = ""


def has_jobs() -> bool:
    """Whether any job is known."""
    return Job.objects.exists()


def is_run_in_cluster(run_id: int, cluster_id: int) -> bool:
    """Whether a job of this cluster carried the run."""
    return RunSpan.objects.filter(run_id=run_id, job__cluster_id=cluster_id).exists()


def job(job_id: int) -> JobFact | None:
    """One job; for one that turned out to be another, that other."""
    row = Job.objects.filter(id=job_id).values_list("merged_into_id", *_JOB_COLUMNS).first()
    if row is None:
        return None
    merged_into, *columns = row
    return job(merged_into) if merged_into is not None else JobFact(*columns)


def jobs(job_ids: Collection[int]) -> dict[int, JobFact]:
    """These jobs by id, each as itself."""
    rows = Job.objects.filter(id__in=job_ids).values_list(*_JOB_COLUMNS)
    return {fact.id: fact for fact in (JobFact(*row) for row in rows)}


def attempts_from(job_id: int) -> list[JobFact]:
    """This attempt of a job and those after it: its scheduler began it again under its number. By restart; none: no such job."""
    first = Job.objects.filter(id=job_id).first()
    if first is None:
        return []
    if first.merged_into_id is not None:
        return attempts_from(first.merged_into_id)
    rows = Job.objects.filter(
        cluster_id=first.cluster_id,
        raw_id=first.raw_id,
        merged_into=None,
        opened_at__gte=first.opened_at,
        restart_count__gte=first.restart_count,
    ).order_by("restart_count", "opened_at", "id")
    job_facts: list[JobFact] = []
    for row in rows.values_list(*_JOB_COLUMNS):
        attempt = JobFact(*row)
        # A number that is used again begins anew with no restart.
        if job_facts and attempt.restart_count <= job_facts[-1].restart_count:
            continue
        job_facts.append(attempt)
    return job_facts


_JOB_COLUMNS = ["cluster__name" if name == "cluster" else name for name in JobFact.__slots__]


def jobs_of_keys(
    keys: Mapping[int, str], starts_at: datetime, ends_at: datetime
) -> dict[int, list[JobSpan]]:
    """The jobs that each key (`scheduler/cluster/raw id`) stood for in `[starts_at, ends_at)`.

    A scheduler uses its ids again: a minute belongs to the attempt that began last. A key that no
    job bore then is left out.
    """
    ids = {fact.name: cluster_id for cluster_id, fact in clusters().items()}
    named: dict[tuple[int, str], list[int]] = {}
    for holder_id, text in keys.items():
        _, _, remainder = text.partition("/")
        cluster, _, raw_id = remainder.partition("/")
        if cluster in ids and raw_id:
            named.setdefault((ids[cluster], raw_id), []).append(holder_id)
    spans_by_key = _job_spans_by_key(named, starts_at, ends_at)
    return {
        holder_id: spans
        for key, key_spans in spans_by_key.items()
        if (spans := _spans_by_minute(key_spans, starts_at, ends_at))
        for holder_id in named[key]
    }


def jobs_labelled(
    key: str, values: Collection[str], *, since: datetime
) -> dict[str, list[JobFact]]:
    """Jobs that began at `since` or later with a label of one of these values, the first to begin first, by value."""
    if not values:
        return {}
    rows = Job.objects.filter(
        started_at__gte=since, merged_into=None, **{f"labels__{key}__in": list(values)}
    )
    jobs_by_value: dict[str, list[JobFact]] = {}
    for row in rows.order_by("started_at", "id").values_list(*_JOB_COLUMNS):
        fact = JobFact(*row)
        jobs_by_value.setdefault(fact.labels[key], []).append(fact)
    return jobs_by_value


def values_of_label(key: str, *, since: datetime) -> Iterator[str]:
    """Each value once that the label has on jobs that began at `since` or later, read as they are asked for."""
    labelled = Job.objects.filter(started_at__gte=since, merged_into=None, labels__has_key=key)
    values = labelled.order_by().values_list(KeyTextTransform(key, "labels"), flat=True)
    return values.distinct().iterator(chunk_size=1_000)


def tags_of_jobs(job_ids: Collection[int]) -> dict[int, dict[str, str]]:
    """The labels costs may be grouped by, of each job that has any."""
    allowed: tuple[str, ...] = settings.TAG_KEYS
    rows = Job.objects.filter(id__in=job_ids, labels__has_any_keys=list(allowed))
    return {
        job_id: {key: labels[key] for key in allowed if key in labels}
        for job_id, labels in rows.values_list("id", "labels")
    }


def users_of_jobs(job_ids: Collection[int]) -> dict[int, str]:
    """Return whose each of these jobs is, as its scheduler names people; those of nobody are left out."""
    named = Job.objects.filter(id__in=job_ids).exclude(user="")
    return dict(named.values_list("id", "user"))


def submitters(job_ids: Collection[int]) -> dict[int, Submitter]:
    """By job."""
    rows = Job.objects.filter(id__in=job_ids).order_by("id")
    columns = ("id", "cluster_id", "cluster__name", "account", "namespace", "user", "partition")
    return {job_id: _submitter_of_job(row) for job_id, *row in rows.values_list(*columns)}


def _submitter_of_job(row: Sequence[Any]) -> Submitter:
    cluster_id, cluster, account, namespace, user, partition = row
    is_named = account or namespace or user
    return Submitter(cluster_id, cluster, account, namespace, user, "" if is_named else partition)


def _job_spans_by_key(
    keys: Iterable[tuple[int, str]], starts_at: datetime, ends_at: datetime
) -> dict[tuple[int, str], list[JobSpan]]:
    pairs = list(keys)
    spans_by_key: dict[tuple[int, str], list[JobSpan]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT job.cluster_id, job.raw_id, job.id,
                   coalesce(job.started_at, job.opened_at), job.ended_at
            FROM unnest(%s::int8[], %s::text[]) AS key (cluster_id, raw_id)
            JOIN workloads_job AS job USING (cluster_id, raw_id)
            WHERE job.merged_into_id IS NULL
              AND coalesce(job.started_at, job.opened_at) < %s
              AND (job.ended_at IS NULL OR job.ended_at >= %s)
            ORDER BY 1, 2, 4, job.restart_count, job.id
            """,
            [[pair[0] for pair in pairs], [pair[1] for pair in pairs], ends_at, starts_at],
        )
        for cluster_id, raw_id, job_id, since, until in cursor:
            span = JobSpan(
                job_id, _minute_floor(since), _minute_ceiling(until) if until else END_OF_TIME
            )
            spans_by_key.setdefault((cluster_id, raw_id), []).append(span)
    return spans_by_key


def _spans_by_minute(
    job_spans: list[JobSpan], starts_at: datetime, ends_at: datetime
) -> list[JobSpan]:
    """Cut the attempts, given in order of their start, so that each minute has one."""
    if len(job_spans) == 1:
        only = job_spans[0]
        since, until = max(only.starts_at, starts_at), min(only.ends_at, ends_at)
        return [JobSpan(only.job_id, since, until)] if since < until else []
    edges = {starts_at, ends_at}
    for span in job_spans:
        edges |= {edge for edge in (span.starts_at, span.ends_at) if starts_at < edge < ends_at}
    spans: list[JobSpan] = []
    ordered = sorted(edges)
    for since, until in pairwise(ordered):
        bearers = [
            job_span
            for job_span in job_spans
            if job_span.starts_at <= since and until <= job_span.ends_at
        ]
        if not bearers:
            continue
        if spans and spans[-1].job_id == bearers[-1].job_id and spans[-1].ends_at == since:
            since = spans.pop().starts_at
        spans.append(JobSpan(bearers[-1].job_id, since, until))
    return spans


def _minute_floor(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


def _minute_ceiling(moment: datetime) -> datetime:
    floor = _minute_floor(moment)
    return floor if floor == moment else floor + MINUTE
