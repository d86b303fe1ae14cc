"""How good a forecast was: scaled errors, quantile losses, coverage.

An hour that was not observed is NaN and counts in none of them.
"""

from math import ceil, nan

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DAY = 24
ROUNDING = 1e-6
"""Steps smaller than this part of what is observed are rounding: such a history repeats itself."""


def seasonal_scale(history: Floats, season: int = DAY) -> float:
    """Mean absolute difference of hours a season apart: the scale of MASE (Hyndman and Koehler 2006).

    NaN where no two observed hours lie a season apart, 0 where they differ by rounding alone.
    """
    steps = np.abs(history[season:] - history[:-season])
    if not np.isfinite(steps).any():
        return nan
    scale = float(np.nanmean(steps))
    return scale if scale > ROUNDING * float(np.nanmean(np.abs(history))) else 0.0


def mase(actual: Floats, forecast: Floats, scale: float) -> float:
    """Mean absolute error over `scale`; NaN where the scale is 0 or nothing was observed."""
    errors = np.abs(actual - forecast)
    if not scale > 0 or np.isnan(errors).all():
        return nan
    return float(np.nanmean(errors)) / scale


def weighted_quantile_loss(actual: Floats, quantiles: Floats, levels: Floats) -> float:
    """Twice the pinball loss, meaned over `levels`, per unit of what was observed.

    `quantiles` has a row for each level. NaN where nothing but zeros was observed.
    """
    total = float(np.nansum(np.abs(actual)))
    if total == 0:
        return nan
    misses = actual - quantiles
    level = levels.reshape(-1, *[1] * (quantiles.ndim - 1))
    losses = np.maximum(level * misses, (level - 1) * misses)
    return 2 * float(np.nansum(losses)) / len(levels) / total


def coverage(actual: Floats, low: Floats, high: Floats) -> float:
    """Share of the observed hours from `low` to `high`; NaN where none was observed."""
    observed = ~np.isnan(actual) & ~np.isnan(low)
    if not observed.any():
        return nan
    return float(np.mean((actual >= low)[observed] & (actual <= high)[observed]))


def conformal_rank(count: int, miss_rate: float) -> int | None:
    """Return the rank among `count` sorted scores that bounds the next with 1 − `miss_rate`, from 1; None where too few.

    Split conformal prediction (Vovk and others 2005): the ⌈(n + 1)(1 − α)⌉-th smallest.
    """
    rank = ceil((count + 1) * (1 - miss_rate) - 1e-12)
    return rank if rank <= count else None


ADAPTATION = 0.2
LEAST_MISS_RATE, MOST_MISS_RATE = 0.02, 0.95


def adapted_miss_rate(
    rates: Floats, missed: Floats, nominal: Floats, step: float = ADAPTATION
) -> Floats:
    """The miss rates to ask for next, where these shares were missed (Gibbs and Candès 2021): α + γ(nominal − missed).

    γ is `step`; unchanged where `missed` is NaN.
    """
    change = np.where(np.isnan(missed), 0.0, step * (nominal - missed))
    return np.clip(rates + change, LEAST_MISS_RATE, MOST_MISS_RATE)
