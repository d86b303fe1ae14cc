"""The counts of a span that is a call to a model, from the words of whoever made it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from apps.economics.refusal import Refusal
from apps.workloads.api.span_names import ASIDE, COUNTING, COUNTS, FIELD_OF, USAGE_DETAILS
from apps.workloads.api.usage_counts import counts_of, token_count, without_bare_zeros


class AnthropicUsage(msgspec.Struct, frozen=True):
    """What Vercel's SDK passes on of Anthropic's answer."""

    usage: dict[str, Any] | None = None


class ProviderMetadata(msgspec.Struct, frozen=True):
    """What of Vercel's `providerMetadata` is read: counts alone."""

    anthropic: AnthropicUsage | None = None


_METADATA = msgspec.json.Decoder(ProviderMetadata)
_DETAILS = msgspec.json.Decoder(dict[str, Any])


def span_counts(
    said: Mapping[str, Any], words: Mapping[str, Any]
) -> tuple[dict[str, int], Sequence[str]]:
    """The counts of a span, and names of those that are not understood.

    Refuses a Refusal where two spellings of one count differ.
    """
    found: dict[str, int] = {}
    spelt: dict[str, str] = {}
    for spelling in COUNTS:
        count = token_count(said.get(spelling.name))
        if count is None:
            continue
        first = spelt.setdefault(spelling.field, spelling.name)
        if found.setdefault(spelling.field, count) != count:
            raise Refusal(
                "usage",
                f"it contradicts itself: {first} is {found[spelling.field]}, "
                f"{spelling.name} is {count}",
            )
    unread = [
        name
        for name in said
        if name.startswith(COUNTING) and name not in FIELD_OF and name not in ASIDE
    ]
    if "usage_details" in words and not found:
        found, more = _counts_of_details(words["usage_details"])
        unread += more
    passed_on = _counts_passed_on(words.get("provider_metadata"))
    return without_bare_zeros({**found, **passed_on}), unread


def _counts_passed_on(metadata: object) -> dict[str, int]:
    """What Vercel's SDK passes on of Anthropic's own counts: its earlier ones leave out the cache."""
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
    found: dict[str, int] = {}
    unread: list[str] = []
    for name, value in details.items():
        field = USAGE_DETAILS.get(name)
        if field is None:
            unread.append(f"{prefix}.{name}"[:200])
        elif (count := token_count(value)) is not None:
            found[field] = found.get(field, 0) + count
    return _with_parts_inside(found), unread


def _with_parts_inside(found: dict[str, int]) -> dict[str, int]:
    """The same with the parts that stand beside `input` and `output` put into them."""
    total = found.pop("total", None)
    lifetimes = found.get("cache_write_5m_tokens", 0) + found.get("cache_write_1h_tokens", 0)
    if lifetimes:
        found["cache_write_tokens"] = found.get("cache_write_tokens", 0) + lifetimes
    if total != found.get("input_tokens", 0) + found.get("output_tokens", 0):
        for field, parts in _PARTS.items():
            if field in found:
                found[field] += sum(found.get(part, 0) for part in parts)
    return found


_PARTS = {
    "input_tokens": ("cache_read_tokens", "cache_write_tokens"),
    "output_tokens": ("output_reasoning_tokens",),
}
