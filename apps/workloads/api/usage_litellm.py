"""What LiteLLM's `generic_api` callback sends: its StandardLoggingPayload, counts only.

`messages`, `response` and `model_parameters` are skipped by the decoder.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from apps.workloads.actions.usage import Call
from apps.workloads.api.usage_counts import counts_of
from apps.workloads.api.usage_owners import Owners
from apps.workloads.api.usage_wire import (
    STANDARD,
    VENDORS,
    call_of,
    outcome_of,
    vendor_named,
)
from apps.workloads.api.wire import Fault, fault_of

TAGGED = ("team", "workload", "feature")
"""What a tag such as `feature:search`, or a field of the request's metadata, may say."""


class Metadata(msgspec.Struct, frozen=True):
    """Whose a request was, as LiteLLM knows."""

    user_api_key_alias: str | None = None
    user_api_key_team_alias: str | None = None
    spend_logs_metadata: dict[str, Any] | None = None
    requester_metadata: dict[str, Any] | None = None
    usage_object: dict[str, Any] | None = None


class ErrorTold(msgspec.Struct, frozen=True):
    """Why a request failed."""

    error_code: str | int | None = None


class Payload(msgspec.Struct, frozen=True):
    """What of a StandardLoggingPayload is read."""

    id: str | None = None
    litellm_call_id: str | None = None
    status: str | None = None
    model: str | None = None
    custom_llm_provider: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    startTime: float | None = None  # noqa: N815  # LiteLLM's own spelling
    endTime: float | None = None  # noqa: N815  # LiteLLM's own spelling
    response_time: float | None = None
    cache_hit: bool | str | None = None
    request_tags: list[Any] | None = None
    metadata: Metadata | None = None
    error_information: ErrorTold | None = None


_PAYLOAD = msgspec.json.Decoder(Payload)


def rows_of(body: bytes) -> list[msgspec.Raw]:
    """The payloads of a JSON array, of lines of JSON, or a single one; refuses a DecodeError."""
    if body.lstrip().startswith(b"["):
        return msgspec.json.decode(body, type=list[msgspec.Raw])
    lines = [line for line in body.splitlines() if line.strip()]
    try:
        return [msgspec.json.decode(line, type=msgspec.Raw) for line in lines]
    except msgspec.DecodeError:
        # One payload over several lines.
        return [msgspec.json.decode(body, type=msgspec.Raw)]


def read_payload(
    raw: msgspec.Raw, owners: Owners, at: datetime, row: int, source: str
) -> tuple[Call | Fault, Fault | None]:
    """The call that a payload tells or why not, and what of it was not understood."""
    try:
        told = _PAYLOAD.decode(raw)
        counts = _counts(told)
    except (msgspec.DecodeError, UnicodeDecodeError) as refused:
        return fault_of(str(refused), row), None
    except ValueError as refused:
        return Fault("usage", str(refused).removeprefix("usage: "), row), None
    metadata = told.metadata or Metadata()
    tags = dict(_tags(told, metadata))
    team = tags.get("team") or metadata.user_api_key_team_alias or None
    owner, remark = owners.nearest(team, tags.get("workload"), row)
    vendor, model = _served_by(told)
    said = {
        "source": source,
        "key": told.id or told.litellm_call_id or "",
        "at": told.endTime if told.endTime is not None else told.startTime,
        "vendor": vendor,
        "model": model,
        "tier": _tier(metadata),
        "outcome": _outcome(told),
        "team_id": owner.team_id,
        "workload_id": owner.workload_id,
        "feature": tags.get("feature", ""),
        "latency_seconds": _latency(told),
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


def _counts(told: Payload) -> dict[str, int]:
    if told.cache_hit in (True, "True", "true"):
        # The gateway's own cache answered: nothing was bought.
        return {"input_tokens": 0, "output_tokens": 0}
    usage = dict((told.metadata or Metadata()).usage_object or {})
    usage.setdefault("prompt_tokens", told.prompt_tokens)
    usage.setdefault("completion_tokens", told.completion_tokens)
    # LiteLLM's prompt tokens hold the cached ones whatever the vendor; it names them twice.
    found = counts_of(usage, "litellm")
    for name, ours in (
        ("cache_read_input_tokens", "cache_read_tokens"),
        ("cache_creation_input_tokens", "cache_write_tokens"),
    ):
        count = usage.get(name)
        if isinstance(count, int) and count and not found.get(ours):
            found[ours] = count
    return found


def _tier(metadata: Metadata) -> str:
    tier = str((metadata.usage_object or {}).get("service_tier") or "").lower()
    return "" if tier in STANDARD else tier


def _outcome(told: Payload) -> str:
    if told.status != "failure":
        return "ok"
    code = str((told.error_information or ErrorTold()).error_code or "")
    return outcome_of(int(code)) if code.isascii() and code.isdigit() else "refused"


def _latency(told: Payload) -> float | None:
    if told.response_time is not None:
        return max(0.0, told.response_time)
    if told.startTime is None or told.endTime is None:
        return None
    return max(0.0, told.endTime - told.startTime)


def _tags(told: Payload, metadata: Metadata) -> Iterable[tuple[str, str]]:
    for tag in told.request_tags or ():
        name, colon, value = str(tag).partition(":")
        if colon and name in TAGGED:
            yield name, value.strip()[:200]
    for fields in (metadata.requester_metadata, metadata.spend_logs_metadata):
        for name in TAGGED:
            if isinstance((fields or {}).get(name), str):
                yield name, (fields or {})[name].strip()[:200]
