"""A scenario whole: what is asked, what serving it oneself takes, and what an API charges for it."""

from dataclasses import dataclass, field
from datetime import date
from math import fsum
from typing import NamedTuple

from apps.economics.crossover.demand import RoutedTraffic, TokenDemand
from apps.economics.crossover.offers import ApiOffer, PricedVolume, priced_volume
from apps.economics.crossover.replicas import SelfHosting, Staircase, base_month, staircases


@dataclass(frozen=True, slots=True)
class CrossoverScenario:
    """A comparison of self-hosting and an API, on the prices of the day `on`; all money in `currency`.

    `quality` says how it is known that both answers are good enough; without it the comparison is
    of costs alone.
    """

    name: str
    on: date
    currency: str
    demand: TokenDemand
    self_host: SelfHosting
    api: ApiOffer
    routing: RoutedTraffic = field(default_factory=RoutedTraffic)
    quality: str = ""


class CostCurves(NamedTuple):
    """Both sides against volume, under a scenario's demand."""

    base: float
    pools: tuple[Staircase, ...]
    api: PricedVolume

    def self_host_month(self, volume: float) -> float:
        """A month of self-hosting at so many million tokens, limits not applied."""
        return self.base + fsum(pool.further_cost(volume) for pool in self.pools)

    def savings(self, volume: float) -> float:
        """Return the savings of self-hosting a month against the API; below 0: what it costs more."""
        return self.api.month(volume) - self.self_host_month(volume)

    @property
    def most_volume(self) -> float | None:
        """The volume that the most replicas allowed can serve; None: no limit."""
        limits = [pool.most_volume for pool in self.pools]
        return min((limit for limit in limits if limit is not None), default=None)

    def serves(self, volume: float) -> bool:
        """Whether the replicas allowed can serve so much."""
        return self.most_volume is None or volume <= self.most_volume

    def utilization(self, volume: float) -> float | None:
        """Load over the GPUs that stand for it, of all pools; None where none stand."""
        total_gpus = fsum(pool.pool.gpus * pool.mean_replicas(volume) for pool in self.pools)
        busy = fsum(pool.pool.gpus * pool.load(volume) for pool in self.pools)
        return busy / total_gpus if total_gpus else None

    @property
    def cost_at_scale(self) -> float:
        """Self-hosting's cost of a further million tokens where steps no longer matter."""
        return fsum(pool.cost_at_scale for pool in self.pools)

    @property
    def break_even_utilization(self) -> float | None:
        """The utilization of replicas at which they cost what the API does; None where it is free."""
        if not self.api.price_at_scale:
            return None
        return fsum(pool.cost_when_full for pool in self.pools) / self.api.price_at_scale


def cost_curves(scenario: CrossoverScenario) -> CostCurves:
    """Both sides of a scenario. Refuses NoPriceInForce."""
    return CostCurves(
        base=base_month(scenario.self_host),
        pools=staircases(scenario.self_host, scenario.demand, scenario.routing),
        api=priced_volume(scenario.api, scenario.on, scenario.demand, scenario.routing),
    )


def savings(scenario: CrossoverScenario) -> float:
    """Return the savings of self-hosting a month against the API at the scenario's volume; below 0: it loses."""
    return cost_curves(scenario).savings(scenario.demand.million_tokens)


def is_no_dearer(scenario: CrossoverScenario) -> bool:
    """Whether self-hosting serves the scenario's volume and costs no more than the API."""
    curves, volume = cost_curves(scenario), scenario.demand.million_tokens
    return curves.serves(volume) and curves.savings(volume) >= 0
