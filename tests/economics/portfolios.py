"""Questions of a portfolio, and what they come to by brute force, for tests."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import inf
from typing import Any

import numpy as np

from apps.economics.portfolio.question import CapacityOffer, GpuFamily, PortfolioQuestion

TWO_SCENARIOS = np.array([[10, 20, 30, 20], [12, 41, 60, 38]], float)


def gpu_family(demand: Any = TWO_SCENARIOS, **given: Any) -> GpuFamily:
    """Four hours in two scenarios at 1 on demand, a quarter of them on spot at 0.40."""
    stated = {"name": "H100", "on_demand": 1.0, "spot": 0.4, "spot_share": 0.25}
    return GpuFamily(demand=np.asarray(demand, float), **(stated | given))


def capacity_offer(**given: Any) -> CapacityOffer:
    """All four hours at 0.55, GPU by GPU."""
    stated = {"name": "a year", "family": "H100", "kind": "reserved", "term_hours": 4}
    return CapacityOffer(**(stated | {"hourly": 0.55} | given))


def portfolio(*families: GpuFamily, **given: Any) -> PortfolioQuestion:
    """Of one family and one offer where nothing else is given."""
    return PortfolioQuestion(
        families or (gpu_family(),), **({"offers": (capacity_offer(),)} | given)
    )


def hour_by_hour(question: PortfolioQuestion, lots: Sequence[float]) -> list[float]:
    """What each scenario costs, one hour after the other."""
    return [
        sum(
            hour_cost(question, family, lots, scenario, hour)
            for family in question.families
            for hour in range(question.hours)
        )
        for scenario in range(question.scenarios)
    ]


def hour_cost(
    question: PortfolioQuestion,
    family: GpuFamily,
    lots: Sequence[float],
    scenario: int,
    hour: int,
) -> float:
    cost = gpus = 0.0
    for offer, count in zip(question.offers, lots, strict=True):
        if offer.family == family.name and offer.starts_in <= hour < offer.ends_in:
            gpus += count * offer.lot
            cost += count * offer.lot * (offer.hourly + offer.upfront / offer.term_hours)
    for held in question.held:
        if held.family == family.name and hour < held.ends_in:
            gpus += held.gpus
            cost += held.gpus * held.rate
    demand = float(family.demand[scenario, hour])
    falls = (1 - family.monthly_decline) ** (hour // 730)
    left = max(0.0, demand - gpus)
    spot_price = inf if family.spot is None else family.spot * (1 + family.spot_redone_share)
    if spot_price < family.on_demand:
        spot = min(left, family.spot_share * demand)
        cost += spot * spot_price * falls
        left -= spot
    on_demand = min(left, family.on_demand_quota)
    return (
        cost
        + on_demand * family.on_demand * falls
        + (left - on_demand) * (family.shortage_cost or 0)
    )


def blocked_part(question: PortfolioQuestion, lots: Sequence[float]) -> float:
    """The part of its GPU-hours that nobody supplies, in the mean of the worst scenarios, one hour after the other."""
    parts = []
    for scenario in range(question.scenarios):
        short = sum(
            hour_short(question, family, lots, scenario, hour)
            for family in question.families
            for hour in range(question.hours)
        )
        needed = sum(float(family.demand[scenario].sum()) for family in question.families)
        parts.append(short / needed if needed else 0.0)
    return min(
        risk
        + sum(max(0.0, part - risk) for part in parts) / len(parts) / (1 - question.blocked_tail)
        for risk in (0.0, *parts)
    )


def hour_short(
    question: PortfolioQuestion,
    family: GpuFamily,
    lots: Sequence[float],
    scenario: int,
    hour: int,
) -> float:
    """What is left when nobody is paid for being short, and when a GPU-hour short costs one more."""
    free, dear = (replace(family, shortage_cost=cost) for cost in (0.0, 1.0))
    return hour_cost(question, dear, lots, scenario, hour) - hour_cost(
        question, free, lots, scenario, hour
    )


def weighed(question: PortfolioQuestion, costs: Sequence[float]) -> float:
    """Mean and tail, by the definition: the least over the value at risk (Rockafellar and Uryasev)."""
    mean = sum(costs) / len(costs)
    tail = min(
        risk + sum(max(0.0, cost - risk) for cost in costs) / len(costs) / (1 - question.tail)
        for risk in costs
    )
    return (1 - question.risk_weight) * mean + question.risk_weight * tail


def choices(question: PortfolioQuestion) -> Iterator[tuple[int, ...]]:
    """Every choice of lots that demand could fill and the limits allow."""
    most = int(max(family.demand.max() for family in question.families)) + 1
    counts = [
        range(
            min(
                most // offer.lot + 2,
                (offer.most_lots if offer.most_lots is not None else most) + 1,
            )
        )
        for offer in question.offers
    ]
    for lots in product(*counts):
        pairs = list(zip(question.offers, lots, strict=True))
        spent = sum(count * offer.amortised_cost(question.hours) for offer, count in pairs)
        upfront = sum(count * offer.lot * offer.upfront for offer, count in pairs)
        if spent <= question.budget and upfront <= question.upfront_budget:
            yield lots
