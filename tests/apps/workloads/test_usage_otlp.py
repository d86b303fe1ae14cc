"""Spans as OpenTelemetry's own SDK exports them, in protobuf over HTTP, to a running server."""

import gzip
from typing import Any

import pytest
from django.core.cache import cache
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode
from rest_framework.test import APIClient

from apps.workloads.models import UsageEvent
from tests import make

DOOR = "/api/v1/usage-events/otel"
PROTOBUF = "application/x-protobuf"
CALL = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4.1",
    "gen_ai.response.id": "resp-1",
    "gen_ai.usage.input_tokens": 1200,
    "gen_ai.usage.output_tokens": 80,
    "gen_ai.input.messages": "the-canary-sings",
    "gen_ai.request.temperature": 0.2,
    "gen_ai.request.stop_sequences": ["a", "b"],
    "runrate.feature": "search",
}


def traced(exporter: SpanExporter) -> None:
    """An agent's span, a call in it, another that failed, and a database's span."""
    provider = TracerProvider(resource=Resource.create({"service.name": "answers"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("tests")
    with tracer.start_as_current_span("agent") as agent:
        agent.set_attribute("gen_ai.operation.name", "invoke_agent")
        with tracer.start_as_current_span("chat", attributes=CALL):
            pass
        failed = {name: CALL[name] for name in ("gen_ai.provider.name", "gen_ai.request.model")}
        with tracer.start_as_current_span("chat", attributes=failed) as call:
            call.set_status(Status(StatusCode.ERROR))
    with tracer.start_as_current_span("SELECT", attributes={"db.system": "postgresql"}):
        pass
    provider.shutdown()


class Answered(SpanExporter):
    """Keeps what became of each export."""

    def __init__(self, exporter: SpanExporter) -> None:
        self.exporter = exporter
        self.results: list[SpanExportResult] = []

    def export(self, spans: Any) -> SpanExportResult:
        self.results.append(self.exporter.export(spans))
        return self.results[-1]


@pytest.fixture
def secret() -> str:
    cache.clear()
    make.make_organisation()
    return make.make_token("usage", team_id=make.make_team()).secret


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
def test_the_sdk_as_it_comes_tells_its_calls(live_server, secret, compression) -> None:
    exporter = OTLPSpanExporter(
        endpoint=f"{live_server.url}{DOOR}",
        headers={"Authorization": f"Bearer {secret}"},
        compression=compression,
    )
    answered = Answered(exporter)
    traced(answered)
    assert answered.results == [SpanExportResult.SUCCESS] * 4
    ok, failed = UsageEvent.objects.order_by("outcome")
    assert (ok.vendor, ok.model, ok.response_id) == ("openai", "gpt-4.1", "resp-1")
    assert (ok.input_tokens, ok.output_tokens, ok.feature) == (1200, 80, "search")
    assert (failed.outcome, failed.feature, len(failed.key)) == ("refused", "answers", 32 + 1 + 16)


@pytest.fixture
def client(secret) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def exported() -> list[ReadableSpan]:
    kept = InMemorySpanExporter()
    traced(kept)
    return list(kept.get_finished_spans())


def encoded() -> ExportTraceServiceRequest:
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    return encode_spans(exported())


@pytest.mark.django_db
def test_in_protobuf_and_in_json_a_span_is_the_same_call(client) -> None:
    from google.protobuf.json_format import MessageToDict

    told = encoded()
    assert client.post(DOOR, told.SerializeToString(), content_type=PROTOBUF).status_code == 200
    in_json = MessageToDict(told)
    for each in in_json["resourceSpans"]:
        for span in each["scopeSpans"][0]["spans"]:
            # OTLP's JSON has ids in hex where protobuf's own has them in base64.
            span |= {name: bytes_of(span[name]).hex() for name in ("traceId", "spanId")}
    assert client.post(DOOR, in_json, format="json").json() == {
        "accepted": 2, "new": 0, "errors": [], "remarks": []
    }  # fmt: skip
    assert UsageEvent.objects.count() == 2


def bytes_of(text: str) -> bytes:
    from base64 import b64decode

    return b64decode(text)


@pytest.mark.django_db
def test_spans_that_cannot_be_kept_are_counted_in_the_answer(client) -> None:
    told = encoded()
    for span in told.resource_spans[0].scope_spans[0].spans:
        span.end_time_unix_nano = 2**63
    answer = client.post(DOOR, told.SerializeToString(), content_type=PROTOBUF)
    assert (answer.status_code, answer["Content-Type"]) == (200, PROTOBUF)
    said = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert said.rejected_spans == 2
    assert said.error_message
    assert not UsageEvent.objects.exists()


def of_counts(*tokens: int | float) -> bytes:
    """Calls of their own, each of so many tokens, as no SDK would tell them."""
    told = ExportTraceServiceRequest()
    spans = told.resource_spans.add().scope_spans.add().spans
    for place, each in enumerate(tokens):
        span = spans.add(span_id=bytes([place] * 8), trace_id=b"t" * 16)
        span.end_time_unix_nano = int(make.NOON.timestamp()) * 10**9
        span.attributes.add(key="gen_ai.request.model").value.string_value = "m"
        count = span.attributes.add(key="gen_ai.usage.input_tokens").value
        if isinstance(each, int):
            count.int_value = each
        else:
            count.double_value = each
    return told.SerializeToString()


@pytest.mark.django_db
def test_a_span_of_more_tokens_than_a_call_has_is_refused_and_the_others_kept(client) -> None:
    endless = (float("inf"), float("nan"), 1e300)
    body = of_counts(2**63 - 1, 7, -1, *endless, 8.0)
    answer = client.post(DOOR, body, content_type=PROTOBUF)
    said = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert said.rejected_spans == 5
    assert said.error_message == "usage: 9223372036854775807 is no count of one call"
    assert set(UsageEvent.objects.values_list("input_tokens", flat=True)) == {7, 8}


@pytest.mark.django_db
@pytest.mark.parametrize("body", [b"{}", b"\x0a\xff", gzip.compress(b"{", mtime=0)])
def test_what_is_no_protobuf_is_refused(client, body) -> None:
    answer = client.post(DOOR, body, content_type=PROTOBUF)
    assert (answer.status_code, answer.json()["status"]) == (400, 400)


def of_empty_spans(count: int) -> bytes:
    from opentelemetry.proto.trace.v1.trace_pb2 import Span

    told = ExportTraceServiceRequest()
    told.resource_spans.add().scope_spans.add().spans.extend([Span()] * count)
    return told.SerializeToString()


def of_a_long_text(length: int) -> bytes:
    told = ExportTraceServiceRequest()
    told.resource_spans.add().schema_url = " " * length
    return told.SerializeToString()


BULKY = {
    "bytes of protobuf": (of_a_long_text(9 * 2**20), PROTOBUF),
    "empty spans": (of_empty_spans(600_000), PROTOBUF),
    "empty spans in JSON": (
        b'{"resourceSpans":[{"scopeSpans":[{"spans":[%b{}]}]}]}' % (b"{}," * 2_000_000),
        "application/json",
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("what", BULKY)
def test_spans_that_would_fill_the_memory_are_refused_before_they_are_read(client, what) -> None:
    body, content_type = BULKY[what]
    sent = gzip.compress(body, 1)
    answer = client.post(DOOR, sent, content_type=content_type, HTTP_CONTENT_ENCODING="gzip")
    assert answer.status_code == 413
    assert "export fewer spans at once" in answer.json()["detail"]


@pytest.mark.django_db
def test_as_many_spans_as_a_collector_sends_at_once_are_taken(client) -> None:
    told = encoded()
    spans = told.resource_spans[0].scope_spans[0].spans
    several = list(spans)
    while len(spans) < 8_192:
        spans.extend(several)
    answer = client.post(DOOR, told.SerializeToString(), content_type=PROTOBUF)
    assert (answer.status_code, UsageEvent.objects.count()) == (200, 2)
