"""Attributes of spans that tell of a call to a model, as each SDK and convention spells them.

One table, of the senders' own code: official names and those before them, pydantic-ai, Langfuse,
Vercel's AI SDK, Sentry, OpenInference, OpenLLMetry, Strands. A newer spelling is a row here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b


@dataclass(frozen=True, slots=True)
class Spelling:
    """A spelling of an attribute: what it holds, its name, and who writes it, since or until when."""

    field: str
    name: str
    source: str


SEMCONV = "OpenTelemetry semantic conventions"
PYDANTIC = "pydantic-ai RequestUsage.opentelemetry_attributes"
LANGFUSE = "Langfuse OtelIngestionProcessor"
VERCEL = "Vercel AI SDK packages/otel"
SENTRY = "sentry-conventions model/attributes"
INFERENCE = "OpenInference semconv.trace"
LLMETRY = "OpenLLMetry semconv_ai"
STRANDS = "Strands Agents telemetry"
RIG = "rig providers; Qwen Code, before cache_read"

COUNTS = (
    Spelling("input_tokens", "gen_ai.usage.input_tokens", f"{SEMCONV}, 1.27 on"),
    Spelling("input_tokens", "gen_ai.usage.prompt_tokens", f"{SEMCONV}, to 1.26; {LLMETRY}"),
    Spelling("input_tokens", "llm.token_count.prompt", INFERENCE),
    Spelling("input_tokens", "llm.usage.prompt_tokens", f"{LLMETRY}, 2023"),
    Spelling("input_tokens", "ai.usage.inputTokens", f"{VERCEL}, 5 on"),
    Spelling("input_tokens", "ai.usage.promptTokens", f"{VERCEL}, 3 and 4"),
    Spelling("input_tokens", "ai.usage.tokens", f"{VERCEL}, embeddings"),
    Spelling("input_tokens", "ai.prompt_tokens.used", f"{SENTRY}, to 0.5"),
    Spelling("output_tokens", "gen_ai.usage.output_tokens", f"{SEMCONV}, 1.27 on"),
    Spelling("output_tokens", "gen_ai.usage.completion_tokens", f"{SEMCONV}, to 1.26; {LLMETRY}"),
    Spelling("output_tokens", "llm.token_count.completion", INFERENCE),
    Spelling("output_tokens", "llm.usage.completion_tokens", f"{LLMETRY}, 2023"),
    Spelling("output_tokens", "ai.usage.outputTokens", f"{VERCEL}, 5 on"),
    Spelling("output_tokens", "ai.usage.completionTokens", f"{VERCEL}, 3 and 4"),
    Spelling("output_tokens", "ai.completion_tokens.used", f"{SENTRY}, to 0.5"),
    Spelling("cache_read_tokens", "gen_ai.usage.cache_read.input_tokens", f"{SEMCONV}, 2026"),
    Spelling("cache_read_tokens", "gen_ai.usage.cache_read_input_tokens", f"{LLMETRY}; {STRANDS}"),
    Spelling("cache_read_tokens", "gen_ai.usage.cache_read_tokens", LANGFUSE),
    Spelling("cache_read_tokens", "gen_ai.usage.cached_tokens", RIG),
    Spelling("cache_read_tokens", "gen_ai.usage.input_cached_tokens", LANGFUSE),
    Spelling("cache_read_tokens", "gen_ai.usage.input_tokens.cached", f"{SENTRY}, to 0.11"),
    Spelling("cache_read_tokens", "gen_ai.usage.details.cache_read_tokens", PYDANTIC),
    Spelling("cache_read_tokens", "gen_ai.usage.details.cache_read_input_tokens", PYDANTIC),
    Spelling("cache_read_tokens", "gen_ai.usage.details.cached_tokens", PYDANTIC),
    Spelling(
        "cache_read_tokens", "gen_ai.usage.details.cached_content_tokens", f"{PYDANTIC}, Gemini"
    ),
    Spelling("cache_read_tokens", "llm.token_count.prompt_details.cache_read", INFERENCE),
    Spelling("cache_read_tokens", "llm.usage.cache_read_input_tokens", LLMETRY),
    Spelling("cache_read_tokens", "ai.usage.cachedInputTokens", f"{VERCEL}, 5"),
    Spelling("cache_read_tokens", "ai.usage.inputTokenDetails.cacheReadTokens", f"{VERCEL}, 6 on"),
    Spelling(
        "cache_write_tokens", "gen_ai.usage.cache_write.input_tokens", f"{SEMCONV}, mid 2026 on"
    ),
    Spelling("cache_write_tokens", "gen_ai.usage.cache_creation.input_tokens", f"{SEMCONV}, 2026"),
    Spelling("cache_write_tokens", "gen_ai.usage.cache_creation_input_tokens", LLMETRY),
    Spelling("cache_write_tokens", "gen_ai.usage.cache_write_input_tokens", STRANDS),
    Spelling("cache_write_tokens", "gen_ai.usage.cache_write_tokens", LANGFUSE),
    Spelling("cache_write_tokens", "gen_ai.usage.input_cache_creation", LANGFUSE),
    Spelling("cache_write_tokens", "gen_ai.usage.input_tokens.cache_write", f"{SENTRY}, to 0.11"),
    Spelling("cache_write_tokens", "gen_ai.usage.details.cache_write_tokens", PYDANTIC),
    Spelling("cache_write_tokens", "gen_ai.usage.details.cache_creation_input_tokens", PYDANTIC),
    Spelling("cache_write_tokens", "llm.token_count.prompt_details.cache_write", INFERENCE),
    Spelling("cache_write_tokens", "llm.usage.cache_creation_input_tokens", LLMETRY),
    Spelling(
        "cache_write_tokens", "ai.usage.inputTokenDetails.cacheWriteTokens", f"{VERCEL}, 6 on"
    ),
    Spelling("output_reasoning_tokens", "gen_ai.usage.reasoning.output_tokens", f"{SEMCONV}, 2026"),
    Spelling("output_reasoning_tokens", "gen_ai.usage.reasoning_tokens", LLMETRY),
    Spelling(
        "output_reasoning_tokens", "gen_ai.usage.output_tokens.reasoning", f"{SENTRY}, to 0.11"
    ),
    Spelling("output_reasoning_tokens", "gen_ai.usage.details.reasoning_tokens", PYDANTIC),
    Spelling("output_reasoning_tokens", "gen_ai.usage.details.thoughts_tokens", PYDANTIC),
    Spelling("output_reasoning_tokens", "llm.token_count.completion_details.reasoning", INFERENCE),
    Spelling("output_reasoning_tokens", "llm.usage.reasoning_tokens", LLMETRY),
    Spelling("output_reasoning_tokens", "ai.usage.reasoningTokens", f"{VERCEL}, 5"),
    Spelling(
        "output_reasoning_tokens", "ai.usage.outputTokenDetails.reasoningTokens", f"{VERCEL}, 6 on"
    ),
    *(
        Spelling(f"{way}_{kind}_tokens", f"gen_ai.usage.{kind}.{way}_tokens", f"{SEMCONV}, 2026")
        for way in ("input", "output")
        for kind in ("text", "audio", "image", "video")
    ),
    Spelling("input_audio_tokens", "gen_ai.usage.details.input_audio_tokens", PYDANTIC),
    Spelling("input_audio_tokens", "llm.token_count.prompt_details.audio", INFERENCE),
    Spelling("output_audio_tokens", "gen_ai.usage.details.output_audio_tokens", PYDANTIC),
    Spelling("output_audio_tokens", "llm.token_count.completion_details.audio", INFERENCE),
    Spelling("cache_audio_read_tokens", "gen_ai.usage.details.cache_audio_read_tokens", PYDANTIC),
)
WORDS = (
    Spelling("vendor", "gen_ai.provider.name", f"{SEMCONV}, 1.37 on"),
    Spelling("vendor", "gen_ai.system", f"{SEMCONV}, to 1.36"),
    Spelling("vendor", "llm.provider", INFERENCE),
    Spelling("vendor", "ai.model.provider", VERCEL),
    Spelling("vendor", "llm.system", INFERENCE),
    Spelling("model", "gen_ai.response.model", SEMCONV),
    Spelling("model", "langfuse.observation.model.name", LANGFUSE),
    Spelling("model", "llm.response.model_name", f"{INFERENCE}, 2026"),
    Spelling("model", "ai.response.model", VERCEL),
    Spelling("model", "gen_ai.request.model", SEMCONV),
    Spelling("model", "llm.request.model_name", f"{INFERENCE}, 2026"),
    Spelling("model", "llm.model_name", INFERENCE),
    Spelling("model", "embedding.model_name", INFERENCE),
    Spelling("model", "reranker.model_name", INFERENCE),
    Spelling("model", "ai.model.id", VERCEL),
    Spelling("response_id", "gen_ai.response.id", SEMCONV),
    Spelling("response_id", "ai.response.id", VERCEL),
    Spelling("tier", "openai.response.service_tier", SEMCONV),
    Spelling("tier", "gen_ai.openai.response.service_tier", f"{SEMCONV}, to 1.36"),
    Spelling("tier", "openai.request.service_tier", SEMCONV),
    Spelling("tier", "gen_ai.openai.request.service_tier", f"{SEMCONV}, to 1.36"),
    Spelling("status", "http.response.status_code", SEMCONV),
    Spelling("status", "error.type", SEMCONV),
    Spelling("team", "runrate.team", "Runrate"),
    Spelling("workload", "runrate.workload", "Runrate"),
    Spelling("feature", "runrate.feature", "Runrate"),
    Spelling("feature", "service.name", SEMCONV),
    Spelling("stated_cost", "operation.cost", PYDANTIC),
    Spelling("stated_cost", "gen_ai.usage.cost", LANGFUSE),
    Spelling("stated_cost", "llm.cost.total", INFERENCE),
    Spelling("stated_cost", "gen_ai.cost.total_tokens", SENTRY),
    Spelling("usage_details", "langfuse.observation.usage_details", LANGFUSE),
    Spelling("provider_metadata", "ai.response.providerMetadata", VERCEL),
    Spelling("tool", "gen_ai.tool.name", f"{SEMCONV}; {PYDANTIC}"),
    Spelling("tool", "gen_ai.tool.call.id", SEMCONV),
)


class SpanKind(Enum):
    """Whether a span is a call to a model, or only holds such (an agent, a tool, a chain)."""

    CALL = "call"
    HOLDER = "holder"


def _kinds(calls: str, holders: str) -> Mapping[str, SpanKind]:
    return dict.fromkeys(calls.split(), SpanKind.CALL) | dict.fromkeys(
        holders.split(), SpanKind.HOLDER
    )


KINDS: dict[str, Mapping[str, SpanKind]] = {
    # SEMCONV; `completion`, `generate` and `message` are of SDKs before it, `responses` Sentry's.
    "gen_ai.operation.name": _kinds(
        "chat text_completion generate_content embeddings completion generate message messages"
        " embedding generate_text stream_text generate_object stream_object image_generation"
        " responses rerank reranking transcription speech",
        "create_agent invoke_agent execute_tool retrieval invoke_workflow plan agent_step handoff"
        " create_memory_store delete_memory_store create_memory update_memory upsert_memory"
        " search_memory delete_memory evaluate guardrail",
    ),
    # INFERENCE
    "openinference.span.kind": _kinds(
        "LLM EMBEDDING RERANKER",
        "CHAIN TOOL RETRIEVER AGENT GUARDRAIL EVALUATOR PROMPT UNKNOWN",
    ),
    # LANGFUSE
    "langfuse.observation.type": _kinds(
        "generation embedding", "span event agent tool chain retriever guardrail evaluator"
    ),
    # VERCEL: `ai.generateText` holds a call of each step, with their sum.
    "ai.operationId": _kinds(
        "ai.generateText.doGenerate ai.streamText.doStream ai.generateObject.doGenerate"
        " ai.streamObject.doStream ai.embed.doEmbed ai.embedMany.doEmbed ai.rerank.doRerank",
        "ai.generateText ai.streamText ai.generateObject ai.streamObject ai.embed ai.embedMany"
        " ai.rerank ai.toolCall",
    ),
    # SENTRY
    "gen_ai.operation.type": _kinds("ai_client", "agent tool handoff other"),
    # LLMETRY
    "llm.request.type": _kinds("chat completion embedding rerank", "unknown"),
    "traceloop.span.kind": _kinds("", "workflow task agent tool session"),
}
"""By attribute, what its words say of a span; the first attribute that has one of them is right."""

ASIDE = frozenset(
    (
        *("gen_ai.usage.total_tokens", "llm.token_count.total", "llm.usage.total_tokens"),
        *("ai.usage.totalTokens", "ai.total_tokens.used", "gen_ai.usage.token_type"),
        *("llm.usage.token_type", "ai.usage.inputTokenDetails.noCacheTokens"),
        *("ai.usage.outputTokenDetails.textTokens", "gen_ai.usage.details.input_tokens"),
        *("gen_ai.usage.details.output_tokens", "gen_ai.usage.details.total_tokens"),
        *("gen_ai.usage.input_cost", "gen_ai.usage.output_cost", "gen_ai.usage.total_cost"),
        *("gen_ai.usage.details.input_text_tokens", "gen_ai.usage.details.output_text_tokens"),
        *("gen_ai.usage.details.text_prompt_tokens", "gen_ai.usage.details.text_candidates_tokens"),
        "gen_ai.usage.details.accepted_prediction_tokens",
        "gen_ai.usage.details.rejected_prediction_tokens",
    )
)
"""Names that are known and not needed: sums and parts of what is read."""

COUNTING = (
    *("gen_ai.usage.", "llm.token_count.", "llm.usage.", "ai.usage."),
    "langfuse.observation.usage_details.",
)
"""What names of counts begin with: one in no table is a count that is not understood."""

USAGE_DETAILS: Mapping[str, str] = {
    **dict.fromkeys(("input", "input_tokens", "prompt_tokens", "promptTokens"), "input_tokens"),
    **dict.fromkeys(
        ("output", "output_tokens", "completion_tokens", "completionTokens"), "output_tokens"
    ),
    **dict.fromkeys(
        (
            *("input_cached_tokens", "cache_read_input_tokens", "input_cache_read"),
            *("cache_read_tokens", "cached_tokens", "input_cached", "cache_read"),
        ),
        "cache_read_tokens",
    ),
    **dict.fromkeys(
        (
            *("input_cache_creation", "cache_creation_input_tokens", "input_cache_write"),
            *("cache_write_tokens", "cache_write"),
        ),
        "cache_write_tokens",
    ),
    "input_cache_creation_5m": "cache_write_5m_tokens",
    "input_cache_creation_1h": "cache_write_1h_tokens",
    **dict.fromkeys(
        ("output_reasoning_tokens", "output_reasoning", "reasoning_tokens"),
        "output_reasoning_tokens",
    ),
    "input_audio_tokens": "input_audio_tokens",
    "output_audio_tokens": "output_audio_tokens",
    **dict.fromkeys(("total", "total_tokens", "totalTokens"), "total"),
}
"""Keys of Langfuse's `usage_details`, of its SDKs and of people; by its own rule parts are beside
`input` and `output`, not within them, unless `total` says otherwise."""

FIELD_OF: dict[str, str] = {count.name: count.field for count in (*COUNTS, *WORDS)}
"""Of each attribute that is read, what it holds."""

TABLE_VERSION = blake2b(
    repr(
        (
            sorted(FIELD_OF.items()),
            sorted(
                (name, word, kind.value)
                for name, words in KINDS.items()
                for word, kind in words.items()
            ),
            sorted(USAGE_DETAILS.items()),
            sorted(ASIDE),
        )
    ).encode(),
    digest_size=8,
).hexdigest()
"""Changes with the tables: what was not understood is read again."""


def is_read(name: str) -> bool:
    """Whether an attribute is decoded: one of the tables, or one that may be a count."""
    return name in FIELD_OF or name in KINDS or name.startswith(COUNTING)
