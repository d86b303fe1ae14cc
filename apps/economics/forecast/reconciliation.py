"""Forecasts of a whole and of its parts that add up: minimum trace with diagonal weights.

A whole may be divided in several ways (by pool, by team): its reconciled forecast is one, and the parts of each way
add up to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.economics.forecast.scores import DAY, Floats

LEAST_VARIANCE = 1e-9
"""Of the largest of a step: what was never missed yet is not fixed, and what never moved does not divide by nothing."""
ENDS_IN_DEVIATIONS = 2 * 1.2815515655446004
"""How far apart the ends of an 80 % interval of normal errors lie."""


@dataclass(frozen=True, slots=True)
class ReconciledForecasts:
    """The whole by step, and for each way to divide it the parts by part and step."""

    whole: Floats
    parts: tuple[Floats, ...]


def reconciled_forecasts(
    forecast: Floats, variance: Floats, parts: Sequence[Floats], variances: Sequence[Floats]
) -> ReconciledForecasts:
    """Forecasts and error variances of the whole by step, of parts for each way to divide it by part and step.

    ỹ = S(SᵀW⁻¹S)⁻¹SᵀW⁻¹ŷ with W the diagonal of the variances (Wickramasuriya, Athanasopoulos and Hyndman 2019): the
    sum of the parts of each way is one more forecast of the whole, which weighs the inverse of the sum of their
    variances; the parts then take up what is left by their variances. Of several ways it is the projection on all
    their sums at once. Where no forecast is below 0, none becomes so: it is 0, and the other parts are scaled to the whole.
    """
    most = np.max([variance, *(part_variance.max(axis=0) for part_variance in variances)], axis=0)
    least = np.where(most > 0, LEAST_VARIANCE * most, 1.0)
    spreads = [np.maximum(part_variance, least) for part_variance in variances]
    weight = 1 / np.maximum(variance, least)
    total, weights = forecast * weight, weight
    for part, spread in zip(parts, spreads, strict=True):
        total = total + part.sum(axis=0) / spread.sum(axis=0)
        weights = weights + 1 / spread.sum(axis=0)
    is_positive = (forecast >= 0) & np.all(
        [(part_forecast >= 0).all(axis=0) for part_forecast in parts], axis=0
    )
    one = total / weights
    divided = [
        part_forecast + spread / spread.sum(axis=0) * (one - part_forecast.sum(axis=0))
        for part_forecast, spread in zip(parts, spreads, strict=True)
    ]
    return ReconciledForecasts(
        one,
        tuple(
            np.where(is_positive, _scaled_to(one, part_forecast), part_forecast)
            for part_forecast in divided
        ),
    )


def _scaled_to(target: Floats, parts: Floats) -> Floats:
    """None below 0, and their sum as before."""
    clipped = np.maximum(parts, 0.0)
    total = clipped.sum(axis=0)
    scaled: Floats = clipped * np.where(total > 0, target / np.where(total > 0, total, 1), 1.0)
    return scaled


def error_variances(squares: Floats) -> Floats:
    """By origin and day ahead the mean square error of all forecasts that had been followed for that day by then.

    `squares` is by origin, a day apart, and day ahead: mean square errors, NaN where not followed. A day that was never
    followed has the variance of the one before it; NaN where none was followed.
    """
    count, days = squares.shape
    variances = np.full((count, days), np.nan)
    for origin in range(count):
        for day in range(days):
            followed = squares[: max(0, origin - day), day]
            followed = followed[~np.isnan(followed)]
            before = variances[origin, day - 1] if day else np.nan
            variances[origin, day] = followed.mean() if len(followed) else before
    return variances


def daily_squares(errors: Floats) -> Floats:
    """Mean square errors by origin and day ahead, of errors by origin and hour ahead; NaN where none is known."""
    by_day = errors.reshape(len(errors), -1, DAY)
    is_known = ~np.isnan(by_day)
    counts = is_known.sum(axis=2)
    sums = (np.where(is_known, by_day, 0.0) ** 2).sum(axis=2)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def interval_variances(low: Floats, high: Floats) -> Floats:
    """Return the variance that the ends of an 80 % interval say, as if errors were normal."""
    variances: Floats = ((high - low) / ENDS_IN_DEVIATIONS) ** 2
    return variances


def stretched_ends(low: Floats, high: Floats, reconciled: Floats) -> tuple[Floats, Floats]:
    """The ends of the own interval, stretched to hold the reconciled forecast.

    An interval that is moved along leaves what it was sure of: the level on which GPUs held stay for days.
    """
    return np.minimum(low, reconciled), np.maximum(high, reconciled)
