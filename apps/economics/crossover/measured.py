"""A service as it was measured: its demand and the fleet it ran on, as inputs of a scenario."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from math import ceil, fsum
from typing import Any, NamedTuple

from apps.economics.crossover.demand import (
    HOUR_SECONDS,
    MILLION,
    MONTH_HOURS,
    RoutedTraffic,
    TokenDemand,
)
from apps.economics.crossover.replicas import ReplicaPool, SelfHosting, base_month, staircases
from apps.economics.refusal import Refusal
from apps.economics.serving import TOKEN_WEIGHTS

DAY_HOURS, WEEK_HOURS = 24, 168
USUAL_PEAK = 0.95
BUSIEST_PART = 0.1
LEAD_HOURS = 1
"""How long a replica is taken to need where the fleet was scaled: nobody reports it."""
LEAST_HEADROOM = 0.01
CACHED_WORK = TOKEN_WEIGHTS[1] / TOKEN_WEIGHTS[0]


class ServedHour(NamedTuple):
    """An hour of a service: tokens counted, the GPU-hours it is charged for, and the active ones."""

    hour: datetime
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    gpu_hours: float
    active_gpu_hours: float

    @property
    def computed_tokens(self) -> float:
        """Prompt tokens by the work they were: one found in the cache is a part of one computed."""
        return self.prompt_tokens - (1 - CACHED_WORK) * self.cached_tokens


class PhaseSpeeds(NamedTuple):
    """Tokens a second of one GPU that does nothing else: prompts computed, output generated."""

    prompt: float
    output: float

    def gpus_at_work(self, hour: ServedHour) -> float:
        """How many GPUs would work all of an hour for its tokens."""
        seconds = hour.computed_tokens / self.prompt + hour.output_tokens / self.output
        return seconds / HOUR_SECONDS

    def times(self, factor: float) -> "PhaseSpeeds":
        """So many times as fast."""
        return PhaseSpeeds(self.prompt * factor, self.output * factor)


@dataclass(frozen=True, slots=True)
class MeasuredService:
    """What a service's hours say of its demand and of its fleet.

    `ledger_per_million` is what the ledger has for a million tokens, idle time included.
    """

    demand: TokenDemand
    hosting: SelfHosting
    hours: int
    ledger_per_million: float

    @property
    def modelled_per_million(self) -> float:
        """What the model of replicas says that a million tokens cost in such a month."""
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
        """The same as tables of a scenario's file."""
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
    tokens = fsum(hour.prompt_tokens + hour.output_tokens for hour in hours)
    held = fsum(hour.gpu_hours for hour in hours)
    if not tokens or not held:
        raise Refusal("service", f"{name} has no hour with both tokens and GPU time")
    speeds = _speeds_when_busy(name, hours, prefill_ratio)
    loads = _means_by_slot(hours, speeds.gpus_at_work)
    peak = _usual_peak(hours, speeds.gpus_at_work, loads)
    prompt = fsum(hour.prompt_tokens for hour in hours)
    demand = TokenDemand(
        million_tokens=tokens / MILLION * MONTH_HOURS / len(hours),
        input_share=prompt / tokens,
        peak_to_mean=peak,
        hours=loads,
    )
    hosting = SelfHosting(
        pools=(_pool_that_stood(name, hours, speeds, cost / held, max(loads) * peak),),
        cached_share=fsum(hour.cached_tokens for hour in hours) / prompt if prompt else 0.0,
        cached_work=CACHED_WORK,
    )
    return MeasuredService(demand, hosting, len(hours), ledger_per_million)


def _speeds_when_busy(name: str, hours: Sequence[ServedHour], prefill_ratio: float) -> PhaseSpeeds:
    by_tokens = sorted(hours, key=lambda hour: hour.prompt_tokens + hour.output_tokens)
    busiest = by_tokens[-ceil(BUSIEST_PART * len(hours)) :]
    seconds = fsum(hour.active_gpu_hours for hour in busiest) * HOUR_SECONDS
    if not seconds:
        raise Refusal("service", f"{name} was not seen active in its busiest hours")
    computed = fsum(hour.computed_tokens for hour in busiest)
    output = fsum(hour.output_tokens for hour in busiest)
    if not computed or not output or not 0 < prefill_ratio < 1:
        # One phase alone: its speed stands for both.
        return PhaseSpeeds((computed + output) / seconds, (computed + output) / seconds)
    return PhaseSpeeds(
        computed / (seconds * prefill_ratio), output / (seconds * (1 - prefill_ratio))
    )


def _pool_that_stood(
    name: str,
    hours: Sequence[ServedHour],
    speeds: PhaseSpeeds,
    gpu_hour: float,
    peak_gpus: float,
) -> ReplicaPool:
    """The fleet as replicas: a GPU each, or so much more or less that its mean is a whole number.

    As many as the quietest slot had always stand; the headroom is what explains those of the
    busiest one, by a peak that keeps `peak_gpus` at work.
    """
    mean = fsum(hour.gpu_hours for hour in hours) / len(hours)
    gpus = mean / max(1, round(mean))
    standing = _means_by_slot(hours, lambda hour: hour.gpu_hours / gpus)
    least, most = round(min(standing)), max(1, round(max(standing)))
    needed = peak_gpus / gpus
    of_replica = speeds.times(gpus * max(1.0, needed / most))
    return ReplicaPool(
        name=name,
        gpus=gpus,
        gpu_hour=gpu_hour,
        input_tokens_per_second=of_replica.prompt,
        output_tokens_per_second=of_replica.output,
        headroom=min(1.0, max(LEAST_HEADROOM, needed / most)),
        least_replicas=least,
        lead_hours=LEAD_HOURS if most > least else None,
    )


def _means_by_slot(
    hours: Sequence[ServedHour], figure: Callable[[ServedHour], float]
) -> tuple[float, ...]:
    """The mean of a figure by hour of the week from two weeks on, else by hour of the day (UTC)."""
    figures: dict[int, list[float]] = {}
    for slot, hour in zip(_slots_of(hours), hours, strict=True):
        figures.setdefault(slot, []).append(figure(hour))
    return tuple(fsum(figures[slot]) / len(figures[slot]) for slot in sorted(figures))


def _usual_peak(
    hours: Sequence[ServedHour],
    figure: Callable[[ServedHour], float],
    means: Sequence[float],
) -> float:
    """How far above its slot's mean 19 of 20 hours are at most; 1 or more."""
    slots = _slots_of(hours)
    mean_of = dict(zip(sorted(set(slots)), means, strict=True))
    ratios = sorted(
        figure(hour) / mean_of[slot]
        for slot, hour in zip(slots, hours, strict=True)
        if mean_of[slot]
    )
    return max(1.0, ratios[ceil(USUAL_PEAK * len(ratios)) - 1])


def _slots_of(hours: Sequence[ServedHour]) -> list[int]:
    """Each hour's place in the period that repeats."""
    is_weekly = len(hours) >= 2 * WEEK_HOURS
    return [
        hour.hour.hour + (DAY_HOURS * hour.hour.weekday() if is_weekly else 0) for hour in hours
    ]
