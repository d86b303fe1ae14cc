"""Calls that LiteLLM's `generic_api` callback sends, a StandardLoggingPayload, or keeps as spend logs.

A row of its spend logs says the same in its database's words: `request_id` is the payload's `id`,
times are texts, in UTC, and metadata and tags may be JSON within JSON. Of both counts only:
`messages` and `proxy_server_request` are skipped by the decoder, and so is all of `response` and
`model_parameters` but the service tier.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from apps.economics.refusal import Refusal
from apps.economics.vendor_names import VENDORS, vendor_named
from apps.workloads.actions.usage import Call
from apps.workloads.api.usage_counts import CHAT_SHAPE, counts_in
from apps.workloads.api.usage_owners import Owners
from apps.workloads.api.usage_wire import (
    STANDARD,
    call_of,
    outcome_of_code,
    stated_dollars,
    unread_faults,
)
from apps.workloads.api.wire import Fault, fault_of

TAGGED = ("team", "workload", "feature")
"""What a tag such as `feature:search`, or a field of the request's metadata, may say."""


class LiteLLMError(msgspec.Struct, frozen=True):
    """Why a request failed."""

    error_code: str | int | None = None


class Metadata(msgspec.Struct, frozen=True):
    """The owner of a request, as LiteLLM knows."""

    user_api_key_alias: str | None = None
    user_api_key_team_alias: str | None = None
    spend_logs_metadata: dict[str, Any] | None = None
    requester_metadata: dict[str, Any] | None = None
    usage_object: dict[str, Any] | None = None
    additional_usage_values: dict[str, Any] | None = None
    error_information: LiteLLMError | None = None


class CostBreakdown(msgspec.Struct, frozen=True):
    """The tier that LiteLLM's own cost is of."""

    service_tier: str | None = None


class Tiered(msgspec.Struct, frozen=True):
    """The part that is read of a request's parameters, or of the vendor's answer: the tier, and no word more."""

    service_tier: str | None = None


class Payload(msgspec.Struct, frozen=True):
    """The part of a StandardLoggingPayload, or of a row of the spend logs, that is read."""

    id: str | None = None
    request_id: str | None = None
    litellm_call_id: str | None = None
    call_type: str | None = None
    status: str | None = None
    model: str | None = None
    custom_llm_provider: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    startTime: float | str | None = None  # noqa: N815  # LiteLLM's own spelling
    endTime: float | str | None = None  # noqa: N815  # LiteLLM's own spelling
    response_time: float | None = None
    cache_hit: bool | str | None = None
    request_tags: list[Any] | str | None = None
    metadata: Metadata | str | None = None
    error_information: LiteLLMError | None = None
    response_cost: float | str | None = None
    spend: float | str | None = None
    cost_breakdown: CostBreakdown | None = None
    model_parameters: msgspec.Raw = msgspec.Raw(b"null")
    response: msgspec.Raw = msgspec.Raw(b"null")


class Page(msgspec.Struct, frozen=True):
    """A page of the spend logs, as LiteLLM's own pages ask for them."""

    data: list[msgspec.Raw] | None = None


_PAYLOAD = msgspec.json.Decoder(Payload)
_PAGE = msgspec.json.Decoder(Page)
_METADATA = msgspec.json.Decoder(Metadata | None)
_TIERED = msgspec.json.Decoder(Tiered)
_TAGS = msgspec.json.Decoder(list[Any] | None)


def rows_of(body: bytes) -> list[msgspec.Raw]:
    """The payloads of a JSON array, of lines of JSON, of a page (`data`), or a single one.

    Refuses a DecodeError.
    """
    if body.lstrip().startswith(b"["):
        return msgspec.json.decode(body, type=list[msgspec.Raw])
    lines = [line for line in body.splitlines() if line.strip()]
    try:
        payloads = [msgspec.json.decode(line, type=msgspec.Raw) for line in lines]
    except msgspec.DecodeError:
        # One payload over several lines.
        lines = [body]
        payloads = [msgspec.json.decode(body, type=msgspec.Raw)]
    if len(lines) == 1 and b'"data"' in lines[0]:
        page = _PAGE.decode(lines[0])
        return payloads if page.data is None else page.data
    return payloads


def read_payload(
    raw: msgspec.Raw, owners: Owners, at: datetime, row: int, source: str
) -> tuple[Call | Fault, Sequence[Fault]]:
    """The call that a payload tells or why not, and what of it was not understood."""
    try:
        payload = _PAYLOAD.decode(raw)
        metadata = _read_metadata(payload)
        counts = _payload_counts(payload, metadata)
        tags = dict(_owner_tags(payload, metadata))
    except (msgspec.DecodeError, UnicodeDecodeError) as refused:
        return fault_of(str(refused), row), ()
    except Refusal as refused:
        return Fault(refused.field, refused.message, row), ()
    except ValueError as refused:
        return Fault("usage", str(refused), row), ()
    starts, ends = _epoch_seconds(payload.startTime), _epoch_seconds(payload.endTime)
    team = tags.get("team") or metadata.user_api_key_team_alias or None
    owner, remark = owners.nearest(team, tags.get("workload"), row)
    vendor, model = _served_by(payload)
    fields = {
        "source": source,
        "key": payload.id or payload.request_id or payload.litellm_call_id or "",
        "response_id": payload.id or payload.request_id or "",
        "at": ends if ends is not None else starts,
        "vendor": vendor,
        "model": model,
        "tier": _payload_tier(payload, metadata),
        "outcome": _payload_outcome(payload, metadata),
        "team_id": owner.team_id,
        "workload_id": owner.workload_id,
        "feature": tags.get("feature", ""),
        "latency_seconds": _payload_latency(payload.response_time, starts, ends),
        "stated_cost": stated_dollars(
            payload.spend if payload.response_cost is None else payload.response_cost
        ),
    }
    remarks = [] if remark is None else [remark]
    unread = unread_faults(_payload_usage(metadata), CHAT_SHAPE, row)
    return call_of(fields, counts, at, row), [*remarks, *unread]


def _served_by(payload: Payload) -> tuple[str, str]:
    """The vendor, and the model without the prefix that LiteLLM puts before it."""
    model = payload.model or ""
    prefix, slash, remainder = model.partition("/")
    provider = payload.custom_llm_provider or (prefix if slash else "")
    if slash and prefix.lower() in {provider.lower(), provider.partition("-")[0].lower(), *VENDORS}:
        model = remainder
    # vertex_ai-anthropic_models and its like are one vendor with many makers.
    family = provider.partition("-")[0].lower()
    return vendor_named(family if family in VENDORS else provider or "unknown"), model


def _read_metadata(payload: Payload) -> Metadata:
    """As an object, or as the text that a database keeps; refuses a DecodeError."""
    if isinstance(payload.metadata, str):
        return _METADATA.decode(payload.metadata or "null") or Metadata()
    return payload.metadata or Metadata()


def _epoch_seconds(time_value: float | str | None) -> float | None:
    """Since 1970. A text without a zone is UTC, as LiteLLM's database keeps its times."""
    if not isinstance(time_value, str):
        return time_value
    try:
        moment = datetime.fromisoformat(time_value)
    except ValueError:
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _payload_usage(metadata: Metadata) -> dict[str, Any]:
    return metadata.usage_object or metadata.additional_usage_values or {}


def _payload_counts(payload: Payload, metadata: Metadata) -> dict[str, int]:
    if str(payload.cache_hit).strip().lower() == "true":
        # The gateway's own cache answered: nothing was bought, and 0 is known.
        return {"input_tokens": 0, "output_tokens": 0}
    usage = dict(_payload_usage(metadata))
    usage.setdefault("prompt_tokens", payload.prompt_tokens)
    usage.setdefault("completion_tokens", payload.completion_tokens)
    return counts_in(usage, CHAT_SHAPE)


def _payload_tier(payload: Payload, metadata: Metadata) -> str:
    """The tier that was paid for: as the vendor answered, as LiteLLM priced it, as it was asked for.

    A batch is one whatever its answers say.
    """
    if "retrieve_batch" in (payload.call_type or ""):
        return "batch"
    usage = _payload_usage(metadata)
    breakdown = payload.cost_breakdown or CostBreakdown()
    tiers = (
        *(usage.get("service_tier"), _tier_in(payload.response), breakdown.service_tier),
        _tier_in(payload.model_parameters),
    )
    tier = next((str(word).strip().lower() for word in tiers if word), "")
    return "" if tier in STANDARD else tier


def _tier_in(raw: msgspec.Raw) -> str | None:
    """The `service_tier` of a document, which may be JSON as text; None where it says none."""
    text: bytes | str = bytes(raw)
    try:
        if text[:1] == b'"':
            text = msgspec.json.decode(text, type=str)
        return _TIERED.decode(text).service_tier
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _payload_outcome(payload: Payload, metadata: Metadata) -> str:
    if payload.status != "failure":
        return "ok"
    error = payload.error_information or metadata.error_information or LiteLLMError()
    return outcome_of_code(str(error.error_code or ""))


def _payload_latency(
    reported_seconds: float | None, starts: float | None, ends: float | None
) -> float | None:
    if reported_seconds is not None:
        return max(0.0, reported_seconds)
    return None if starts is None or ends is None else max(0.0, ends - starts)


def _owner_tags(payload: Payload, metadata: Metadata) -> Iterable[tuple[str, str]]:
    request_tags = payload.request_tags
    for tag in (
        _TAGS.decode(request_tags or "null") if isinstance(request_tags, str) else request_tags
    ) or ():
        name, colon, value = str(tag).partition(":")
        if colon and name in TAGGED:
            yield name, value.strip()[:200]
    for fields in (metadata.requester_metadata, metadata.spend_logs_metadata):
        for name in TAGGED:
            if isinstance((fields or {}).get(name), str):
                yield name, (fields or {})[name].strip()[:200]
