"""Spans that are read again, and what of them is kept until then."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from apps.workloads.actions.set_aside import set_spans_aside, settle_spans_aside
from apps.workloads.actions.usage import Call, take_calls
from apps.workloads.api.span_names import COUNTING, FIELD_OF, KINDS, TABLE_VERSION
from apps.workloads.api.usage_otel import CallSpan, OtelSpan, OtelStatus, kind_of, read_span
from apps.workloads.api.usage_owners import Owners
from apps.workloads.api.wire import Fault
from apps.workloads.queries.set_aside import AsideSpan, spans_to_read_again

LONGEST_WORD = 200
NOT_KEPT = frozenset({"provider_metadata", "usage_details"})
"""Documents of others, in which anything may stand."""


def set_aside(
    rows: Sequence[CallSpan],
    readings: Sequence[tuple[Call | Fault, Sequence[Fault]]],
    source: str,
    at: datetime,
) -> None:
    """Keep of these spans those that no table understands, or not wholly."""
    spans = [
        AsideSpan(
            source, f"{row.span.traceId}/{row.span.spanId}", row.parent_id, _storable_content(row)
        )
        for row, (call, remarks) in zip(rows, readings, strict=True)
        if row.span.traceId and row.span.spanId and not isinstance(row.attributes, Fault)
        if any(isinstance(one, Fault) and one.is_unread for one in (call, *remarks))
    ]
    if spans:
        set_spans_aside(spans=spans, table_version=TABLE_VERSION, at=at)


def read_spans_again(source: str, owners: Owners, at: datetime) -> None:
    """Take the calls of spans that were set aside before the spellings grew."""
    waiting = spans_to_read_again(source=source, table_version=TABLE_VERSION)
    if not waiting:
        return
    calls: list[Call] = []
    understood: list[int] = []
    others: list[int] = []
    for id, aside in waiting:
        call, remarks = read_span(_restore_span(aside), owners, at, 0, source)
        is_whole = not any(remark.is_unread for remark in remarks)
        (understood if isinstance(call, Call) and is_whole else others).append(id)
        if isinstance(call, Call):
            calls.append(call)
    take_calls(calls=calls, at=at)
    settle_spans_aside(understood=understood, others=others, table_version=TABLE_VERSION)


def _storable_content(row: CallSpan) -> dict[str, Any]:
    """Times, status and those attributes that are words of a list, names, ids or numbers."""
    span = row.span
    attributes = row.attributes if not isinstance(row.attributes, Fault) else {}
    return {
        "starts": str(span.startTimeUnixNano),
        "ends": str(span.endTimeUnixNano),
        "status": str(span.status.code),
        "attributes": {
            name: value for name, value in attributes.items() if _is_storable(name, value)
        },
    }


def _is_storable(name: str, value: object) -> bool:
    if isinstance(value, int | float):
        return True
    if not isinstance(value, str) or len(value) > LONGEST_WORD or name.startswith(COUNTING):
        return False
    return name in KINDS or FIELD_OF.get(name, "provider_metadata") not in NOT_KEPT


def _restore_span(aside: AsideSpan) -> CallSpan:
    trace, _, span_id = aside.key.partition("/")
    content = aside.content
    status = content["status"]
    span = OtelSpan(
        traceId=trace,
        spanId=span_id,
        startTimeUnixNano=content["starts"],
        endTimeUnixNano=content["ends"],
        status=OtelStatus(int(status) if status.isdigit() else status),
    )
    kind = kind_of(content["attributes"])
    doubt = kind if isinstance(kind, Fault) else None
    return CallSpan(span, content["attributes"], aside.parent_id, doubt)
