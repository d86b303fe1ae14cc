"""A whole and its parts as they are handed to what makes their forecasts add up: without numpy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PartForecast:
    """Values of a history, all of the same span, None not known, and the forecast of the same steps after it.

    `low` and `high` are the ends of its 80 % interval, None without one.
    """

    history: Sequence[float | None]
    points: Sequence[float]
    low: Sequence[float | None]
    high: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class ForecastHierarchy:
    """A whole, and its parts for each way to divide it by its name; forecasts begin `offset` steps after the history."""

    whole: PartForecast
    ways: Mapping[str, Sequence[PartForecast]]
    offset: int
