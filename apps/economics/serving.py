"""The purpose of an hour of a service's cost, and the cost of a thousand requests and a million tokens.

An hour is divided over features by the work their tokens were: computed prompt tokens, prompt tokens
found in a cache, and output tokens, each with its weight. Tokens that the engine worked and no
gateway asked for are nobody's and stay so. Cost per token is allocated cost × the tokens' share of
the work ÷ tokens, as llm-d and OpenCost have it too.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple

from apps.economics.money import sum_or_unknown

TOKEN_WEIGHTS = (10, 1, 40)
"""The work of a computed prompt token, a cached one and an output token."""
"""What a token is taken to be worth where the engine does not tell its prefill and decode time.

An output token is a forward pass of its own, bound by memory; prompt tokens are computed together;
a cached one is only read. 40 : 10 : 1 is what the public price lists of model APIs charge for them
(3 to 5 times the prompt's price, and a tenth of it), which is what such a cost is held against.
"""
THOUSAND, MILLION = 1_000, 1_000_000
SERVICE_KINDS = frozenset({"serving", "batch"})
"""Kinds of workloads that answer requests."""


class Purpose(IntEnum):
    """The purpose of an hour of a service."""

    ANSWERED = 0
    IDLE = 1
    UNATTRIBUTED = 2
    UNCOUNTED = 3


class ReportedTokens(NamedTuple):
    """The counts told of a feature's hour by one who counted; None: not told. Prompts include cached tokens."""

    requests: int | None = None
    succeeded: int | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def has_tokens(self) -> bool:
        """Whether the work is known by its tokens: what was asked and what was answered."""
        return self.prompt_tokens is not None and self.output_tokens is not None


class EngineTime(NamedTuple):
    """How long the engine worked on prompts and on answers, in milliseconds: good for the ratio."""

    prefill_ms: int
    decode_ms: int


class Portion(NamedTuple):
    """A part of an hour: whose, how much of it (its weight), and by which tokens.

    `prompt`, `cached` and `output` sum to `weight`, or are 0 where no tokens are known.
    """

    purpose: Purpose
    feature: str
    weight: int
    told: ReportedTokens
    prompt: int = 0
    cached: int = 0
    output: int = 0


class UnitCosts(NamedTuple):
    """Micro-units for a thousand requests and a million tokens of each kind; None: undefined."""

    thousand_requests: Fraction | None
    million_tokens: Fraction | None
    million_prompt: Fraction | None
    million_cached: Fraction | None
    million_output: Fraction | None


class Worked(NamedTuple):
    """The work of a cost by kind of token, in any one unit; of prompts, only what was computed."""

    prompt: int
    cached: int
    output: int


UNCOUNTED = (Portion(Purpose.UNCOUNTED, "", 1, ReportedTokens()),)
IDLE = Portion(Purpose.IDLE, "", 1, ReportedTokens(0, 0, 0, 0, 0))


def portions(
    engine: Mapping[str, ReportedTokens],
    gateway: Mapping[str, ReportedTokens],
    time: EngineTime | None = None,
    token_weights: Sequence[int] = TOKEN_WEIGHTS,
) -> tuple[Portion, ...]:
    """Divide an hour by what its engine and the gateway before it counted, by feature.

    Features are the gateway's where one counted, else the engine's own. What the engine counted
    beyond the gateway is unattributed, never spread. `time` takes the place of the token weights.
    Without tokens requests are the weights. Neither requests nor tokens: the hour is idle; nothing
    told: uncounted. Ordered by purpose and feature; who counted but did no work has the weight 0.
    """
    parts = _purpose_parts(engine, gateway)
    for weighted in (_by_tokens(parts, time, token_weights), _by_requests(parts)):
        if any(portion.weight for portion in weighted):
            return weighted
    if not any(_is_reported(token_counts) for _, _, token_counts in parts):
        return UNCOUNTED
    return (IDLE._replace(told=summed(token_counts for _, _, token_counts in parts)),)


def summed(token_counts: Iterable[ReportedTokens]) -> ReportedTokens:
    """The sum of each count; None where one of them is not told, for it would be a part only."""
    columns = list(zip(*token_counts, strict=True))
    return (
        ReportedTokens(*(sum_or_unknown(column) for column in columns))
        if columns
        else ReportedTokens()
    )


def round_parts_to_units(parts: Sequence[int], unit: int) -> list[int]:
    """Whole units of parts that are counted in fractions of one and sum to whole units.

    Rounded down, and the units left over go to the largest remainders, ties to the earlier: the
    answers sum to exactly what the parts do. Parts may be negative.
    """
    whole_units = [part // unit for part in parts]
    over = [part % unit for part in parts]
    left = sum(over) // unit
    for index in sorted(range(len(parts)), key=lambda index: -over[index])[:left]:
        whole_units[index] += 1
    return whole_units


def beyond(engine: ReportedTokens, gateway: ReportedTokens) -> ReportedTokens:
    """Return how much more the engine counted than the gateway, each count by itself, never below 0."""
    return ReportedTokens(
        *(
            None if ours is None or theirs is None else max(0, ours - theirs)
            for ours, theirs in zip(engine, gateway, strict=True)
        )
    )


def unit_costs(
    micros: int | None, requests: int | None, token_counts: ReportedTokens, worked: Worked
) -> UnitCosts:
    """Return the cost, of `micros`, for a thousand of `requests` and a million of each kind of token.

    `token_counts` are the tokens that the cost was for and `worked` their work, whose shares divide it:
    $/M output = C × s ÷ G, with s the decode share. A cost that is not known and a count that is not
    told or 0 leave it undefined.
    """
    prompt, cached, output = (
        token_counts.prompt_tokens,
        token_counts.cached_tokens,
        token_counts.output_tokens,
    )
    computed = None if prompt is None else max(0, prompt - (cached or 0))
    tokens = sum_or_unknown((prompt, output))
    return UnitCosts(
        thousand_requests=per(THOUSAND, micros, requests),
        million_tokens=per(MILLION, micros, tokens),
        million_prompt=_of_kind(micros, worked.prompt, worked, computed),
        million_cached=_of_kind(micros, worked.cached, worked, cached),
        million_output=_of_kind(micros, worked.output, worked, output),
    )


def used_part(micros: int | None, active: int | None, stated: int | None) -> int | None:
    """Return the active part of a cost: that part of what has a state, and as much of what has none.

    None where the cost or the part is not known. The rest of it is idle: both add up to the cost.
    """
    if micros is None or not stated:
        return None
    return round(Fraction(micros) * (active or 0) / stated)


def per(many: int, micros: int | None, count: int | None) -> Fraction | None:
    """Return the cost of so many, where `count` cost `micros`; None where undefined."""
    if micros is None or not count:
        return None
    return Fraction(micros * many, count)


def _of_kind(micros: int | None, work: int, worked: Worked, tokens: int | None) -> Fraction | None:
    if micros is None or not tokens:
        return None
    return per(MILLION, micros * work, sum(worked) * tokens)


_Part = tuple[Purpose, str, ReportedTokens]


def _purpose_parts(
    engine: Mapping[str, ReportedTokens], gateway: Mapping[str, ReportedTokens]
) -> list[_Part]:
    features = gateway or engine
    parts = [(Purpose.ANSWERED, name, features[name]) for name in sorted(features)]
    if gateway and engine:
        more = beyond(summed(engine.values()), summed(gateway.values()))
        if any(more):
            parts.append((Purpose.UNATTRIBUTED, "", more))
    return parts


def _by_tokens(
    parts: list[_Part], time: EngineTime | None, token_weights: Sequence[int]
) -> tuple[Portion, ...]:
    """Weighted by the work of tokens; empty where some feature's are not told."""
    if not all(
        token_counts.has_tokens for purpose, _, token_counts in parts if purpose is Purpose.ANSWERED
    ):
        return ()
    works = [_weighted_work(token_counts, token_weights) for _, _, token_counts in parts]
    reading = sum(work.prompt + work.cached for work in works)
    writing = sum(work.output for work in works)
    if time is not None and time.prefill_ms + time.decode_ms and reading and writing:
        # Prompts together weigh what prefill took of the engine, answers what decode took.
        works = [
            Worked(
                work.prompt * writing * time.prefill_ms,
                work.cached * writing * time.prefill_ms,
                work.output * reading * time.decode_ms,
            )
            for work in works
        ]
    return tuple(
        Portion(purpose, feature, sum(work), token_counts, *work)
        for (purpose, feature, token_counts), work in zip(parts, works, strict=True)
    )


def _by_requests(parts: list[_Part]) -> tuple[Portion, ...]:
    return tuple(
        Portion(purpose, feature, token_counts.requests or 0, token_counts)
        for purpose, feature, token_counts in parts
    )


def _weighted_work(token_counts: ReportedTokens, token_weights: Sequence[int]) -> Worked:
    of_prompt, of_cached, of_output = token_weights
    cached = token_counts.cached_tokens or 0
    return Worked(
        max(0, (token_counts.prompt_tokens or 0) - cached) * of_prompt,
        cached * of_cached,
        (token_counts.output_tokens or 0) * of_output,
    )


def _is_reported(token_counts: ReportedTokens) -> bool:
    return token_counts.requests is not None or token_counts.has_tokens
