"""OTLP/HTTP spans in protobuf, as most SDKs send them unless told otherwise: read as those in JSON.

The messages are OpenTelemetry's own, of `opentelemetry-proto`, and are loaded where such a body comes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from apps.web.rest.views import BodyTooLarge
from apps.workloads.api.span_names import is_read
from apps.workloads.api.usage_otel import CallSpan, OtelSpan, OtelStatus, SpanRead, calls_among

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import Span

PROTOBUF = "application/x-protobuf"
MOST_BYTES = 8 * 1024 * 1024
SPAN_TAG = b"\x12"
"""What a span begins with; the value of an attribute does too, and any byte may be it."""

MOST_TAGS = 500_000
"""Those of 8 MiB of spans as SDKs send them; an empty span is 2 bytes and 180 in memory."""


def spans_in_protobuf(body: bytes) -> list[CallSpan]:
    """Each span of an ExportTraceServiceRequest that is a call to a model; refuses ValueError, BodyTooLarge."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    _refuse_bulk(body)
    try:
        export_request = ExportTraceServiceRequest.FromString(body)
    except Exception as refused:  # protobuf's DecodeError is an Exception of its own
        raise ValueError(f"is no ExportTraceServiceRequest: {refused}") from refused
    return calls_among(
        SpanRead(_otel_span(span), dict(_read_values(span.attributes)), shared)
        for sender in export_request.resource_spans
        for shared in (dict(_read_values(sender.resource.attributes)),)
        for scope in sender.scope_spans
        for span in scope.spans
    )


def _refuse_bulk(body: bytes) -> None:
    """Refuse, before any of it is parsed, what would fill the memory."""
    if len(body) > MOST_BYTES:
        raise BodyTooLarge(
            f"{len(body):,} bytes of protobuf are more than {MOST_BYTES:,}: export fewer spans at once"
        )
    if body.count(SPAN_TAG) > MOST_TAGS:
        raise BodyTooLarge(f"more than {MOST_TAGS:,} spans and values: export fewer spans at once")


def traces_answer(
    faults: Sequence[Mapping[str, Any]], remarks: Sequence[Mapping[str, Any]]
) -> bytes:
    """An ExportTraceServiceResponse: how many spans were refused, and why the first was.

    Where none was, the first remark, which OTLP has as a message without a rejected span.
    """
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    answer = ExportTraceServiceResponse()
    if faults:
        answer.partial_success.rejected_spans = len(faults)
    for first in (*faults, *remarks)[:1]:
        answer.partial_success.error_message = f"{first['field']}: {first['message']}"
    return bytes(answer.SerializeToString())


def _otel_span(span: "Span") -> OtelSpan:
    return OtelSpan(
        traceId=span.trace_id.hex(),
        spanId=span.span_id.hex(),
        parentSpanId=span.parent_span_id.hex(),
        startTimeUnixNano=span.start_time_unix_nano,
        endTimeUnixNano=span.end_time_unix_nano,
        status=OtelStatus(span.status.code),
    )


def _read_values(attributes: Iterable["KeyValue"]) -> Iterator[tuple[str, Any]]:
    for attribute in attributes:
        if is_read(attribute.key):
            kind = attribute.value.WhichOneof("value")
            if kind in ("string_value", "int_value", "double_value"):
                yield attribute.key, getattr(attribute.value, kind)
