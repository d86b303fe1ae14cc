"""The saving of a change, measured afterwards: an interrupted time series of what a unit of work costs.

Amounts are micro-units of one currency; days are ordinals of local days. How sure it is, simulated: docs/decisions/0274.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, log, sqrt
from statistics import NormalDist, fmean

from apps.economics.changes import WEEK
from apps.economics.cost_volume import (
    FEWEST_POINTS,
    FOLLOWS_FROM,
    KNOWN_WITHIN,
    CostDay,
    fixed_cost_share,
    following_share,
    high_quantile,
    is_beyond,
    is_even,
    level_move,
    mean_work,
    moved_share,
    per_day,
    per_unit,
    volume_step,
)
from apps.economics.gates import Gate, failed_gates
from apps.economics.hours import DAY_HOURS
from apps.economics.moves.saving import MONTH_HOURS, SavingRange
from apps.economics.saving_gates import control_gate, gated_step, volume_gates
from apps.economics.step_effect import HIGH, SeriesPoint, StepEffect, step_effect, step_error
from apps.economics.twin_series import FEWEST_BEFORE, is_steadier_with, twin_ratio_series

BEFORE_DAYS, WINDOW_DAYS = 84, 28
"""Days that a change is held against, and days after it until the first verdict."""
FULL_DAYS, LONGEST_DAYS = 84, 182
"""Days after it of the main verdict; and until when it is looked at again where that cannot be told."""
LATER_LOOKS = 1.2
"""By how much an interval is widened that is looked at again after the main verdict: chance has had its try."""
FEWEST_AFTER = 21
LEAST_PART = 0.5
"""Of the low end of what was promised, for the work that was done since: less is no success."""
VOID_SHARE = 0.5
"""Of what was measured or promised, whichever is more: where a gate that failed leaves more open, nothing can be told."""
NOTHING_TO_SAVE = (
    "the work since would have cost nothing, so there is nothing that could have been saved"
)


class SavingMethod(StrEnum):
    """How a saving is measured."""

    SERIES = (
        "interrupted time series: generalised least squares with a trend, weekdays and AR(1) noise"
    )
    CONTROLLED = "interrupted time series with a control: the ratio to work that was not touched, by generalised least squares with a trend, weekdays and AR(1) noise"


class UnknownSaving(StrEnum):
    """Why nobody knows what was saved."""

    FEW_BEFORE = "fewer than two weeks of settled, priced days before it"
    FEW_AFTER = "fewer than three weeks of settled, priced days since"
    NOTHING_PAID = "nothing was charged for it before"
    NO_WORK_BEFORE = "no output was reported before it"
    NO_WORK_AFTER = "no output was reported since"
    FEW_ACTIVE_DAYS = "too few of the days had cost or output"
    VOLUME_MOVED = (
        "the work moved, and the days before do not say what so much of it would have cost"
    )
    NO_WORKLOAD = "it names no workload of which costs could be held against each other"
    PAID_ANYWAY = "it frees GPU-hours that are paid anyway: there is no money to be measured"
    SAVED_BY_ANOTHER = "another change of the same work was verified in these weeks: what both saved is counted once, there"


class SavingStatus(StrEnum):
    """The verdict on a change once it is made."""

    TOO_EARLY = "too_early"
    VERIFIED = "verified"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RealisedSaving:
    """Over the days since that could be measured. `low` and `high` are the 5th and 95th percentile of `micros`.

    `following` is the share of the cost before that moves with the work: 1 is a cost per unit, 0 one that stands.
    `before_micros` is what a day cost before, on average. `step` is what the cost moved by at the change, beside its own
    trend: a logarithm, or where `is_amount` a part of `before_micros`. `doubt` is how much of `micros` gates that failed leave open.
    `volume` is what of the step (in its unit) the work may have moved, as nobody knows how its cost follows it: it is in the ends.
    """

    days: int
    before_days: int
    before_micros: float
    counterfactual_micros: float
    actual_micros: float
    low: float
    high: float
    following: float
    step: StepEffect
    is_amount: bool
    method: SavingMethod
    gates: tuple[Gate, ...]
    doubt: float
    volume: float
    seen: tuple[int, ...]
    first: int

    @property
    def micros(self) -> float:
        """The amount saved, or below 0 what it cost more."""
        return self.counterfactual_micros - self.actual_micros

    @property
    def month(self) -> SavingRange:
        """A month of MONTH_HOURS of it: the ends, and what was measured between them."""
        return SavingRange(
            *(round(end * self._a_month) for end in (self.low, self.micros, self.high))
        )

    @property
    def work_ratio(self) -> float:
        """The ratio of what the work since would have cost to what as many days cost before."""
        return self.counterfactual_micros / (self.before_micros * self.days)

    def widened(self, factor: float) -> tuple[float, float]:
        """The ends, so many times as far from what was measured."""
        low, high = (self.micros + factor * (end - self.micros) for end in (self.low, self.high))
        return low, high

    def share_of(self, month_micros: float) -> float:
        """A saving a month as a part of what the work since would have cost; infinite where that would be nothing."""
        would = self.counterfactual_micros * self._a_month
        return month_micros / would if would > 0 else inf

    def told_with(self, days: int) -> float:
        """The least saving, as a part of the cost, that so many days since would tell from none."""
        days_seen = (
            *(day for day in self.seen if day < self.first),
            *range(self.first, self.first + days),
        )
        error = step_error(days_seen, self.first, memory=self.step.memory, noise=self.step.noise)
        reach = (NormalDist().inv_cdf(HIGH) * error + self.volume) * interim_look_factor(days)
        return reach if self.is_amount else -moved_share(-reach)

    def is_void(self, promise: SavingRange) -> bool:
        """Whether a gate failed that leaves more open than VOID_SHARE of what was measured or promised."""
        promised = promise.likely * self.work_ratio / self._a_month
        return self.doubt > VOID_SHARE * max(abs(self.micros), promised)

    @property
    def _a_month(self) -> float:
        return MONTH_HOURS / DAY_HOURS / self.days


def saving_since(
    before: Sequence[CostDay], after: Sequence[CostDay], twin: Sequence[CostDay] = ()
) -> RealisedSaving | UnknownSaving:
    """Return how much less the days after cost than they would have, had the cost of a unit gone on as it went before.

    log(cost ÷ what the work would have cost at the unit cost of before) = a + b·t + weekdays + d·1{t ≥ T} + e, with AR(1)
    noise: so a fall in volume saves nothing, nor does a trend that goes on. Only where the days before say surely that less
    than FOLLOWS_FROM of the cost moves with the work (machines that are held whatever comes), what it would have cost is the
    weekday's mean + what more work costs by their slope. What a day's noise of work does not move, a new level of it may: where
    that clearly moved (`level_move`), the interval also holds that the cost follows the level wholly. Else it also has what
    the step of the work at the change comes to of the most of the cost that may stand. With a `twin` (work that was not touched, over the same days, and that did
    not move at the change itself) the logarithm is of the ratio to it. Where a day's cost is next to nothing, amounts stand in
    the place of logarithms. What the work would have cost is nothing at least.
    """
    refused = _why_unknown(before, after)
    if refused is not None:
        return refused
    share, error = following_share(before)
    if is_beyond(mean_work(after) / mean_work(before), share, error):
        return UnknownSaving.VOLUME_MOVED
    fixed_share = fixed_cost_share(share, error, len(before))
    most = share + high_quantile(len(before) - 2) * error
    follows = error > KNOWN_WITHIN or most >= FOLLOWS_FROM
    following = 1.0 if follows else max(0.0, share)
    as_before = per_unit(before) if follows else per_day(before, following)
    bend = 0.0
    if not follows:
        steeper = per_day(before, following + error)
        base = sum(map(as_before, after))
        bend = (sum(map(steeper, after)) - base) / base if base > 0 else inf
    # A new level moves the cost no less than a day's noise of it, and no more than wholly.
    fixed_part = fixed_share if follows else following - 1
    return _measured(before, after, twin, _CostModel(as_before, following, bend, fixed_part))


def judge_saving(
    measured: RealisedSaving | UnknownSaving, promise: SavingRange, *, days_since: int
) -> SavingStatus:
    """Return the verdict on a change made so many whole days ago.

    Verified: the interval lies above 0, and LEAST_PART of the promise's low end is reached, for the work that was done.
    Failed: the interval lies below the promise's low end. Else it is not known: so where a gate failed, unless what that leaves
    open is small beside what was measured or promised, and then the interval is widened by it. Before and after FULL_DAYS it is
    widened too (`interim_look_factor`), so that chance has about one try.
    """
    if days_since < WINDOW_DAYS:
        return SavingStatus.TOO_EARLY
    if isinstance(measured, UnknownSaving) or measured.days < FEWEST_AFTER:
        return SavingStatus.UNKNOWN
    if measured.is_void(promise):
        return SavingStatus.UNKNOWN
    low, high = measured.widened(interim_look_factor(days_since))
    low, high = low - measured.doubt, high + measured.doubt
    promised = max(0.0, promise.low * measured.work_ratio)
    if low > 0 and measured.month.likely >= LEAST_PART * promised:
        return SavingStatus.VERIFIED
    month_high = high * MONTH_HOURS / DAY_HOURS / measured.days
    return SavingStatus.FAILED if month_high < promised or high <= 0 else SavingStatus.UNKNOWN


def interim_look_factor(days_since: int) -> float:
    """By how much the interval is widened after so many days: as O'Brien and Fleming (1979) until FULL_DAYS, and a little later."""
    if days_since < FULL_DAYS:
        return sqrt(FULL_DAYS / days_since)
    return 1.0 if days_since < FULL_DAYS + WEEK else LATER_LOOKS


def what_it_takes(measured: RealisedSaving, promise: SavingRange, *, days_since: int) -> str:
    """Return a sentence of what it would take to tell a saving that cannot be told yet."""
    if measured.is_void(promise):
        return (
            "it takes work that was not touched to hold it against, or weeks without such a move: "
            + "; ".join(gate.says for gate in failed_gates(measured.gates))
        )
    promised = promise.likely * measured.work_ratio
    if promised <= 0:
        nothing = "nothing was promised" if promise.likely <= 0 else NOTHING_TO_SAVE
        return f"no number of weeks would tell it: {nothing}"
    share = measured.share_of(promised)
    for days in range(max(WINDOW_DAYS, days_since + WEEK), LONGEST_DAYS + 1, WEEK):
        if measured.told_with(days) <= share:
            weeks = (days - days_since + WEEK - 1) // WEEK
            more = "another week" if weeks == 1 else f"{weeks} more weeks"
            return f"it takes about {more} to tell {_share_words(share)} from nothing"
    return f"no number of weeks would tell it: {_why_never(measured, share)}"


def _why_never(measured: RealisedSaving, share: float) -> str:
    """Why not even half a year tells a saving of so large a part of the cost, and what would."""
    moved = measured.volume if measured.is_amount else -moved_share(-measured.volume)
    if moved >= share:
        return (
            f"the work moved at the change, and whether the cost follows that or not comes to {min(1.0, moved):.0%};"
            f" {_share_words(share)} was promised, and it takes weeks of before in which the work moved as much"
        )
    least = measured.told_with(LONGEST_DAYS)
    shows = f"no saving below {least:.0%} shows" if least < 1 else "not even all of it shows"
    return (
        f"the cost moves so much by itself that in {LONGEST_DAYS // WEEK} weeks {shows}, and {_share_words(share)} was promised;"
        " it takes work that was not touched to hold it against"
    )


def _share_words(share: float) -> str:
    """A part of the cost; a promise may be above all of it."""
    return f"{share:.0%}" if share <= 1 else "more than its cost"


@dataclass(frozen=True, slots=True)
class _CostModel:
    """The model of what a day's work would have cost: the share of cost that moves with it, and by how much more it may be since.

    `standing` is the most of a cost that may stand where it is taken to move with the work; below 0 where it is taken not to
    move by so much, and may after all follow a new level of it.
    """

    as_before: Callable[[CostDay], float]
    following: float
    bend: float
    standing: float


def _measured(
    before: Sequence[CostDay], after: Sequence[CostDay], twin: Sequence[CostDay], of: _CostModel
) -> RealisedSaving | UnknownSaving:
    days, first = (*before, *after), after[0].day
    scale = fmean(day.micros for day in before)
    is_amount = not (is_even(before, of.as_before) and is_even(after, of.as_before))
    points = _points(days, of.as_before, scale if is_amount else None)
    # Days without cost and without output say nothing; a step needs some on both sides.
    if len(points) <= FEWEST_POINTS or not points[0].day < first <= points[-1].day:
        return UnknownSaving.FEW_ACTIVE_DAYS
    twin_points, control = twin_ratio_series(points, twin, first)
    is_steadier = not is_amount and is_steadier_with(twin_points, points, first)
    step = step_effect(points, first)
    gates, doubt = _control_gates(control, first, None if is_steadier else step.effect)
    if doubt or not is_steadier:
        twin_points = []
    if is_amount:
        doubt = abs(moved_share(doubt))
    if twin_points:
        step = step_effect(twin_points, first)
    gated = gated_step(twin_points or points, first, step)
    step, doubt = gated.step, max(doubt, gated.doubt)
    actual = sum(day.micros for day in after)
    moved, error = (
        level_move(days, first) if of.standing < 0 else (volume_step(days, first, step.memory), 0.0)
    )
    to_unit = fmean(map(of.as_before, after)) / scale if is_amount else 1.0
    volume = of.standing * moved * to_unit
    reach = NormalDist().inv_cdf(HIGH) * _together(of.bend, of.standing * error * to_unit)

    def saved(effect: float) -> float:
        if is_amount:
            return max(-actual, -effect * scale * len(after))
        return actual * moved_share(-effect)

    return RealisedSaving(
        days=len(after),
        before_days=len(before),
        before_micros=scale,
        counterfactual_micros=actual + saved(step.effect),
        actual_micros=actual,
        low=saved(step.effect + _together(step.high - step.effect, reach) + max(0.0, volume)),
        high=saved(step.effect - _together(step.effect - step.low, reach) + min(0.0, volume)),
        following=of.following,
        step=step,
        is_amount=is_amount,
        method=SavingMethod.CONTROLLED if twin_points else SavingMethod.SERIES,
        gates=(*gated.gates, *volume_gates(of.standing * moved, moved), *gates),
        doubt=abs(saved(step.effect + doubt) - saved(step.effect)) if doubt else 0.0,
        volume=abs(volume),
        seen=tuple(point.day for point in twin_points or points),
        first=first,
    )


def _control_gates(
    control: Sequence[SeriesPoint], first: int, alone: float | None
) -> tuple[tuple[Gate, ...], float]:
    """Of work that was not touched, where there is any: whether it stood still at the change, and by how much it did not.

    What is too unsteady to be held against (`alone`: the step without it) says something only where it moved the same way.
    """
    if not control:
        return (), 0.0
    gate, moved = control_gate(control, first)
    if alone is not None and moved * alone <= 0:
        return (), 0.0
    return (gate,), abs(moved)


def _together(reach: float, other: float) -> float:
    return sqrt(reach**2 + other**2)


def _points(
    days: Sequence[CostDay], as_before: Callable[[CostDay], float], scale: float | None
) -> list[SeriesPoint]:
    """Logarithms of each day's cost over what it would have been; with a scale, parts of that by which it is more."""
    return [
        SeriesPoint(
            day.day, log(day.micros / would) if scale is None else (day.micros - would) / scale
        )
        for day in days
        for would in [as_before(day)]
        if day.micros or would
    ]


def _why_unknown(before: Sequence[CostDay], after: Sequence[CostDay]) -> UnknownSaving | None:
    checks = (
        (len(before) < FEWEST_BEFORE, UnknownSaving.FEW_BEFORE),
        (sum(day.micros for day in before) <= 0, UnknownSaving.NOTHING_PAID),
        (sum(day.work for day in before) <= 0, UnknownSaving.NO_WORK_BEFORE),
        (len(after) < WEEK, UnknownSaving.FEW_AFTER),
        (sum(day.work for day in after) <= 0, UnknownSaving.NO_WORK_AFTER),
    )
    return next((why for is_so, why in checks if is_so), None)
