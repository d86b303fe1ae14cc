"""A count is read in whichever vendor's words it is told, or named; never left out without a word."""

from typing import Any

import pytest

from apps.workloads.api.span_counts import span_counts
from apps.workloads.api.usage_counts import (
    CHAT_SHAPE,
    counts_in,
    counts_of,
    shape_of,
    unread_counts,
)

CHAT = {"prompt_tokens": 100_000, "completion_tokens": 100, "total_tokens": 100_100}
SONNET = {"prompt_tokens": 7_343, "completion_tokens": 200, "total_tokens": 7_543}
WRITTEN = {"cache_creation_input_tokens": 1_844, "cache_read_input_tokens": 4_266}
RIGHT_SONNET = {
    "input_tokens": 7_343,
    "output_tokens": 200,
    "cache_read_tokens": 4_266,
    "cache_write_tokens": 1_844,
}


def unread(usage: dict[str, Any], vendor: str) -> list[str]:
    return unread_counts(usage, shape_of(usage, vendor))


@pytest.mark.parametrize(
    ("vendor", "more"),
    [
        ("deepseek", {"prompt_cache_hit_tokens": 90_000, "prompt_cache_miss_tokens": 10_000}),
        ("moonshotai", {"cached_tokens": 90_000}),
        ("mistral", {"num_cached_tokens": 90_000}),
        ("openai", {"prompt_tokens_details": {"cached_tokens": 90_000}}),
        # Told twice it is one count.
        (
            "deepseek",
            {"prompt_tokens_details": {"cached_tokens": 90_000}, "prompt_cache_hit_tokens": 90_000},
        ),
        (
            "anthropic",
            {"prompt_tokens_details": {"cached_tokens": 90_000}, "cached_tokens": 90_000},
        ),
    ],
)
def test_cached_tokens_of_a_chat_are_read_in_any_vendors_words(
    vendor: str, more: dict[str, Any]
) -> None:
    usage = CHAT | more
    right = {"input_tokens": 100_000, "output_tokens": 100, "cache_read_tokens": 90_000}
    assert counts_of(usage, vendor) == right
    assert counts_in(usage, CHAT_SHAPE) == right
    assert unread(usage, vendor) == []


@pytest.mark.parametrize("details", [{}, {"prompt_tokens_details": {"cached_tokens": 4_266}}])
def test_what_anthropic_wrote_to_its_cache_is_read_of_a_chat_too(details: dict[str, Any]) -> None:
    usage = SONNET | WRITTEN | details
    assert counts_of(usage, "anthropic") == RIGHT_SONNET
    assert unread(usage, "anthropic") == []


def test_anthropics_counts_in_camel_case_leave_out_the_cached_ones() -> None:
    usage = {
        "inputTokens": 1_233,
        "outputTokens": 200,
        "cacheCreationInputTokens": 1_844,
        "cacheReadInputTokens": 4_266,
    }
    assert counts_of(usage, "anthropic") == RIGHT_SONNET
    assert unread(usage, "anthropic") == []


@pytest.mark.parametrize(
    "more",
    [
        {"cacheReadInputTokenCount": 4_266, "cacheWriteInputTokenCount": 1_844},
        # Converse says both; they are one count.
        {
            "cacheReadInputTokens": 4_266,
            "cacheReadInputTokenCount": 4_266,
            "cacheWriteInputTokens": 1_844,
            "cacheWriteInputTokenCount": 1_844,
        },
    ],
)
@pytest.mark.parametrize("ending", ["Tokens", "TokenCount"])
def test_bedrocks_counts_are_read_by_both_of_its_names(more: dict[str, Any], ending: str) -> None:
    usage = {f"input{ending}": 1_233, f"output{ending}": 200, **more}
    assert counts_of(usage, "aws") == RIGHT_SONNET
    assert unread(usage, "aws") == []


def test_bedrocks_names_in_another_vendors_answer_are_not_understood() -> None:
    assert unread(CHAT | {"cacheReadInputTokenCount": 8}, "openai") == ["cacheReadInputTokenCount"]


@pytest.mark.parametrize("cached", ["cache_read", "cached_tokens"])
def test_langchains_details_are_parts_of_its_sums(cached: str) -> None:
    usage = {
        "input_tokens": 1_000,
        "output_tokens": 100,
        "input_token_details": {cached: 900},
        "output_token_details": {"reasoning": 40},
    }
    assert counts_of(usage, "openai") == {
        "input_tokens": 1_000,
        "output_tokens": 100,
        "cache_read_tokens": 900,
        "output_reasoning_tokens": 40,
    }
    assert unread(usage, "openai") == []


@pytest.mark.parametrize(
    ("usage", "vendor", "name"),
    [
        (
            {"input_tokens": 9, "output_tokens": 1, "prompt_cache_hit_tokens": 8},
            "x",
            "prompt_cache",
        ),
        ({"inputTokens": 9, "outputTokens": 1, "cached_tokens": 8}, "aws", "cached_tokens"),
        ({"promptTokenCount": 9, "cached_tokens": 8}, "google", "cached_tokens"),
        (CHAT | {"citation_tokens": 8}, "openai", "citation_tokens"),
        (CHAT | {"toolUsePromptTokenCount": 8}, "openai", "toolUsePromptTokenCount"),
    ],
)
def test_a_count_that_another_shape_has_is_named(
    usage: dict[str, Any], vendor: str, name: str
) -> None:
    (found,) = unread(usage, vendor)
    assert found.startswith(name)


def test_one_vendors_own_count_is_read_of_that_vendor() -> None:
    usage = CHAT | {"citation_tokens": 8}
    assert counts_of(usage, "perplexity")["output_tokens"] == 108
    assert unread(usage, "perplexity") == []


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"input_tokens": 0, "output_tokens": 0},
        {"prompt_tokens": 0},
        {"inputTokens": 0, "outputTokens": 0},
    ],
)
def test_no_tokens_at_all_are_not_counted_rather_than_none(usage: dict[str, Any]) -> None:
    assert counts_of(usage, "openai") == {}
    assert counts_in(usage, CHAT_SHAPE) == {}


def test_a_span_of_no_tokens_at_all_has_no_counts_either() -> None:
    nothing = {"gen_ai.usage.input_tokens": 0, "gen_ai.usage.output_tokens": 0}
    assert span_counts(nothing, {}) == ({}, [])
    # An embedding has an input alone, and 0 beside it is known.
    some = nothing | {"gen_ai.usage.input_tokens": 9}
    assert span_counts(some, {}) == ({"input_tokens": 9, "output_tokens": 0}, [])
