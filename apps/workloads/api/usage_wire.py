"""Calls to model APIs as JSON: a vendor's response as it came, or counts alone.

Fields that hold what was asked and answered are skipped by the decoder: they are never in memory as
values, and nothing of them is kept.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from apps.economics.refusal import Refusal
from apps.economics.vendor_names import vendor_named
from apps.workloads.actions.usage import Call
from apps.workloads.api.usage_counts import (
    COLUMNS,
    UsageShape,
    counts_of,
    named_counts,
    shape_of,
    unread_counts,
)
from apps.workloads.api.usage_owners import Owners
from apps.workloads.api.wire import Fault, Named, fault_of, time_faults

MOST_CALLS = 20_000
MOST_DOLLARS = 1_000_000
NOT_UNDERSTOOD = "a count that is not understood, and not priced"
NO_KEY = "is required where the response has no id: it tells one call from another"
NO_TIME = "is required where the response does not say when it was made"
Short: TypeAlias = Annotated[str, msgspec.Meta(max_length=200)] | None
When: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)] | float | None
Outcome: TypeAlias = Literal["ok", "rate_limited", "server_error", "refused", "cancelled"]

STANDARD = frozenset(
    {"", "auto", "none", "on_demand", "on-demand", "standard", "standard_only", "unspecified"}
)
"""Words for the tier that a vendor's ordinary price is of."""


class Response(msgspec.Struct, frozen=True):
    """The part of a response that is read; everything else is skipped."""

    id: str | None = None
    responseId: str | None = None  # noqa: N815  # Gemini's own spelling
    model: str | None = None
    modelVersion: str | None = None  # noqa: N815  # Gemini's own spelling
    modelId: str | None = None  # noqa: N815  # Bedrock's own spelling
    created: float | None = None
    created_at: float | str | None = None
    createTime: str | None = None  # noqa: N815  # Gemini's own spelling
    service_tier: str | None = None
    usage: dict[str, Any] | None = None
    usageMetadata: dict[str, Any] | None = None  # noqa: N815  # Gemini's own spelling


class UsageEventIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One call: with its `response`, or with counts by the names that prices have."""

    vendor: Named
    model: Short = None
    key: Short = None
    at: When = None
    tier: Short = None
    outcome: Outcome | None = None
    status: Annotated[int, msgspec.Meta(ge=100, le=599)] | None = None
    team: Short = None
    workload: Short = None
    feature: Short = None
    latency_seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    response: Response | None = None
    usage: dict[str, float] | None = None


_EVENT = msgspec.json.Decoder(UsageEventIn)


def read_event(
    raw: msgspec.Raw, owners: Owners, at: datetime, row: int, source: str
) -> tuple[Call | Fault, Sequence[Fault]]:
    """The call that this JSON tells, received at `at`, or why it cannot be taken, and its remarks."""
    try:
        event = _EVENT.decode(raw)
        counts = _event_counts(event)
    except (msgspec.DecodeError, UnicodeDecodeError) as refused:
        return fault_of(str(refused), row), ()
    except Refusal as refused:
        return Fault(refused.field, refused.message, row), ()
    except ValueError as refused:
        return Fault("usage", str(refused), row), ()
    owner = owners.of(event.team or None, event.workload or None, row)
    if isinstance(owner, Fault):
        return owner, ()
    response = event.response or Response()
    fields = {
        "source": source,
        "key": event.key or response.id or response.responseId or "",
        "response_id": response.id or response.responseId or "",
        "at": _first_not_none(event.at, response.created, response.created_at, response.createTime),
        "vendor": vendor_named(event.vendor),
        "model": event.model or response.model or response.modelVersion or response.modelId or "",
        "tier": tier_of(event.tier, response),
        "outcome": event.outcome or outcome_of(event.status),
        "team_id": owner.team_id,
        "workload_id": owner.workload_id,
        "feature": event.feature or "",
        "latency_seconds": event.latency_seconds,
    }
    usage = response.usageMetadata or response.usage or {}
    unread = unread_faults(usage, shape_of(usage, fields["vendor"]), row)
    return call_of(fields, counts, at, row), unread


def unread_faults(usage: Mapping[str, Any], shape: UsageShape, row: int) -> list[Fault]:
    """A remark for each count of a usage object that is not understood, and so in no price."""
    unread = unread_counts(usage, shape)
    return [Fault(name, NOT_UNDERSTOOD, row, is_unread=True) for name in unread]


def stated_dollars(amount: object) -> Decimal | None:
    """US dollars that a teller states a call cost; None where it states none that can be."""
    if isinstance(amount, bool) or not isinstance(amount, int | float | str):
        return None
    try:
        dollars = Decimal(str(amount))
    except InvalidOperation:
        return None
    return dollars if dollars.is_finite() and 0 <= dollars < MOST_DOLLARS else None


def call_of(
    fields: Mapping[str, Any], counts: Mapping[str, int], at: datetime, row: int
) -> Call | Fault:
    """A call of what was said of it; refuses by field what nobody could keep."""
    moment = moment_of(fields["at"])
    if moment is None:
        return Fault("at", NO_TIME, row)
    for field, message in _call_faults(fields, moment, at):
        return Fault(field, message, row)
    detail = {name: count for name, count in counts.items() if name not in COLUMNS and count}
    columns: dict[str, Any] = {column: counts.get(name) for name, column in COLUMNS.items()}
    return Call(**{**fields, "at": moment}, **columns, detail=detail)


def outcome_of(status: int | None) -> str:
    """Return what an HTTP status says of a call; without one it was answered."""
    if status is None or status < 400:
        return "ok"
    if status == 429:
        return "rate_limited"
    if status == 499:
        return "cancelled"
    return "server_error" if status >= 500 else "refused"


def outcome_of_code(code: str) -> str:
    """Return what an error's code says of a call: as an HTTP status where it is one, else refused."""
    is_status = code.isascii() and code.isdigit() and len(code) <= 3
    return outcome_of(int(code)) if is_status else "refused"


def tier_of(stated_tier: str | None, response: Response) -> str:
    """The tier that was paid for, where it is not the ordinary one."""
    usage = response.usage or response.usageMetadata or {}
    reported_tier = usage.get("service_tier") or usage.get("trafficType") or ""
    tier = (stated_tier or response.service_tier or str(reported_tier)).strip().lower()
    return "" if tier in STANDARD else tier


def moment_of(value: datetime | float | str | None) -> datetime | None:
    """A moment as it was said: RFC 3339, or seconds since 1970; None where it is neither."""
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC) if 0 <= value < 10**11 else None
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        return None if value is None or value.tzinfo is None else value.astimezone(UTC)
    except (ValueError, OverflowError):
        # Midnight of the year 1 to the east of Greenwich is no moment in UTC.
        return None


def _event_counts(event: UsageEventIn) -> dict[str, int]:
    if event.usage is not None:
        return named_counts(event.usage)
    response = event.response or Response()
    usage = response.usageMetadata or response.usage
    return {} if usage is None else counts_of(usage, vendor_named(event.vendor))


def _call_faults(
    fields: Mapping[str, Any], moment: datetime, at: datetime
) -> Sequence[tuple[str, str]]:
    faults = []
    if not fields["key"]:
        faults.append(("key", NO_KEY))
    if not fields["model"]:
        faults.append(("model", "is required where the response does not name one"))
    faults += time_faults("at", moment, at)
    for name in ("key", "response_id", "vendor", "model", "tier", "feature"):
        if "\x00" in fields[name]:
            faults.append((name, "holds a NUL character, which no text may"))
        if len(fields[name]) > 400:
            faults.append((name, "is longer than 400 characters"))
    return faults


def _first_not_none(*candidates: Any) -> Any:
    return next((candidate for candidate in candidates if candidate is not None), None)
