"""Effects on days of events that people enter: a factor, an amount on top, or something that nobody knows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce


@dataclass(frozen=True, slots=True)
class DayEffect:
    """A day is what it would ordinarily be, times `factor`, plus `added` (in the unit of the day's total).

    With `is_unknown` nobody says what it does: the day says nothing of ordinary ones.
    """

    factor: float = 1.0
    added: float = 0.0
    is_unknown: bool = False

    def and_then(self, other: "DayEffect") -> "DayEffect":
        """Both at once: factors multiply, and only what is ordinary; amounts add."""
        return DayEffect(
            self.factor * other.factor,
            self.added + other.added,
            self.is_unknown or other.is_unknown,
        )

    def ordinary(self, value: float | None, share: float = 1.0) -> float | None:
        """Return the value without the event, of this share of a day; None where that cannot be said."""
        if value is None or self.is_unknown or self.factor == 0:
            return None
        return max(value - self.added * share, min(value, 0.0)) / self.factor

    def planned(self, value: float, share: float = 1.0) -> float:
        """Return the forecast value with the event, of this share of a day; an amount less leaves nothing below 0."""
        planned = value * self.factor
        return max(planned + self.added * share, min(planned, 0.0))


ORDINARY = DayEffect()


def joint_effect(effects: Sequence[DayEffect]) -> DayEffect:
    """Of all events of a day."""
    return reduce(DayEffect.and_then, effects, ORDINARY)
