"""The first days of a forecast by the day are those of the one by the hour, and the days after them join on.

One figure has one value: paths by the hour are summed to local days, with what came of the first of them already. Days beyond
begin at the level at which these end, and come back to their own by half in two weeks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.economics.forecast.candidates import Ints
from apps.economics.forecast.day_totals import with_means
from apps.economics.forecast.hour_paths import DayOfHours, HourPaths
from apps.economics.forecast.names import SCENARIOS
from apps.economics.forecast.scores import ROUNDING, Floats

WEEK = 7
HALF_DAYS = 14.0
MOST_RATIO = 2.0
FAR = 0.15
SEED = 1_618


@dataclass(frozen=True, slots=True)
class NearDays:
    """Days ahead by their `places`, by scenario: `ordinary` without what events do, `planned` with it.

    The means of what is planned are what came of a day and what is expected of its hours; `held` is what of that can be.
    """

    places: Ints
    ordinary: Floats
    planned: Floats
    held: Floats

    @property
    def is_open(self) -> bool:
        """Whether the middle of its last week lies far from the mean, as of what goes on or does not."""
        weeks = self.ordinary[:, -WEEK:].sum(axis=1)
        mean = float(weeks.mean())
        return bool(abs(np.median(weeks) - mean) > FAR * abs(mean))

    def room_beside(self, capacity: Sequence[float]) -> list[float]:
        """Return the bound of each day: where single hours are full before the day is, no more than its hours hold. Empty stays empty."""
        room = np.array(capacity)
        if len(room):
            is_full = self.held < self.planned.mean(axis=0) * (1 - ROUNDING)
            room[self.places[is_full]] = np.minimum(self.held, room[self.places])[is_full]
        limits: list[float] = room.tolist()
        return limits


def near_days(hours: HourPaths, days: Sequence[DayOfHours], *, is_mean: bool) -> NearDays | None:
    """Of days in order; totals, or where `is_mean` the mean of the hours. None where there is no day, or no path."""
    paths = np.frombuffer(hours.paths, dtype="<f4").astype(np.float64)
    if not days or not len(paths):
        return None
    paths = paths.reshape(-1, len(hours.expected))
    factors = np.array([effect.factor for effect, _ in hours.effects])
    added = np.array([effect.added * share for effect, share in hours.effects])
    by_factor = paths * factors
    with_events = np.maximum(by_factor + added, np.minimum(by_factor, 0.0))
    totals = [_totals_of(scenarios, days) for scenarios in (paths, with_events)]
    wanted = np.array([sum(hours.expected[day.begin : day.end]) + day.came for day in days])
    counts = np.array([day.end - day.begin + day.came_hours if is_mean else 1 for day in days])
    repeated = [np.repeat(total, SCENARIOS // len(total), axis=0) / counts for total in totals]
    planned = with_means(repeated[1], wanted / counts, float(repeated[1].min()))
    held_by_day = (
        np.array([hours.held_between(day.begin, day.end) + day.came_held for day in days]) / counts
    )
    return NearDays(np.array([day.place for day in days]), repeated[0], planned, held_by_day)


def joined(
    totals: Floats, near: NearDays, most: float = np.inf, *, is_rare: bool = False
) -> tuple[Floats, Ints]:
    """Ordinary totals by scenario and day with the near days for their own, and the rank of the near scenario in each.

    A scenario has the near one that comes as high among the near ones as it does in that week: what begins high goes on high.
    Days after the last near one are as many times their own as that week's are, less from day to day. Where that is over twice,
    or under half, or days come rarely or the near ones are open, each scenario goes on with its last near week until it comes to its own, half of them in two weeks: a day
    would else be of a size that none had. So none comes to be beyond `most`.
    """
    week = near.places[-WEEK:]
    own_week, there = totals[:, week].sum(axis=1), near.ordinary[:, -WEEK:].sum(axis=1)
    order = np.empty(len(totals), dtype=np.int64)
    order[np.argsort(own_week, kind="stable")] = np.argsort(there, kind="stable")
    combined = totals.copy()
    combined[:, near.places] = near.ordinary[order]
    later = np.arange(int(near.places[-1]) + 1, totals.shape[1])
    left = 0.5 ** ((later - near.places[-1]) / HALF_DAYS)
    own_mean, wanted = float(own_week.mean()), float(there.mean())
    is_alike = own_mean > 0 and 1 / MOST_RATIO <= wanted / own_mean <= MOST_RATIO
    if is_alike and not is_rare and not near.is_open:
        combined[:, later] *= 1 + (wanted / own_mean - 1) * left
    else:
        evenly = (np.arange(len(totals)) + 0.5) / len(totals)
        leaves = np.random.default_rng(SEED).permutation(evenly)[:, None]
        last = near.ordinary[order, -WEEK:]
        gone_on = last[:, (later - near.places[-1] - 1) % last.shape[1]]
        combined[:, later] = np.where(leaves < left, gone_on, combined[:, later])
    combined[:, later] = np.minimum(combined[:, later], np.maximum(totals[:, later], most))
    return combined, order


def _totals_of(paths: Floats, days: Sequence[DayOfHours]) -> Floats:
    return np.stack([paths[:, day.begin : day.end].sum(axis=1) + day.came for day in days], axis=1)
