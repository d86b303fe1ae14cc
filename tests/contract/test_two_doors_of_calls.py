"""Two doors, one dollar: one table of calls, and for each door one function that tells any of them."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.ledger.actions.calls import price_waiting
from apps.ledger.models import ApiCost
from apps.ledger.solvers.api_pricing import books
from apps.workloads.models import UsageEvent
from tests.contract.test_two_doors import AT, DOOR, Told, client, counted, span

__all__ = ["client"]

pytestmark = pytest.mark.django_db

RESPONSE = "resp-1"
STATUSES = {"ok": 200, "rate_limited": 429, "server_error": 503}


@dataclass(frozen=True)
class CallFact:
    """A call as the vendor would bill it: counts by the names of prices, and what they come to.

    `micros` None: nobody can know it.
    """

    micros: str | None
    vendor: str
    model: str
    counts: Mapping[str, int] = field(default_factory=dict)
    outcome: str = "ok"

    def of(self, name: str) -> int:
        return self.counts.get(name, 0)


def call(micros: str | None, name: str, outcome: str = "ok", /, **counts: int) -> CallFact:
    vendor, _, model = name.partition(":")
    told = {short.replace("_of_", "_"): count for short, count in counts.items()}
    named = {name if name == "web_searches" else f"{name}_tokens": n for name, n in told.items()}
    return CallFact(micros, vendor, model, named, outcome)


SONNET, GPT5, FLASH = "anthropic:claude-sonnet-4-5", "openai:gpt-5", "google:gemini-2.5-flash"
NOVA = "aws:amazon.nova-pro-v1:0"
FACTS = {
    "a plain call": call("10500", SONNET, input=1_000, output=500),
    "one that reads and writes a cache": call(
        "44900.25", SONNET, input=130_213, cache_read=128_955, cache_write=1_253, output=100
    ),
    "two lifetimes of a cache": call(
        "513000", SONNET, input=101_000, cache_write=100_000, cache_write_5m=40_000,
        cache_write_1h=60_000, output=0,
    ),
    "ten web searches": call("103000", SONNET, input=1_000, output=0, web_searches=10),
    "one that thinks": call("51250", GPT5, input=1_000, output=5_000, output_reasoning=4_000),
    "an OpenAI model from its cache": call(
        "8000", "openai:gpt-4.1", input=10_000, cache_read=8_000, output=0
    ),
    "an embedding": call("130000", "openai:text-embedding-3-large", input=1_000_000),
    "speech in and out": call(
        "52700", "openai:gpt-audio", input=1_000, input_audio=800, output=500, output_audio=400
    ),
    "an image in": call(
        "9900050", "openai:gpt-image-1", input=990_010, input_text=10, input_image=990_000, output=0
    ),
    "Gemini that thinks": call("12800", FLASH, input=1_000, output=5_000, output_reasoning=4_000),
    "Gemini that hears": call("720", FLASH, input=1_000, input_audio=600, output=0),
    "Gemini from its cache": call("840", FLASH, input=10_000, cache_read=8_000, output=0),
    "Gemini with a long prompt": call(
        "765000", "google:gemini-2.5-pro", input=300_000, output=1_000
    ),
    "Bedrock from its cache": call("8200", NOVA, input=10_000, cache_read=5_000, output=1_000),
    "Claude on Bedrock by a profile": call(
        "330000", "aws:us.anthropic.claude-sonnet-4-5-20250929-v1:0", input=100_000, output=0
    ),
    "Nova by its inference profile's ARN": call(
        "800000",
        "aws:arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0",
        input=1_000_000, output=0,
    ),
    "throughput that is paid by the hour": call(
        None, "aws:arn:aws:bedrock:us-east-1:1:provisioned-model/x", input=1_000, output=10
    ),
    "Azure": call("2800000", "azure:gpt-4.1", input=1_000_000, output=100_000),
    "xAI that thinks": call(
        "48000", "x-ai:grok-4", input=1_000, output=3_000, output_reasoning=2_000
    ),
    "Mistral": call("2000000", "mistral:mistral-large-latest", input=1_000_000, output=0),
    "one that was refused for its rate": call("0", GPT5, "rate_limited"),
    "one that failed at the vendor": call("0", SONNET, "server_error"),
    "one of which nobody counts anything": call(None, GPT5),
    "one of which nobody counts the input": call(None, SONNET, output=500),
    "one of which nobody counts the output": call(None, SONNET, input=500),
    "a model that nobody has a price of": call(None, "openai:gpt-0", input=1_000, output=10),
}  # fmt: skip


def known(counts: Mapping[str, Any]) -> dict[str, Any]:
    """What is said, without what is not."""
    return {name: count for name, count in counts.items() if count not in (None, {})}


def chat_usage(fact: CallFact) -> dict[str, Any]:
    """OpenAI's older shape; xAI's completion leaves its reasoning out."""
    output = fact.counts.get("output_tokens")
    if fact.vendor == "x-ai" and output is not None:
        output -= fact.of("output_reasoning_tokens")
    return known(
        {
            "prompt_tokens": fact.counts.get("input_tokens"),
            "completion_tokens": output,
            "prompt_tokens_details": _details(fact, "input", "cache_read"),
            "completion_tokens_details": _details(fact, "output", "output_reasoning"),
        }
    )


def _details(fact: CallFact, way: str, beside: str) -> dict[str, int]:
    names = {f"{way}_{kind}_tokens": f"{kind}_tokens" for kind in ("text", "audio", "image")}
    names |= {"cache_read_tokens": "cached_tokens"} if beside == "cache_read" else {}
    names |= {"output_reasoning_tokens": "reasoning_tokens"} if "reasoning" in beside else {}
    return {theirs: fact.counts[ours] for ours, theirs in names.items() if ours in fact.counts}


def messages_usage(fact: CallFact) -> dict[str, Any]:
    """Anthropic's, whose input leaves out what the cache read and wrote."""
    plain = fact.counts.get("input_tokens")
    if plain is not None:
        plain -= fact.of("cache_read_tokens") + fact.of("cache_write_tokens")
    lifetimes = {
        f"ephemeral_{each}_input_tokens": fact.counts[f"cache_write_{each}_tokens"]
        for each in ("5m", "1h")
        if f"cache_write_{each}_tokens" in fact.counts
    }
    return known(
        {
            "input_tokens": plain,
            "cache_read_input_tokens": fact.counts.get("cache_read_tokens"),
            "cache_creation_input_tokens": fact.counts.get("cache_write_tokens"),
            "cache_creation": lifetimes,
            "output_tokens": fact.counts.get("output_tokens"),
            "server_tool_use": known({"web_search_requests": fact.counts.get("web_searches")}),
        }
    )


def converse_usage(fact: CallFact) -> dict[str, Any]:
    cached = fact.counts.get("cache_read_tokens")
    plain = fact.counts.get("input_tokens")
    return known(
        {
            "inputTokens": None if plain is None else plain - (cached or 0),
            "cacheReadInputTokens": cached,
            "outputTokens": fact.counts.get("output_tokens"),
        }
    )


def gemini_usage(fact: CallFact) -> dict[str, Any]:
    """Gemini's, whose candidates leave the thoughts out."""
    output, thoughts = fact.counts.get("output_tokens"), fact.counts.get("output_reasoning_tokens")
    heard = fact.counts.get("input_audio_tokens")
    return known(
        {
            "promptTokenCount": fact.counts.get("input_tokens"),
            "cachedContentTokenCount": fact.counts.get("cache_read_tokens"),
            "candidatesTokenCount": None if output is None else output - (thoughts or 0),
            "thoughtsTokenCount": thoughts,
            "promptTokensDetails": None if heard is None else [
                {"modality": "AUDIO", "tokenCount": heard},
            ],
        }
    )  # fmt: skip


USAGES = {
    "anthropic": messages_usage,
    "aws": converse_usage,
    "google": gemini_usage,
}


def by_the_answer(fact: CallFact) -> Told:
    """The vendor's own body, as the vendor shapes it."""
    usage = USAGES.get(fact.vendor, chat_usage)(fact)
    place = "usageMetadata" if fact.vendor == "google" else "usage"
    response = {"id": RESPONSE, place: usage} if usage else {"id": RESPONSE}
    body = {"vendor": fact.vendor, "model": fact.model, "at": AT, "response": response}
    return Told(DOOR, "the answer", body | {"status": STATUSES[fact.outcome]})


def by_counts(fact: CallFact) -> Told:
    told = counted(fact.vendor, fact.model, **fact.counts)
    return Told(DOOR, told.sender, told.body | {"key": RESPONSE, "status": STATUSES[fact.outcome]})


def litellm_usage(fact: CallFact) -> dict[str, Any]:
    """LiteLLM's own: prompt tokens hold the cached ones, completion tokens the thoughts."""
    usage = chat_usage(fact) | known({"completion_tokens": fact.counts.get("output_tokens")})
    lifetimes = {
        f"ephemeral_{each}_input_tokens": fact.counts[f"cache_write_{each}_tokens"]
        for each in ("5m", "1h")
        if f"cache_write_{each}_tokens" in fact.counts
    }
    written = known(
        {
            "cache_creation_tokens": fact.counts.get("cache_write_tokens"),
            "cache_creation_token_details": lifetimes,
        }
    )
    if written:
        usage["prompt_tokens_details"] = usage.get("prompt_tokens_details", {}) | written
    if "web_searches" in fact.counts:
        usage["server_tool_use"] = {"web_search_requests": fact.of("web_searches")}
    return usage


LITELLM_NAMES = {"aws": "bedrock", "google": "gemini", "x-ai": "xai"}


def by_litellm(fact: CallFact) -> Told:
    usage = litellm_usage(fact)
    payload = {
        "id": RESPONSE,
        "status": "success" if fact.outcome == "ok" else "failure",
        "error_information": {"error_code": str(STATUSES[fact.outcome])},
        "model": fact.model,
        "custom_llm_provider": LITELLM_NAMES.get(fact.vendor, fact.vendor),
        "startTime": AT - 2,
        "endTime": AT,
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "metadata": {"usage_object": usage},
    }
    return Told(f"{DOOR}/litellm", "LiteLLM", [payload])


def by_a_spend_row(fact: CallFact) -> Told:
    """The same as LiteLLM's database keeps it: other names, times and metadata as text."""
    usage = litellm_usage(fact)
    error = {} if fact.outcome == "ok" else {"error_code": STATUSES[fact.outcome]}
    row = {
        "request_id": RESPONSE,
        "status": "success" if fact.outcome == "ok" else "failure",
        "model": fact.model,
        "custom_llm_provider": LITELLM_NAMES.get(fact.vendor, fact.vendor),
        "startTime": datetime.fromtimestamp(AT - 2, UTC).strftime("%Y-%m-%dT%H:%M:%S"),
        "endTime": datetime.fromtimestamp(AT, UTC).strftime("%Y-%m-%dT%H:%M:%S"),
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "spend": 0.5,
        "metadata": json.dumps({"usage_object": usage, "error_information": error}),
    }
    return Told(f"{DOOR}/litellm", "spend rows", {"data": [row]})


@dataclass(frozen=True)
class Dialect:
    """How a sender of spans spells a call: what tells its kind, and each count that it can tell."""

    kind: Mapping[str, str]
    vendor: str
    model: str
    counts: Mapping[str, str]
    response: str = "gen_ai.response.id"

    def can_tell(self, fact: CallFact) -> bool:
        return set(fact.counts) <= set(self.counts)

    def told(self, fact: CallFact) -> Told:
        names: dict[str, Any] = {
            **self.kind,
            self.vendor: fact.vendor,
            self.model: fact.model,
            self.response: RESPONSE,
        }
        names |= {self.counts[name]: count for name, count in fact.counts.items()}
        if fact.outcome != "ok":
            names["http.response.status_code"] = STATUSES[fact.outcome]
        return span("spans", names=names)


def of_usage(**names: str) -> dict[str, str]:
    return {f"{name}_tokens": spelt for name, spelt in names.items()}


USED, COUNT = "gen_ai.usage.", "llm.token_count."
SEMCONV_COUNTS = of_usage(
    input=f"{USED}input_tokens",
    output=f"{USED}output_tokens",
    cache_read=f"{USED}cache_read.input_tokens",
    cache_write=f"{USED}cache_creation.input_tokens",
    output_reasoning=f"{USED}reasoning.output_tokens",
    input_text=f"{USED}text.input_tokens",
    input_audio=f"{USED}audio.input_tokens",
    input_image=f"{USED}image.input_tokens",
    output_audio=f"{USED}audio.output_tokens",
)
CHAT = {"gen_ai.operation.name": "chat"}
DIALECTS = {
    "semconv 2026": Dialect(
        CHAT, "gen_ai.provider.name", "gen_ai.response.model", SEMCONV_COUNTS
    ),
    "semconv of 2024": Dialect(
        CHAT, "gen_ai.system", "gen_ai.request.model",
        of_usage(input=f"{USED}prompt_tokens", output=f"{USED}completion_tokens"),
    ),
    "OpenLLMetry": Dialect(
        {"llm.request.type": "chat"}, "gen_ai.system", "gen_ai.response.model",
        of_usage(
            input=f"{USED}prompt_tokens", output=f"{USED}completion_tokens",
            cache_read=f"{USED}cache_read_input_tokens",
            cache_write=f"{USED}cache_creation_input_tokens",
            output_reasoning=f"{USED}reasoning_tokens",
        ),
    ),
    "OpenInference": Dialect(
        {"openinference.span.kind": "LLM"}, "llm.provider", "llm.model_name",
        of_usage(
            input=f"{COUNT}prompt", output=f"{COUNT}completion",
            cache_read=f"{COUNT}prompt_details.cache_read",
            cache_write=f"{COUNT}prompt_details.cache_write",
            output_reasoning=f"{COUNT}completion_details.reasoning",
            input_audio=f"{COUNT}prompt_details.audio",
            output_audio=f"{COUNT}completion_details.audio",
        ),
    ),
    "pydantic-ai": Dialect(
        CHAT, "gen_ai.system", "gen_ai.request.model",
        of_usage(
            input=f"{USED}input_tokens", output=f"{USED}output_tokens",
            cache_read=f"{USED}details.cache_read_tokens",
            cache_write=f"{USED}details.cache_write_tokens",
            output_reasoning=f"{USED}details.reasoning_tokens",
            input_audio=f"{USED}details.input_audio_tokens",
            output_audio=f"{USED}details.output_audio_tokens",
        ),
    ),
    "Sentry": Dialect(
        {"gen_ai.operation.type": "ai_client"}, "gen_ai.system", "gen_ai.request.model",
        of_usage(
            input=f"{USED}input_tokens", output=f"{USED}output_tokens",
            cache_read=f"{USED}input_tokens.cached",
            cache_write=f"{USED}input_tokens.cache_write",
            output_reasoning=f"{USED}output_tokens.reasoning",
        ),
    ),
    "Strands": Dialect(
        CHAT, "gen_ai.system", "gen_ai.request.model",
        of_usage(
            input=f"{USED}input_tokens", output=f"{USED}output_tokens",
            cache_read=f"{USED}cache_read_input_tokens",
            cache_write=f"{USED}cache_write_input_tokens",
        ),
    ),
    "Vercel 6": Dialect(
        {"ai.operationId": "ai.generateText.doGenerate"}, "ai.model.provider", "ai.model.id",
        of_usage(
            input="ai.usage.inputTokens", output="ai.usage.outputTokens",
            cache_read="ai.usage.inputTokenDetails.cacheReadTokens",
            cache_write="ai.usage.inputTokenDetails.cacheWriteTokens",
            output_reasoning="ai.usage.outputTokenDetails.reasoningTokens",
        ),
        "ai.response.id",
    ),
}  # fmt: skip


def doors_of(fact: CallFact) -> dict[str, Callable[[CallFact], Told]]:
    """Every door that can tell this call whole."""
    found = {
        "its answer": by_the_answer,
        "counts": by_counts,
        "LiteLLM": by_litellm,
        "spend rows": by_a_spend_row,
    }
    return found | {
        name: dialect.told for name, dialect in DIALECTS.items() if dialect.can_tell(fact)
    }


def tell(client: APIClient, told: Told) -> None:
    answer = client.post(told.door, told.body, format="json")
    assert answer.status_code == 200, answer.content
    assert (answer.json()["accepted"], answer.json()["errors"]) == (1, [])
    assert [each["message"] for each in answer.json()["remarks"]] == []


def is_counted_as(fact: CallFact) -> None:
    """Hold cost, tokens and status of the one call that is counted."""
    event = UsageEvent.objects.get(is_counted=True)
    assert (event.vendor, event.model, event.outcome) == (fact.vendor, fact.model, fact.outcome)
    columns = {
        "input_tokens": event.input_tokens,
        "cache_read_tokens": event.cached_tokens,
        "cache_write_tokens": event.cache_write_tokens,
        "output_tokens": event.output_tokens,
        "output_reasoning_tokens": event.reasoning_tokens,
        **event.detail,
    }
    assert {name: count for name, count in columns.items() if count} == {
        name: count for name, count in fact.counts.items() if count
    }
    price_waiting(before=event.at.replace(minute=59), book=books)
    costs = ApiCost.objects.filter(event_id=event.id)
    if fact.micros is None:
        assert [(cost.amount, bool(cost.reason)) for cost in costs] == [(None, True)]
    else:
        assert [cost.amount for cost in costs] == [Decimal(fact.micros) / 10**6]


def cases() -> Iterator[Any]:
    for name, fact in FACTS.items():
        for door, told in doors_of(fact).items():
            yield pytest.param(fact, told, id=f"{name} by {door}")


@pytest.mark.parametrize(("fact", "told"), list(cases()))
def test_a_call_costs_the_same_through_every_door(
    client: APIClient, fact: CallFact, told: Callable[[CallFact], Told]
) -> None:
    tell(client, told(fact))
    is_counted_as(fact)


@pytest.mark.parametrize("is_reversed", [False, True], ids=["answer first", "spans first"])
@pytest.mark.parametrize("fact", FACTS.values(), ids=FACTS)
def test_a_call_that_every_door_tells_is_one(
    client: APIClient, fact: CallFact, *, is_reversed: bool
) -> None:
    doors = doors_of(fact)
    # A span has one key: of its dialects one tells.
    named = ["its answer", "LiteLLM", *(["semconv 2026"] if "semconv 2026" in doors else [])]
    for door in reversed(named) if is_reversed else named:
        tell(client, doors[door](fact))
    is_counted_as(fact)
