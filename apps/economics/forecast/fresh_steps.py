"""How far the level of a step of so few days may yet lie back towards the one before it."""

from dataclasses import dataclass

import numpy as np

from apps.economics.changes import HoldingChange
from apps.economics.forecast.names import SCENARIOS
from apps.economics.forecast.scores import Floats

DAYS_TO_BELIEVE = 4.0
"""A level of n days is believed n ÷ (n + 4)."""
DOUBT_DAYS, BEFORE_DAYS = 28, 28
LEAST_STEP = 0.2
"""A smaller one may be a trend's."""
SAME, HALF = 1e-6, 0.5


@dataclass(frozen=True, slots=True)
class FreshStep:
    """A level that began so many days ago, and how far the one before it lies from it, as a share of the new one."""

    days: int
    back: float

    @property
    def offsets(self) -> Floats:
        """By scenario, from the new level on evenly to twice as far as the old one is believed; shares of the level, their mean 0."""
        evenly = (np.arange(SCENARIOS) + 0.5) / SCENARIOS
        doubted = DAYS_TO_BELIEVE / (self.days + DAYS_TO_BELIEVE)
        way = np.minimum(2 * doubted * evenly, 1.0)
        shares: Floats = (way - way.mean()) * self.back
        return shares


def fresh_step(values: Floats, ordinary: Floats, shift: HoldingChange | None) -> FreshStep | None:
    """The last change of level by day, where it was a step of the last four weeks; `ordinary` is what share of a day each is.

    Of a series that stays exactly where it is for most days that is the first day of now, however few days ago.
    """
    is_known = ~np.isnan(values) & (ordinary > 0)
    levels = np.where(is_known, values / np.where(is_known, ordinary, 1.0), np.nan)
    begins = shift.day if shift is not None else _exact_step(levels)
    day = np.arange(len(values))
    after = is_known & (day >= begins)
    before = is_known & (day < begins) & (day >= begins - BEFORE_DAYS)
    age = len(values) - begins
    if age > DOUBT_DAYS or not after.any() or not before.any():
        return None
    old, new = (values[part].sum() / ordinary[part].sum() for part in (before, after))
    if not old > 0 or not new > 0 or abs(new / old - 1) < LEAST_STEP:
        return None
    return FreshStep(age, float(old / new - 1))


def _exact_step(levels: Floats) -> int:
    """The first day of the level that holds to the end, of a series of which most days are as the one before; else its length."""
    known_days = np.flatnonzero(~np.isnan(levels))
    same = np.abs(np.diff(levels[known_days])) <= SAME * np.abs(levels[known_days[1:]])
    if not len(same) or same.mean() <= HALF:
        return len(levels)
    moved = np.flatnonzero(~same)
    return int(known_days[moved[-1] + 1]) if len(moved) else len(levels)


def doubted(totals: Floats, step: FreshStep | None, draw: np.random.Generator) -> Floats:
    """Scenarios by day; days that lie closer together than the level of a fresh step is known go as far apart as that is."""
    if step is None or len(totals) < SCENARIOS:
        return totals
    offsets = step.offsets
    wanted_width = float(np.ptp(np.quantile(offsets, (0.1, 0.9))))
    width = np.ptp(np.quantile(totals, (0.1, 0.9), axis=0), axis=0)
    is_close = width < wanted_width * totals.mean(axis=0)
    moved: Floats = totals * (1 + np.where(is_close, draw.permutation(offsets)[:, None], 0.0))
    return moved
