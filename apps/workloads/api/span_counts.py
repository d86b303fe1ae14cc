"""The counts of a span that is a call to a model, from the words of whoever made it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from apps.economics.refusal import Refusal
from apps.workloads.api.span_names import ASIDE, COUNTING, COUNTS, FIELD_OF, USAGE_DETAILS
from apps.workloads.api.usage_counts import counts_of, token_count, without_bare_zeros


class AnthropicUsage(msgspec.Struct, frozen=True):
    """The part of Anthropic's answer that Vercel's SDK passes on."""

    usage: dict[str, Any] | None = None


class ProviderMetadata(msgspec.Struct, frozen=True):
    """The part of Vercel's `providerMetadata` that is read: counts alone."""

    anthropic: AnthropicUsage | None = None


_METADATA = msgspec.json.Decoder(ProviderMetadata)
_DETAILS = msgspec.json.Decoder(dict[str, Any])


def span_counts(
    attributes: Mapping[str, Any], words: Mapping[str, Any]
) -> tuple[dict[str, int], Sequence[str]]:
    """The counts of a span, and names of those that are not understood.

    Refuses a Refusal where two spellings of one count differ.
    """
    counts: dict[str, int] = {}
    spelt: dict[str, str] = {}
    for spelling in COUNTS:
        count = token_count(attributes.get(spelling.name))
        if count is None:
            continue
        first = spelt.setdefault(spelling.field, spelling.name)
        if counts.setdefault(spelling.field, count) != count:
            raise Refusal(
                "usage",
                f"it contradicts itself: {first} is {counts[spelling.field]}, "
                f"{spelling.name} is {count}",
            )
    unread = [
        name
        for name in attributes
        if name.startswith(COUNTING) and name not in FIELD_OF and name not in ASIDE
    ]
    if "usage_details" in words and not counts:
        counts, more = _counts_of_details(words["usage_details"])
        unread += more
    passed_on = _counts_passed_on(words.get("provider_metadata"))
    return without_bare_zeros({**counts, **passed_on}), unread


def _counts_passed_on(metadata: object) -> dict[str, int]:
    """Return what Vercel's SDK passes on of Anthropic's own counts: its earlier ones leave out the cache."""
    if not isinstance(metadata, str):
        return {}
    try:
        anthropic = _METADATA.decode(metadata).anthropic
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    if anthropic is None or not anthropic.usage:
        return {}
    return counts_of(anthropic.usage, "anthropic")


def _counts_of_details(text: object) -> tuple[dict[str, int], list[str]]:
    """The counts of Langfuse's `usage_details`, and names of those that are not understood.

    By its rule cached, written and reasoning tokens stand beside `input` and `output`; where `total`
    is the sum of these two alone, they are within them.
    """
    prefix = "langfuse.observation.usage_details"
    try:
        details = _DETAILS.decode(str(text))
    except (msgspec.DecodeError, UnicodeDecodeError) as refused:
        raise Refusal(prefix, str(refused)) from refused
    counts: dict[str, int] = {}
    unread: list[str] = []
    for name, value in details.items():
        field = USAGE_DETAILS.get(name)
        if field is None:
            unread.append(f"{prefix}.{name}"[:200])
        elif (count := token_count(value)) is not None:
            counts[field] = counts.get(field, 0) + count
    return _with_parts_inside(counts), unread


def _with_parts_inside(counts: dict[str, int]) -> dict[str, int]:
    """Return the counts with the parts that stand beside `input` and `output` put into them."""
    total = counts.pop("total", None)
    lifetimes = counts.get("cache_write_5m_tokens", 0) + counts.get("cache_write_1h_tokens", 0)
    if lifetimes:
        counts["cache_write_tokens"] = counts.get("cache_write_tokens", 0) + lifetimes
    if total != counts.get("input_tokens", 0) + counts.get("output_tokens", 0):
        for field, parts in _PARTS.items():
            if field in counts:
                counts[field] += sum(counts.get(part, 0) for part in parts)
    return counts


_PARTS = {
    "input_tokens": ("cache_read_tokens", "cache_write_tokens"),
    "output_tokens": ("output_reasoning_tokens",),
}
