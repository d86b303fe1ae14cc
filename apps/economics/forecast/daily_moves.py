"""How a level goes on by day: a damped trend, moves that add nothing to what is expected, and the most that is."""

import numpy as np

from apps.economics.deviations import robust_deviation
from apps.economics.forecast.candidates import Ints
from apps.economics.forecast.names import SCENARIOS
from apps.economics.forecast.scores import Floats

WEEK = 7
SHRUNK, DAMPING, BLOCK_WEEKS, TARGET_WEEKS = 0.5, 0.9, 3, 4
STEADY_DAMPING, STEADY_TRIALS, LATE_WEEKS = 0.95, 4, 5
MOST_APART, ORDINARY_GROWTHS = 2.0, 3.0
MOST_OF_BEST_WEEKS = 1.1


def weeks_to_the_end(values: Floats, most: int | None = None) -> Floats:
    """Whole weeks that end with the history, by week and day; the last `most` of them."""
    count = len(values) // WEEK if most is None else min(most, len(values) // WEEK)
    return values[len(values) - count * WEEK :].reshape(count, WEEK)


def means_between(values: Floats, begins: Ints, ends: Ints) -> Floats:
    """Of what is known from each place up to, not with, another; NaN where nothing is."""
    reached = np.concatenate([[0.0], np.nancumsum(values)])
    counts = np.concatenate([[0], np.cumsum(~np.isnan(values))])
    known_counts = counts[ends] - counts[begins]
    return np.where(
        known_counts > 0, (reached[ends] - reached[begins]) / np.maximum(known_counts, 1), np.nan
    )


def damped_trend(mean: float, horizon: int, steady: float = 0.0) -> Floats:
    """Return what the damped trend adds to the logarithm of the level, by day ahead; of growth that is `steady` (0 to 1) more."""
    damping = DAMPING + steady * (STEADY_DAMPING - DAMPING)
    believed = SHRUNK + steady * (1 - SHRUNK)
    steps = believed * mean * damping ** np.arange(1, horizon // WEEK + 3)
    trend: Floats = _by_day(np.concatenate([[0.0], np.cumsum(steps)])[None], horizon)[0]
    return trend


def trend_ways(mean: float, horizon: int, steady: float, draw: np.random.Generator) -> Floats:
    """Return the factor of the trend by scenario and day ahead; on the mean it is that of `damped_trend`.

    The growth that is believed for being `steady` ends at once in some scenarios and goes on twice as long in others.
    """
    plain = damped_trend(mean, horizon)
    further = damped_trend(mean, horizon, steady) - plain
    further = np.minimum(further, np.log(MOST_APART))
    shares = draw.permutation((np.arange(SCENARIOS) + 0.5) / (SCENARIOS / 2))
    ways = np.exp(shares[:, None] * further)
    factors: Floats = np.exp(plain + further) * ways / ways.mean(axis=0)
    return factors


def steadiness(levels: Floats) -> float:
    """Return how far growth of four weeks went on over the next four as it was, and does so still, 0 to 1; `levels` are by week, NaN where not known.

    1 less the squares of what it missed by as a share of those of what came, the less of the earlier and the later half
    of the weeks: one step is steady in one of them alone. Then the share that the growth of the last five weeks is of
    the mean, as much as it may be: a ramp that is over, or a season near its top, is not steady any more.
    """
    logs = np.log(np.where(levels > 0, levels, np.nan))
    has_trials = len(logs) >= STEADY_TRIALS + 3 * TARGET_WEEKS - 1
    length = TARGET_WEEKS if has_trials else TARGET_WEEKS // 2
    begins = np.arange(max(0, len(logs) - length + 1))
    means = means_between(logs, begins, begins + length)
    growth = means[length:] - means[:-length]
    before, after = growth[:-length], growth[length:]
    trials = np.flatnonzero(~np.isnan(before + after))
    if len(trials) < STEADY_TRIALS:
        return 0.0
    foreseen = min(_share_foreseen(before[half], after[half]) for half in np.array_split(trials, 2))
    return foreseen * _share_of_late(logs, float(np.nanmean(growth)) / length)


def _share_of_late(logs: Floats, usual: float) -> float:
    """Return the growth a week of the last five weeks as a share of the usual, 0 to 1, plus an error of its line."""
    late = logs[-LATE_WEEKS:]
    if np.isnan(late).any() or not usual:
        return 0.0
    weeks = np.arange(LATE_WEEKS) - (LATE_WEEKS - 1) / 2
    slope = float(weeks @ late) / float(weeks @ weeks)
    missed = late - late.mean() - slope * weeks
    error = float(np.sqrt(missed @ missed / (LATE_WEEKS - 2) / (weeks @ weeks)))
    along = slope if usual > 0 else -slope
    return min(1.0, max(0.0, (along + error) / abs(usual)))


def _share_foreseen(growth: Floats, after: Floats) -> float:
    """Of squares of what came after, 0 to 1, if it is taken to be as the growth before."""
    squares = float((after**2).sum())
    return max(0.0, 1 - float(((after - growth) ** 2).sum()) / squares) if squares > 0 else 0.0


def even_blocks(count: int, length: int, weeks: int, draw: np.random.Generator) -> Ints:
    """By scenario and week the place among `count`, in circular blocks of `length` that begin anywhere.

    Each place is as often as the others in every block: of few none comes more often by chance.
    """
    evenly = np.tile((np.arange(SCENARIOS) % count)[:, None], -(-weeks // length))
    starts = draw.permuted(evenly, axis=0)
    places: Ints = (starts[:, :, None] + np.arange(length)) % count
    return places.reshape(SCENARIOS, -1)[:, :weeks]


def level_moves(growths: Floats, levels: Floats, horizon: int, draw: np.random.Generator) -> Floats:
    """Return the level over what the trend says, by scenario and day ahead: 1 on the mean, and within what levels were.

    Growth that is added up is no growth of what is expected: the mean of e to the power of it grows with its variance alone.
    """
    weeks = horizon // WEEK + 2
    # Circular blocks of nearly all growths come to nothing together.
    length = min(BLOCK_WEEKS, max(1, len(growths) // BLOCK_WEEKS))
    drawn = (growths - growths.mean())[even_blocks(len(growths), length, weeks, draw)]
    low, high = _observed_log_range(levels)
    usual = robust_deviation(growths.tolist(), float(np.median(growths)))
    moved = np.zeros((SCENARIOS, weeks + 1))
    for week in range(1, weeks + 1):
        room = min(ORDINARY_GROWTHS * usual * week**0.5, float(np.log(MOST_APART)))
        moved[:, week] = np.clip(moved[:, week - 1] + drawn[:, week - 1], low - room, high + room)
    moves = np.exp(_by_day(moved, horizon))
    factors: Floats = moves / moves.mean(axis=0)
    return factors


def _observed_log_range(levels: Floats) -> tuple[float, float]:
    """Logarithms of the least and the most level over the last one; both 0 where that is none."""
    known_levels = levels[~np.isnan(levels)]
    positive = known_levels[known_levels > 0]
    if not len(positive) or known_levels[-1] <= 0:
        return 0.0, 0.0
    return float(np.log(positive.min() / known_levels[-1])), float(
        np.log(positive.max() / known_levels[-1])
    )


def _by_day(path: Floats, horizon: int) -> Floats:
    """Between the middles of weeks: the last week's is three and a half days before the first day ahead begins."""
    position = (np.arange(horizon) + (WEEK + 1) / 2) / WEEK
    week = position.astype(np.int64)
    days: Floats = path[:, week] + (position - week) * (path[:, week + 1] - path[:, week])
    return days


def most_expected(levels: Floats, growth: float) -> float:
    """Of a day ahead before the trend: a tenth over the highest mean of four weeks, which a trend has grown from since."""
    ends = np.arange(1, len(levels) + 1)
    means = means_between(levels, np.maximum(ends - TARGET_WEEKS, 0), ends)
    is_whole = (ends >= min(TARGET_WEEKS, len(levels))) & ~np.isnan(means)
    if not is_whole.any():
        return np.inf
    return MOST_OF_BEST_WEEKS * float(
        means[is_whole].max() * np.exp(max(growth, 0.0) * TARGET_WEEKS / 2)
    )


def share_within(expected: Floats, most: Floats) -> Floats:
    """Return the share that is left of each expected value where it is beyond its bound."""
    is_beyond = (expected > most) & (most > 0)
    shares: Floats = np.where(is_beyond, most / np.where(is_beyond, expected, 1.0), 1.0)
    return shares
