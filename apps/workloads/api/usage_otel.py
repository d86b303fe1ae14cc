"""OTLP/HTTP spans in JSON with `gen_ai.*` attributes; spans without them are left aside.

Messages ride on other attributes and on events, neither of which is read.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

import msgspec

from apps.economics.refusal import Refusal
from apps.web.rest.views import BodyTooLarge
from apps.workloads.actions.usage import Call
from apps.workloads.api.usage_counts import token_count
from apps.workloads.api.usage_owners import Owners
from apps.workloads.api.usage_wire import STANDARD, call_of, outcome_of_code, vendor_named
from apps.workloads.api.wire import Fault, fault_of

PROVIDERS = {
    "aws.bedrock": "aws",
    "az.ai.inference": "azure",
    "az.ai.openai": "azure",
    "azure.ai.inference": "azure",
    "azure.ai.openai": "azure",
    "gcp.gemini": "google",
    "gcp.gen_ai": "google",
    "gcp.vertex_ai": "google",
    "mistral_ai": "mistral",
    "x_ai": "x-ai",
}
READ = {
    "gen_ai.usage.input_tokens": "input_tokens",
    "gen_ai.usage.prompt_tokens": "input_tokens",
    "gen_ai.usage.output_tokens": "output_tokens",
    "gen_ai.usage.completion_tokens": "output_tokens",
    "gen_ai.usage.cache_read.input_tokens": "cache_read_tokens",
    "gen_ai.usage.cache_creation.input_tokens": "cache_write_tokens",
    "gen_ai.usage.reasoning.output_tokens": "output_reasoning_tokens",
}
WORDS = (
    *("gen_ai.provider.name", "gen_ai.system", "gen_ai.request.model", "gen_ai.response.model"),
    *("gen_ai.response.id", "gen_ai.openai.response.service_tier", "error.type"),
    *("http.response.status_code", "runrate.team", "runrate.workload", "runrate.feature"),
    *("openai.response.service_tier", "service.name"),
)
CALLS = frozenset({"chat", "text_completion", "generate_content", "embeddings", ""})
"""Operations that are a call to a model; an agent's or a tool's span only holds such."""


MOST_OBJECTS = 2_000_000
"""Those of 32 MiB of spans as exporters send them; of `{},` there would be eleven million."""


class Value(msgspec.Struct, frozen=True):
    """An attribute's value, of the kinds that are read."""

    stringValue: str | None = None  # noqa: N815  # OTLP's own spelling
    intValue: str | int | None = None  # noqa: N815  # OTLP's own spelling
    doubleValue: float | None = None  # noqa: N815  # OTLP's own spelling


class Attribute(msgspec.Struct, frozen=True):
    """A name and its value, which is decoded only where it is read."""

    key: str
    value: msgspec.Raw = msgspec.Raw(b"{}")


class OtelStatus(msgspec.Struct, frozen=True):
    """Code 2 is an error."""

    code: int | str = 0


class OtelSpan(msgspec.Struct, frozen=True):
    """What of a span is read."""

    traceId: str = ""  # noqa: N815  # OTLP's own spelling
    spanId: str = ""  # noqa: N815  # OTLP's own spelling
    startTimeUnixNano: str | int = 0  # noqa: N815  # OTLP's own spelling
    endTimeUnixNano: str | int = 0  # noqa: N815  # OTLP's own spelling
    attributes: list[Attribute] = []
    status: OtelStatus = OtelStatus()


class ScopeSpans(msgspec.Struct, frozen=True):
    """Spans of one instrumentation."""

    spans: list[OtelSpan] = []


class OtelResource(msgspec.Struct, frozen=True):
    """Who sends."""

    attributes: list[Attribute] = []


class ResourceSpans(msgspec.Struct, frozen=True):
    """Spans of one sender."""

    resource: OtelResource = OtelResource()
    scopeSpans: list[ScopeSpans] = []  # noqa: N815  # OTLP's own spelling


class Request(msgspec.Struct, frozen=True):
    """An ExportTraceServiceRequest."""

    resourceSpans: list[ResourceSpans] = []  # noqa: N815  # OTLP's own spelling


SpanFound: TypeAlias = tuple[OtelSpan, Mapping[str, Any] | Fault]
"""A span, with those of its attributes that are read or why they cannot be."""

_REQUEST = msgspec.json.Decoder(Request)
_VALUE = msgspec.json.Decoder(Value)
NAMES = frozenset((*READ, *WORDS, "gen_ai.operation.name"))


def spans_of(body: bytes) -> list[SpanFound]:
    """Each span that is a call to a model with its attributes; refuses a DecodeError, BodyTooLarge.

    One with an attribute that is unreadable comes with its fault.
    """
    if body.count(b"{") > MOST_OBJECTS:
        raise BodyTooLarge(
            f"more than {MOST_OBJECTS:,} objects in JSON: export fewer spans at once"
        )
    found: list[SpanFound] = []
    for each in _REQUEST.decode(body).resourceSpans:
        shared = dict(_read_attributes(each.resource.attributes))
        for scope in each.scopeSpans:
            for span in scope.spans:
                try:
                    own = dict(_read_attributes(span.attributes))
                except (msgspec.DecodeError, UnicodeDecodeError) as refused:
                    found.append((span, fault_of(str(refused))))
                    continue
                if is_call(own):
                    found.append((span, shared | own))
    return found


def read_span(
    found: SpanFound, owners: Owners, at: datetime, row: int, source: str
) -> tuple[Call | Fault, Fault | None]:
    """The call that a span tells or why not, and what of it was not understood."""
    span, said = found
    if isinstance(said, Fault):
        return Fault(said.field, said.message, row), None
    owner, remark = owners.nearest(said.get("runrate.team"), said.get("runrate.workload"), row)
    try:
        call = _said_of_span(span, said) | {
            "source": source,
            "team_id": owner.team_id,
            "workload_id": owner.workload_id,
        }
        return call_of(call, dict(_span_counts(said)), at, row), remark
    except Refusal as refused:
        return Fault(refused.field, refused.message, row), None
    except (ValueError, OverflowError, OSError) as refused:
        return Fault("span", str(refused), row), None


def _said_of_span(span: OtelSpan, said: Mapping[str, Any]) -> dict[str, Any]:
    """A call's columns but its owner's, of a span and its attributes; refuses a Refusal."""
    starts = _epoch_seconds("startTimeUnixNano", span.startTimeUnixNano)
    ends = _epoch_seconds("endTimeUnixNano", span.endTimeUnixNano)
    key = f"{span.traceId}/{span.spanId}" if span.traceId and span.spanId else ""
    tier = str(
        said.get("openai.response.service_tier")
        or said.get("gen_ai.openai.response.service_tier", "")
    )
    return {
        "key": str(said.get("gen_ai.response.id") or key),
        "response_id": str(said.get("gen_ai.response.id") or ""),
        "at": datetime.fromtimestamp(ends or starts, UTC) if ends or starts else None,
        "vendor": _span_vendor(said),
        "model": str(said.get("gen_ai.response.model") or said.get("gen_ai.request.model", "")),
        "tier": "" if tier in STANDARD else tier,
        "outcome": _span_outcome(span, said),
        "feature": str(said.get("runrate.feature") or said.get("service.name") or "")[:200],
        "latency_seconds": max(0.0, ends - starts) if starts and ends else None,
    }


def _epoch_seconds(field: str, nanoseconds: str | int) -> float:
    """Since 1970; refuses a Refusal of what no count of 64 bits is."""
    digits = str(nanoseconds)
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        raise Refusal(field, f"{digits!r:.60} is no count of nanoseconds since 1970")
    return int(digits) / 1e9


def is_call(said: Mapping[str, Any]) -> bool:
    """Whether a span with these attributes is a call to a model."""
    if said.get("gen_ai.operation.name", "") not in CALLS:
        return False
    return any(name.startswith("gen_ai.") for name in said)


def _span_vendor(said: Mapping[str, Any]) -> str:
    name = str(said.get("gen_ai.provider.name") or said.get("gen_ai.system") or "unknown").lower()
    return PROVIDERS.get(name, vendor_named(name))


def _span_counts(said: Mapping[str, Any]) -> Iterable[tuple[str, int]]:
    for name, ours in READ.items():
        count = token_count(said.get(name))
        if count is not None:
            yield ours, count


def _span_outcome(span: OtelSpan, said: Mapping[str, Any]) -> str:
    code = said.get("http.response.status_code", said.get("error.type"))
    if code is not None:
        return outcome_of_code(str(code))
    return "refused" if span.status.code in (2, "STATUS_CODE_ERROR") else "ok"


def _read_attributes(attributes: Iterable[Attribute]) -> Iterable[tuple[str, Any]]:
    for attribute in attributes:
        if attribute.key in NAMES:
            value = _VALUE.decode(attribute.value)
            for read in (value.stringValue, _whole_number(value.intValue), value.doubleValue):
                if read is not None:
                    yield attribute.key, read


def _whole_number(said: str | int | None) -> str | int | None:
    """The number that digits say; what is none of 64 bits stays as it was said."""
    digits = str(said).removeprefix("-")
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= 20
    return int(str(said)) if is_number else said
