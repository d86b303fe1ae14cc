"""How good the demo's training runs say they are: a loss that falls, a score that rises with it."""

import math
import random
from dataclasses import dataclass

EVALUATION_NOISE, LOSS_NOISE = 0.01, 0.015


@dataclass(frozen=True, slots=True)
class Learning:
    """What a training learns: its loss at first, and the least that it comes near to.

    Losses fall by a power of what was trained: after `knee_steps` 0.71 of the way is left, after a
    hundred times as many a tenth. `score` is what an evaluation measures, better higher, at first and
    at best; empty: it is not evaluated.
    """

    first_loss: float
    least_loss: float
    knee_steps: int
    score: str = ""
    first_score: float = 0.0
    best_score: float = 1.0

    def loss_at(self, step: int) -> float:
        """After so many steps, without noise."""
        return self.least_loss + (self.first_loss - self.least_loss) * self._way_left(step)

    def score_at(self, step: int) -> float:
        """After so many steps, without noise."""
        return self.best_score - (self.best_score - self.first_score) * self._way_left(step)

    def _way_left(self, step: int) -> float:
        return 1 / math.sqrt(1 + step / self.knee_steps)


def noisy(value: float, noise: float, dice: random.Random) -> float:
    """As it was measured: off by at most that part of it."""
    return round(value * dice.uniform(1 - noise, 1 + noise), 4)
