"""The cost of serving a model on GPUs of one's own: whole replicas, a staircase over volume."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, fsum, inf

from apps.economics.crossover.demand import (
    HOUR_SECONDS,
    MILLION,
    MONTH_HOURS,
    RoutedTraffic,
    TokenDemand,
    load_levels,
)

ROUNDING = 1e-12
"""A replica that is full to its last token is one replica, whatever floats make of the division."""


@dataclass(frozen=True)
class ReplicaPool:
    """Replicas of one kind, of so many `gpus` each: both phases of serving, or prefill or decode alone.

    Tokens a second are of one replica that does nothing else, at the service's latency objective:
    of prompts as they are computed, of output as it is generated; None: another pool does that.
    `headroom` is the part of that capacity which is planned to be used. Replicas up to
    `committed_replicas` cost their own rate whether used or not, those up to `least_replicas` the
    rate on demand, and `spot_share` of any further ones the spot rate, with `spot_redone_share` of
    their hours run again. Rates are by GPU-hour. `lead_hours` is the time from asking for a replica
    until it serves; None: the pool is not scaled.
    """

    name: str
    gpus: float
    gpu_hour: float
    input_tokens_per_second: float | None = None
    output_tokens_per_second: float | None = None
    headroom: float = 1.0
    least_replicas: int = 1
    most_replicas: int | None = None
    lead_hours: int | None = None
    committed_replicas: int = 0
    committed_gpu_hour: float = 0.0
    spot_share: float = 0.0
    spot_gpu_hour: float = 0.0
    spot_redone_share: float = 0.0

    @property
    def base_replicas(self) -> int:
        """How many are paid for in every hour, whatever is asked of them."""
        return max(self.least_replicas, self.committed_replicas)

    @property
    def committed_hour(self) -> float:
        """An hour of the replicas under commitment."""
        return self.gpus * self.committed_replicas * self.committed_gpu_hour

    @property
    def floor_hour(self) -> float:
        """An hour of the replicas that availability asks for beyond the commitment."""
        return self.gpus * max(0, self.least_replicas - self.committed_replicas) * self.gpu_hour

    @property
    def further_hour(self) -> float:
        """An hour of one replica beyond the base."""
        spot = self.spot_gpu_hour * (1 + self.spot_redone_share)
        return self.gpus * ((1 - self.spot_share) * self.gpu_hour + self.spot_share * spot)


@dataclass(frozen=True)
class SelfHosting:
    """Pools of replicas with what they need of people and of other things, by name, a month.

    `one_time` is spent once and spread over `life_months`. `cached_share` of prompt tokens are
    found in the prefix cache, and take `cached_work` of a computed one's work.
    """

    pools: tuple[ReplicaPool, ...]
    fixed: Mapping[str, float] = field(default_factory=dict)
    one_time: float = 0.0
    life_months: float = 36.0
    cached_share: float = 0.0
    cached_work: float = 0.0

    @property
    def fixed_month(self) -> float:
        """The cost of a month before the first replica."""
        return fsum(self.fixed.values()) + self.one_time / self.life_months


@dataclass(frozen=True, slots=True)
class Staircase:
    """A pool against volume. `work_seconds` are a replica's for a million tokens of the mix."""

    pool: ReplicaPool
    work_seconds: float
    peak_to_mean: float
    levels: tuple[tuple[float, int], ...]

    @property
    def capacity(self) -> float:
        """Million tokens a month that one replica carries at an even load (`cap₁`)."""
        usable = self.pool.headroom * HOUR_SECONDS * MONTH_HOURS
        return usable / (self.work_seconds * self.peak_to_mean) if self.work_seconds else inf

    @property
    def hours(self) -> int:
        """The hours of the period that repeats."""
        return sum(hours for _, hours in self.levels)

    @property
    def mean_level(self) -> float:
        """The load that replicas stand for over the mean load: over 1 with lead time or no scaling."""
        return fsum(level * hours for level, hours in self.levels) / self.hours

    @property
    def most_volume(self) -> float | None:
        """The volume that the most replicas allowed carry in the busiest hour; None: no limit."""
        if self.pool.most_replicas is None:
            return None
        return self.pool.most_replicas * self.capacity / self.levels[-1][0]

    @property
    def step_cost(self) -> float:
        """A month's cost of a further replica in all hours."""
        return self.pool.further_hour * MONTH_HOURS

    @property
    def cost_at_scale(self) -> float:
        """The cost of a further million tokens where steps no longer matter."""
        return self.step_cost * self.mean_level / self.capacity

    @property
    def cost_when_full(self) -> float:
        """The cost of a million tokens on a replica that works all the time."""
        return self.pool.further_hour * self.work_seconds / HOUR_SECONDS

    def replicas_at(self, volume: float) -> tuple[tuple[int, int], ...]:
        """Replicas needed, by level, each with the number of its hours; limits not applied."""
        least, mean_load = self.pool.least_replicas, volume / self.capacity
        return tuple(
            (max(least, _round_up_replicas(mean_load * level)), hours)
            for level, hours in self.levels
        )

    def mean_replicas(self, volume: float) -> float:
        """Replicas that stand, over the hours, unused commitments among them."""
        base, mean_load = self.pool.base_replicas, volume / self.capacity
        counted, hours_above = 0, 0
        for level, hours in reversed(self.levels):
            needed = _round_up_replicas(mean_load * level)
            if needed <= base:
                break
            counted += needed * hours
            hours_above += hours
        return base + (counted - base * hours_above) / self.hours

    def further_cost(self, volume: float) -> float:
        """A month's cost of replicas beyond the base."""
        return self.step_cost * (self.mean_replicas(volume) - self.pool.base_replicas)

    def load(self, volume: float) -> float:
        """The mean load in replicas that work all the time."""
        return volume * self.work_seconds / (HOUR_SECONDS * MONTH_HOURS)


def staircases(
    hosting: SelfHosting, demand: TokenDemand, routing: RoutedTraffic
) -> tuple[Staircase, ...]:
    """The pools under this demand.

    Load in replicas is ρ = in·(1 − h(1 − ε))/μ_in + out/μ_out, with h found in the cache at ε of the
    work; a pool that has but one phase has that term alone.
    """
    computed = demand.input_share * (1 - hosting.cached_share * (1 - hosting.cached_work))
    return tuple(
        Staircase(
            pool=pool,
            work_seconds=MILLION
            * routing.work_factor
            * (
                _phase_seconds(computed, pool.input_tokens_per_second)
                + _phase_seconds(1 - demand.input_share, pool.output_tokens_per_second)
            ),
            peak_to_mean=demand.peak_to_mean,
            levels=load_levels(demand.hours, pool.lead_hours),
        )
        for pool in hosting.pools
    )


def base_month(hosting: SelfHosting) -> float:
    """Return the cost of self-hosting a month at the smallest volume."""
    hourly_cost = fsum(pool.committed_hour + pool.floor_hour for pool in hosting.pools)
    return hosting.fixed_month + hourly_cost * MONTH_HOURS


def _round_up_replicas(needed: float) -> int:
    return ceil(needed - ROUNDING * max(1.0, needed))


def _phase_seconds(tokens: float, tokens_per_second: float | None) -> float:
    return 0.0 if tokens_per_second is None else tokens / tokens_per_second
