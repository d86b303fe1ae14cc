"""Units that a value of a history that people bring may be in, by measure."""

from collections.abc import Mapping

from apps.economics.refusal import Refusal
from apps.planning.queries.series import GPU_HOURS, QUEUE_WAIT, REQUESTS, SPEND, TOKENS

UNITS: Mapping[str, Mapping[str, float]] = {
    GPU_HOURS: {"gpus": 1.0, "gpu_hours": 1.0, "gpu_seconds": 1 / 3600},
    REQUESTS: {"requests": 1.0},
    TOKENS: {"tokens": 1.0, "thousand_tokens": 1e3, "million_tokens": 1e6},
    QUEUE_WAIT: {"hours": 1.0, "minutes": 1 / 60, "seconds": 1 / 3600},
}
"""How much of the series' own unit one is; the first is a command's where none is said. Spend is in the currency."""
HELD_UNITS = frozenset({"gpus", *UNITS[QUEUE_WAIT]})
"""Units of what holds at a moment: an hour is the mean of its rows. Of others it is their sum."""
MOST_AMOUNT = 1e15
"""Of a file's value in the series' own unit: sums, and powers of errors, have to stay finite."""
MOST_VALUES = {QUEUE_WAIT: 1e6}
"""Less for these: a wait of over a century is none."""


class UnitUnknown(Refusal):
    """Values of a series are not in such a unit."""


def units_of(measure: str, currency: str) -> Mapping[str, float]:
    """The units that values of a measure may be in."""
    return {currency: 1.0} if measure == SPEND else UNITS[measure]


def factor_of(measure: str, unit: str, currency: str) -> float:
    """How much of the series' own unit one of this is. Refuses UnitUnknown."""
    units = units_of(measure, currency)
    if unit not in units:
        raise UnitUnknown("unit", f"{unit!r} is none of {', '.join(units)}")
    return units[unit]


def most_of_unit(measure: str, unit: str) -> float:
    """The largest value that a file may have of it."""
    return MOST_VALUES.get(measure, MOST_AMOUNT) / UNITS.get(measure, {}).get(unit, 1.0)
