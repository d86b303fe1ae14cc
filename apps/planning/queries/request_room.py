"""The room for a request for capacity: GPUs expected in its place, and those that can be held there, in its days."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.economics.hours import HOUR, hour_from
from apps.economics.hours_ahead import repeated_values
from apps.planning.queries.ahead import series_ahead
from apps.planning.queries.job_waits import waiting_price
from apps.planning.queries.room import FURTHEST, RoomAhead
from apps.planning.queries.series import SeriesKey

OPEN_FOR = timedelta(days=30)
"""So much of an open request is priced, and held against what is there."""


@dataclass(frozen=True, slots=True)
class RequestRoom:
    """GPUs where the capacity is asked for, in the hour of its days that has least room.

    `expected` are those that are asked for there already, None without a forecast; `there` those that can be held: in service,
    with changes that are entered, of what scales the quota; None: nothing bounds them. `waiting_micros` is what an hour costs
    in which one is waited for, None where nobody said.
    """

    expected: float | None
    there: float | None
    waiting_micros: float | None


def request_room(
    series: SeriesKey,
    pool_ids: frozenset[int],
    days: tuple[datetime, datetime | None],
    at: datetime,
) -> RequestRoom:
    """In its whole hours from `at` on, as far as what is entered is looked ahead to; an open one (no end) for 30 days.

    `series` is the demand of these pools. Where nobody ever entered a node, and no GPU is started as it is asked for, none is there.
    """
    starts_at, ends_at = days
    begins = max(hour_from(starts_at), hour_from(at))
    until = min(ends_at or starts_at + OPEN_FOR, at + FURTHEST)
    hours = max(1, -((begins - until) // HOUR))
    expected = _expected_gpus(series, begins, hours, at)
    rooms = RoomAhead(at)
    there = rooms.of_pools(pool_ids, begins, hours)
    if not there and not expected and rooms.is_bounded(pool_ids):
        there = [0.0] * hours
    demand, room = expected or [0.0] * hours, there or [0.0] * hours
    place = max(range(hours), key=lambda hour: demand[hour] - room[hour])
    return RequestRoom(
        expected=expected[place] if expected else None,
        there=there[place] if there else None,
        waiting_micros=waiting_price(pool_ids),
    )


def _expected_gpus(series: SeriesKey, begins: datetime, hours: int, at: datetime) -> list[float]:
    """Hour by hour; none without a forecast."""
    ahead = series_ahead({series: begins + hours * HOUR}, at).get(series)
    if ahead is None:
        return []
    first = (begins - ahead.starts_at) // HOUR
    middles, means = (
        repeated_values(values, first, hours)
        for values in (ahead.hours.points, ahead.hours.adding_up)
    )
    # Means are of what can be held alone; of what comes rarely the middle is nothing.
    return [max(pair) for pair in zip(middles, means, strict=True)]
