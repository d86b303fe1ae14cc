"""Both sides' month against volume, with the range of them that the inputs' ranges make."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil

from apps.economics.crossover.answer import CrossoverQuestion
from apps.economics.crossover.scenario import cost_curves
from apps.economics.crossover.uncertainty import drawn_scenarios

LOW, HIGH = 0.1, 0.9


@dataclass(frozen=True, slots=True)
class CostBand:
    """At a volume the tenth and the ninetieth percentile of each side's month."""

    million_tokens: float
    self_host_low: float
    self_host_high: float
    api_low: float
    api_high: float


def cost_bands(
    question: CrossoverQuestion,
    volumes: Sequence[float],
    draws: int,
    chance: Callable[[], float],
) -> list[CostBand]:
    """The bands at these volumes, by nearest rank over `draws`; none where no input has a range.

    What a draw says of the volume itself has no part in it: that is the axis.
    """
    if not question.ranges:
        return []
    drawn = islice(drawn_scenarios(question.scenario, question.ranges, chance), draws)
    curves = [cost_curves(scenario) for scenario in drawn]
    bands = []
    for volume in volumes:
        self_host = sorted(curve.self_host_month(volume) for curve in curves)
        api = sorted(curve.api.month(volume) for curve in curves)
        bands.append(CostBand(volume, *_ends(self_host), *_ends(api)))
    return bands


def _ends(ordered: Sequence[float]) -> tuple[float, float]:
    low, high = (ordered[ceil(ratio * len(ordered)) - 1] for ratio in (LOW, HIGH))
    return low, high
