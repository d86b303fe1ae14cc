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


def rest_of(whole: Floats, parts: Sequence[Floats]) -> Floats | None:
    """What of the whole is in none of its parts, hour by hour, NaN where one is not known; None where there is nothing.

    Below 0 only where the whole or a part is.
    """
    rest = whole - np.sum(parts, axis=0)
    recent = rest[-JUDGED_DAYS * DAY :]
    known = recent[~np.isnan(recent)]
    if not len(known) or np.abs(known).max() <= NO_REST * max(1.0, float(np.nanmax(np.abs(whole)))):
        return None
    least = np.nanmin([np.nanmin(whole), *(np.nanmin(part) for part in parts)])
    held: Floats = np.maximum(rest, 0.0) if least >= 0 else rest
    return held


def come_to_more(whole: Floats, parts: Sequence[Floats]) -> bool:
    """Whether, in the last four weeks, what are called parts came to more than the whole too often to be so."""
    rest = (whole - np.sum(parts, axis=0))[-JUDGED_DAYS * DAY :]
    known = ~np.isnan(rest)
    if not known.any():
        return False
    least = -MOST_OVER * float(np.abs(whole[-JUDGED_DAYS * DAY :][known]).mean())
    return bool((rest[known] < least).mean() > MOST_HOURS_OVER)


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
    whole: RolledSeries, ways: Mapping[str, Sequence[RolledSeries]]
) -> list[HierarchyScores]:
    """Errors and coverage before and after, for each judged horizon that was followed.

    Forecasts of the first seven days give the weights of the next alone; those of an origin are of errors before it.
    """
    count = len(whole.rolled.origins)
    made = [_reconciled_at(whole, ways, origin) for origin in range(LEAST_ERROR_DAYS, count)]
    found = []
    for horizon in JUDGED_HORIZONS:
        origins = np.arange(LEAST_ERROR_DAYS, count - horizon // DAY)
        if not len(origins):
            continue
        after = made[: len(origins)]
        levels = {
            name: _level_scores(
                series,
                [
                    np.stack([each.parts[way][place] for each in after])
                    for place in range(len(series))
                ],
                origins,
                horizon,
            )
            for way, (name, series) in enumerate(ways.items())
        }
        top = _level_scores([whole], [np.stack([each.whole for each in after])], origins, horizon)
        found.append(HierarchyScores(horizon, len(origins), top, levels))
    return found


def _reconciled_at(
    whole: RolledSeries, ways: Mapping[str, Sequence[RolledSeries]], origin: int
) -> ReconciledForecasts:
    return reconciled_forecasts(
        whole.rolled.points[origin],
        whole.hourly_variances(origin),
        [np.stack([each.rolled.points[origin] for each in series]) for series in ways.values()],
        [np.stack([each.hourly_variances(origin) for each in series]) for series in ways.values()],
    )


def _level_scores(
    series: Sequence[RolledSeries], reconciled: Sequence[Floats], origins: Ints, horizon: int
) -> LevelScores:
    own = after = 0.0
    inside: list[NDArray[np.bool_]] = []
    inside_after: list[NDArray[np.bool_]] = []
    for each, points in zip(series, reconciled, strict=True):
        errors = each.errors[origins, :horizon]
        before, moved = each.rolled.points[origins, :horizon], points[:, :horizon]
        known = ~np.isnan(errors)
        if not known.any():
            continue
        actual = before + errors
        own += float(np.abs(errors[known]).mean())
        after += float(np.abs((actual - moved)[known]).mean())
        ends = np.moveaxis(each.rolled.quantiles[origins][:, [0, -1], :horizon], 1, 0)
        known &= ~np.isnan(ends).any(axis=0)
        low, high = stretched_ends(ends[0], ends[1], moved)
        inside.append(((actual >= ends[0]) & (actual <= ends[1]))[known])
        inside_after.append(((actual >= low) & (actual <= high))[known])
    return LevelScores(own, after, _share(inside), _share(inside_after))


def _share(inside: Sequence[NDArray[np.bool_]]) -> float:
    known = np.concatenate([*inside, np.zeros(0)])
    return float(known.mean()) if len(known) else float("nan")
