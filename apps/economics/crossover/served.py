"""Hours of a service: what it answered, and the GPUs that stood for it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from math import ceil, fsum
from typing import NamedTuple

from apps.economics.crossover.demand import HOUR_SECONDS
from apps.economics.hours import DAY_HOURS, WEEK_HOURS
from apps.economics.refusal import Refusal
from apps.economics.serving import TOKEN_WEIGHTS

USUAL_PEAK = 0.95
BUSIEST_PART = 0.1
CACHED_WORK = TOKEN_WEIGHTS[1] / TOKEN_WEIGHTS[0]
OUTPUT_WORK = TOKEN_WEIGHTS[2] / TOKEN_WEIGHTS[0]


class ServedHour(NamedTuple):
    """An hour of a service: tokens counted, the GPU-hours it is charged for, and the active ones."""

    hour: datetime
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    gpu_hours: float
    active_gpu_hours: float

    @property
    def tokens(self) -> int:
        """Of prompts and of output."""
        return self.prompt_tokens + self.output_tokens

    @property
    def computed_tokens(self) -> float:
        """Prompt tokens by the work they were: one found in the cache is a part of one computed."""
        return self.prompt_tokens - (1 - CACHED_WORK) * self.cached_tokens

    @property
    def usual_work(self) -> float:
        """Tokens weighted as is usual, where the speeds of the service are not known."""
        return self.computed_tokens + OUTPUT_WORK * self.output_tokens


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


def speeds_when_busy(name: str, hours: Sequence[ServedHour], prefill_ratio: float) -> PhaseSpeeds:
    """Tokens over active GPU time in the busiest tenth of the hours. Refuses a Refusal.

    `prefill_ratio` is the prompts' part of the work (0 to 1).
    """
    by_tokens = sorted(hours, key=lambda hour: hour.tokens)
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


def means_by_slot(
    hours: Sequence[ServedHour], figure: Callable[[ServedHour], float]
) -> tuple[float, ...]:
    """The mean of a figure by hour of the week from two weeks on, else by hour of the day (UTC)."""
    figures: dict[int, list[float]] = {}
    for slot, hour in zip(_slots_of(hours), hours, strict=True):
        figures.setdefault(slot, []).append(figure(hour))
    return tuple(fsum(figures[slot]) / len(figures[slot]) for slot in sorted(figures))


def usual_peak(
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
