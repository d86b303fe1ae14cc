"""Sample paths by the hour: totals of days as forecasts missed them before, shared out as whole days of the history were.

A sum of medians is no total: of two hours that are 8 with a chance of 0.4 each, both medians are 0, and their sum is
8 as likely as not. So whole paths are drawn, each is summed, and quantiles are those of the sums.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from apps.economics.forecast.candidates import Ints
from apps.economics.forecast.day_totals import (
    WEEK_DAYS,
    DayTotals,
    is_intermittent,
    with_means,
    without_single_ones,
)
from apps.economics.forecast.fresh_levels import MOST_START, FreshLevel, days_since_start
from apps.economics.forecast.fresh_steps import FreshStep, doubted
from apps.economics.forecast.intervals import LEVELS
from apps.economics.forecast.names import SCENARIOS
from apps.economics.forecast.scores import DAY, Floats, conformal_rank

SEED = 1_968
DAYS_OF_MISSES, FOLLOWED_DAYS, LEAST_FOLLOWED = 60, 7, 14
"""Misses of so many forecasts, of those followed for a week where there are enough of them."""
HELD_DAYS = 3
MOST_WIDER = 3.0
LEAST_WINDOWS, MOST_OFTEN = 7, (0.25, 2.0)
JUDGED_DAYS = (1, 7, 14)
LEAST_SCORES, MOST_SCORES = 4, 28
NARROWEST_TOTALS, WIDEST_TOTALS = 0.5, 2.5
MISS_RATE = 0.2
DOUBT, LEAST_DOUBT = 2.5, 0.2
SOURCE_WEEKS, LEAST_SOURCES, NEAREST = 8, 4, 3
MOST_STRETCHED = 4.0
_LEAST_REACH = 1e-12


@dataclass(frozen=True, slots=True)
class TotalsAhead:
    """By origin, level and day ahead the quantiles of the total up to and with that day; NaN without misses known then.

    `expected` are the means of the same by origin and day.
    """

    expected: Floats
    quantiles: Floats
    spreads: Floats


def rolled_sums(days: DayTotals) -> TotalsAhead:
    """Of totals as they would have been forecast at each origin, with intervals of the misses till then."""
    count, ahead = days.expected.shape
    judged = sorted({min(judged_day, ahead) for judged_day in JUDGED_DAYS})
    actual_totals = days.came.cumsum(axis=1)
    quantiles = np.full((count, len(LEVELS), ahead), np.nan)
    expected = days.expected.cumsum(axis=1)
    spreads = np.ones((count, ahead))
    scores: dict[int, list[tuple[int, float]]] = {length: [] for length in judged}
    for origin in range(count):
        plain = _scenarios(days, origin, np.ones(ahead)).cumsum(axis=1)
        if len(plain) < 2:
            continue
        for before, length in pairwise([0, *judged]):
            spreads[origin, before:length] = _spread(scores[length], origin - length, length)
            low, middle, high = np.quantile(plain[:, length - 1], (LEVELS[0], 0.5, LEVELS[-1]))
            actual = actual_totals[origin, length - 1]
            reach = high - middle if actual >= middle else middle - low
            if not np.isnan(actual):
                score = abs(actual - middle) / max(reach, _LEAST_REACH)
                scores[length].append((origin, score))
        totals = _scenarios(days, origin, spreads[origin]).cumsum(axis=1)
        quantiles[origin] = np.quantile(totals, LEVELS, axis=0)
    return TotalsAhead(expected, quantiles, spreads)


def sample_paths(
    days: DayTotals,
    sums: TotalsAhead,
    step: FreshStep | None = None,
    wider: float = 1.0,
    level: FreshLevel | None = None,
) -> Floats:
    """Hours after the last origin by scenario, SCENARIOS of them: the same for the same history.

    Days go at least as far apart as the level of a fresh step is known, and all `wider` than they would else; those of a fresh `level` are its own. One path for all where no forecast was followed yet, so that nothing is known of misses.
    """
    draw = np.random.default_rng(SEED)
    spread = sums.spreads[-1] if step is None else np.maximum(sums.spreads[-1], 1.0)
    totals = _scenarios(days, len(days.expected) - 1, spread)
    if level is not None:
        totals = level.totals(totals.shape[1], draw)
    elif len(totals) > 1:
        totals = totals[draw.permutation(np.arange(SCENARIOS) * len(totals) // SCENARIOS)]
        totals = doubted(totals, step, draw)
        expected = totals.mean(axis=0)
        totals = _totals(expected, wider * (totals - expected), least_of_day(days))
    hours = [_hours_of_day(days, totals[:, ahead], ahead, draw) for ahead in range(totals.shape[1])]
    return np.concatenate(hours, axis=1)


def least_of_day(days: DayTotals) -> float:
    """0, or the least that a day had if that is below."""
    return min(0.0, float(np.nanmin(days.totals)))


def _scenarios(days: DayTotals, origin: int, spread: Floats) -> Floats:
    """Totals of the days after an origin by scenario; one row, what is expected, where nothing is known of misses."""
    if is_intermittent(days.totals[: days.first + origin]):
        windows = _windows(days, origin)
        if len(windows) >= LEAST_WINDOWS:
            return _as_often(windows, days.expected[origin])
    misses = _misses(days, origin)
    if len(misses):
        return _totals(days.expected[origin], spread * misses, least_of_day(days))
    return days.expected[origin : origin + 1]


def _windows(days: DayTotals, origin: int) -> Floats:
    """Days of the history in their order, as many as lie ahead, from each of sixty days on; what is not known is nothing."""
    ahead, end = days.expected.shape[1], days.first + origin
    history = np.nan_to_num(days.totals[max(0, end - DAYS_OF_MISSES) : end])
    if len(history) < ahead:
        return np.zeros((0, ahead))
    return np.lib.stride_tricks.sliding_window_view(history, ahead)


def _as_often(windows: Floats, expected: Floats) -> Floats:
    """Windows with as much on average as is expected: what came rarely stays as large, and comes more or less often."""
    draw = np.random.default_rng(SEED)
    many = np.tile(windows, (max(1, SCENARIOS // len(windows)), 1))
    mean = many.mean()
    factor = float(np.clip(expected.mean() / mean, *MOST_OFTEN)) if mean > 0 else 1.0
    often = factor * _level_doubt(windows, len(many), draw)
    once = np.where(draw.random(many.shape) < np.minimum(often, 1.0), many, 0.0)
    again = draw.permutation(many)
    sampled = once + np.where(draw.random(many.shape) < often - 1, again, 0.0)
    total = sampled.sum(axis=1).mean()
    scaled: Floats = sampled * (expected.sum() / total if total > 0 else 1.0)
    return scaled


def _level_doubt(windows: Floats, count: int, draw: np.random.Generator) -> Floats:
    """How many times as often as expected it may come, a row by scenario: as means of as many weeks, drawn, lie apart.

    The level rests on those weeks, and the next ones are of another level yet; windows that overlap lie closer together than
    weeks do: two and a half times as far covers about what it says on made series.
    """
    weeks = windows[:, :WEEK_DAYS].mean(axis=1)
    week_count = max(2, (len(windows) + windows.shape[1]) // WEEK_DAYS)
    means = weeks[draw.integers(0, len(weeks), (count, week_count))].mean(axis=1)
    middle = float(means.mean())
    apart = means / middle - 1 if middle > 0 else np.zeros(count)
    factors: Floats = np.maximum(1 + DOUBT * apart, LEAST_DOUBT)[:, None]
    return factors


def _totals(expected: Floats, misses: Floats, least: float) -> Floats:
    """Days by scenario, none below the least."""
    return with_means(np.maximum(expected + misses, least), expected, least)


def _misses(days: DayTotals, origin: int) -> Floats:
    """Return the misses of earlier forecasts, day after day, as known at an origin: by forecast and day, their mean taken off.

    What was not followed to the end is held at the mean of its last three days. The fewer weeks there are, the wider.
    """
    ahead = days.expected.shape[1]
    begin = max(0, origin - DAYS_OF_MISSES)
    started = days_since_start(days.totals[: days.first + origin])
    if started > MOST_START:
        # Misses of forecasts from before it started, or had just, are of how it started.
        begin = max(begin, origin - started + WEEK_DAYS)
    ages = origin - np.arange(begin, origin)
    errors, place = days.errors[begin:origin], np.arange(ahead)
    is_known = (place < ages[:, None]) & ~np.isnan(errors)
    is_used = is_known.any(axis=1)
    followed = is_used & (ages >= min(FOLLOWED_DAYS, ahead))
    if followed.sum() >= LEAST_FOLLOWED:
        is_used = followed
    if is_used.sum() < 2:
        return np.zeros((0, ahead))
    errors, is_known, ages = errors[is_used], is_known[is_used], ages[is_used]
    last = is_known & (place >= np.minimum(ages, ahead)[:, None] - HELD_DAYS)
    last = np.where(last.any(axis=1, keepdims=True), last, is_known)
    carried_error = np.where(last, errors, 0.0).sum(axis=1, keepdims=True) / last.sum(
        axis=1, keepdims=True
    )
    filled = without_single_ones(np.where(is_known, errors, carried_error))
    wider = min(MOST_WIDER, 1 + WEEK_DAYS / len(filled))
    centred: Floats = wider * (filled - filled.mean(axis=0))
    return centred


def _spread(scores: list[tuple[int, float]], newest: int, length: int) -> float:
    """How much further from the middle totals of so many days go, of how far what came lay (as spread_factors has it)."""
    known_scores = sorted([score for origin, score in scores if origin <= newest][-MOST_SCORES:])
    if len(known_scores) < LEAST_SCORES:
        return 1.0
    rank = conformal_rank(len(known_scores), MISS_RATE) or len(known_scores)
    believed = len(known_scores) / (len(known_scores) + length)
    factor = min(max(known_scores[rank - 1], NARROWEST_TOTALS), WIDEST_TOTALS)
    return float(factor**believed)


def _hours_of_day(days: DayTotals, totals: Floats, ahead: int, draw: np.random.Generator) -> Floats:
    """Each total over the hours of a day of the same weekday that had about as much; by scenario and hour."""
    sources = _source_days(days, ahead)
    of_day = days.blocks[sources]
    counts = (~np.isnan(of_day)).sum(axis=1, keepdims=True)
    means = np.nansum(of_day, axis=1, keepdims=True) / np.maximum(counts, 1)
    hours = np.where(np.isnan(of_day), means, of_day)
    sums = hours.sum(axis=1)
    nearest = np.argsort(np.abs(sums - totals[:, None]), axis=1, kind="stable")
    rank = draw.integers(0, min(NEAREST, len(sources)), len(totals))
    chosen = nearest[np.arange(len(totals)), rank]
    profile = np.maximum(hours, 0.0).sum(axis=0)
    shares = profile / profile.sum() if profile.sum() > 0 else np.full(DAY, 1 / DAY)
    had = sums[chosen]
    is_alike = (had > 0) & (totals > 0) & (totals <= MOST_STRETCHED * had)
    stretched = hours[chosen] * (totals / np.where(is_alike, had, 1.0))[:, None]
    hourly: Floats = np.where(is_alike[:, None], stretched, totals[:, None] * shares)
    return hourly


def _source_days(days: DayTotals, ahead: int) -> Ints:
    """Days of the same weekday in eight weeks; where they are few, all days of four."""
    count = len(days.totals)
    known_days = np.flatnonzero(~np.isnan(days.totals))
    is_same = ((count + ahead - known_days) % WEEK_DAYS == 0) & (
        known_days >= count - SOURCE_WEEKS * 7
    )
    lately = known_days >= count - 4 * WEEK_DAYS
    # Of what was idle on that weekday and is not now, hours are as they were lately.
    is_enough = is_same.sum() >= LEAST_SOURCES and (
        days.totals[known_days[is_same]].any() or not days.totals[known_days[lately]].any()
    )
    chosen = is_same if is_enough else lately
    sources: Ints = known_days[chosen] if chosen.any() else known_days[-1:]
    return sources
