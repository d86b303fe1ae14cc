"""A service as it was measured: its demand and the fleet it ran on, as inputs of a scenario."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import fsum
from typing import Any

from apps.economics.crossover.demand import MILLION, MONTH_HOURS, RoutedTraffic, TokenDemand
from apps.economics.crossover.fleets import fleet_rule
from apps.economics.crossover.replicas import ReplicaPool, SelfHosting, base_month, staircases
from apps.economics.crossover.served import (
    CACHED_WORK,
    PhaseSpeeds,
    ServedHour,
    means_by_slot,
    speeds_when_busy,
    usual_peak,
)
from apps.economics.hours import DAY_HOURS
from apps.economics.refusal import Refusal

LEAST_HALF = 2 * DAY_HOURS
"""Of fewer hours a rule is not tried on as many others."""


@dataclass(frozen=True, slots=True)
class MeasuredService:
    """The demand and the fleet of a service, measured from its hours.

    `ledger_per_million` is what the ledger has for a million tokens, idle time included.
    `unseen_ratio` is how far the GPU-hours of the second half of the hours are missed by the rule
    of the first half, given their load alone; None where the halves are too short.
    """

    demand: TokenDemand
    hosting: SelfHosting
    hours: int
    ledger_per_million: float
    unseen_ratio: float | None = None

    @property
    def modelled_per_million(self) -> float:
        """The cost of a million tokens in such a month by the model of replicas."""
        volume = self.demand.million_tokens
        pools = staircases(self.hosting, self.demand, RoutedTraffic())
        further = fsum(pool.further_cost(volume) for pool in pools)
        return (base_month(self.hosting) + further) / volume

    @property
    def difference_ratio(self) -> float:
        """How far the model is above the ledger, as a part of it; below 0: under it."""
        return self.modelled_per_million / self.ledger_per_million - 1

    @property
    def document(self) -> dict[str, Any]:
        """Return the measured service as tables of a scenario's file."""
        pools = [
            {name: value for name, value in asdict(pool).items() if value is not None}
            for pool in self.hosting.pools
        ]
        return {
            "demand": asdict(self.demand) | {"hours": list(self.demand.hours)},
            "self_host": {
                "cached_share": self.hosting.cached_share,
                "cached_work": self.hosting.cached_work,
                "pools": pools,
            },
        }


def measured_service(
    name: str,
    hours: Sequence[ServedHour],
    *,
    cost: float,
    ledger_per_million: float,
    prefill_ratio: float,
) -> MeasuredService:
    """A service by its hours, and what they cost; `prefill_ratio` is the prompts' part of the work.

    Throughput is what the fleet showed: tokens over active GPU time in the busiest tenth of the
    hours, and no less than its peaks took of the replicas that stood. A load test may exceed it.
    Refuses a Refusal where nothing was counted, held or seen active.
    """
    demand, hosting = _inputs_of(name, hours, cost, prefill_ratio)
    return MeasuredService(
        demand, hosting, len(hours), ledger_per_million, _unseen_ratio(name, hours, prefill_ratio)
    )


def _inputs_of(
    name: str, hours: Sequence[ServedHour], cost: float, prefill_ratio: float
) -> tuple[TokenDemand, SelfHosting]:
    gpu_hours = fsum(hour.gpu_hours for hour in hours)
    if not fsum(hour.tokens for hour in hours) or not gpu_hours:
        raise Refusal("service", f"{name} has no hour with both tokens and GPU time")
    speeds = speeds_when_busy(name, hours, prefill_ratio)
    loads = means_by_slot(hours, speeds.gpus_at_work)
    demand = _demand_of(hours, loads, usual_peak(hours, speeds.gpus_at_work, loads))
    prompt = fsum(hour.prompt_tokens for hour in hours)
    hosting = SelfHosting(
        pools=(_fit_measured_pool(name, hours, speeds, cost / gpu_hours, demand),),
        cached_share=fsum(hour.cached_tokens for hour in hours) / prompt if prompt else 0.0,
        cached_work=CACHED_WORK,
    )
    return demand, hosting


def _demand_of(
    hours: Sequence[ServedHour], loads: tuple[float, ...], peak_to_mean: float
) -> TokenDemand:
    tokens = fsum(hour.tokens for hour in hours)
    return TokenDemand(
        million_tokens=tokens / MILLION * MONTH_HOURS / len(hours),
        input_share=fsum(hour.prompt_tokens for hour in hours) / tokens,
        peak_to_mean=peak_to_mean,
        hours=loads,
    )


def _fit_measured_pool(
    name: str,
    hours: Sequence[ServedHour],
    speeds: PhaseSpeeds,
    gpu_hour: float,
    demand: TokenDemand,
) -> ReplicaPool:
    """The fleet as the rule of replicas that explains its slots best."""
    # As a month's volume has them: slots of which there are more hours do not count for more.
    mean = fsum(speeds.gpus_at_work(hour) for hour in hours) / len(hours)
    scale = demand.peak_to_mean * mean / (fsum(demand.hours) / len(demand.hours))
    rule = fleet_rule(
        means_by_slot(hours, lambda hour: hour.gpu_hours), [scale * load for load in demand.hours]
    )
    of_replica = speeds.times(rule.gpus * max(1.0, rule.headroom))
    return ReplicaPool(
        name=name,
        gpus=rule.gpus,
        gpu_hour=gpu_hour,
        input_tokens_per_second=of_replica.prompt,
        output_tokens_per_second=of_replica.output,
        headroom=min(1.0, rule.headroom),
        least_replicas=rule.least,
        lead_hours=rule.lead_hours,
    )


def _unseen_ratio(name: str, hours: Sequence[ServedHour], prefill_ratio: float) -> float | None:
    """GPU-hours of the second half by the first half's rule and speeds, over those held, less 1."""
    first_half, unseen = hours[: len(hours) // 2], hours[len(hours) // 2 :]
    gpu_hours = fsum(hour.gpu_hours for hour in unseen)
    if len(first_half) < LEAST_HALF or not gpu_hours:
        return None
    try:
        first_demand, hosting = _inputs_of(name, first_half, 0.0, prefill_ratio)
    except Refusal:
        return None
    speeds = speeds_when_busy(name, first_half, prefill_ratio)
    demand = _demand_of(
        unseen, means_by_slot(unseen, speeds.gpus_at_work), first_demand.peak_to_mean
    )
    (pool,) = staircases(hosting, demand, RoutedTraffic())
    predicted_gpu_hours = pool.mean_replicas(demand.million_tokens) * pool.pool.gpus * len(unseen)
    return predicted_gpu_hours / gpu_hours - 1
