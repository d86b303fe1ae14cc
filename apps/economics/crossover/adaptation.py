"""Train, fine-tune or prompt: what is paid once against what every request costs."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.economics.crossover.demand import MILLION


@dataclass(frozen=True)
class ModelAdaptation:
    """A way to the quality that is wanted: a longer prompt, a fine-tuned model, one of one's own.

    `one_time` is what making it costs (training, data, evaluation), spread evenly over the
    `life_months` until it has to be made again; `monthly` what keeping it costs. Tokens are of a
    request, prices of a million.
    """

    name: str
    input_tokens: float
    output_tokens: float
    input: float
    output: float
    one_time: float = 0.0
    life_months: float = 12.0
    monthly: float = 0.0

    @property
    def standing_month(self) -> float:
        """The cost of a month without a request."""
        return self.one_time / self.life_months + self.monthly

    @property
    def per_request(self) -> float:
        """The cost of a further request."""
        return (self.input_tokens * self.input + self.output_tokens * self.output) / MILLION


@dataclass(frozen=True, slots=True)
class CheapestWay:
    """From so many requests a month on, up to the next one, this way costs least."""

    requests: float
    name: str


def cheapest_ways(ways: Sequence[ModelAdaptation]) -> list[CheapestWay]:
    """The lower envelope of the ways' lines over requests a month, from 0 on.

    Two lines cross at (standing₂ − standing₁) ÷ (per request₁ − per request₂); of equal ones the
    earlier in `ways` is named.
    """
    best = min(ways, key=lambda way: (way.standing_month, way.per_request))
    envelope = [CheapestWay(0.0, best.name)]
    while True:
        cheaper = [way for way in ways if way.per_request < best.per_request]
        if not cheaper:
            return envelope
        meetings = [(_meeting(best, way), way.per_request, way) for way in cheaper]
        requests, _, best = min(meetings, key=lambda meeting: meeting[:2])
        envelope.append(CheapestWay(requests, best.name))


def _meeting(first: ModelAdaptation, second: ModelAdaptation) -> float:
    saved = first.per_request - second.per_request
    return (second.standing_month - first.standing_month) / saved
