"""Counts that a call to a model API used, by the names that prices have, from each vendor's own words.

Input includes cached and cache-write tokens, output includes reasoning ones, whatever the vendor's
convention: Anthropic and Bedrock leave the cached ones out, xAI and Perplexity the reasoning ones.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from apps.economics.refusal import Refusal

Path: TypeAlias = tuple[str, ...]
Counts: TypeAlias = dict[str, int]

COLUMNS = {
    "input_tokens": "input_tokens",
    "cache_read_tokens": "cached_tokens",
    "cache_write_tokens": "cache_write_tokens",
    "output_tokens": "output_tokens",
    "output_reasoning_tokens": "reasoning_tokens",
}
"""The counts that have a column, by the names that prices have; others are kept as detail."""

SUMS = ("input_tokens", "output_tokens")

OTHERS = frozenset(
    {
        *(f"cache_write_{lifetime}_tokens" for lifetime in ("5m", "1h")),
        *(f"{way}_{kind}_tokens" for way in ("input", "output") for kind in ("text", "audio")),
        *(f"{way}_{kind}_tokens" for way in ("input", "output") for kind in ("image", "video")),
        *(f"cache_{kind}_read_tokens" for kind in ("text", "audio", "image", "video")),
        *(f"input_{kind}_tool_tokens" for kind in ("text", "audio", "image", "video")),
        *("input_tool_tokens", "output_citation_tokens", "web_searches", "audio_seconds"),
        *("input_audio_seconds", "input_characters", "input_document_pages", "rerank_searches"),
    }
)
"""Further counts that a price may ask for."""

MOST = 10**9
"""More tokens than one call can have: a hundred of the longest contexts there are. An hour's sum of
fewer than nine thousand million calls, all of that size, fits the eight bytes it is kept in."""

CHAT: tuple[tuple[Path, str], ...] = (
    (("prompt_tokens",), "input_tokens"),
    (("prompt_tokens_details", "cached_tokens"), "cache_read_tokens"),
    (("prompt_tokens_details", "cache_write_tokens"), "cache_write_tokens"),
    *(
        (("prompt_tokens_details", f"{kind}_tokens"), f"input_{kind}_tokens")
        for kind in ("text", "audio", "image", "video")
    ),
    (("completion_tokens",), "output_tokens"),
    *(
        (("completion_tokens_details", f"{kind}_tokens"), f"output_{kind}_tokens")
        for kind in ("text", "audio", "image", "video")
    ),
    (("completion_tokens_details", "reasoning_tokens"), "output_reasoning_tokens"),
)
RESPONSES: tuple[tuple[Path, str], ...] = (
    (("input_tokens",), "input_tokens"),
    (("input_tokens_details", "cached_tokens"), "cache_read_tokens"),
    (("input_tokens_details", "cache_write_tokens"), "cache_write_tokens"),
    # The images API says its input by kind; what an image costs is not what text does.
    *(
        (("input_tokens_details", f"{kind}_tokens"), f"input_{kind}_tokens")
        for kind in ("text", "audio", "image")
    ),
    *(
        (("output_tokens_details", f"{kind}_tokens"), f"output_{kind}_tokens")
        for kind in ("text", "audio", "image")
    ),
    (("output_tokens",), "output_tokens"),
    (("output_tokens_details", "reasoning_tokens"), "output_reasoning_tokens"),
)
MESSAGES: tuple[tuple[Path, str], ...] = (
    (("input_tokens",), "input_tokens"),
    (("cache_creation_input_tokens",), "input_tokens"),
    (("cache_read_input_tokens",), "input_tokens"),
    (("cache_creation_input_tokens",), "cache_write_tokens"),
    (("cache_creation", "ephemeral_5m_input_tokens"), "cache_write_5m_tokens"),
    (("cache_creation", "ephemeral_1h_input_tokens"), "cache_write_1h_tokens"),
    (("cache_read_input_tokens",), "cache_read_tokens"),
    (("server_tool_use", "web_search_requests"), "web_searches"),
    (("output_tokens_details", "thinking_tokens"), "output_reasoning_tokens"),
    (("output_tokens_details", "reasoning_tokens"), "output_reasoning_tokens"),
    (("output_tokens",), "output_tokens"),
)
CONVERSE: tuple[tuple[Path, str], ...] = (
    (("inputTokens",), "input_tokens"),
    (("cacheReadInputTokens",), "input_tokens"),
    (("cacheWriteInputTokens",), "input_tokens"),
    (("cacheCreationInputTokens",), "input_tokens"),
    (("cacheReadInputTokens",), "cache_read_tokens"),
    (("cacheWriteInputTokens",), "cache_write_tokens"),
    (("cacheCreationInputTokens",), "cache_write_tokens"),
    (("outputTokens",), "output_tokens"),
)
CONVERSE_TWINS = tuple(
    (f"{name}Count", f"{name}s")
    for name in ("inputToken", "cacheReadInputToken", "cacheWriteInputToken", "outputToken")
)
"""Names of Bedrock's invocation logs and metrics, which Converse's own answers have beside theirs."""
CONVERSE_SUMS = ("inputTokens", "outputTokens", "inputTokenCount", "outputTokenCount")
GEMINI: tuple[tuple[Path, str], ...] = (
    (("promptTokenCount",), "input_tokens"),
    (("toolUsePromptTokenCount",), "input_tokens"),
    (("toolUsePromptTokenCount",), "input_tool_tokens"),
    (("cachedContentTokenCount",), "cache_read_tokens"),
    (("candidatesTokenCount",), "output_tokens"),
    (("thoughtsTokenCount",), "output_tokens"),
    (("thoughtsTokenCount",), "output_reasoning_tokens"),
)
OF_VENDOR: Mapping[str, tuple[tuple[Path, str], ...]] = {
    "x-ai": (
        (("completion_tokens_details", "reasoning_tokens"), "output_tokens"),
        (("cached_prompt_text_tokens",), "cache_read_tokens"),
    ),
    "perplexity": (
        (("reasoning_tokens",), "output_tokens"),
        (("reasoning_tokens",), "output_reasoning_tokens"),
        (("citation_tokens",), "output_tokens"),
        (("citation_tokens",), "output_citation_tokens"),
        (("num_search_queries",), "web_searches"),
    ),
}
"""What a vendor tells apart from all others, in answers of the chat completions' shape."""

LANGCHAIN: tuple[tuple[Path, str], ...] = (
    (("input_tokens",), "input_tokens"),
    (("output_tokens",), "output_tokens"),
)
"""LangChain's own, in which the parts are within the sums; MORE has its details."""

MORE: tuple[tuple[Path, str], ...] = (
    (("cache_read_input_tokens",), "cache_read_tokens"),
    (("prompt_cache_hit_tokens",), "cache_read_tokens"),
    (("cached_tokens",), "cache_read_tokens"),
    (("num_cached_tokens",), "cache_read_tokens"),
    *(
        (("input_token_details", name), "cache_read_tokens")
        for name in ("cache_read", "cached_tokens")
    ),
    (("cache_creation_input_tokens",), "cache_write_tokens"),
    (("prompt_tokens_details", "cache_creation_tokens"), "cache_write_tokens"),
    (("input_token_details", "cache_creation"), "cache_write_tokens"),
    *(
        (
            (
                "prompt_tokens_details",
                "cache_creation_token_details",
                f"ephemeral_{lifetime}_input_tokens",
            ),
            f"cache_write_{lifetime}_tokens",
        )
        for lifetime in ("5m", "1h")
    ),
    *(
        (("cache_creation", f"ephemeral_{lifetime}_input_tokens"), f"cache_write_{lifetime}_tokens")
        for lifetime in ("5m", "1h")
    ),
    (("server_tool_use", "web_search_requests"), "web_searches"),
    (("prompt_tokens_details", "web_search_requests"), "web_searches"),
    (("prompt_tokens_details", "tool_use_tokens"), "input_tool_tokens"),
    (("input_token_details", "audio"), "input_audio_tokens"),
    (("output_token_details", "audio"), "output_audio_tokens"),
    *(
        (("output_token_details", name), "output_reasoning_tokens")
        for name in ("reasoning", "reasoning_tokens")
    ),
    *RESPONSES,
)
"""What vendors and gateways say beside a sum that holds it, whatever the vendor (LiteLLM, Anthropic,
DeepSeek, Moonshot, Mistral): the first that tells a count is it, for some is said twice."""

MODALITIES = {
    "TEXT": "text",
    "AUDIO": "audio",
    "IMAGE": "image",
    "DOCUMENT": "image",
    "VIDEO": "video",
}
BY_MODALITY = {
    "cacheTokensDetails": ("cache_{}_read_tokens",),
    "promptTokensDetails": ("input_{}_tokens",),
    "candidatesTokensDetails": ("output_{}_tokens",),
    "toolUsePromptTokensDetails": ("input_{}_tokens", "input_{}_tool_tokens"),
}


ASIDE = frozenset(
    (
        *("total_tokens", "totalTokens", "totalTokenCount", "accepted_prediction_tokens"),
        *("rejected_prediction_tokens", "text_tokens", "cost", "upstream_inference_cost"),
        *("queue_time", "prompt_time", "completion_time", "total_time", "input_tokens_cost"),
        *("output_tokens_cost", "request_cost", "total_cost", "initial_prompt_tokens"),
        *("serverToolUsage", "prompt_cache_miss_tokens", "completion_audio_seconds"),
    )
)
"""Names that are known and not needed: sums, costs and times, and what is said a second time."""


@dataclass(frozen=True)
class UsageShape:
    """How one API says its counts: those that are added up, and those read where these are missing.

    `twins` are its other names, each with the one that it stands for where that is missing.
    """

    summed: tuple[tuple[Path, str], ...]
    more: tuple[tuple[Path, str], ...] = ()
    twins: tuple[tuple[str, str], ...] = ()

    @cached_property
    def read(self) -> frozenset[Path]:
        """Every path that is read: any other count is not understood."""
        named = (path for path, _ in (*self.summed, *self.more))
        return frozenset((*named, *((twin,) for twin, _ in self.twins)))


def counts_of(usage: Mapping[str, object], vendor: str) -> Counts:
    """The counts of a usage object, whichever API it is of; empty where it tells none."""
    return counts_in(usage, shape_of(usage, vendor))


def counts_in(usage: Mapping[str, object], shape: UsageShape) -> Counts:
    """The counts of a usage object of this shape."""
    if shape.twins:
        others = {name: usage[twin] for twin, name in shape.twins if twin in usage}
        usage = {**others, **usage}
    counts = _read_paths(usage, shape.summed)
    for path, destination in shape.more:
        count = token_count(_value_at(usage, path))
        if count and not counts.get(destination):
            counts[destination] = count
    if shape is _GEMINI:
        _add_modalities(usage, counts)
    elif shape is _CONVERSE:
        _add_lifetimes(usage, counts)
    return without_bare_zeros(counts)


def without_bare_zeros(counts: Counts) -> Counts:
    """Return the counts without an input and an output of 0: no answer was made of nothing.

    So gateways and SDKs write of what they do not count in tokens: images, speech, seconds of audio.
    """
    if counts.get("input_tokens") or counts.get("output_tokens"):
        return counts
    return {name: count for name, count in counts.items() if name not in SUMS}


def shape_of(usage: Mapping[str, object], vendor: str) -> UsageShape:
    """Return the shape of the API whose words a usage object is in."""
    if "promptTokenCount" in usage or "candidatesTokenCount" in usage:
        return _GEMINI
    if any(name in usage for name in CONVERSE_SUMS):
        return _CONVERSE
    if "prompt_tokens" in usage:
        return _CHATS.get(vendor, CHAT_SHAPE)
    if isinstance(usage.get("input_tokens_details"), Mapping):
        return _RESPONSES
    if any(isinstance(usage.get(f"{way}_token_details"), Mapping) for way in ("input", "output")):
        return _LANGCHAIN
    return _MESSAGES


CHAT_SHAPE = UsageShape(CHAT, MORE)
"""The chat completions' as any vendor but a few has it, and as LiteLLM has it of all of them."""

_CHATS = {vendor: UsageShape((*CHAT, *paths), MORE) for vendor, paths in OF_VENDOR.items()}
_CONVERSE = UsageShape(CONVERSE, twins=CONVERSE_TWINS)
_GEMINI, _MESSAGES = UsageShape(GEMINI), UsageShape(MESSAGES)
_RESPONSES, _LANGCHAIN = UsageShape(RESPONSES, MORE), UsageShape(LANGCHAIN, MORE)


def unread_counts(usage: Mapping[str, object], shape: UsageShape) -> list[str]:
    """Return the names of counts in a usage object that its shape has not: they are in no price."""
    return sorted(
        ".".join(path)
        for path, value in _leaves(usage, ())
        if value and path not in shape.read and path[-1] not in ASIDE
    )


def _leaves(value: Mapping[str, object], above: Path) -> Iterable[tuple[Path, object]]:
    for name, inner in value.items():
        path = (*above, name[:80])
        if isinstance(inner, Mapping) and len(path) < 4:
            yield from _leaves(inner, path)
        elif isinstance(inner, int | float) and not isinstance(inner, bool):
            yield path, inner


def named_counts(usage: Mapping[str, object]) -> Counts:
    """Counts that are told by the names that prices have; refuses a name that none has."""
    unknown = sorted(set(usage) - set(COLUMNS) - OTHERS)
    if unknown:
        raise ValueError(f"{unknown[0]}: no price has a count of this name")
    return {
        name: count for name, value in usage.items() if (count := token_count(value)) is not None
    }


def token_count(value: object) -> int | None:
    """A count; None where it is not told. Refuses a Refusal where it is none, or none of one call."""
    if value is None:
        return None
    if type(value) is int and 0 <= value < MOST:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refusal("usage", f"{value!r:.60} is no count")
    if not 0 <= value < MOST:
        raise Refusal("usage", f"{value!r:.60} is no count of one call")
    if value != int(value):
        raise Refusal("usage", f"{value!r} is no count")
    return int(value)


def _add_modalities(usage: Mapping[str, object], counts: Counts) -> None:
    for name, destinations in BY_MODALITY.items():
        for modality, count in _named_counts(usage.get(name), "modality", "tokenCount"):
            kind = MODALITIES.get(modality)
            for destination in destinations if kind else ():
                _add_count(counts, destination.format(kind), count)


def _add_lifetimes(usage: Mapping[str, object], counts: Counts) -> None:
    for lifetime, count in _named_counts(usage.get("cacheDetails"), "ttl", "inputTokens"):
        if lifetime in ("5m", "1h"):
            _add_count(counts, f"cache_write_{lifetime}_tokens", count)


def _named_counts(rows: object, named: str, counted: str) -> Iterable[tuple[str, int]]:
    for row in rows if isinstance(rows, list) else ():
        count = token_count(row.get(counted)) if isinstance(row, Mapping) else None
        if count is not None:
            yield str(row.get(named)), count


def _read_paths(usage: Mapping[str, object], paths: Iterable[tuple[Path, str]]) -> Counts:
    counts: Counts = {}
    for path, destination in paths:
        count = token_count(_value_at(usage, path))
        if count is not None:
            _add_count(counts, destination, count)
    return counts


def _add_count(counts: Counts, name: str, count: int) -> None:
    counts[name] = counts.get(name, 0) + count


def _value_at(usage: Mapping[str, object], path: Path) -> object:
    value = usage.get(path[0])
    for name in path[1:]:
        # What JSON decodes to; asking for any mapping takes ten times as long.
        value = value.get(name) if type(value) is dict else None
    return value
