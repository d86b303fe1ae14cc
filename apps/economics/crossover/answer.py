"""A scenario's answer: both costs, every crossing, how sure it is, and what would change it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from math import fsum

from apps.economics.crossover.adaptation import CheapestWay, ModelAdaptation, cheapest_ways
from apps.economics.crossover.crossings import (
    MOST_STEPS,
    CrossingSearch,
    Side,
    find_crossings,
)
from apps.economics.crossover.demand import MONTH_HOURS
from apps.economics.crossover.gates import crossover_gates
from apps.economics.crossover.levers import CostLever, with_lever, with_levers
from apps.economics.crossover.replicas import Staircase
from apps.economics.crossover.scenario import CostCurves, CrossoverScenario, cost_curves
from apps.economics.crossover.uncertainty import (
    BREAK_EVEN_DRAWS,
    SURE,
    BreakEvenInput,
    InputRange,
    SavingsRange,
    TornadoBar,
    break_even_inputs,
    savings_range,
    tornado,
)
from apps.economics.gates import Gate

METHOD = "crossover 1"
ALL_LEVERS = "all of them"


class CrossoverAdvice(StrEnum):
    """The advice that the comparison comes to."""

    SELF_HOST = "self_host"
    API = "api"
    TOO_CLOSE = "too_close_to_call"


@dataclass(frozen=True)
class CrossoverQuestion:
    """A scenario with the ranges of its inputs, what could be changed, and how often to draw.

    `acceptable_loss` a month is what the worst tenth of the draws may lose; None: not asked.
    """

    scenario: CrossoverScenario
    ranges: tuple[InputRange, ...] = ()
    levers: tuple[CostLever, ...] = ()
    adaptations: tuple[ModelAdaptation, ...] = ()
    draws: int = 5_000
    seed: int = 1
    acceptable_loss: float | None = None


@dataclass(frozen=True, slots=True)
class AnswerEffort:
    """How much is reckoned at most: draws of the ranges, those with a break-even, steps walked.

    `draws` None: as many as the question asks for.
    """

    draws: int | None = None
    break_even_draws: int = BREAK_EVEN_DRAWS
    most_steps: int = MOST_STEPS

    def draws_of(self, question: CrossoverQuestion) -> int:
        """How often its ranges are drawn."""
        return question.draws if self.draws is None else min(question.draws, self.draws)


WHOLE_ANSWER = AnswerEffort()
QUICK_ANSWER = AnswerEffort(draws=200, break_even_draws=40, most_steps=20_000)
"""For somebody who waits: a few tenths of a second at most."""


@dataclass(frozen=True, slots=True)
class PoolAtVolume:
    """A pool at a volume. `utilization` is its load over the replicas that stand, 0 to 1."""

    name: str
    least_replicas: int
    mean_replicas: float
    most_replicas: int
    utilization: float | None
    million_tokens_per_replica: float


@dataclass(frozen=True, slots=True)
class CostsAtVolume:
    """Both sides' month at a volume, and what a million tokens cost; None without tokens.

    Without `is_served` the replicas allowed cannot serve the volume: self-hosting is then what it would cost
    with more of them, and the API is the cheaper side, being the only one.
    """

    million_tokens: float
    self_host_month: float
    self_host_parts: dict[str, float]
    api_month: float
    savings_month: float
    self_host_per_million: float | None
    api_per_million: float | None
    cheaper: Side
    pools: tuple[PoolAtVolume, ...]
    is_served: bool = True


@dataclass(frozen=True, slots=True)
class LeverEffect:
    """The answer with one lever pulled, or all; `is_served` as of the costs at the volume."""

    name: str
    self_host_month: float
    api_month: float
    first: float | None
    durable: float | None
    is_served: bool = True

    @property
    def savings_month(self) -> float | None:
        """The savings of self-hosting a month; None where the replicas allowed cannot serve the volume."""
        return self.api_month - self.self_host_month if self.is_served else None


@dataclass(frozen=True, slots=True)
class CrossoverAnswer:
    """All that a scenario says, and why.

    `cost_at_scale` is what a further million tokens cost oneself where steps no longer matter: an
    API price below it is never undercut for good.
    """

    method: str
    costs: CostsAtVolume
    advice: CrossoverAdvice
    reasons: tuple[str, ...]
    break_even_utilization: float | None
    cost_at_scale: float
    search: CrossingSearch
    months_until_durable: float | None
    uncertainty: SavingsRange | None
    tornado: tuple[TornadoBar, ...]
    must_be_true: tuple[BreakEvenInput, ...]
    levers: tuple[LeverEffect, ...]
    cheapest_ways: tuple[CheapestWay, ...]
    risks: tuple[str, ...]
    gates: tuple[Gate, ...] = ()


def answer_question(
    question: CrossoverQuestion,
    chance: Callable[[], float],
    effort: AnswerEffort = WHOLE_ANSWER,
) -> CrossoverAnswer:
    """Work a scenario out; `chance` gives numbers from 0 to 1. Refuses NoPriceInForce."""
    scenario = question.scenario
    curves = cost_curves(scenario)
    costs = costs_at(scenario, curves, scenario.demand.million_tokens)
    search = find_crossings(curves, effort.most_steps)
    spread = (
        savings_range(
            scenario, question.ranges, effort.draws_of(question), chance, effort.break_even_draws
        )
        if question.ranges
        else None
    )
    advice, reasons = _advice(question, costs, spread)
    durable = search.durable if costs.is_served else None
    return CrossoverAnswer(
        method=METHOD,
        costs=costs,
        advice=advice,
        reasons=reasons,
        break_even_utilization=curves.break_even_utilization,
        cost_at_scale=curves.cost_at_scale,
        search=search,
        months_until_durable=None if durable is None else scenario.demand.months_until(durable),
        uncertainty=spread,
        tornado=tuple(tornado(scenario, question.ranges)),
        must_be_true=tuple(break_even_inputs(scenario)),
        levers=tuple(_lever_effects(scenario, question.levers, effort.most_steps)),
        cheapest_ways=tuple(cheapest_ways(question.adaptations)) if question.adaptations else (),
        risks=tuple(_risks(scenario, curves)),
        gates=crossover_gates(
            costs.million_tokens, curves.most_volume, costs.self_host_month, costs.self_host_parts
        ),
    )


def costs_at(scenario: CrossoverScenario, curves: CostCurves, volume: float) -> CostsAtVolume:
    """Both sides at a volume; the parts of self-hosting sum to its month."""
    self_host, api = curves.self_host_month(volume), curves.api.month(volume)
    is_served = curves.serves(volume)
    return CostsAtVolume(
        million_tokens=volume,
        self_host_month=self_host,
        self_host_parts=_self_host_parts(scenario, curves, volume),
        api_month=api,
        savings_month=api - self_host,
        self_host_per_million=self_host / volume if volume else None,
        api_per_million=api / volume if volume else None,
        cheaper=Side.SELF_HOST if is_served and self_host <= api else Side.API,
        pools=tuple(_pool_at(pool, volume) for pool in curves.pools),
        is_served=is_served,
    )


def _self_host_parts(
    scenario: CrossoverScenario, curves: CostCurves, volume: float
) -> dict[str, float]:
    hosting = scenario.self_host
    pools = hosting.pools
    return {
        **hosting.fixed,
        "one-time cost, a month of its life": hosting.one_time / hosting.life_months,
        "committed replicas": fsum(pool.committed_hour for pool in pools) * MONTH_HOURS,
        "replicas for availability": fsum(pool.floor_hour for pool in pools) * MONTH_HOURS,
        "further replicas": fsum(pool.further_cost(volume) for pool in curves.pools),
    }


def _pool_at(pool: Staircase, volume: float) -> PoolAtVolume:
    counts = [max(pool.pool.base_replicas, count) for count, _ in pool.replicas_at(volume)]
    mean = pool.mean_replicas(volume)
    return PoolAtVolume(
        name=pool.pool.name,
        least_replicas=min(counts),
        mean_replicas=mean,
        most_replicas=max(counts),
        utilization=pool.load(volume) / mean if mean else None,
        million_tokens_per_replica=pool.capacity,
    )


def _advice(
    question: CrossoverQuestion, costs: CostsAtVolume, spread: SavingsRange | None
) -> tuple[CrossoverAdvice, tuple[str, ...]]:
    if not costs.is_served:
        return CrossoverAdvice.API, ("the replicas allowed cannot serve this volume",)
    if spread is None:
        return CrossoverAdvice(costs.cheaper), (
            "no input has a range: how sure this is, is not known",
        )
    share = spread.self_host_cheaper_share
    sentence = f"self-hosting is cheaper in {share:.0%} of {spread.draws:,} draws"
    if share <= 1 - SURE:
        return CrossoverAdvice.API, (sentence,)
    loss = question.acceptable_loss
    worst = spread.savings.p10
    if share >= SURE and loss is not None and worst is not None and worst < -loss:
        return CrossoverAdvice.TOO_CLOSE, (
            sentence,
            f"one in ten of them loses over {loss:,.0f} a month",
        )
    return (CrossoverAdvice.SELF_HOST if share >= SURE else CrossoverAdvice.TOO_CLOSE), (sentence,)


def _lever_effects(
    scenario: CrossoverScenario, levers: Sequence[CostLever], most_steps: int
) -> Sequence[LeverEffect]:
    changed = [(lever.name, with_lever(scenario, lever)) for lever in levers]
    if len(levers) > 1:
        changed.append((ALL_LEVERS, with_levers(scenario, levers)))
    return [_lever_effect(name, pulled, most_steps) for name, pulled in changed]


def _lever_effect(name: str, scenario: CrossoverScenario, most_steps: int) -> LeverEffect:
    curves, volume = cost_curves(scenario), scenario.demand.million_tokens
    search = find_crossings(curves, most_steps)
    return LeverEffect(
        name,
        curves.self_host_month(volume),
        curves.api.month(volume),
        search.first,
        search.durable,
        curves.serves(volume),
    )


def _risks(scenario: CrossoverScenario, curves: CostCurves) -> Sequence[str]:
    api, volume = scenario.api, scenario.demand.million_tokens
    risks = [
        f"prices of {api.name} change on {price.starts_on:%-d %B %Y}: {price.input:g} input and"
        f" {price.output:g} output for a million"
        for price in api.changes_after(scenario.on)
    ]
    if api.ends_on is not None:
        risks.append(_describe_end(api.name, api.ends_on, scenario.on))
    limit = api.most_volume(scenario.demand)
    if limit is not None and volume > limit:
        risks.append(
            f"the busiest hour is over {api.name}'s rate limit from {limit:,.0f} million on"
        )
    most_volume = curves.most_volume
    if most_volume is not None:
        risks.append(f"the replicas allowed serve up to {most_volume:,.0f} million tokens a month")
    if not scenario.quality:
        risks.append("nothing is said of quality: it compares costs alone")
    return risks


def _describe_end(name: str, ends_on: date, day: date) -> str:
    if ends_on <= day:
        return f"{name} ended on {ends_on:%-d %B %Y}"
    return f"{name} ends on {ends_on:%-d %B %Y}, in {(ends_on - day).days} days"
