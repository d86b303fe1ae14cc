"""Seconds of windows to quarter-seconds of minutes, without losing any to rounding."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from apps.economics.usage.columns import (
    MINUTE_MS,
    MINUTES,
    MS_PER_SECOND,
    Integers,
    Reals,
)
from apps.economics.usage.counted import CountedUsage

QUARTERS_PER_SECOND = 4
QUARTERS_PER_MINUTE = 240


@dataclass(frozen=True, slots=True)
class Minutes:
    """(rows, 60) unsigned bytes each; worked ≤ observed everywhere."""

    observed: npt.NDArray[np.uint8]
    worked: npt.NDArray[np.uint8]


def minutes_of(counted: CountedUsage, index: Integers, row: Integers, rows: int) -> Minutes:
    """Spread the counted windows at `index`, in order of time, over the minutes of their `row`."""
    start, end = counted.from_ms[index], counted.to_ms[index]
    first = start // MINUTE_MS
    spanned = (end - 1) // MINUTE_MS - first + 1
    window = np.repeat(np.arange(len(index)), spanned)
    # 0, 1, 2 … within each window.
    step = np.arange(len(window)) - np.repeat(np.cumsum(spanned) - spanned, spanned)
    minute = first[window] + step
    inside = np.minimum(end[window], (minute + 1) * MINUTE_MS) - np.maximum(
        start[window], minute * MINUTE_MS
    )
    observed, worked = _window_seconds(counted, index)
    quarters = inside * QUARTERS_PER_SECOND / counted.windows.length_ms[index][window]
    bins = row[window] * MINUTES + minute
    return _round_minutes(
        _sums_by_minute(bins, observed[window] * quarters, rows),
        _sums_by_minute(bins, worked[window] * quarters, rows),
    )


def observed_seconds(counted: CountedUsage, index: Integers) -> Reals:
    """Seconds sampled in each whole window: its length where it does not say."""
    length = counted.windows.length_ms[index] / MS_PER_SECOND
    return np.clip(np.nan_to_num(counted.windows.observed_seconds[index], nan=np.inf), 0, length)


def _window_seconds(counted: CountedUsage, index: Integers) -> tuple[Reals, Reals]:
    """Observed and worked; a window that cannot tell its work was not observed."""
    worked = counted.windows.worked_seconds[index]
    unknown = np.isnan(worked)
    observed = np.where(unknown, 0.0, observed_seconds(counted, index))
    return observed, np.clip(np.where(unknown, 0.0, worked), 0, observed)


def _sums_by_minute(bins: Integers, quarters: Reals, rows: int) -> Reals:
    sums: Reals = np.bincount(bins, quarters, rows * MINUTES).astype(np.float64, copy=False)
    return sums.reshape(rows, MINUTES)


def _round_minutes(observed: Reals, worked: Reals) -> Minutes:
    whole_observed = _round_cumulatively(observed)
    whole_worked = _round_cumulatively(worked)
    for row in np.flatnonzero((whole_worked > whole_observed).any(axis=1)):
        _fit_worked(whole_worked[row], whole_observed[row])
    return Minutes(whole_observed.astype(np.uint8), whole_worked.astype(np.uint8))


def _round_cumulatively(quarters: Reals) -> Integers:
    """Whole quarters whose running total is that of `quarters`, rounded: an hour loses none."""
    running = np.floor(np.cumsum(quarters, axis=1) + 0.5).astype(np.int64)
    whole_quarters = np.diff(running, axis=1, prepend=0)
    return np.clip(whole_quarters, 0, QUARTERS_PER_MINUTE)


def _fit_worked(worked: Integers, observed: Integers) -> None:
    """Move quarters that rounding put over what was observed to the next minute with room.

    Where no later minute has any, an earlier one takes them.
    """
    carried = 0
    for minute in (*range(MINUTES), *range(MINUTES - 1, -1, -1)):
        wanted = int(worked[minute]) + carried
        worked[minute] = min(wanted, int(observed[minute]))
        carried = wanted - int(worked[minute])
