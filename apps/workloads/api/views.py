"""POST jobs, POST jobs/bulk, GET jobs/{id}."""

from datetime import datetime
from typing import Any

import msgspec
from django.core.exceptions import ObjectDoesNotExist, RequestDataTooBig
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.authentication import needs
from apps.accounts.queries import Viewer
from apps.accounts.rest.strict import Parameters
from apps.accounts.rest.views import RestView
from apps.economics.jobs import JobEventIn
from apps.fleet.queries import cluster_of_token, clusters
from apps.workloads import queries
from apps.workloads.actions.recording import Recorded, record_event, record_events
from apps.workloads.api import examples
from apps.workloads.api.wire import EventIn, EventUnreadable, Fault, fault_of, read_event

MOST_EVENTS = 5_000


class BulkUnreadable(ValueError):
    """A bulk that cannot be taken apart into events; `errors` says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f'send {{"events": […]}}: {fault.message}')
        self.errors = [fault.document()]


class TooManyEvents(ValueError):
    """A bulk holds more events than one transaction should."""


class BodyTooLarge(ValueError):
    """More bytes than the server takes at once."""


class ClusterOfAnotherToken(Exception):
    """A token that is bound to one cluster speaks for no other."""


class JobOut(serializers.Serializer[Any]):
    """What became of one event."""

    job = serializers.IntegerField()
    state = serializers.CharField()
    changed = serializers.BooleanField()


class JobRowOut(JobOut):
    """What became of one event of a bulk."""

    row = serializers.IntegerField()


class RowFault(serializers.Serializer[Any]):
    """Why an event of a bulk was not taken."""

    field = serializers.CharField()
    row = serializers.IntegerField()
    message = serializers.CharField()


class BulkOut(serializers.Serializer[Any]):
    """What became of a bulk: good rows are kept, bad ones listed."""

    accepted = serializers.IntegerField()
    changed = serializers.IntegerField()
    results = JobRowOut(many=True)
    errors = RowFault(many=True)  # type: ignore[assignment]  # the wire's word


class JobDetailOut(serializers.Serializer[Any]):
    """One attempt of a job as it is known now."""

    id = serializers.IntegerField()
    cluster = serializers.CharField()
    raw_id = serializers.CharField()
    restart_count = serializers.IntegerField()
    state = serializers.CharField()
    submitted_at = serializers.DateTimeField(allow_null=True)
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    name = serializers.CharField()
    user = serializers.CharField()
    account = serializers.CharField()
    partition = serializers.CharField()
    labels = serializers.DictField(child=serializers.CharField())


def _event_schema() -> dict[str, Any]:
    """The wire's own types as JSON schema, written out in one piece."""
    _, parts = msgspec.json.schema_components([EventIn], ref_template="{name}")
    event: dict[str, Any] = dict(parts["EventIn"])
    for choice in event["properties"]["allocations"]["anyOf"]:
        if "items" in choice:
            choice["items"] = parts["AllocationIn"]
    return event


EVENT = _event_schema()
BULK = {
    "type": "object",
    "required": ["events"],
    "properties": {"events": {"type": "array", "maxItems": MOST_EVENTS, "items": EVENT}},
}


class Jobs(APIView):
    """What a scheduler, its accounting or an agent states of one job."""

    counted_as = "events"
    permission_classes = (needs("jobs"),)

    @extend_schema(
        operation_id="record_job",
        request={"application/json": EVENT},
        responses=JobOut,
        examples=[examples.EVENT, examples.RECORDED],
    )
    def post(self, request: Request) -> Response:
        """Take one event; the same one again changes nothing."""
        at = timezone.now()
        event = read_event(_body(request), at=at)
        own = _own_cluster(request)
        if own is not None and event.cluster != own:
            raise ClusterOfAnotherToken(_foreign(own, event.cluster))
        return Response(_result(record_event(event=event, at=at)))


class JobsInBulk(APIView):
    """Up to MOST_EVENTS events at once."""

    counted_as = "events"
    permission_classes = (needs("jobs"),)

    @extend_schema(
        operation_id="record_jobs",
        request={"application/json": BULK},
        responses=BulkOut,
        examples=[examples.BULK, examples.BULK_RECORDED],
    )
    def post(self, request: Request) -> Response:
        """Take the events that can be read and say by row why the others cannot."""
        at = timezone.now()
        own = _own_cluster(request)
        read = [_read(row, raw, own, at) for row, raw in enumerate(_raw_events(_body(request)))]
        good = {row: one for row, one in enumerate(read) if isinstance(one, JobEventIn)}
        recorded = record_events(events=list(good.values()), at=at)
        results = [{"row": row, **_result(each)} for row, each in zip(good, recorded, strict=True)]
        return Response(
            {
                "accepted": len(good),
                "changed": sum(1 for each in recorded if each.is_changed),
                "results": results,
                "errors": [one.document() for one in read if isinstance(one, Fault)],
            }
        )


class JobDetail(RestView):
    """One job."""

    @extend_schema(operation_id="job", responses=JobDetailOut, examples=[examples.JOB])
    def get(self, request: Request, job_id: int) -> Response:
        """A job that turned out to be another answers as that other.

        A job of another team is as if there were none.
        """
        Parameters.of(request)
        found, viewer = queries.job(job_id), self.viewer()
        if found is None or not (viewer.sees_everything or _is_seen(found, viewer)):
            raise ObjectDoesNotExist(f"there is no job {job_id}")
        return Response(JobDetailOut(found).data)


def _is_seen(job: queries.JobFact, viewer: Viewer) -> bool:
    since = job.started_at or job.submitted_at or timezone.now()
    return viewer.sees_team(queries.owners([job.id], since)[job.id].team_id)


def _body(request: Request) -> bytes:
    media_type = (request.content_type or "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise UnsupportedMediaType(media_type)
    try:
        return bytes(request.body)
    except RequestDataTooBig as refused:
        raise BodyTooLarge("send the events in smaller bulks") from refused


def _own_cluster(request: Request) -> str | None:
    """The one cluster the caller may speak for; None: any."""
    token_id = getattr(request.auth, "id", None)
    cluster_id = None if token_id is None else cluster_of_token(token_id)
    return None if cluster_id is None else clusters()[cluster_id].name


def _raw_events(body: bytes) -> list[msgspec.Raw]:
    try:
        bulk = _BULK.decode(body)
    except msgspec.DecodeError as refused:
        raise BulkUnreadable(fault_of(str(refused))) from refused
    if len(bulk.events) > MOST_EVENTS:
        raise TooManyEvents(f"{len(bulk.events)} events are more than {MOST_EVENTS}")
    return bulk.events


class _Bulk(msgspec.Struct, forbid_unknown_fields=True):
    events: list[msgspec.Raw]


_BULK = msgspec.json.Decoder(_Bulk)


def _read(row: int, raw: msgspec.Raw, own: str | None, at: datetime) -> JobEventIn | Fault:
    try:
        event = read_event(raw, at=at, row=row)
    except EventUnreadable as refused:
        return refused.fault
    if own is not None and event.cluster != own:
        return Fault("cluster", _foreign(own, event.cluster), row)
    return event


def _foreign(own: str, other: str) -> str:
    return f"this token writes cluster {own}, not {other}"


def _result(recorded: Recorded) -> dict[str, Any]:
    return {
        "job": recorded.job_id,
        "state": recorded.state,
        "changed": recorded.is_changed,
    }
