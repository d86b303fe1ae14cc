"""Scenarios of self-hosting against an API, for tests of the arithmetic."""

from collections.abc import Callable
from datetime import date
from random import Random
from typing import Any

from apps.economics.crossover.demand import TokenDemand
from apps.economics.crossover.offers import ApiOffer, OfferPrice
from apps.economics.crossover.replicas import ReplicaPool, SelfHosting
from apps.economics.crossover.scenario import CrossoverScenario

DAY = date(2026, 11, 1)


def chances(seed: int) -> Callable[[], float]:
    """Numbers from 0 to 1, the same for a seed."""
    return Random(seed).random  # noqa: S311 - draws to be repeated, not a secret


def replica_pool(**given: Any) -> ReplicaPool:
    """Replicas of 8 GPUs at 2 an hour that answer 2,500 tokens a second, 70 % of it planned for."""
    stated = {
        "name": "engine",
        "gpus": 8,
        "gpu_hour": 2.0,
        "input_tokens_per_second": 2500.0,
        "output_tokens_per_second": 2500.0,
        "headroom": 0.7,
        "least_replicas": 2,
    }
    return ReplicaPool(**(stated | given))


def api_offer(price: float = 6.5, **given: Any) -> ApiOffer:
    """An API with one price for input and output."""
    prices = (OfferPrice(DAY, input=price, output=price),)
    return ApiOffer(**({"name": "api", "prices": prices} | given))


def crossover_scenario(
    *,
    pools: tuple[ReplicaPool, ...] | None = None,
    hosting: dict[str, Any] | None = None,
    api: ApiOffer | None = None,
    demand: dict[str, Any] | None = None,
    **given: Any,
) -> CrossoverScenario:
    """9,000 million tokens a month with peaks of twice the mean, 6,000 a month of fixed costs."""
    asked = {"million_tokens": 9000.0, "input_share": 0.0, "peak_to_mean": 2.0} | (demand or {})
    own = {"pools": pools or (replica_pool(),), "fixed": {"staff": 6000.0}} | (hosting or {})
    return CrossoverScenario(
        **{
            "name": "answers",
            "on": DAY,
            "currency": "USD",
            "demand": TokenDemand(**asked),
            "self_host": SelfHosting(**own),
            "api": api or api_offer(),
        }
        | given
    )
