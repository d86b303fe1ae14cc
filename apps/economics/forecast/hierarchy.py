"""How far reconciled forecasts of a whole and its parts are to be trusted: as they would have been made day by day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.economics.forecast.candidates import Ints
from apps.economics.forecast.mixing import MOST_HORIZON, observed_at
from apps.economics.forecast.names import JUDGED_HORIZONS
from apps.economics.forecast.reconciliation import (
    ReconciledForecasts,
    daily_squares,
    error_variances,
    reconciled_forecasts,
    stretched_ends,
)
from apps.economics.forecast.rolling import LEAST_OBSERVED, RolledForecasts, rolled_forecasts
from apps.economics.forecast.scores import DAY, Floats

JUDGED_DAYS, LEAST_ERROR_DAYS = 28, 7
"""So many days of forecasts are made anew; from the errors of the first seven come the weights of the next."""
LEAST_HOURS = LEAST_OBSERVED + LEAST_ERROR_DAYS * DAY
"""Known ones, for a series to have errors to be weighed by."""
NO_REST = 1e-6
MOST_OVER, MOST_HOURS_OVER = 0.01, 0.05
"""Parts that come to a hundredth more than the whole, in more than a twentieth of hours, are not parts of it."""


@dataclass(frozen=True, slots=True)
class LevelScores:
    """Mean absolute errors of an hour, summed over the series of a level, and the share inside the 80 % interval.

    Of own forecasts, and of reconciled ones; NaN where nothing is known.
    """

    own_error: float
    reconciled_error: float
    own_coverage: float
    reconciled_coverage: float


@dataclass(frozen=True, slots=True)
class HierarchyScores:
    """Of so many origins, `horizon` hours ahead: the whole, and the parts of each way to divide it by its name."""

    horizon: int
    origins: int
    whole: LevelScores
    parts: Mapping[str, LevelScores]


@dataclass(frozen=True, slots=True)
class RolledSeries:
    """A series' forecasts on the common days, its errors by origin and hour ahead, and their variances by origin and day."""

    rolled: RolledForecasts
    errors: Floats
    variances: Floats

    def hourly_variances(self, origin: int) -> Floats:
        """Of an origin by its number, for each hour ahead."""
        return np.repeat(self.variances[origin], DAY)


def remainder_of(total: Floats, parts: Sequence[Floats]) -> Floats | None:
    """Return the part of the whole that none of its parts has, by hour, NaN where one is not known; None where there is nothing.

    Below 0 only where the whole or a part is.
    """
    remainder = total - np.sum(parts, axis=0)
    recent = remainder[-JUDGED_DAYS * DAY :]
    known_hours = recent[~np.isnan(recent)]
    if not len(known_hours) or np.abs(known_hours).max() <= NO_REST * max(
        1.0, float(np.nanmax(np.abs(total)))
    ):
        return None
    least = np.nanmin([np.nanmin(total), *(np.nanmin(part) for part in parts)])
    bounded: Floats = np.maximum(remainder, 0.0) if least >= 0 else remainder
    return bounded


def parts_exceed_total(total: Floats, parts: Sequence[Floats]) -> bool:
    """Whether, in the last four weeks, what are called parts came to more than the whole too often to be so."""
    remainder = (total - np.sum(parts, axis=0))[-JUDGED_DAYS * DAY :]
    is_known = ~np.isnan(remainder)
    if not is_known.any():
        return False
    least = -MOST_OVER * float(np.abs(total[-JUDGED_DAYS * DAY :][is_known]).mean())
    return bool((remainder[is_known] < least).mean() > MOST_HOURS_OVER)


def rolled_series(values: Floats, days: int) -> RolledSeries:
    """Forecasts of two weeks at the end of `values` and on each of so many days before it. Refuses TooLittleHistory."""
    rolled = rolled_forecasts(values, len(values) - days * DAY, days + 1, MOST_HORIZON)
    errors = observed_at(values, rolled.origins, np.arange(MOST_HORIZON)) - rolled.points
    return RolledSeries(rolled, errors, error_variances(daily_squares(errors)))


def common_days(series: Sequence[Floats]) -> int:
    """How many days back all of them have known hours enough for a forecast; 28 at most."""
    firsts = [np.flatnonzero(~np.isnan(values))[LEAST_OBSERVED - 1] + 1 for values in series]
    return min(JUDGED_DAYS, (len(series[0]) - int(max(firsts))) // DAY)


def hierarchy_scores(
    total: RolledSeries, ways: Mapping[str, Sequence[RolledSeries]]
) -> list[HierarchyScores]:
    """Errors and coverage before and after, for each judged horizon that was followed.

    Forecasts of the first seven days give the weights of the next alone; those of an origin are of errors before it.
    """
    count = len(total.rolled.origins)
    forecasts = [_reconciled_at(total, ways, origin) for origin in range(LEAST_ERROR_DAYS, count)]
    scores = []
    for horizon in JUDGED_HORIZONS:
        origins = np.arange(LEAST_ERROR_DAYS, count - horizon // DAY)
        if not len(origins):
            continue
        after = forecasts[: len(origins)]
        levels = {
            name: _level_scores(
                series,
                [
                    np.stack([forecast.parts[way][place] for forecast in after])
                    for place in range(len(series))
                ],
                origins,
                horizon,
            )
            for way, (name, series) in enumerate(ways.items())
        }
        top = _level_scores(
            [total], [np.stack([forecast.whole for forecast in after])], origins, horizon
        )
        scores.append(HierarchyScores(horizon, len(origins), top, levels))
    return scores


def _reconciled_at(
    total: RolledSeries, ways: Mapping[str, Sequence[RolledSeries]], origin: int
) -> ReconciledForecasts:
    return reconciled_forecasts(
        total.rolled.points[origin],
        total.hourly_variances(origin),
        [np.stack([part.rolled.points[origin] for part in series]) for series in ways.values()],
        [np.stack([part.hourly_variances(origin) for part in series]) for series in ways.values()],
    )


def _level_scores(
    series: Sequence[RolledSeries], reconciled: Sequence[Floats], origins: Ints, horizon: int
) -> LevelScores:
    own_error = after = 0.0
    inside: list[NDArray[np.bool_]] = []
    inside_after: list[NDArray[np.bool_]] = []
    for part, points in zip(series, reconciled, strict=True):
        errors = part.errors[origins, :horizon]
        before, moved = part.rolled.points[origins, :horizon], points[:, :horizon]
        is_known = ~np.isnan(errors)
        if not is_known.any():
            continue
        actual = before + errors
        own_error += float(np.abs(errors[is_known]).mean())
        after += float(np.abs((actual - moved)[is_known]).mean())
        ends = np.moveaxis(part.rolled.quantiles[origins][:, [0, -1], :horizon], 1, 0)
        is_known &= ~np.isnan(ends).any(axis=0)
        low, high = stretched_ends(ends[0], ends[1], moved)
        inside.append(((actual >= ends[0]) & (actual <= ends[1]))[is_known])
        inside_after.append(((actual >= low) & (actual <= high))[is_known])
    return LevelScores(own_error, after, _share(inside), _share(inside_after))


def _share(inside: Sequence[NDArray[np.bool_]]) -> float:
    hits = np.concatenate([*inside, np.zeros(0)])
    return float(hits.mean()) if len(hits) else float("nan")
