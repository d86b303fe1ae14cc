"""What a measured saving is held against before it is called one: a line before it, and no step where nothing was done."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.economics.changes import WEEK
from apps.economics.gates import Gate, GateName
from apps.economics.step_effect import SeriesPoint, StepEffect, bend_of, step_effect

PLACEBO_ERRORS = 1.64
"""Standard errors beyond which a step in the middle of the days before, where nothing was done, is one."""
OTHER_ERRORS = 3.0
"""The same of further dates, and of a bend: of several one lies a little out by chance."""
FEWEST_DAYS = 14
"""Before the change, for a step to be looked for among them."""
PARTS = (0.5, 1 / 3, 2 / 3)
DOUBTED = 2.0
"""How many times a step that nobody made is taken off what was measured."""


@dataclass(frozen=True, slots=True)
class GatedStep:
    """The gates of a step, and by how much its ends are moved outwards for those that failed, in its own unit."""

    gates: tuple[Gate, ...]
    doubt: float


def gated_step(points: Sequence[SeriesPoint], first: int, step: StepEffect) -> GatedStep:
    """The trend before and the placebo, of the days before `first` alone."""
    old = [point for point in points if point.day < first]
    if len(old) < FEWEST_DAYS:
        few = f"{len(old)} days before it are too few to try it on"
        gates = tuple(Gate(name, None, few) for name in (GateName.PRE_TREND, GateName.PLACEBO))
        return GatedStep(gates, 0.0)
    ahead = (points[-1].day - old[0].day) / max(1, old[-1].day - old[0].day)
    line, bent = _line_gate(old, ahead, step)
    placebo, stepped = _placebo_gate(old, step)
    return GatedStep((line, placebo), max(bent, stepped))


def _line_gate(old: Sequence[SeriesPoint], ahead: float, step: StepEffect) -> tuple[Gate, float]:
    """Whether the days before lie on a line, which is carried on; else how far a bend of theirs would have come since."""
    own = step_effect(old, old[len(old) // 2].day)
    bend, error = bend_of(old, memory=own.memory, noise=own.noise)
    weekly, give = step.slope * WEEK, step.slope_error * WEEK
    if abs(bend) <= OTHER_ERRORS * error:
        says = f"before it the trend was a line, and {weekly:+.2%} a week (standard error {give:.2%}) is carried on"
        return Gate(GateName.PRE_TREND, is_passed=True, says=says), 0.0
    says = f"before it the trend bent by {bend:+.1%}, with a standard error of {error:.1%}: no line can be carried on"
    return _failed(GateName.PRE_TREND, says), abs(bend) * (2 * ahead - 1) ** 2


def _placebo_gate(old: Sequence[SeriesPoint], step: StepEffect) -> tuple[Gate, float]:
    """Whether no step is found at earlier dates: in their middle, and a third from either end."""
    steps = [_placebo(old, part, step) for part in PARTS]
    limits = (PLACEBO_ERRORS, OTHER_ERRORS, OTHER_ERRORS)
    beyond = [
        (effect, error)
        for (effect, error), limit in zip(steps, limits, strict=True)
        if abs(effect) > limit * error
    ]
    effect, error = max(beyond, key=lambda found: abs(found[0]), default=steps[0])
    where = "in the middle of the days before" if (effect, error) == steps[0] else "before"
    says = f"a step {where}, when nothing was done, comes to {effect:+.1%}, with a standard error of {error:.1%}"
    if not beyond:
        return Gate(GateName.PLACEBO, is_passed=True, says=says), 0.0
    return _failed(GateName.PLACEBO, says), DOUBTED * abs(effect)


def _failed(name: GateName, says: str) -> Gate:
    return Gate(
        name,
        is_passed=False,
        says=says,
        fallback="a verdict only where that is small beside what was measured",
    )


def _placebo(old: Sequence[SeriesPoint], part: float, step: StepEffect) -> tuple[float, float]:
    """The step there, and its standard error: the larger of what these days and what all days say of the noise."""
    first = old[round(len(old) * part)].day
    own = step_effect(old, first)
    whole = step_effect(old, first, memory=step.memory)
    return own.effect, max(own.error, whole.error * step.noise / whole.noise)
