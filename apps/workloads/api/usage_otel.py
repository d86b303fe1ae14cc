"""OTLP/HTTP spans in JSON that are calls to a model, however their SDK spells it; others are left aside.

Messages ride on other attributes and on events, neither of which is read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec

from apps.economics.refusal import Refusal
from apps.economics.vendor_names import vendor_named
from apps.web.rest.views import BodyTooLarge
from apps.workloads.actions.usage import Call
from apps.workloads.api.span_counts import span_counts
from apps.workloads.api.span_names import (
    COUNTS,
    FIELD_OF,
    KINDS,
    WORDS,
    SpanKind,
    is_read,
)
from apps.workloads.api.usage_owners import Owners
from apps.workloads.api.usage_wire import (
    NOT_UNDERSTOOD,
    STANDARD,
    call_of,
    outcome_of_code,
    stated_dollars,
)
from apps.workloads.api.wire import Fault, fault_of

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
    """The part of a span that is read."""

    traceId: str = ""  # noqa: N815  # OTLP's own spelling
    spanId: str = ""  # noqa: N815  # OTLP's own spelling
    parentSpanId: str = ""  # noqa: N815  # OTLP's own spelling
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


Attributes: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallSpan:
    """A span that is a call to a model or looks like one, and what of its attributes is read.

    `attributes` are a Fault where they cannot be read; `parent_id` is the span that holds it, past
    those between them that are neither call nor holder. `doubt` says why it is not known to be a
    call.
    """

    span: OtelSpan
    attributes: Attributes | Fault
    parent_id: str = ""
    doubt: Fault | None = None


@dataclass(frozen=True, slots=True)
class SpanRead:
    """A span, and the attributes that are read of its own and of its sender; a Fault where none can be."""

    span: OtelSpan
    own: Attributes | Fault
    shared: Attributes


_REQUEST = msgspec.json.Decoder(Request)
_VALUE = msgspec.json.Decoder(Value)


def spans_of(body: bytes) -> list[CallSpan]:
    """Each span that is a call to a model, or looks like one; refuses a DecodeError, BodyTooLarge."""
    if body.count(b"{") > MOST_OBJECTS:
        raise BodyTooLarge(
            f"more than {MOST_OBJECTS:,} objects in JSON: export fewer spans at once"
        )
    return calls_among(_spans_read(_REQUEST.decode(body)))


def _spans_read(request: Request) -> Iterator[SpanRead]:
    for sender in request.resourceSpans:
        shared = dict(_read_attributes(sender.resource.attributes))
        for scope in sender.scopeSpans:
            for span in scope.spans:
                try:
                    attributes: Attributes | Fault = dict(_read_attributes(span.attributes))
                except (msgspec.DecodeError, UnicodeDecodeError) as refused:
                    attributes = fault_of(str(refused))
                yield SpanRead(span, attributes, shared)


def calls_among(spans: Iterable[SpanRead]) -> list[CallSpan]:
    """Return of the spans of a delivery those that are calls to a model, or look like one."""
    parents: dict[tuple[str, str], str] = {}
    calls: list[CallSpan] = []
    for read in spans:
        span, attributes = read.span, read.own
        kind = None if isinstance(attributes, Fault) else kind_of(attributes)
        if kind is None and span.spanId:
            parents[span.traceId, span.spanId] = span.parentSpanId
        if isinstance(attributes, Fault):
            calls.append(CallSpan(span, attributes))
        elif kind is SpanKind.CALL:
            calls.append(CallSpan(span, {**read.shared, **attributes}))
        elif isinstance(kind, Fault):
            calls.append(CallSpan(span, attributes, doubt=kind))
    return [
        CallSpan(call.span, call.attributes, _calling_parent(call.span, parents), call.doubt)
        for call in calls
    ]


def _calling_parent(span: OtelSpan, parents: Mapping[tuple[str, str], str]) -> str:
    """The nearest span above that is not merely between, as far as the delivery tells."""
    parent = span.parentSpanId
    for _ in range(len(parents)):
        if (span.traceId, parent) not in parents:
            break
        parent = parents[span.traceId, parent]
    return parent


def kind_of(attributes: Attributes) -> SpanKind | Fault | None:
    """Return what a span with these attributes is; None where nothing of it is a model's.

    A Fault where it looks like a call and is not known to be one: it is not taken.
    """
    words = [(name, str(attributes[name])) for name in KINDS if attributes.get(name)]
    for name, word in words:
        kind = KINDS[name].get(word)
        if kind is not None:
            return kind
    has_counts = any(FIELD_OF.get(name) in _COUNT_FIELDS for name in attributes)
    has_model = any(FIELD_OF.get(name) == "model" for name in attributes)
    if not has_counts and not has_model:
        return None
    if words:
        name, word = words[0]
        return Fault(
            f"{name}={word}"[:200],
            "is not known to be a call to a model: not taken",
            is_unread=True,
        )
    if any(FIELD_OF.get(name) == "tool" for name in attributes):
        return SpanKind.HOLDER
    if not has_model:
        return Fault("model", "a span counts tokens and names no model: not taken", is_unread=True)
    return SpanKind.CALL


def read_span(
    call_span: CallSpan, owners: Owners, at: datetime, row: int, source: str
) -> tuple[Call | Fault, Sequence[Fault]]:
    """The call that a span tells or why not, and what of it was not understood."""
    attributes = call_span.attributes
    if isinstance(attributes, Fault):
        return Fault(attributes.field, attributes.message, row), ()
    if call_span.doubt is not None:
        return replace(call_span.doubt, row=row, example=_span_id(call_span.span)), ()
    words = _first_words(attributes)
    owner, remark = owners.nearest(words.get("team"), words.get("workload"), row)
    try:
        counts, unread = span_counts(attributes, words)
        call = _call_columns(call_span, words) | {
            "source": source,
            "team_id": owner.team_id,
            "workload_id": owner.workload_id,
        }
        taken = call_of(call, counts, at, row)
    except Refusal as refused:
        return Fault(refused.field, refused.message, row), ()
    except (ValueError, OverflowError, OSError) as refused:
        return Fault("span", str(refused), row), ()
    remarks = [] if remark is None else [remark]
    return taken, [
        *remarks,
        *(Fault(name, NOT_UNDERSTOOD, row, is_unread=True) for name in unread),
    ]


_COUNT_FIELDS = frozenset(count.field for count in COUNTS) | {"usage_details"}


def _first_words(attributes: Attributes) -> dict[str, Any]:
    """Return what is said in words, by what it holds: the first spelling of the table that says it."""
    words: dict[str, Any] = {}
    for spelling in WORDS:
        value = attributes.get(spelling.name)
        if value not in (None, ""):
            words.setdefault(spelling.field, value)
    return words


def _call_columns(call_span: CallSpan, words: Mapping[str, Any]) -> dict[str, Any]:
    """A call's columns but its owner's, of a span and its words; refuses a Refusal."""
    span = call_span.span
    starts = _epoch_seconds("startTimeUnixNano", span.startTimeUnixNano)
    ends = _epoch_seconds("endTimeUnixNano", span.endTimeUnixNano)
    tier = str(words.get("tier", "")).strip().lower()
    response_id = str(words.get("response_id", ""))
    return {
        "key": _span_id(span) or response_id,
        "parent_key": f"{span.traceId}/{call_span.parent_id}"
        if span.traceId and call_span.parent_id
        else "",
        "response_id": response_id,
        "at": datetime.fromtimestamp(ends or starts, UTC) if ends or starts else None,
        "vendor": vendor_named(str(words.get("vendor", "unknown"))),
        "model": str(words.get("model", "")),
        "tier": "" if tier in STANDARD else tier,
        "outcome": _span_outcome(span, words),
        "feature": str(words.get("feature", ""))[:200],
        "latency_seconds": max(0.0, ends - starts) if starts and ends else None,
        "stated_cost": _stated_cost(words),
    }


def _span_id(span: OtelSpan) -> str:
    return f"{span.traceId}/{span.spanId}" if span.traceId and span.spanId else ""


def _stated_cost(words: Mapping[str, Any]) -> Decimal | None:
    return stated_dollars(words.get("stated_cost"))


def _epoch_seconds(field: str, nanoseconds: str | int) -> float:
    """Since 1970; refuses a Refusal of what no count of 64 bits is."""
    digits = str(nanoseconds)
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        raise Refusal(field, f"{digits!r:.60} is no count of nanoseconds since 1970")
    return int(digits) / 1e9


def _span_outcome(span: OtelSpan, words: Mapping[str, Any]) -> str:
    code = words.get("status")
    if code is not None:
        return outcome_of_code(str(code))
    return "refused" if span.status.code in (2, "STATUS_CODE_ERROR") else "ok"


def _read_attributes(attributes: Iterable[Attribute]) -> Iterable[tuple[str, Any]]:
    for attribute in attributes:
        if is_read(attribute.key):
            value = _VALUE.decode(attribute.value)
            for read in (value.stringValue, _parse_integer(value.intValue), value.doubleValue):
                if read is not None:
                    yield attribute.key, read


def _parse_integer(value: str | int | None) -> str | int | None:
    """The number that digits say; what is none of 64 bits stays as it was said."""
    digits = str(value).removeprefix("-")
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= 20
    return int(str(value)) if is_number else value
