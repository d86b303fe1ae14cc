"""Cost levers that could be pulled first: caching, batching, quantisation, routing, shorter answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.economics.crossover.demand import RoutedTraffic, TokenDemand
from apps.economics.crossover.replicas import ReplicaPool
from apps.economics.crossover.scenario import CrossoverScenario


@dataclass(frozen=True)
class CostLever:
    """A change of how a service runs, named by whoever means it; None and 1 leave an input alone.

    `throughput_factor` multiplies the tokens a second of every pool (quantisation, speculative
    decoding, larger batches), `output_factor` the tokens of an answer, `peak_to_mean` and
    `batch_share` say how much of the traffic can wait. The shares of cached prompts are absolute,
    and `monthly_cost` is what the change costs whoever serves.
    """

    name: str
    cached_share: float | None = None
    api_cached_share: float | None = None
    throughput_factor: float = 1.0
    output_factor: float = 1.0
    peak_to_mean: float | None = None
    batch_share: float | None = None
    routing: RoutedTraffic | None = None
    monthly_cost: float = 0.0


def with_lever(scenario: CrossoverScenario, lever: CostLever) -> CrossoverScenario:
    """The scenario with the lever pulled."""
    hosting, api = scenario.self_host, scenario.api
    fixed = (
        {**hosting.fixed, lever.name: lever.monthly_cost} if lever.monthly_cost else hosting.fixed
    )
    return replace(
        scenario,
        demand=_demand_with(scenario.demand, lever),
        self_host=replace(
            hosting,
            fixed=fixed,
            cached_share=_chosen(lever.cached_share, hosting.cached_share),
            pools=tuple(_pool_with(pool, lever.throughput_factor) for pool in hosting.pools),
        ),
        api=replace(
            api,
            cached_share=_chosen(lever.api_cached_share, api.cached_share),
            batch_share=_chosen(lever.batch_share, api.batch_share),
            fixed=api.fixed + lever.monthly_cost,
        ),
        routing=lever.routing or scenario.routing,
    )


def with_levers(scenario: CrossoverScenario, levers: Sequence[CostLever]) -> CrossoverScenario:
    """The scenario with all of them pulled, in order: factors multiply, the last share holds."""
    for lever in levers:
        scenario = with_lever(scenario, lever)
    return scenario


def _demand_with(demand: TokenDemand, lever: CostLever) -> TokenDemand:
    """Shorter answers are fewer tokens, of which prompts are a larger part."""
    prompt = demand.input_share
    token_factor = prompt + (1 - prompt) * lever.output_factor
    return replace(
        demand,
        million_tokens=demand.million_tokens * token_factor,
        input_share=prompt / token_factor if token_factor else prompt,
        peak_to_mean=_chosen(lever.peak_to_mean, demand.peak_to_mean),
    )


def _pool_with(pool: ReplicaPool, factor: float) -> ReplicaPool:
    prompt, output = pool.input_tokens_per_second, pool.output_tokens_per_second
    return replace(
        pool,
        input_tokens_per_second=None if prompt is None else prompt * factor,
        output_tokens_per_second=None if output is None else output * factor,
    )


def _chosen(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
