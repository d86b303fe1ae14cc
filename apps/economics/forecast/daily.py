"""Daily totals for months ahead: scenarios of a level, times the shape of the week, times what single days do.

The level goes on from the last week's by a damped trend and by blocks of the weekly growth that the history has,
both shrunk by half: an hourly method is not carried beyond two weeks, and a trend of a few weeks is not believed
for a year. Values are by day, NaN where a day is not known; days seven apart are the same weekday.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.economics.changes import HoldingChange, changes
from apps.economics.forecast.candidates import Ints
from apps.economics.forecast.daily_moves import (
    MOST_APART,
    SHRUNK,
    TARGET_WEEKS,
    level_moves,
    means_between,
    most_expected,
    share_within,
    steadiness,
    trend_ways,
    weeks_to_the_end,
)
from apps.economics.forecast.daily_rare import comes_rarely, rare_days
from apps.economics.forecast.daily_swings import (
    first_week_of_nothing,
    keep_recurring_days,
    lasting_weeks,
    swinging_levels,
    without_lone_days,
)
from apps.economics.forecast.day_totals import weights_of_misses, with_means
from apps.economics.forecast.fresh_steps import (
    BEFORE_DAYS,
    DAYS_TO_BELIEVE,
    LEAST_STEP,
    fresh_step,
)
from apps.economics.forecast.intervals import LEVELS
from apps.economics.forecast.names import SCENARIOS
from apps.economics.forecast.rolling import TooLittleHistory
from apps.economics.forecast.scores import Floats

WEEK = 7
LEAST_DAYS = 28
"""With fewer known days a week's growth is one of three or less: no trend, and no interval."""
MOST_DAYS_AHEAD = 548
SEED = 1_414
SHAPE_WEEKS, ERROR_WEEKS = 8, 13
LEVEL_WEEKS, JUDGED_WEEKS, TREND_WEEKS = (1, 2, 4, 8), 13, 9
CALM_WEEKS = 8
SHIFT_DAYS, LEAST_SHIFT_DAYS = 90, 21
LEAST_DAYS_OF_WEEK = 4
LEAST_GROWTHS = 3
LEAST_SHARE_OF_WEEK = 4.0
"""In ordinary days: with less a level is shrunk to the one before by n ÷ (n + 4)."""
NEW_DAYS, BELIEVED_HALF_DAYS = 14, 14.0
ROUGH = 1e-3
"""Of a day: where most days are as the one before, so much counts for noise."""
FLOOR = 0.05
"""Of the median week: growth from less than that says nothing, as from 0."""
MOST_OF_HIGHEST = 3.0
HELD_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class DailyScenarios:
    """`totals` by scenario and day ahead; `shift` is the last change of level in the history, by its day.

    Where it `swings` it comes and goes, and the last level says nothing of far days. `busy`, of what comes rarely, is by day ahead what a day with demand has: an interval holds both it and none.
    """

    totals: Floats
    shift: HoldingChange | None
    busy: Floats | None = None
    swings: bool = False

    @property
    def points(self) -> Floats:
        """Of each day what is as likely too high as too low."""
        medians: Floats = np.median(self.totals, axis=0)
        return medians

    @property
    def quantiles(self) -> Floats:
        """By level of LEVELS and day."""
        quantiles = quantiles_of(self.totals)
        if self.busy is not None:
            quantiles[0] = np.minimum(quantiles[0], 0.0)
            quantiles[-1] = np.maximum(quantiles[-1], self.busy)
        return quantiles

    def sums(self, ends: Ints) -> Floats:
        """By scenario the sums of the days up to each of `ends` (ascending, the day after the last)."""
        reached = np.concatenate([np.zeros((len(self.totals), 1)), self.totals.cumsum(axis=1)], 1)
        return np.diff(reached[:, np.concatenate([[0], ends])], axis=1)


def quantiles_of(totals: Floats) -> Floats:
    """By level of LEVELS and column, of all scenarios; what is expected lies between the first and the last."""
    quantiles: Floats = np.quantile(totals, LEVELS, axis=0)
    # A mean of what seldom is much is more than most of it.
    mean = totals.mean(axis=0)
    quantiles[0] = np.minimum(quantiles[0], mean)
    quantiles[-1] = np.maximum(quantiles[-1], mean)
    return quantiles


def daily_scenarios(values: Floats, horizon: int) -> DailyScenarios:
    """The `horizon` days after `values`, the same scenarios for the same values.

    Refuses TooLittleHistory.
    """
    known_days = int((~np.isnan(values)).sum())
    if known_days < LEAST_DAYS:
        raise TooLittleHistory(
            "", f"{known_days} days are known in full; {LEAST_DAYS} are the least"
        )
    if comes_rarely(values):
        rare = rare_days(values, horizon, np.random.default_rng(SEED))
        return DailyScenarios(clip_to_bounds(values, rare.totals), None, rare.busy)
    shifts = _shifts(values)
    shift = shifts[-1] if shifts else None
    ordinary_days = without_lone_days(values)
    weeks = weeks_to_the_end(ordinary_days)
    shape = _shape_of_week(weeks[-SHAPE_WEEKS:])
    levels = _weekly_levels(weeks, shape)
    draw = np.random.default_rng(SEED)
    steady = steadiness(levels)
    growths, mean = _growths(levels, values, shift, steady)
    begins = max(_first_week(levels, len(values), shifts), first_week_of_nothing(levels))
    ahead = _levels_ahead(ordinary_days, shape, shift, horizon)
    level = ahead * _ratios_to_last_week(levels, mean, begins, draw)
    step = fresh_step(values, _ordinary(values, shape), shift)
    if step is not None:
        doubted = np.maximum(1 + draw.permutation(step.offsets)[:, None], 0.0)
        level = level * doubted / doubted.mean()
    trend = trend_ways(mean, horizon, steady, draw)
    lasting = lasting_weeks(levels)
    if lasting is None:
        level = level * level_moves(growths, levels, horizon, draw)
    else:
        level = swinging_levels(level, levels, lasting, draw)
    has_shifted = lasting is None and shift is not None
    most = np.maximum(most_expected(levels, mean), ahead if has_shifted else 0.0)
    level = level * trend * share_within(level.mean(axis=0), most)
    place = np.arange(horizon) % WEEK
    repeating_days = keep_recurring_days(values, ordinary_days, ERROR_WEEKS * WEEK)
    errors = _day_errors(weeks_to_the_end(repeating_days), levels, shape, horizon, draw)
    totals = clip_to_bounds(values, level * shape[place] * errors)
    return DailyScenarios(totals, shift, swings=lasting is not None)


def clip_to_bounds(values: Floats, totals: Floats) -> Floats:
    """From 0, or the least known if that is below, to three times the most."""
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    bounded: Floats = np.clip(totals, min(least, 0.0), max(MOST_OF_HIGHEST * most, most))
    return bounded


def clip_with_means(values: Floats, totals: Floats, expected: Floats) -> Floats:
    """Scenarios within those bounds whose mean of each day is what is expected of it, brought within them too."""
    least = min(0.0, float(np.nanmin(values)))
    aim = clip_to_bounds(values, expected)
    bounded = clip_to_bounds(values, totals)
    # What is cut off at a bound moves the mean again, by less each time.
    for _ in range(HELD_ROUNDS):
        bounded = clip_to_bounds(values, with_means(bounded, aim, least))
    return bounded


def last_shift(values: Floats) -> HoldingChange | None:
    """The newest day of the last 90 on which a level began that held; None without one, or with days at or below 0."""
    shifts = _shifts(values)
    return shifts[-1] if shifts else None


def _shifts(values: Floats) -> list[HoldingChange]:
    """All of them, by day."""
    days = np.flatnonzero(~np.isnan(values))
    days = days[days >= len(values) - SHIFT_DAYS]
    if len(days) < LEAST_SHIFT_DAYS or (values[days] <= 0).any():
        return []
    known_values = values[days]
    if not np.median(np.abs(np.diff(known_values))):
        known_values = known_values * (
            1 + ROUGH * np.random.default_rng(SEED).normal(0, 1, len(known_values))
        )
    shifts = changes(known_values.tolist(), (days % WEEK).tolist())
    return [
        HoldingChange(int(days[change.day]), change.effect)
        for change in shifts
        if abs(change.effect) > 3 * ROUGH
    ]


def _shape_of_week(weeks: Floats) -> Floats:
    """Each day's share of its week's mean day, the median over the weeks; they have the mean 1."""
    counts = (~np.isnan(weeks)).sum(axis=1)
    means = np.nansum(weeks, axis=1) / np.maximum(counts, 1)
    is_usable = (means > 0) & (counts >= LEAST_DAYS_OF_WEEK)
    shape = np.ones(WEEK)
    for place, ratios in enumerate((weeks[is_usable] / means[is_usable, None]).T):
        if not np.isnan(ratios).all():
            shape[place] = np.nanmedian(ratios)
    return shape / shape.mean() if shape.mean() > 0 else np.ones(WEEK)


def _weekly_levels(weeks: Floats, shape: Floats) -> Floats:
    """The level of each week, an ordinary day's total; NaN where under four of its days are known."""
    is_known = ~np.isnan(weeks)
    parts = (is_known * shape).sum(axis=1)
    is_usable = (is_known.sum(axis=1) >= LEAST_DAYS_OF_WEEK) & (parts > 0)
    return np.where(is_usable, np.nansum(weeks, axis=1) / np.where(parts > 0, parts, 1), np.nan)


def _growths(
    levels: Floats, values: Floats, shift: HoldingChange | None, steady: float
) -> tuple[Floats, float]:
    """Growth of the logarithm from week to week, and the mean to go on with: since the last shift, if that is long enough.

    A shift is no trend: the growth over it is in no mean. What it shows is how far a level may move again.
    """
    positive = levels[levels > 0]
    if not len(positive):
        return np.zeros(1), 0.0
    logs = np.log(np.maximum(levels, FLOOR * np.median(positive)))
    growth, first = np.diff(logs), len(values) - len(levels) * WEEK
    begins = first + WEEK * np.arange(len(growth))
    is_known = ~np.isnan(growth)
    if not is_known.any():
        return np.zeros(1), 0.0
    trending = is_known
    if shift is not None and abs(shift.effect) >= LEAST_STEP:
        since = is_known & (begins >= shift.day)
        across = (begins < shift.day) & (shift.day < begins + 2 * WEEK)
        trending = since if since.sum() >= LEAST_GROWTHS else is_known & ~across
    return growth[is_known], _clear_mean(growth[trending], growth[is_known], 1 - steady)


def _clear_mean(growths: Floats, among: Floats, doubted: float = 1.0) -> float:
    """Their mean, less the more of it may be chance, as all of those `among` which they are scatter.

    Of growth that goes on as it was as little is `doubted`: weeks that scatter about a line scatter in their growth more.
    """
    if len(growths) < LEAST_GROWTHS:
        return 0.0
    mean, chance = float(growths.mean()), doubted * float(among.var(ddof=1)) / len(growths)
    return mean * max(0.0, 1 - chance / mean**2) if mean else 0.0


def _first_week(levels: Floats, days: int, shifts: Sequence[HoldingChange]) -> int:
    """The first whole week of the level of now: the one after the only shift; of a level that shifts often all of its weeks are."""
    large_shifts = [shift for shift in shifts if abs(shift.effect) >= LEAST_STEP]
    if len(large_shifts) != 1:
        return 0
    return -(-(large_shifts[0].day - days + len(levels) * WEEK) // WEEK)


def _ratios_to_last_week(
    levels: Floats, growth: float, begins: int, draw: np.random.Generator
) -> Floats:
    """Return the level over that of the last week, a column by scenario: of windows of weeks, none before the week `begins`.

    Each is drawn as often as it missed the four weeks after it by little, and brought on to the last week with the trend.
    """
    known_weeks = np.flatnonzero(~np.isnan(levels))
    if not len(known_weeks) or not levels[known_weeks[-1]] > 0:
        return np.ones((SCENARIOS, 1))
    judged = known_weeks[-JUDGED_WEEKS:]
    until = [*(_growth_until(levels, week) for week in judged[:-1]), growth]
    growths = np.exp(SHRUNK * np.array(until))
    firsts = np.append(np.zeros(len(judged) - 1, dtype=np.int64), np.clip(begins, 0, judged[-1]))
    tried = _windows_of_weeks(levels, judged, firsts, growths)
    actual = means_between(levels, judged + 1, np.minimum(judged + 1 + TARGET_WEEKS, len(levels)))
    missed = np.abs(tried * growths ** (TARGET_WEEKS / 2) - actual)
    weights = weights_of_misses(missed[:, :-1], WEEK)
    newest = tried[:, -1]
    drawn = draw.permutation(_as_often_as(weights))
    ratios: Floats = (newest[drawn] / levels[known_weeks[-1]])[:, None]
    return ratios


def _as_often_as(weights: Floats) -> Ints:
    """Places of weights, that sum to 1, each as often among SCENARIOS as it weighs."""
    ends = weights.cumsum()
    return np.minimum(
        np.searchsorted(ends, (np.arange(SCENARIOS) + 0.5) / SCENARIOS), len(weights) - 1
    )


def _growth_until(levels: Floats, week: int) -> float:
    """The clear growth from week to week of two months up to one."""
    recent_levels = levels[max(0, week - TREND_WEEKS) : week + 1]
    recent_levels = np.log(np.where(recent_levels > 0, recent_levels, np.nan))
    growth = np.diff(recent_levels)
    return _clear_mean(growth[~np.isnan(growth)], growth[~np.isnan(growth)])


def _windows_of_weeks(levels: Floats, weeks: Ints, firsts: Ints, growth: Floats) -> Floats:
    """By window and week the mean of the weeks up to it, none before its first, brought on to it with its growth."""
    begins = np.maximum(firsts, weeks - np.array(LEVEL_WEEKS)[:, None] + 1)
    # Weeks of the level of now stand out from each other, not from those before it.
    parts = np.split(levels, [int(firsts[-1])])
    calm = np.concatenate([_calm(part) for part in parts if len(part)])
    means = means_between(calm, begins, np.broadcast_to(weeks + 1, begins.shape))
    means = np.where(begins == weeks, levels[weeks], means)
    carried_means: Floats = means * growth ** ((weeks - begins) / 2)
    return carried_means


def _calm(levels: Floats) -> Floats:
    """Weeks from half to twice the middle of the eight up to them: in a mean one that stood out would be a level of its own."""
    padded = np.concatenate([np.full(CALM_WEEKS - 1, np.nan), levels])
    windows = np.lib.stride_tricks.sliding_window_view(padded, CALM_WEEKS)
    is_known = ~np.isnan(windows).all(axis=1)
    middle = np.full(len(levels), np.nan)
    middle[is_known] = np.nanmedian(windows[is_known], axis=1)
    return np.clip(levels, middle / MOST_APART, MOST_APART * middle)


def _ordinary(values: Floats, shape: Floats) -> Floats:
    """Of each day what it has of an ordinary one."""
    return shape[(np.arange(len(values)) - len(values)) % WEEK]


def _levels_ahead(
    values: Floats, shape: Floats, shift: HoldingChange | None, horizon: int
) -> Floats:
    """The level of each day ahead before it moves: that of the last days, and of a new one what is believed of it later on.

    A level that began n days ago is n ÷ (n + 4) of what stands after a while, the one before it the rest: a step of three
    days is not carried on for months. One of two weeks stands.
    """
    ordinary = _ordinary(values, shape)
    days = np.flatnonzero(~np.isnan(values) & (ordinary > 0))
    recent = days[days >= days[-1] - WEEK + 1]
    is_new = (
        shift is not None and shift.day > len(values) - NEW_DAYS and abs(shift.effect) >= LEAST_STEP
    )
    begins = shift.day if shift is not None and is_new else int(recent[0])
    since = recent[recent >= begins] if (recent >= begins).any() else recent
    earlier = days[(days < begins) & (days >= begins - BEFORE_DAYS)]
    if not len(earlier):
        return np.full(horizon, values[since].sum() / ordinary[since].sum())
    before = values[earlier].sum() / ordinary[earlier].sum()
    now = _level_since(values[since], ordinary[since], before)
    if not is_new:
        return np.full(horizon, now)
    believed = (len(values) - begins) / (len(values) - begins + DAYS_TO_BELIEVE)
    later = believed * now + (1 - believed) * before
    levels: Floats = later + (now - later) * 0.5 ** (np.arange(horizon) / BELIEVED_HALF_DAYS)
    return levels


def _level_since(values: Floats, ordinary: Floats, before: float) -> float:
    """Of these days, which are so many ordinary ones; of under four together, shrunk to the level before them.

    The sum of a Friday and a Saturday over their small share of the week is no level.
    """
    total, share = float(values.sum()), float(ordinary.sum())
    if share >= LEAST_SHARE_OF_WEEK:
        return total / share
    return (total + DAYS_TO_BELIEVE * before) / (share + DAYS_TO_BELIEVE)


def _day_errors(
    weeks: Floats, levels: Floats, shape: Floats, horizon: int, draw: np.random.Generator
) -> Floats:
    """Return single days over what their week's level says, whole weeks of the history drawn; by scenario and day."""
    expected = levels[:, None] * shape
    ratios = np.where(expected > 0, weeks / np.where(expected > 0, expected, 1), np.nan)
    ratios = ratios[~np.isnan(ratios).all(axis=1)][-ERROR_WEEKS:]
    if not len(ratios):
        return np.ones((SCENARIOS, horizon))
    drawn = np.where(np.isnan(ratios), 1.0, ratios)[
        draw.integers(0, len(ratios), (SCENARIOS, horizon // WEEK + 1))
    ]
    return drawn.reshape(SCENARIOS, -1)[:, :horizon]
