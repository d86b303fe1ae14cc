"""POST usage-events: calls to model APIs, as vendors answered, gateways logged or spans tell them.

What was asked and answered is dropped on receipt: the decoders skip it, and no body is logged.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, ClassVar, TypeVar

import msgspec
from django.http import HttpResponse, HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.authentication import needs
from apps.accounts.queries import Scope, TokenFact
from apps.files.limits import BodyKind
from apps.fleet.actions.not_understood import Unread, count_not_understood
from apps.web.rest.bodies import GzipUnreadable, inflated
from apps.web.rest.body_limits import most_bytes_of
from apps.web.rest.views import RestView
from apps.workloads.actions.usage import Call, take_calls
from apps.workloads.api.rows import RowFault, TooManyRows
from apps.workloads.api.set_aside import read_spans_again, set_aside
from apps.workloads.api.usage_litellm import read_payload, rows_of
from apps.workloads.api.usage_otel import read_span, spans_of
from apps.workloads.api.usage_otlp import PROTOBUF, spans_in_protobuf, traces_answer
from apps.workloads.api.usage_owners import Owners
from apps.workloads.api.usage_wire import MOST_CALLS, UsageEventIn, read_event
from apps.workloads.api.wire import BodyUnreadable, Fault, fault_of

JSON = frozenset({"application/json"})
LINES = JSON | {"application/x-ndjson", "application/ndjson", "application/jsonl", "text/plain"}

DOORS_COUNTED = {"rest": "calls", "litellm": "litellm", "otel": "spans"}
"""By source, the door under which is counted what is not understood."""

Row = TypeVar("Row")
Reading = tuple[Call | Fault, Sequence[Fault]]
"""The call of a row or why it is none, and what of the row was not understood."""


class UsageUnreadable(BodyUnreadable):
    """A body that cannot be taken apart into calls."""

    asks = "the body"


class TooManyCalls(TooManyRows):
    """More calls than one transaction should hold."""


class UsageTakenOut(serializers.Serializer[Any]):
    """The result of a request: good rows are kept, bad ones listed."""

    accepted = serializers.IntegerField()
    new = serializers.IntegerField(help_text="of the accepted: those not sent before")
    errors = RowFault(many=True)  # type: ignore[assignment]  # the wire's word
    remarks = RowFault(many=True, help_text="rows that were kept, and what of them was not known")


def _event_schema() -> dict[str, Any]:
    _, parts = msgspec.json.schema_components([UsageEventIn], ref_template="{name}")
    event: dict[str, Any] = dict(parts["UsageEventIn"])
    event["properties"] = dict(event["properties"])
    event["properties"]["at"] = {
        "description": "RFC 3339 with an offset, or seconds since 1970",
        "anyOf": [
            {"type": "string", "format": "date-time"},
            {"type": "number"},
            {"type": "null"},
        ],
        "default": None,
    }
    event["properties"]["response"] = {
        "description": "the vendor's response as it came; only ids, model, time, tier and counts "
        "are read",
        "anyOf": [{"type": "object"}, {"type": "null"}],
        "default": None,
    }
    return event


EVENTS = {
    "type": "object",
    "required": ["events"],
    "properties": {
        "events": {"type": "array", "maxItems": MOST_CALLS, "items": _event_schema()},
    },
}
PAYLOADS = {
    "type": "array",
    "items": {"type": "object", "description": "a StandardLoggingPayload"},
}
SPANS = {
    "type": "object",
    "description": "an ExportTraceServiceRequest",
    "properties": {"resourceSpans": {"type": "array", "items": {"type": "object"}}},
}


class UsageDoor(RestView):
    """A door for calls: gateways and applications tell, with the scope `usage`."""

    counted_as = "events"
    body = BodyKind.USAGE
    source: ClassVar[str]

    def get_permissions(self) -> list[BasePermission]:
        """Those who tell of calls: they say what teams are charged."""
        return [needs(Scope.USAGE)()]

    def taken(
        self,
        request: Request,
        media_types: frozenset[str],
        split: Callable[[bytes], Sequence[Row]],
        read: Callable[[Row, Owners, datetime, int, str], Reading],
    ) -> Response:
        """Return what became of a body that is `split` into rows, each `read`; good ones are kept."""
        at = timezone.now()
        team_id = request.auth.team_id if isinstance(request.auth, TokenFact) else None
        # Under its source each key counts once.
        owners, source = Owners(team_id), f"{self.source}:{team_id or 0}"
        body = _usage_body(request, media_types)
        try:
            rows = split(body)
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as refused:
            raise UsageUnreadable(fault_of(str(refused))) from refused
        if len(rows) > MOST_CALLS:
            raise TooManyCalls(len(rows), "calls", MOST_CALLS)
        readings = [read(row, owners, at, place, source) for place, row in enumerate(rows)]
        answer = _answer_after_keeping(readings, at)
        if unread := list(_unread(readings, DOORS_COUNTED[self.source])):
            count_not_understood(unread=unread, at=at)
        self.after(rows, readings, owners, source, at)
        return answer

    def after(
        self,
        rows: Sequence[Any],
        readings: Sequence[Reading],
        owners: Owners,
        source: str,
        at: datetime,
    ) -> None:
        """Do what else there is to do with rows that came; most doors do nothing."""


class UsageEvents(UsageDoor):
    """Calls in the shapes of their vendors, or counted."""

    source = "rest"

    @extend_schema(
        operation_id="record_usage_events",
        request={"application/json": EVENTS},
        responses=UsageTakenOut,
    )
    def post(self, request: Request) -> Response:
        """Take calls in a list, or one by itself; of two with one key the one that says more counts."""
        return self.taken(request, JSON, _raw_events, read_event)


class LiteLlmEvents(UsageDoor):
    """The events that LiteLLM's `generic_api` callback sends."""

    source = "litellm"

    @extend_schema(
        operation_id="record_litellm_events",
        request={"application/json": PAYLOADS},
        responses=UsageTakenOut,
    )
    def post(self, request: Request) -> Response:
        """Take a JSON array, lines of JSON, or one payload; sent again they change nothing."""
        return self.taken(request, LINES, rows_of, read_payload)


class OtelEvents(UsageDoor):
    """Spans with `gen_ai.*` attributes, as an OTLP/HTTP exporter sends them."""

    source = "otel"

    def after(
        self,
        rows: Sequence[Any],
        readings: Sequence[Reading],
        owners: Owners,
        source: str,
        at: datetime,
    ) -> None:
        """Set aside what was not understood, and read again what was set aside before."""
        set_aside(rows, readings, source, at)
        read_spans_again(source, owners, at)

    @extend_schema(
        operation_id="record_otel_spans",
        request={"application/json": SPANS, PROTOBUF: OpenApiTypes.BINARY},
        responses={200: UsageTakenOut, (200, PROTOBUF): OpenApiTypes.BINARY},
    )
    def post(self, request: Request) -> HttpResponseBase:
        """Take the spans that are calls to a model; other spans are left aside.

        In JSON or in protobuf; protobuf is answered with an ExportTraceServiceResponse.
        """
        if _media_type(request) != PROTOBUF:
            return self.taken(request, JSON, spans_of, read_span)
        taken = self.taken(request, frozenset({PROTOBUF}), spans_in_protobuf, read_span)
        return HttpResponse(
            traces_answer(taken.data["errors"], taken.data["remarks"]), content_type=PROTOBUF
        )


def _answer_after_keeping(readings: Sequence[Reading], at: datetime) -> Response:
    """Return what became of the rows, after the good ones are kept."""
    rows = [(place, call) for place, (call, _) in enumerate(readings) if isinstance(call, Call)]
    taken = take_calls(calls=[call for _, call in rows], at=at)
    remarks = [remark for call, remarks in readings if isinstance(call, Call) for remark in remarks]
    contradictions = [
        Fault(contradiction.field, contradiction.message, rows[place][0])
        for place, contradiction in taken.contradictions
    ]
    return Response(
        {
            "accepted": len(rows),
            "new": taken.new,
            "errors": [fault.document() for fault, _ in readings if isinstance(fault, Fault)],
            "remarks": [remark.document() for remark in (*remarks, *contradictions)],
        }
    )


def _unread(readings: Sequence[Reading], door: str) -> Iterable[Unread]:
    """Yield what of the rows no table has, with the key of the call or the span that had it."""
    for call, remarks in readings:
        key = call.key if isinstance(call, Call) else call.example
        for fault in (call, *remarks):
            if isinstance(fault, Fault) and fault.is_unread:
                yield Unread(door, fault.field, example=key)


class _Events(msgspec.Struct, forbid_unknown_fields=True):
    events: list[msgspec.Raw]


_EVENTS = msgspec.json.Decoder(_Events)
_LIST = msgspec.json.Decoder(list[msgspec.Raw])


def _raw_events(body: bytes) -> list[msgspec.Raw]:
    if body.lstrip().startswith(b"["):
        return _LIST.decode(body)
    if b'"events"' in body[:200]:
        return _EVENTS.decode(body).events
    return [msgspec.json.decode(body, type=msgspec.Raw)]


def _media_type(request: Request) -> str:
    return (request.content_type or "").partition(";")[0].strip().lower()


def _usage_body(request: Request, media_types: frozenset[str]) -> bytes:
    """The body, unpacked; the length was bounded before anything was read."""
    if _media_type(request) not in media_types:
        raise UnsupportedMediaType(_media_type(request))
    # Not `body`, which ends at the size of a form: a gateway sends the prompts too.
    sent = bytes(request.read())
    if request.headers.get("Content-Encoding", "").strip().lower() != "gzip":
        return sent
    try:
        return inflated(sent, most_bytes_of(BodyKind.USAGE))
    except GzipUnreadable as refused:
        raise UsageUnreadable(Fault("", str(refused))) from refused
