"""Scenarios of demand by the hour: weeks of its history put together anew, and growth."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from apps.economics.forecast.scores import DAY, Floats
from apps.economics.portfolio.names import MONTH_HOURS

WEEK = 7 * DAY
MOST_WEEKS = 13
"""How much of a history is drawn from: what is older says less of what comes."""
LEAST_WEEKS = 4
OWN_PART = 0.5
"""Of a scenario's blocks: those that are the same one, its level."""
HALF_LIFE = 0.25
"""Of the planned hours: how much further back a block is drawn half as often."""


@dataclass(frozen=True)
class DemandGrowth:
    """By how much demand grows a month (0.05 is 5 %), and the standard deviation of that between scenarios.

    `starting_gpus` is the mean from which it grows; None: that of the weeks that are drawn.
    """

    monthly: float = 0.0
    spread: float = 0.0
    starting_gpus: float | None = None


def demand_scenarios(
    history: Floats, growth: DemandGrowth, hours: int, count: int, draw: np.random.Generator
) -> Floats:
    """`count` rows of `hours` that come right after `history`; never below 0.

    Each scenario has a week of the last 13 of its own, and draws every other one with replacement (a block bootstrap, which keeps the shape of
    day and week, and a level for all of the planned hours), days where there are under four weeks, all of it where
    there is under a day. What lies a quarter of `hours` further back is drawn half as often: a plan of
    a week is of the level of these days, one of a year of the last months alike. An hour not observed
    (NaN) is taken as the median of its hour of the day.
    A starting level scales all of them alike. Growth is exponential, and alike likely parts of its normal distribution are one scenario each.
    """
    observed = filled_history(history[-MOST_WEEKS * WEEK :])
    block = WEEK if len(observed) >= LEAST_WEEKS * WEEK else min(DAY, len(observed))
    blocks = observed[len(observed) % block :].reshape(-1, block)
    age = block * np.arange(len(blocks))[::-1]
    weights = 0.5 ** (age / (hours * HALF_LIFE))
    # Levels that are drawn anew each week even out over a year, and a plan would take no risk that demand stays
    # elsewhere: half of a scenario's blocks are one and the same, which leaves each as likely as it was.
    weights /= weights.sum()
    own_blocks = draw.choice(len(blocks), size=(count, 1), p=weights)
    others = draw.choice(len(blocks), size=(count, -(-hours // block)), p=weights)
    drawn = np.where(draw.random(others.shape) < OWN_PART, own_blocks, others)
    shape = blocks[drawn].reshape(count, -1)[:, :hours]
    mean = float(np.average(blocks.mean(axis=1), weights=weights))
    if growth.starting_gpus is not None and mean > 0:
        shape = shape * (growth.starting_gpus / mean)
    normal = NormalDist()
    chances = np.array([normal.inv_cdf((place + 0.5) / count) for place in range(count)])
    # Which scenario grows by how much has nothing to do with which weeks it has.
    monthly = np.log1p(growth.monthly) + growth.spread * draw.permutation(chances)
    months = np.arange(hours) / MONTH_HOURS
    demand: Floats = np.maximum(shape, 0.0) * np.exp(monthly[:, None] * months)
    return demand


def filled_history(history: Floats) -> Floats:
    """With the median of its hour of the day for each hour not observed (NaN); one at least is."""
    unknown = np.isnan(history)
    if not unknown.any():
        return history
    hour = np.arange(len(history)) % DAY
    filled = history.copy()
    everywhere = float(np.median(history[~unknown]))
    for clock_hour in np.unique(hour[unknown]):
        known_values = history[(hour == clock_hour) & ~unknown]
        level = float(np.median(known_values)) if len(known_values) else everywhere
        filled[(hour == clock_hour) & unknown] = level
    return filled
