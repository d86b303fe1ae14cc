"""Paths of a forecast by the hour that the days of one by the day begin with, for those that only pass it on: without numpy."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.economics.forecast.planned import DayEffect


@dataclass(frozen=True, slots=True)
class HourPaths:
    """A forecast's paths by the hour: `paths` without events (little-endian 32-bit floats, by scenario and hour).

    `effects` are what events do to each hour's day, with its share of it; `expected` is the mean with them, `capacity` what can
    be held of it, empty where nothing bounds it.
    """

    paths: bytes
    effects: Sequence[tuple[DayEffect, float]]
    expected: Sequence[float]
    capacity: Sequence[float] = ()

    def held_between(self, begin: int, end: int) -> float:
        """Return how much is expected of these hours and can be held, each by itself."""
        expected = self.expected[begin:end]
        return sum(map(min, expected, self.capacity[begin:end])) if self.capacity else sum(expected)


@dataclass(frozen=True, slots=True)
class DayOfHours:
    """A day ahead (from 0) as hours: those of a forecast from place `begin` to `end`, and what came of it before, in so many hours.

    `came_held` is what of that could be held.
    """

    place: int
    begin: int
    end: int
    came: float = 0.0
    came_hours: int = 0
    came_held: float = 0.0


@dataclass(frozen=True, slots=True)
class BegunDays:
    """The first days of a forecast by the day, in order, and the hours that they are of."""

    hours: HourPaths
    days: Sequence[DayOfHours]
