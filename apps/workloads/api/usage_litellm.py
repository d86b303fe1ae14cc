"""What LiteLLM's `generic_api` callback sends, a StandardLoggingPayload, or keeps as spend logs.

A row of its spend logs says the same in its database's words: `request_id` is the payload's `id`,
times are texts, in UTC, and metadata and tags may be JSON within JSON. Of both counts only:
`messages`, `response`, `proxy_server_request` and `model_parameters` are skipped by the decoder.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from apps.economics.refusal import Refusal
from apps.workloads.actions.usage import Call
from apps.workloads.api.usage_counts import counts_of, token_count
from apps.workloads.api.usage_owners import Owners
from apps.workloads.api.usage_wire import (
    STANDARD,
    VENDORS,
    call_of,
    outcome_of_code,
    vendor_named,
)
from apps.workloads.api.wire import Fault, fault_of

TAGGED = ("team", "workload", "feature")
"""What a tag such as `feature:search`, or a field of the request's metadata, may say."""


class ErrorTold(msgspec.Struct, frozen=True):
    """Why a request failed."""

    error_code: str | int | None = None


class Metadata(msgspec.Struct, frozen=True):
    """Whose a request was, as LiteLLM knows."""

    user_api_key_alias: str | None = None
    user_api_key_team_alias: str | None = None
    spend_logs_metadata: dict[str, Any] | None = None
    requester_metadata: dict[str, Any] | None = None
    usage_object: dict[str, Any] | None = None
    additional_usage_values: dict[str, Any] | None = None
    error_information: ErrorTold | None = None


class Payload(msgspec.Struct, frozen=True):
    """What of a StandardLoggingPayload, or of a row of the spend logs, is read."""

    id: str | None = None
    request_id: str | None = None
    litellm_call_id: str | None = None
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
    error_information: ErrorTold | None = None


class Page(msgspec.Struct, frozen=True):
    """A page of the spend logs, as LiteLLM's own pages ask for them."""

    data: list[msgspec.Raw] | None = None


_PAYLOAD = msgspec.json.Decoder(Payload)
_PAGE = msgspec.json.Decoder(Page)
_METADATA = msgspec.json.Decoder(Metadata | None)
_TAGS = msgspec.json.Decoder(list[Any] | None)


def rows_of(body: bytes) -> list[msgspec.Raw]:
    """The payloads of a JSON array, of lines of JSON, of a page (`data`), or a single one.

    Refuses a DecodeError.
    """
    if body.lstrip().startswith(b"["):
        return msgspec.json.decode(body, type=list[msgspec.Raw])
    lines = [line for line in body.splitlines() if line.strip()]
    try:
        found = [msgspec.json.decode(line, type=msgspec.Raw) for line in lines]
    except msgspec.DecodeError:
        # One payload over several lines.
        lines = [body]
        found = [msgspec.json.decode(body, type=msgspec.Raw)]
    if len(lines) == 1 and b'"data"' in lines[0]:
        page = _PAGE.decode(lines[0])
        return found if page.data is None else page.data
    return found


def read_payload(
    raw: msgspec.Raw, owners: Owners, at: datetime, row: int, source: str
) -> tuple[Call | Fault, Fault | None]:
    """The call that a payload tells or why not, and what of it was not understood."""
    try:
        told = _PAYLOAD.decode(raw)
        metadata = _read_metadata(told)
        counts = _payload_counts(told, metadata)
        tags = dict(_owner_tags(told, metadata))
    except (msgspec.DecodeError, UnicodeDecodeError) as refused:
        return fault_of(str(refused), row), None
    except Refusal as refused:
        return Fault(refused.field, refused.message, row), None
    except ValueError as refused:
        return Fault("usage", str(refused), row), None
    starts, ends = _epoch_seconds(told.startTime), _epoch_seconds(told.endTime)
    team = tags.get("team") or metadata.user_api_key_team_alias or None
    owner, remark = owners.nearest(team, tags.get("workload"), row)
    vendor, model = _served_by(told)
    said = {
        "source": source,
        "key": told.id or told.request_id or told.litellm_call_id or "",
        "response_id": told.id or told.request_id or "",
        "at": ends if ends is not None else starts,
        "vendor": vendor,
        "model": model,
        "tier": _payload_tier(metadata),
        "outcome": _payload_outcome(told, metadata),
        "team_id": owner.team_id,
        "workload_id": owner.workload_id,
        "feature": tags.get("feature", ""),
        "latency_seconds": _payload_latency(told.response_time, starts, ends),
    }
    return call_of(said, counts, at, row), remark


def _served_by(told: Payload) -> tuple[str, str]:
    """The vendor, and the model without the prefix that LiteLLM puts before it."""
    model = told.model or ""
    prefix, slash, rest = model.partition("/")
    provider = told.custom_llm_provider or (prefix if slash else "")
    if slash and prefix.lower() in {provider.lower(), provider.partition("-")[0].lower(), *VENDORS}:
        model = rest
    # vertex_ai-anthropic_models and its like are one vendor with many makers.
    family = provider.partition("-")[0].lower()
    return vendor_named(family if family in VENDORS else provider or "unknown"), model


def _read_metadata(told: Payload) -> Metadata:
    """As an object, or as the text that a database keeps; refuses a DecodeError."""
    if isinstance(told.metadata, str):
        return _METADATA.decode(told.metadata or "null") or Metadata()
    return told.metadata or Metadata()


def _epoch_seconds(said: float | str | None) -> float | None:
    """Since 1970. A text without a zone is UTC, as LiteLLM's database keeps its times."""
    if not isinstance(said, str):
        return said
    try:
        moment = datetime.fromisoformat(said)
    except ValueError:
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _payload_counts(told: Payload, metadata: Metadata) -> dict[str, int]:
    if told.cache_hit in (True, "True", "true"):
        # The gateway's own cache answered: nothing was bought.
        return {"input_tokens": 0, "output_tokens": 0}
    usage = dict(metadata.usage_object or metadata.additional_usage_values or {})
    usage.setdefault("prompt_tokens", told.prompt_tokens)
    usage.setdefault("completion_tokens", told.completion_tokens)
    # LiteLLM's prompt tokens hold the cached ones whatever the vendor; it names them twice.
    found = counts_of(usage, "litellm")
    for name, ours in (
        ("cache_read_input_tokens", "cache_read_tokens"),
        ("cache_creation_input_tokens", "cache_write_tokens"),
    ):
        count = token_count(usage.get(name))
        if count and not found.get(ours):
            found[ours] = count
    return found


def _payload_tier(metadata: Metadata) -> str:
    usage = metadata.usage_object or metadata.additional_usage_values or {}
    tier = str(usage.get("service_tier") or "").lower()
    return "" if tier in STANDARD else tier


def _payload_outcome(told: Payload, metadata: Metadata) -> str:
    if told.status != "failure":
        return "ok"
    error = told.error_information or metadata.error_information or ErrorTold()
    return outcome_of_code(str(error.error_code or ""))


def _payload_latency(told: float | None, starts: float | None, ends: float | None) -> float | None:
    if told is not None:
        return max(0.0, told)
    return None if starts is None or ends is None else max(0.0, ends - starts)


def _owner_tags(told: Payload, metadata: Metadata) -> Iterable[tuple[str, str]]:
    said = told.request_tags
    for tag in (_TAGS.decode(said or "null") if isinstance(said, str) else said) or ():
        name, colon, value = str(tag).partition(":")
        if colon and name in TAGGED:
            yield name, value.strip()[:200]
    for fields in (metadata.requester_metadata, metadata.spend_logs_metadata):
        for name in TAGGED:
            if isinstance((fields or {}).get(name), str):
                yield name, (fields or {})[name].strip()[:200]
