"""What the demo's services answered, by the hour: as their engines and their gateway counted it."""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from apps.economics.hours import HOUR
from controlplane.demo.fleet import DemoSpan

Json = dict[str, Any]
BOUNDS = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
SEED = 20261120
A_WEEKS_GROWTH = 0.025


@dataclass(frozen=True, slots=True)
class Feature:
    """Something people use: how many requests at noon, and what one of them is made of."""

    name: str
    requests: int
    prompt: int
    cached: int
    output: int


@dataclass(frozen=True, slots=True)
class DemoService:
    """A service and its features; `seconds` is what half of the answers take at most.

    A gateway tells features apart; without `has_gateway` only the engine counts. The prompts of
    the last week are longer by `longer_by` from `longer_from_hour` on.
    """

    name: str
    model: str
    seconds: float
    features: tuple[Feature, ...]
    has_gateway: bool = False
    sleeps: bool = False
    longer_from_hour: int = 10**6
    longer_by: float = 1.0


SERVICES = (
    DemoService(
        name="chat-serving",
        model="llama-3.1-8b-instruct",
        seconds=1.8,
        features=(
            Feature("answer-box", 9_000, 620, 180, 210),
            Feature("draft-mail", 2_400, 900, 90, 380),
        ),
        has_gateway=True,
        longer_from_hour=96,
        longer_by=1.22,
    ),
    DemoService(
        name="search-serving",
        model="bge-reranker-v2",
        seconds=0.3,
        features=(Feature("", 42_000, 380, 0, 1),),
        sleeps=True,
    ),
)


def request_hours(span: DemoSpan) -> Iterator[Json]:
    """Every service's counts of each hour of the week, the earlier first."""
    dice = random.Random(SEED + span.weeks_ago)  # noqa: S311 - a story, not a secret
    hours = int((span.ends_at - span.starts_at) / HOUR)
    for number in range(hours):
        for service in SERVICES:
            yield from _of_hour(service, number, span, dice)


def _of_hour(
    service: DemoService, number: int, span: DemoSpan, dice: random.Random
) -> Iterator[Json]:
    told = [
        (each, counts)
        for each in service.features
        if (counts := _counts(service, each, number, span, dice)) is not None
    ]
    about = {
        "service": service.name,
        "model": service.model,
        "hour": (span.starts_at + number * HOUR).isoformat(),
        "revision": 1,
    }
    if service.has_gateway:
        for feature, counts in told:
            source = {"source": "gateway", "source_key": f"gateway of {service.name}"}
            yield {**about, **source, **counts, "feature": feature.name}
    summed = {
        name: sum(counts[name] for _, counts in told)
        for name in ("requests", "succeeded", "prompt_tokens", "cached_tokens", "output_tokens")
    }
    # The engine also answers what passes the gateway by: health checks, a script of somebody's.
    beside = 1.03 if service.has_gateway else 1.0
    whole = {name: int(count * beside) for name, count in summed.items()}
    yield {
        **about,
        **whole,
        "source": "engine",
        "source_key": f"engines of {service.name}",
        "latency": {
            "bounds_seconds": BOUNDS,
            "counts": _histogram(whole["requests"], service.seconds),
        },
        "prefill_seconds": whole["prompt_tokens"] / 9_000,
        "decode_seconds": whole["output_tokens"] / 1_100,
        "split_kind": "estimated",
    }


def _counts(
    service: DemoService, feature: Feature, number: int, span: DemoSpan, dice: random.Random
) -> dict[str, int] | None:
    """Of one feature in an hour; none at night where the service sleeps."""
    clock = number % 24
    share = max(0.04, math.sin(math.pi * (clock - 6) / 16)) if 6 <= clock <= 22 else 0.04
    if service.sleeps and clock < 5:
        return None
    grown = 1 - A_WEEKS_GROWTH * span.weeks_ago
    requests = int(feature.requests * share * grown * dice.uniform(0.93, 1.07))
    is_longer = not span.weeks_ago and number >= service.longer_from_hour
    longer = service.longer_by if is_longer else 1.0
    return {
        "requests": requests,
        "succeeded": requests - int(requests * dice.uniform(0.001, 0.006)),
        "prompt_tokens": int(requests * feature.prompt * longer),
        "cached_tokens": requests * feature.cached,
        "output_tokens": requests * feature.output,
    }


def _histogram(requests: int, half_within: float) -> list[int]:
    """Counts by bound, of answers whose times are log-normal around `half_within` seconds."""
    below = [
        int(requests * (0.5 * (1 + math.erf(math.log(bound / half_within) / (0.6 * math.sqrt(2))))))
        for bound in BOUNDS
    ]
    return [right - left for left, right in pairwise([0, *below, requests])]
