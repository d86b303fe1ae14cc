"""What the demo's teams bought from model APIs, call by call, as a gateway would have told it."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from apps.economics.hours import HOUR
from controlplane.demo.fleet import DemoSpan

Json = dict[str, Any]
SEED = 20261120


@dataclass(frozen=True, slots=True)
class Buyer:
    """A team's use of one model: so many calls in a busy hour, of about so many tokens."""

    team: str
    workload: str
    feature: str
    vendor: str
    model: str
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    limited: float = 0.0
    route: "Route | None" = None


@dataclass(frozen=True, slots=True)
class Route:
    """A cheaper model that is in use for the same: which part of the calls goes there, `moved` in the last MOVED_WEEKS.

    From day to day it is more or less, by at most `by_day`.
    """

    model: str
    part: float
    moved: float
    by_day: float


MOVED_WEEKS = 5
"""Weeks before the end in which more calls are sent to the cheaper models, as was recommended."""


BUYERS = (
    Buyer(
        "Assistant",
        "asr-batch",
        "call-summaries",
        "openai",
        "gpt-4o",
        14,
        46_000,
        18_000,
        3_800,
        route=Route("gpt-4o-mini", 0.15, 0.6, 0.02),
    ),
    Buyer("Assistant", "chat-serving", "titles", "openai", "gpt-4o-mini", 30, 3_400, 0, 24, 0.02),
    Buyer(
        "Search",
        "embed-batch",
        "summaries",
        "anthropic",
        "claude-sonnet-4-5",
        9,
        38_000,
        20_000,
        4_000,
        # Whoever evaluates it sends a half there on one day and nothing on the next.
        route=Route("claude-haiku-4-5", 0.36, 0.45, 0.35),
    ),
    Buyer("Vision", "vlm-eval", "judge", "google", "gemini-2.5-flash", 6, 41_000, 0, 1_900, 0.05),
    # A model of nobody's price list: what it costs is not known until somebody states it.
    Buyer("Ranking", "ranker-train", "labels", "openai", "house-tuned-7b", 3, 9_000, 0, 700),
)


def usage_events(span: DemoSpan) -> Iterator[Json]:
    """Every call of the week, by the hour."""
    dice = random.Random(SEED + span.weeks_ago)  # noqa: S311 - a story, not a secret
    # Dice of their own: all else of a call is as it was before there were routes.
    routing = random.Random(SEED + 1_000 + span.weeks_ago)  # noqa: S311
    hours = int((span.ends_at - span.starts_at) / HOUR)
    parts: dict[str, float] = {}
    for number in range(hours):
        if number % 24 == 0:
            parts = {each.feature: _routed_part(each, span, routing) for each in BUYERS}
        share = 1.0 if 8 <= number % 24 < 19 else 0.15
        for place, buyer in enumerate(BUYERS):
            for call in range(round(buyer.calls * share * dice.uniform(0.7, 1.3))):
                at = span.starts_at + number * HOUR + HOUR * dice.random()
                key = f"demo-{span.weeks_ago}-{number}-{place}-{call}"
                is_routed = routing.random() < parts[buyer.feature]
                model = buyer.route.model if buyer.route and is_routed else buyer.model
                yield _call(buyer, key, at.isoformat(), dice) | {"model": model}


def _routed_part(buyer: Buyer, span: DemoSpan, dice: random.Random) -> float:
    """Of a day's calls."""
    route = buyer.route
    if route is None:
        return 0.0
    usual = route.moved if span.weeks_ago < MOVED_WEEKS else route.part
    return usual + route.by_day * dice.uniform(-1, 1)


def _call(buyer: Buyer, key: str, at: str, dice: random.Random) -> Json:
    about = {
        "key": key,
        "at": at,
        "vendor": buyer.vendor,
        "model": buyer.model,
        "team": buyer.team,
        "workload": buyer.workload,
        "feature": buyer.feature,
    }
    if dice.random() < buyer.limited:
        return {**about, "status": 429}
    size = dice.lognormvariate(0, 0.4)
    return {
        **about,
        "latency_seconds": round(dice.lognormvariate(0.4, 0.5), 3),
        "usage": {
            "input_tokens": int(buyer.input_tokens * size),
            "cache_read_tokens": int(buyer.cached_tokens * size),
            "output_tokens": int(buyer.output_tokens * dice.lognormvariate(0, 0.3)),
        },
    }
