"""What jobs call a person, where that name was taken out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db import transaction
from django.db.models import Q, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from apps.accounts.queries.pseudonyms import pseudonyms_of
from apps.economics.jobs import JobEventIn, JobStatement
from apps.logs.changes import answered, logged_change
from apps.workloads.actions.statements import statement_of, told
from apps.workloads.models import Job, JobEvent

AT_ONCE = 2000


@logged_change(count=answered)
@transaction.atomic
def rename_users(*, written: Mapping[str, str]) -> int:
    """Write pseudonyms for these users, and where a label names them, in jobs and all that was said of them; how many jobs.

    Statements get the digest of what they say now: the same one from a scheduler, whose names are
    replaced as they arrive, still changes nothing.
    """
    named = Q(user__in=list(written)) | Q(events__content__user__in=list(written))
    for name in written:
        value = json.dumps(name, ensure_ascii=False)
        named |= Q(own_labels__contains=value) | Q(said_labels__contains=value)
    jobs = Job.objects.annotate(
        own_labels=Cast("labels", TextField()),
        said_labels=KeyTextTransform("labels", "events__content"),
    )
    ids = sorted(set(jobs.filter(named).values_list("id", flat=True)))
    for start in range(0, len(ids), AT_ONCE):
        _rename_some(ids[start : start + AT_ONCE], written)
    return len(ids)


def _rename_some(ids: Sequence[int], written: Mapping[str, str]) -> None:
    jobs = list(Job.objects.filter(id__in=ids).only("user", "labels"))
    for job in jobs:
        job.user = written.get(job.user, job.user)
        job.labels = {key: written.get(value, value) for key, value in job.labels.items()}
    Job.objects.bulk_update(jobs, ["user", "labels"], batch_size=AT_ONCE)
    events = list(JobEvent.objects.filter(job_id__in=ids))
    for event in events:
        kept = told(_renamed_statement(statement_of(json.dumps(event.content)), written))
        event.content, event.digest = json.loads(kept.content), kept.digest
    JobEvent.objects.bulk_update(events, ["content", "digest"], batch_size=AT_ONCE)


def with_pseudonyms(events: Sequence[JobEventIn]) -> Sequence[JobEventIn]:
    """The statements as they may be kept: people whose names were taken out by their pseudonyms."""
    names = {event.statement.user for event in events if event.statement.user}
    names |= {value for event in events for _, value in event.statement.labels}
    written = pseudonyms_of(names)
    if not written:
        return events
    return [
        replace(event, statement=_renamed_statement(event.statement, written)) for event in events
    ]


def _renamed_statement(statement: JobStatement, written: Mapping[str, str]) -> JobStatement:
    user = statement.user
    return replace(
        statement,
        user=written.get(user, user) if user is not None else None,
        labels=tuple((key, written.get(value, value)) for key, value in statement.labels),
    )
