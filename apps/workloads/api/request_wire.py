"""Answers of a service in an hour as JSON: every field checked by name."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from apps.economics.hours import hour_of
from apps.economics.latency import Histogram, HistogramUnreadable
from apps.economics.machines import name_fault
from apps.workloads.actions.request_statements import CountedRequests
from apps.workloads.actions.requests import KEPT
from apps.workloads.api.wire import MOST_AHEAD, Fault, Moment, Named, fault_of

DAY = timedelta(days=1)
TAKEN = KEPT - 2 * DAY
"""Older hours are not taken: some of their day may be forgotten already."""

MOST_BOUNDS = 100
LARGEST = 10**11
"""Of what one source counts in an hour, 28 million tokens a second: a sum of 92 million of them still
fits the eight bytes it is kept in."""
Name: TypeAlias = Annotated[str, msgspec.Meta(max_length=200)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)] | None
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e12)] | None
Bounds: TypeAlias = Annotated[
    tuple[Annotated[float, msgspec.Meta(gt=0, le=1e9)], ...], msgspec.Meta(max_length=MOST_BOUNDS)
]
Counts: TypeAlias = Annotated[
    tuple[Annotated[int, msgspec.Meta(ge=0, le=LARGEST)], ...],
    msgspec.Meta(max_length=MOST_BOUNDS + 1),
]


class HistogramIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Requests at most as long as each bound and longer than the one before; one count more: of
    those longer than the last bound. Not cumulative."""

    bounds_seconds: Bounds
    counts: Counts


class RequestHourIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """All that one source counted of a service, feature and model in an hour, up to now.

    Counts are whole, not what was added; a later `revision` takes the place of an earlier one.
    What is left out or null is not known. `prompt_tokens` include `cached_tokens`.
    """

    source: Literal["engine", "gateway"]
    source_key: Named
    service: Named
    hour: Moment
    revision: Annotated[int, msgspec.Meta(ge=0, le=2**62)]
    feature: Name = ""
    model: Name = ""
    requests: Count = None
    succeeded: Count = None
    prompt_tokens: Count = None
    cached_tokens: Count = None
    output_tokens: Count = None
    latency: HistogramIn | None = None
    first_token: HistogramIn | None = None
    prefill_seconds: Seconds = None
    decode_seconds: Seconds = None
    split_kind: Literal["measured", "estimated", ""] = ""


def read_row(raw: bytes | msgspec.Raw, *, at: datetime, row: int) -> CountedRequests | Fault:
    """The counts that this JSON states, received at `at`, or why they are not taken."""
    try:
        request_hour = _ROW.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as refused:
        return fault_of(str(refused), row)
    for field, message in _request_faults(request_hour, at):
        return Fault(field, message, row)
    return _counted_requests(request_hour)


def row_schema() -> dict[str, Any]:
    """The wire's own types as JSON schema, written out in one piece."""
    _, parts = msgspec.json.schema_components([RequestHourIn], ref_template="{name}")
    row: dict[str, Any] = dict(parts["RequestHourIn"])
    for name in ("latency", "first_token"):
        row["properties"][name] = {
            "anyOf": [{"type": "null"}, parts["HistogramIn"]],
            "default": None,
        }
    return row


_ROW = msgspec.json.Decoder(RequestHourIn)


def _request_faults(request_hour: RequestHourIn, at: datetime) -> Iterator[tuple[str, str]]:
    yield from _hour_faults(request_hour.hour.astimezone(UTC), at)
    for part, total in (("succeeded", "requests"), ("cached_tokens", "prompt_tokens")):
        few, many = getattr(request_hour, part), getattr(request_hour, total)
        if few is not None and many is not None and few > many:
            yield part, f"{few} are more than all {many} of {total}"
    for name in ("latency", "first_token"):
        yield from _histogram_faults(name, getattr(request_hour, name))
    for name in ("source_key", "service", "feature", "model"):
        # Postgres keeps no NUL in a text.
        if "\0" in getattr(request_hour, name):
            yield name, "holds a NUL character, which no text may"
        if fault := name_fault(getattr(request_hour, name)):
            yield name, fault


def _hour_faults(hour: datetime, at: datetime) -> Iterator[tuple[str, str]]:
    if hour != hour_of(hour):
        yield "hour", f"{hour.isoformat()} is not the beginning of an hour in UTC"
    if hour > at + MOST_AHEAD:
        yield "hour", f"{hour.isoformat()} is ahead of the server's clock"
    if hour < at - TAKEN:
        yield "hour", f"{hour.isoformat()} is longer ago than {TAKEN.days} days"


def _histogram_faults(name: str, histogram: HistogramIn | None) -> Iterator[tuple[str, str]]:
    try:
        _read_histogram(histogram)
    except HistogramUnreadable as refused:
        yield name, str(refused)


def _read_histogram(histogram: HistogramIn | None) -> Histogram | None:
    return None if histogram is None else Histogram(histogram.bounds_seconds, histogram.counts)


def _counted_requests(request_hour: RequestHourIn) -> CountedRequests:
    values = {name: getattr(request_hour, name) for name in request_hour.__struct_fields__}
    values["hour"] = request_hour.hour.astimezone(UTC)
    values |= {name: _read_histogram(values[name]) for name in ("latency", "first_token")}
    return CountedRequests(**values)
