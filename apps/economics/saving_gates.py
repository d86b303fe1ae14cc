"""Gates of a measured saving before it is called one: a line before it that goes on since, and no step where nothing was done."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.economics.changes import WEEK
from apps.economics.cost_volume import LEVEL_MOVED, moved_share
from apps.economics.gates import Gate, GateName
from apps.economics.step_dates import DateStep, date_steps
from apps.economics.step_effect import SeriesPoint, StepEffect, bend_of, mean_effect, step_effect

OTHER_ERRORS = 3.0
"""Standard errors beyond which a step among the days before, where nothing was done, is one, or a bend: of several one lies out by chance."""
MANIFOLD = 9.0
"""A share by which work moved from which on its factor is said in words."""
LATELY = 28
LATE_ERRORS, FAR_ERRORS = (2.8, 0.7), (3.2, 0.8)
"""The same of a step on any day of the last four weeks, or further back: and by how much more where the noise remembers all."""
LIKELIER_EARLIER = (-1.0, 9.0)
"""Twice the logarithm of how much likelier the days are if the step was on one of the last four weeks, beyond which it is of then."""
NEAREST = 7
"""Days before the claim from which on another step is told from the one since."""
GRADUAL_ERRORS, BACK_SHARE, GRADUAL = 2.5, 0.5, ((28, 28), (28, 56))
"""The same of what came over some days, if more than such a share of the step that is left; how many before the claim it began, and how many it took."""
SINCE_ERRORS, BEND_ERRORS = (3.5, 0.8), 2.7
"""The same of a second step since the change, and of a trend since that is another than before: what goes against the step."""
LEAST_PLACEBO = 1e-6
"""Of a cost: less is how numbers are rounded."""
FEWEST_DAYS = 14
"""Before the change, for a step to be looked for among them."""
PARTS = (0.5, 1 / 3, 2 / 3)
DOUBTED = 2.0
"""How many times a step that nobody made is taken off what was measured."""


@dataclass(frozen=True, slots=True)
class GatedStep:
    """The gates of a step, and by how much its ends are moved outwards for those that failed, in its own unit.

    `step` is the same, or where the line since is not the line before the mean since beside the line before.
    """

    gates: tuple[Gate, ...]
    doubt: float
    step: StepEffect


@dataclass(frozen=True, slots=True)
class _Placebo:
    """A step at a date on which nothing was done, and where that is, in words."""

    effect: float
    error: float
    where: str

    def is_beyond(self, errors: float) -> bool:
        """Whether it is one."""
        return abs(self.effect) > max(errors * self.error, LEAST_PLACEBO)


def gated_step(points: Sequence[SeriesPoint], first: int, step: StepEffect) -> GatedStep:
    """The trend before `first`, whether it goes on since, and the placebo: steps before, alone and beside the one since."""
    old = [point for point in points if point.day < first]
    if len(old) < FEWEST_DAYS:
        few = f"{len(old)} days before it are too few to try it on"
        names = (GateName.PRE_TREND, GateName.POST_TREND, GateName.PLACEBO)
        return GatedStep(tuple(Gate(name, None, few) for name in names), 0.0, step)
    new = [point.day for point in points if point.day >= first]
    tried = [
        *(point.day for point in old[WEEK:] if point.day <= old[-1].day + 1 - NEAREST),
        *new[WEEK : len(new) - WEEK + 1],
    ]
    dates = date_steps(points, first, tried)
    ahead = (points[-1].day - old[0].day) / max(1, old[-1].day - old[0].day)
    since, moved = _since_gate(points, first, [one for one in dates if one.day >= first], step)
    counted = mean_effect(points, first) if moved else step
    line, bent = _line_gate(old, ahead, counted)
    earlier = [one for one in dates if one.day < first]
    placebo, stepped = _placebo_gate(points, old, first, earlier, step)
    return GatedStep((line, since, placebo), max(bent, moved, stepped), counted)


def control_gate(control: Sequence[SeriesPoint], first: int) -> tuple[Gate, float]:
    """Whether work that was not touched did not step at the change either; else by how much it did, with its sign."""
    step = step_effect(control, first)
    effect_words = f"by {step.effect:+.1%}, with a standard error of {step.error:.1%}"
    if not step.is_told:
        sentence = f"work that was not touched did not move at the change: {effect_words}"
        return Gate(GateName.CONTROL, is_passed=True, says=sentence), 0.0
    sentence = f"work that was not touched moved at the change too, {effect_words}, and is not held against it"
    return _failed(GateName.CONTROL, sentence), step.effect


def volume_gates(volume: float, moved: float) -> tuple[Gate, ...]:
    """Of work whose level moved, where that leaves more than LEVEL_MOVED open."""
    if abs(volume) <= LEVEL_MOVED:
        return ()
    share = moved_share(moved)
    by = f"by {share:+.1%}" if share < MANIFOLD else "to more than tenfold"
    sentence = (
        f"the work moved {by} at the change, and the days before do not say how the cost follows"
        " a new level of it: the interval holds all of it and none"
    )
    fallback = "a verdict only where it is the same both ways"
    return (Gate(GateName.VOLUME, is_passed=False, says=sentence, fallback=fallback),)


def _line_gate(old: Sequence[SeriesPoint], ahead: float, step: StepEffect) -> tuple[Gate, float]:
    """Whether the days before lie on a line, which is carried on; else how far a bend of theirs would have come since."""
    earlier_step = step_effect(old, old[len(old) // 2].day)
    bend, error = bend_of(old, memory=earlier_step.memory, noise=earlier_step.noise)
    weekly, give = step.slope * WEEK, step.slope_error * WEEK
    if abs(bend) <= OTHER_ERRORS * error:
        sentence = f"before it the trend was a line, and {weekly:+.2%} a week (standard error {give:.2%}) is carried on"
        return Gate(GateName.PRE_TREND, is_passed=True, says=sentence), 0.0
    sentence = f"before it the trend bent by {bend:+.1%}, with a standard error of {error:.1%}: no line can be carried on"
    return _failed(GateName.PRE_TREND, sentence), abs(bend) * (2 * ahead - 1) ** 2


def _since_gate(
    points: Sequence[SeriesPoint], first: int, dates: Sequence[DateStep], step: StepEffect
) -> tuple[Gate, float]:
    """Whether the line of before goes on since, a step away; else how far the second step or the bend takes it from there.

    A step that came back, or faded, would else be taken for a trend that the days before do not show, and the days since be
    held against costs that never were. More of the same is no reason to doubt it.
    """
    ahead = points[-1].day - first + 1
    bend = step_effect(points, first, over=ahead, other_step=(first, 1))
    bent = _Placebo(bend.effect, bend.error, "since it the line left that of the days before, by")
    seconds = [
        _Placebo(*one.beside, f"a second step, {one.day - first} days after it, comes to")
        for one in dates
    ]
    beyond = [other for other in seconds if other.is_beyond(_at_memory(SINCE_ERRORS, step))]
    beyond += [bent] if bent.is_beyond(BEND_ERRORS) else []
    beyond = [other for other in beyond if other.effect * step.effect < 0]
    worst = max(beyond, key=lambda other: abs(other.effect), default=bent)
    words = f"{worst.where} {worst.effect:+.1%}, with a standard error of {worst.error:.1%}"
    if not beyond:
        sentence = f"since it nothing went back, and the line of before goes on: {words}"
        return Gate(GateName.POST_TREND, is_passed=True, says=sentence), 0.0
    return _failed(GateName.POST_TREND, words), DOUBTED * abs(worst.effect)


def _placebo_gate(
    points: Sequence[SeriesPoint],
    old: Sequence[SeriesPoint],
    first: int,
    dates: Sequence[DateStep],
    step: StepEffect,
) -> tuple[Gate, float]:
    """Whether no step is found where nothing was done: in the middle of the days before, a third from either end, and lately."""
    middle, *others = (_placebo(old, part, step) for part in PARTS)
    beyond = [other for other in (middle, *others) if other.is_beyond(OTHER_ERRORS)]
    beyond += _earlier(dates, old[-1].day + 1, step) + _gradual(points, old, first, step)
    worst = max(beyond, key=lambda placebo: abs(placebo.effect), default=middle)
    sentence = (
        f"a step {worst.where}, when nothing was done, comes to {worst.effect:+.1%},"
        f" with a standard error of {worst.error:.1%}"
    )
    if not beyond:
        return Gate(GateName.PLACEBO, is_passed=True, says=sentence), 0.0
    return _failed(GateName.PLACEBO, sentence), DOUBTED * abs(worst.effect)


def _earlier(dates: Sequence[DateStep], end: int, step: StepEffect) -> list[_Placebo]:
    """Steps on days before that are there beside the one since, or rather than it.

    What came down before anybody claimed it was not saved by the change; nor was it where dear weeks, for which it was
    claimed, are over. Every day is tried, so the standard errors that a day needs are those that the farthest out of all
    days seldom reaches by chance: the more the noise remembers, the less alike two days are, and the more there are.
    """
    placebos = []
    for date_step in dates:
        back = end - date_step.day
        beside_date, alone = (
            _Placebo(*step_seen, f"{back} days before")
            for step_seen in (date_step.beside, date_step.alone)
        )
        late = back <= LATELY
        if beside_date.is_beyond(_at_memory(LATE_ERRORS if late else FAR_ERRORS, step)):
            placebos.append(beside_date)
        is_of_then = late and step.is_told and alone.is_beyond(0.0)
        if is_of_then and date_step.gain > _at_memory(LIKELIER_EARLIER, step):
            placebos.append(alone)
    return placebos


def _at_memory(bound: tuple[float, float], step: StepEffect) -> float:
    return bound[0] + bound[1] * step.memory


def _gradual(
    points: Sequence[SeriesPoint], old: Sequence[SeriesPoint], first: int, step: StepEffect
) -> list[_Placebo]:
    """Return the placebos that moved the same way over weeks about the claim, beside the step that is left on its day."""
    placebos = []
    for back, over in GRADUAL:
        day = old[-1].day + 1 - back
        if sum(point.day < day for point in old) < WEEK:
            continue
        moved = step_effect(points, day, over=over, other_step=(first, 1))
        since = step_effect(points, first, other_step=(day, over)).effect
        where = f"that began {back} days before and took {over}"
        placebo = _Placebo(moved.effect, moved.error, where)
        is_much = moved.effect * step.effect > 0 and abs(moved.effect) > BACK_SHARE * abs(since)
        if is_much and placebo.is_beyond(GRADUAL_ERRORS):
            placebos.append(placebo)
    return placebos


def _failed(name: GateName, sentence: str) -> Gate:
    return Gate(
        name,
        is_passed=False,
        says=sentence,
        fallback="a verdict only where that is small beside what was measured or promised",
    )


def _placebo(old: Sequence[SeriesPoint], part: float, step: StepEffect) -> _Placebo:
    """The step there, and its standard error: the larger of what these days and what all days say of the noise."""
    first = old[round(len(old) * part)].day
    own_step = step_effect(old, first)
    overall_step = step_effect(old, first, memory=step.memory)
    error = max(own_step.error, overall_step.error * step.noise / overall_step.noise)
    where = "in the middle of the days before" if part == PARTS[0] else "before"
    return _Placebo(own_step.effect, error, where)
