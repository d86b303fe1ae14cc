"""POST jobs, POST jobs/bulk, GET jobs/{id}."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.authentication import needs
from apps.economics.jobs import JobEventIn, JobSource
from apps.fleet.actions.not_understood import Unread, count_not_understood
from apps.web.rest.bodies import json_body
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import Parameters
from apps.web.rest.views import RestView
from apps.workloads import queries
from apps.workloads.actions.recording import Recorded, record_event, record_events
from apps.workloads.api.holding import serialize_holding
from apps.workloads.api.job_scope import job_teller
from apps.workloads.api.naming import NameResolver
from apps.workloads.api.rows import RowFault, RowsTakenOut, TooManyRows
from apps.workloads.api.shapes import HeldOut, JobEventOut, JobOut, JobsAsked
from apps.workloads.api.wire import (
    BodyUnreadable,
    EventIn,
    EventUnreadable,
    Fault,
    fault_of,
    read_event,
    remarks_on,
)
from apps.workloads.queries import listing
from apps.workloads.queries.job_row_errors import GPUS_LEFT_OUT

MOST_EVENTS = 5_000


class BulkUnreadable(BodyUnreadable):
    """A bulk that cannot be taken apart into events."""

    asks = 'send {"events": […]}'


class TooManyEvents(TooManyRows):
    """A bulk holds more events than one transaction should."""


class ClusterOfAnotherToken(Exception):
    """A token that is bound to one cluster, or one node, speaks for no other."""


class JobOutcomeOut(serializers.Serializer[Any]):
    """The job that an event is of, its state after it, and whether the event changed it."""

    job = serializers.IntegerField()
    state = serializers.CharField()
    changed = serializers.BooleanField()


class JobRowOut(JobOutcomeOut):
    """The outcome of one event of a bulk."""

    row = serializers.IntegerField()


class EventRemark(RowFault):
    """A remark on what a kept event left out, and what that means; `row` is its place in a bulk."""

    row = serializers.IntegerField(allow_null=True)


class RecordedOut(JobOutcomeOut):
    """The outcome of one event."""

    remarks = EventRemark(many=True)


class BulkOut(RowsTakenOut):
    """The outcome of a bulk: good rows are kept, bad ones listed."""

    results = JobRowOut(many=True)
    errors = RowFault(many=True)  # type: ignore[assignment]  # the wire's word
    remarks = EventRemark(many=True)


class JobDetailOut(JobOut):
    """One attempt of a job as it is known now, with what it held and what was stated of it."""

    labels = serializers.DictField(child=serializers.CharField())
    allocations = HeldOut(many=True)
    events = JobEventOut(many=True, help_text="the first 200")


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


class Jobs(RestView):
    """Jobs as they are known, and what a scheduler, its accounting or an agent states of one."""

    counted_as = "events"
    row = JobOut

    def get_permissions(self) -> list[BasePermission]:
        """Who reads may ask; telling of jobs needs a scope of its own."""
        return [needs("jobs")()] if self.request.method == "POST" else super().get_permissions()

    @extend_schema(
        operation_id="list_jobs", parameters=[JobsAsked, *PAGES], responses=list_of(JobOut)
    )
    def get(self, request: Request) -> Response:
        """The jobs of the caller's teams, those recorded last first.

        Where rules must be asked for each job a page may be short and still have a next one.
        """
        query, called = JobsAsked.of(request), NameResolver(self.viewer())
        wanted = listing.JobsWanted(
            team_ids=called.team_ids(query.pop("team", None)),
            workload_ids=called.workload_ids(query.pop("workload", None)),
            starts_at=query.pop("since", None),
            ends_at=query.pop("until", None),
            **query,
        )
        page = listing.job_page(wanted, called.viewer, parse_page_request(request))
        return paged(request, page, lambda row: serialize_job(row, called))

    @extend_schema(
        operation_id="record_job", request={"application/json": EVENT}, responses=RecordedOut
    )
    def post(self, request: Request) -> Response:
        """Take one event; the same one again changes nothing."""
        at = timezone.now()
        event = read_event(json_body(request), at=at)
        teller = job_teller(request)
        for fault in teller.faults({0: event}).values():
            raise ClusterOfAnotherToken(fault.message)
        recorded = record_event(event=event, at=at, agent=teller.agent)
        if recorded.refusal:
            raise ClusterOfAnotherToken(teller.refusal(event, recorded.refusal).message)
        remarks = _remarks_counted({None: event}, at)
        return Response({**_serialize_recorded(recorded), "remarks": remarks})


class JobsInBulk(APIView):
    """Up to MOST_EVENTS events at once."""

    counted_as = "events"
    permission_classes = (needs("jobs"),)

    @extend_schema(
        operation_id="record_jobs", request={"application/json": BULK}, responses=BulkOut
    )
    def post(self, request: Request) -> Response:
        """Take the events that can be read and say by row why the others cannot."""
        at = timezone.now()
        raws = _raw_events(json_body(request))
        read = {row: _read_row(row, raw, at) for row, raw in enumerate(raws)}
        good = {row: one for row, one in read.items() if isinstance(one, JobEventIn)}
        faults = {row: one for row, one in read.items() if isinstance(one, Fault)}
        teller = job_teller(request)
        faults |= teller.faults(good)
        good = {row: event for row, event in good.items() if row not in faults}
        recorded = dict(
            zip(
                good, record_events(events=[*good.values()], at=at, agent=teller.agent), strict=True
            )
        )
        faults |= {
            row: teller.refusal(good[row], record.refusal, row)
            for row, record in recorded.items()
            if record.refusal
        }
        results = [
            {"row": row, **_serialize_recorded(record)}
            for row, record in recorded.items()
            if row not in faults
        ]
        return Response(
            {
                "accepted": len(results),
                "changed": sum(1 for record in recorded.values() if record.is_changed),
                "results": results,
                "errors": [faults[row].document() for row in sorted(faults)],
                "remarks": _remarks_counted(
                    {row: event for row, event in good.items() if row not in faults}, at
                ),
            }
        )


class JobDetail(RestView):
    """One job."""

    @extend_schema(operation_id="job", responses=JobDetailOut)
    def get(self, request: Request, job_id: int) -> Response:
        """A job that turned out to be another answers as that other.

        A job of another team is as if there were none.
        """
        Parameters.of(request)
        job, called = queries.job(job_id), NameResolver(self.viewer())
        owner = queries.NOBODY if job is None else _owner_of_job(job)
        if job is None or not called.viewer.sees_team(owner.team_id):
            raise ObjectDoesNotExist(f"there is no job {job_id}")
        fields = {name: getattr(job, name) for name in job.__slots__}
        fields |= {
            "team": called.team(owner.team_id),
            "workload": called.workload(owner.workload_id),
            "allocations": [serialize_holding(row) for row in listing.allocations_of_job(job.id)],
            "events": [_serialize_event(row) for row in listing.job_events(job.id)],
        }
        return Response(JobDetailOut(fields).data)


def serialize_job(row: dict[str, Any], called: NameResolver) -> dict[str, Any]:
    """A job of a list as it is answered."""
    owner = row["owner"]
    fields = {
        **row,
        "cluster": row["cluster__name"],
        "team": called.team(owner.team_id),
        "workload": called.workload(owner.workload_id),
    }
    return serialize_as(JobOut, fields)


def _owner_of_job(job: queries.JobFact) -> queries.OwnerFact:
    since = job.started_at or job.submitted_at or timezone.now()
    return queries.owners([job.id], since)[job.id]


def _serialize_event(row: dict[str, Any]) -> dict[str, Any]:
    names_by_rank = {int(source): source.name.lower() for source in JobSource}
    return {**row, "source": names_by_rank.get(row["source_rank"])}


def _raw_events(body: bytes) -> list[msgspec.Raw]:
    try:
        bulk = _BULK.decode(body)
    except msgspec.DecodeError as refused:
        raise BulkUnreadable(fault_of(str(refused))) from refused
    if len(bulk.events) > MOST_EVENTS:
        raise TooManyEvents(len(bulk.events), "events", MOST_EVENTS)
    return bulk.events


class _Bulk(msgspec.Struct, forbid_unknown_fields=True):
    events: list[msgspec.Raw]


_BULK = msgspec.json.Decoder(_Bulk)


def _read_row(row: int, raw: msgspec.Raw, at: datetime) -> JobEventIn | Fault:
    try:
        return read_event(raw, at=at, row=row)
    except EventUnreadable as refused:
        return refused.fault


def _remarks_counted(events: Mapping[int | None, JobEventIn], at: datetime) -> list[dict[str, Any]]:
    """Return what kept events left out that their costs depend on: as answered, and counted by cluster."""
    event_faults = [
        (event, fault) for row, event in events.items() for fault in remarks_on(event, row)
    ]
    count_not_understood(
        unread=[
            Unread("jobs", GPUS_LEFT_OUT, place=event.cluster, example=event.raw_id)
            for event, _ in event_faults
        ],
        at=at,
    )
    return [fault.document() for _, fault in event_faults]


def _serialize_recorded(recorded: Recorded) -> dict[str, Any]:
    return {
        "job": recorded.job_id,
        "state": recorded.state,
        "changed": recorded.is_changed,
    }
