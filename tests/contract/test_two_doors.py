"""Two doors, one dollar: a fact told through any door, in any sender's words, costs the same."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.ledger.actions.calls import price_waiting
from apps.ledger.models import ApiCost
from apps.ledger.solvers.api_pricing import books
from apps.workloads.models import UsageEvent
from tests import make

pytestmark = pytest.mark.django_db

DOOR = "/api/v1/usage-events"
AT = 1_795_931_642
"""28 November 2026: the price table knows tiers and lifetimes of then."""


@dataclass(frozen=True)
class Told:
    """One fact as one sender tells it: through which door, in which words."""

    door: str
    sender: str
    body: Any


@pytest.fixture
def client() -> APIClient:
    make.make_organisation()
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {make.make_token('usage').secret}")
    return client


def rest(response: dict[str, Any], **given: Any) -> Told:
    body = {"vendor": "anthropic", "at": AT, "key": "k", "response": response} | given
    return Told(DOOR, f"{body['vendor']}'s answer", body)


def counted(vendor: str, model: str, tier: str = "", **usage: int) -> Told:
    body = {"vendor": vendor, "model": model, "key": "k", "at": AT, "usage": usage}
    return Told(DOOR, "counts", body | ({"tier": tier} if tier else {}))


def litellm(usage: dict[str, Any], **given: Any) -> Told:
    row = {
        "id": "k",
        "status": "success",
        "model": "claude-sonnet-4-5",
        "custom_llm_provider": "anthropic",
        "startTime": AT - 2,
        "endTime": AT,
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "metadata": {"usage_object": usage},
    } | given
    return Told(f"{DOOR}/litellm", "LiteLLM", [row])


def span(sender: str, **attributes: Any) -> Told:
    """A span of attributes with dots written as double underscores, or given whole in `names`."""
    names = attributes.pop("names", {})
    values = [
        {"key": key, "value": {"intValue": str(v)} if isinstance(v, int) else {"stringValue": v}}
        for key, v in {**{k.replace("__", "."): v for k, v in attributes.items()}, **names}.items()
    ]
    one = {
        "traceId": "a" * 32,
        "spanId": "b" * 16,
        "startTimeUnixNano": str((AT - 2) * 10**9),
        "endTimeUnixNano": str(AT * 10**9),
        "attributes": values,
    }
    return Told(f"{DOOR}/otel", sender, {"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]})


def semconv(**names: Any) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.response.model": "claude-sonnet-4-5",
    } | names


USED = "gen_ai.usage."
CACHED = {f"{USED}input_tokens": 130_213, f"{USED}output_tokens": 100}
CACHED_CALL = (
    rest(
        {
            "model": "claude-sonnet-4-5",
            "usage": {
                "input_tokens": 5,
                "cache_read_input_tokens": 128_955,
                "cache_creation_input_tokens": 1_253,
                "output_tokens": 100,
            },
        }
    ),
    counted(
        "anthropic",
        "claude-sonnet-4-5",
        input_tokens=130_213,
        cache_read_tokens=128_955,
        cache_write_tokens=1_253,
        output_tokens=100,
    ),
    litellm(
        {
            "prompt_tokens": 130_213,
            "completion_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 128_955, "cache_creation_tokens": 1_253},
        }
    ),
    *(
        span(sender, names=semconv(**CACHED, **{f"{USED}{read}": 128_955, f"{USED}{write}": 1_253}))
        for sender, read, write in (
            ("semconv 2026", "cache_read.input_tokens", "cache_creation.input_tokens"),
            ("semconv mid 2026", "cache_read.input_tokens", "cache_write.input_tokens"),
            ("OpenLLMetry", "cache_read_input_tokens", "cache_creation_input_tokens"),
            ("Strands", "cache_read_input_tokens", "cache_write_input_tokens"),
            ("pydantic-ai", "details.cache_read_tokens", "details.cache_write_tokens"),
            ("Sentry", "input_tokens.cached", "input_tokens.cache_write"),
        )
    ),
    span(
        "semconv of 2024",
        names={
            "gen_ai.system": "anthropic",
            "gen_ai.request.model": "claude-sonnet-4-5",
            f"{USED}prompt_tokens": 130_213,
            f"{USED}completion_tokens": 100,
            f"{USED}cache_read_input_tokens": 128_955,
            f"{USED}cache_creation_input_tokens": 1_253,
        },
    ),
    span(
        "OpenInference",
        names={
            "openinference.span.kind": "LLM",
            "llm.provider": "anthropic",
            "llm.model_name": "claude-sonnet-4-5",
            "llm.token_count.prompt": 130_213,
            "llm.token_count.prompt_details.cache_read": 128_955,
            "llm.token_count.prompt_details.cache_write": 1_253,
            "llm.token_count.completion": 100,
            "llm.token_count.total": 130_313,
        },
    ),
    span(
        "Vercel 6",
        names={
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.model.provider": "anthropic.messages",
            "ai.model.id": "claude-sonnet-4-5",
            "ai.usage.inputTokens": 130_213,
            "ai.usage.outputTokens": 100,
            "ai.usage.inputTokenDetails.noCacheTokens": 5,
            "ai.usage.inputTokenDetails.cacheReadTokens": 128_955,
            "ai.usage.inputTokenDetails.cacheWriteTokens": 1_253,
        },
    ),
    span(
        "Vercel 4, whose input leaves out the cache",
        names={
            "ai.operationId": "ai.streamText.doStream",
            "gen_ai.system": "anthropic.messages",
            "gen_ai.request.model": "claude-sonnet-4-5",
            "ai.usage.promptTokens": 5,
            "gen_ai.usage.input_tokens": 5,
            "ai.usage.completionTokens": 100,
            "ai.response.providerMetadata": json.dumps(
                {
                    "anthropic": {
                        "usage": {
                            "input_tokens": 5,
                            "cache_creation_input_tokens": 1_253,
                            "cache_read_input_tokens": 128_955,
                            "output_tokens": 100,
                        }
                    }
                }
            ),
        },
    ),
    span(
        "Langfuse, parts beside the input",
        names={
            "langfuse.observation.type": "generation",
            "gen_ai.system": "anthropic",
            "langfuse.observation.model.name": "claude-sonnet-4-5",
            "langfuse.observation.usage_details": json.dumps(
                {
                    "input": 5,
                    "output": 100,
                    "cache_read_input_tokens": 128_955,
                    "cache_creation_input_tokens": 1_253,
                    "total": 130_313,
                }
            ),
        },
    ),
    span(
        "Langfuse, parts within the input",
        names={
            "langfuse.observation.type": "generation",
            "gen_ai.system": "anthropic",
            "langfuse.observation.model.name": "claude-sonnet-4-5",
            "langfuse.observation.usage_details": json.dumps(
                {
                    "input": 130_213,
                    "output": 100,
                    "input_cached_tokens": 128_955,
                    "input_cache_creation": 1_253,
                    "total": 130_313,
                }
            ),
        },
    ),
)
SEARCHED = {
    "prompt_tokens": 7_343,
    "completion_tokens": 200,
    "prompt_tokens_details": {
        "cached_tokens": 4_266,
        "cache_creation_tokens": 1_844,
        "cache_creation_token_details": {
            "ephemeral_5m_input_tokens": 314,
            "ephemeral_1h_input_tokens": 0,
        },
    },
    "server_tool_use": {"web_search_requests": 5},
}
ANSWERED_SEARCH = {
    "id": "k",
    "model": "claude-sonnet-4-5",
    "usage": {
        "input_tokens": 1_233,
        "cache_creation_input_tokens": 1_844,
        "cache_read_input_tokens": 4_266,
        "output_tokens": 200,
        "cache_creation": {"ephemeral_5m_input_tokens": 1_844, "ephemeral_1h_input_tokens": 0},
        "server_tool_use": {"web_search_requests": 5},
    },
}
HOUR_LONG = {
    "id": "k",
    "model": "claude-sonnet-4-5",
    "usage": {
        "input_tokens": 1_000,
        "cache_creation_input_tokens": 100_000,
        "cache_read_input_tokens": 0,
        "output_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 100_000},
    },
}
GPT = {"prompt_tokens": 1_000_000, "completion_tokens": 100_000}
OF_GPT = {"model": "gpt-5", "custom_llm_provider": "openai"}


def tiered(tier: str) -> tuple[Told, ...]:
    answer = {"id": "k", "created": AT, "model": "gpt-5", "service_tier": tier, "usage": GPT}
    return (
        Told(DOOR, "openai's answer", {"vendor": "openai", "response": answer}),
        counted("openai", "gpt-5", tier, input_tokens=1_000_000, output_tokens=100_000),
        litellm(GPT, **OF_GPT, cost_breakdown={"service_tier": tier}),
        litellm(GPT, **OF_GPT, response={"service_tier": tier, "choices": [{"message": "x"}]}),
        litellm(GPT, **OF_GPT, model_parameters={"service_tier": tier, "user": "x"}),
        span(
            "semconv",
            names={
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.response.model": "gpt-5",
                "openai.response.service_tier": tier,
                f"{USED}input_tokens": 1_000_000,
                f"{USED}output_tokens": 100_000,
            },
        ),
    )


def named(vendor: str, *others: str, model: str = "gpt-4.1") -> tuple[Told, ...]:
    """A million tokens of a vendor under each of its names."""
    return tuple(
        told
        for name in (vendor, *others)
        for told in (
            counted(name, model, input_tokens=1_000_000, output_tokens=0),
            span(
                f"spans of {name}",
                names={
                    "gen_ai.operation.name": "chat",
                    "gen_ai.system": name,
                    "gen_ai.request.model": model,
                    f"{USED}input_tokens": 1_000_000,
                    f"{USED}output_tokens": 0,
                },
            ),
        )
    )


FACTS: dict[str, tuple[str | None, tuple[Told, ...]]] = {
    "a cached call": ("44900.25", CACHED_CALL),
    "five web searches": ("64893.8", (rest(ANSWERED_SEARCH), litellm(SEARCHED))),
    "an hour's cache": (
        "603000",
        (
            rest(HOUR_LONG),
            litellm(
                {
                    "prompt_tokens": 101_000,
                    "completion_tokens": 0,
                    "prompt_tokens_details": {
                        "cache_creation_tokens": 100_000,
                        "cache_creation_token_details": {"ephemeral_1h_input_tokens": 100_000},
                    },
                }
            ),
            litellm(
                {
                    "prompt_tokens": 101_000,
                    "completion_tokens": 0,
                    "cache_creation_input_tokens": 100_000,
                    "cache_creation": {"ephemeral_1h_input_tokens": 100_000},
                }
            ),
        ),
    ),
    "the ordinary tier": ("2250000", tiered("default")),
    "flex": ("1125000", tiered("flex")),
    "priority": ("4500000", tiered("priority")),
    "a tier that nobody has a price of": (None, tiered("bespoke")),
    "a batch": (
        "150000",
        (
            counted(
                "anthropic",
                "claude-sonnet-4-5",
                "batch",
                input_tokens=100_000,
                output_tokens=0,
            ),
            litellm(
                {"prompt_tokens": 100_000, "completion_tokens": 0}, call_type="aretrieve_batch"
            ),
        ),
    ),
    "OpenAI": ("2000000", named("openai", "openai.chat", "openai.responses", "OpenAI")),
    "Azure": (
        "2000000",
        named("azure", "azure.ai.openai", "az.ai.openai", "azure_openai", "azure.responses"),
    ),
    "Gemini": (
        "300000",
        named(
            *("google", "gcp.gemini", "gcp.vertex_ai", "vertex_ai", "google.generative-ai"),
            *("google.vertex.chat", "google-vertex", "vertexai"),
            model="gemini-2.5-flash",
        ),
    ),
    "xAI": ("3000000", named("x-ai", "x_ai", "xai", "xai.chat", model="grok-4")),
    "Mistral": (
        "2000000",
        named("mistral", "mistral_ai", "mistralai", "mistral.chat", model="mistral-large-latest"),
    ),
    "a server that only speaks OpenAI's language": (
        None,
        named("openai-compatible", "openai_like"),
    ),
    "Bedrock by any name of a model": (
        "800000",
        tuple(
            told
            for model in (
                "amazon.nova-pro-v1:0",
                "us.amazon.nova-pro-v1:0",
                "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0",
                "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0",
            )
            for told in named("aws", "aws.bedrock", "bedrock", "amazon-bedrock", model=model)
        ),
    ),
    "throughput that is paid by the hour": (
        None,
        (
            *named("aws", model="arn:aws:bedrock:us-east-1:1:provisioned-model/x"),
            *named("aws", model="arn:aws:bedrock:us-east-1:1:application-inference-profile/x"),
            counted("azure", "gpt-4.1", "ptu", input_tokens=5),
        ),
    ),
    "an image's input": (
        # 10 tokens of text at 5, 990,000 of an image at 10 a million.
        "9900050",
        (
            counted(
                "openai",
                "gpt-image-1",
                input_tokens=990_010,
                output_tokens=0,
                input_text_tokens=10,
                input_image_tokens=990_000,
            ),
            rest(
                {
                    "created": AT,
                    "usage": {
                        "input_tokens": 990_010,
                        "input_tokens_details": {"text_tokens": 10, "image_tokens": 990_000},
                        "output_tokens": 0,
                    },
                },
                vendor="openai",
                model="gpt-image-1",
            ),
            litellm(
                {
                    "prompt_tokens": 990_010,
                    "completion_tokens": 0,
                    "prompt_tokens_details": {"text_tokens": 10, "image_tokens": 990_000},
                },
                model="gpt-image-1",
                custom_llm_provider="openai",
            ),
            span(
                "semconv 2026",
                names={
                    "gen_ai.operation.name": "generate_content",
                    "gen_ai.provider.name": "openai",
                    "gen_ai.request.model": "gpt-image-1",
                    f"{USED}input_tokens": 990_010,
                    f"{USED}output_tokens": 0,
                    f"{USED}text.input_tokens": 10,
                    f"{USED}image.input_tokens": 990_000,
                },
            ),
        ),
    ),
    "an image's input of which nobody tells the kind": (
        None,
        named("openai", model="gpt-image-1"),
    ),
}


def cases() -> Iterator[Any]:
    for fact, (micros, tellings) in FACTS.items():
        for place, told in enumerate(tellings):
            yield pytest.param(micros, told, id=f"{fact}: {place} {told.sender}")


@pytest.mark.parametrize(("micros", "told"), list(cases()))
def test_a_call_costs_the_same_through_every_door(
    client: APIClient, micros: str | None, told: Told
) -> None:
    answer = client.post(told.door, told.body, format="json")
    assert answer.status_code == 200, answer.content
    assert (answer.json()["accepted"], answer.json()["errors"]) == (1, [])

    price_waiting(before=UsageEvent.objects.get().at.replace(minute=59), book=books)

    cost = ApiCost.objects.get()
    if micros is None:
        assert (cost.amount, bool(cost.reason)) == (None, True)
    else:
        assert cost.amount is not None, cost.reason
        assert cost.amount * 10**6 == Decimal(micros)
