"""How long devices were observed and worked, hour by hour, whoever held them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString

from django.db import connection
from psycopg import Cursor

READINGS: LiteralString = """
SELECT device_id, hour, holder_id, observed, worked FROM telemetry_usagehour
WHERE hour >= %s AND hour < %s AND device_id = ANY(%s) ORDER BY device_id, hour, holder_id
"""
QUARTERS_PER_SECOND = 4
FULL_MINUTE = 240
# The id of the empty key: the device as a whole.
NO_HOLDER = 0

Reading = tuple[int, bytes, bytes]
"""A holder, and what was observed and worked of each minute, in quarter-seconds."""


@dataclass(frozen=True, slots=True)
class DeviceHour:
    """The seconds of an hour in which a device was observed, and in which it worked."""

    device_id: int
    hour: datetime
    observed_seconds: float
    worked_seconds: float


@dataclass(frozen=True, slots=True)
class DeviceMinutes:
    """An hour of a device by the minute: quarter-seconds observed and worked, 0 to 240 each."""

    device_id: int
    hour: datetime
    observed: bytes
    worked: bytes


def device_hours(
    device_ids: Collection[int], starts_at: datetime, ends_at: datetime
) -> list[DeviceHour]:
    """The hours of `[starts_at, ends_at)` of which anything was measured, by device and hour."""
    return [
        DeviceHour(
            each.device_id,
            each.hour,
            sum(each.observed) / QUARTERS_PER_SECOND,
            sum(each.worked) / QUARTERS_PER_SECOND,
        )
        for each in device_minutes(device_ids, starts_at, ends_at)
    ]


def device_minutes(
    device_ids: Collection[int], starts_at: datetime, ends_at: datetime
) -> list[DeviceMinutes]:
    """The same hours, minute by minute."""
    connection.ensure_connection()
    with Cursor(connection.connection) as cursor:
        cursor.execute(READINGS, [starts_at, ends_at, list(device_ids)], binary=True)
        found = cursor.fetchall()
    readings: dict[tuple[int, datetime], list[Reading]] = {}
    for device_id, hour, *reading in found:
        readings.setdefault((device_id, hour), []).append((reading[0], reading[1], reading[2]))
    return [
        DeviceMinutes(*key, *map(bytes, told_by_minute(each))) for key, each in readings.items()
    ]


def told_by_minute(readings: Sequence[Reading]) -> tuple[Iterable[int], Iterable[int]]:
    """Quarter-seconds observed and worked in each minute of a device's hour, of all its readings.

    By the device's own reading; in minutes without one its holders follow one another.
    """
    own = next((each for each in readings if each[0] == NO_HOLDER), (0, b"", b""))
    others = [each for each in readings if each[0] != NO_HOLDER]
    observed = _minutes(own[1], own[1], [each[1] for each in others])
    return observed, _minutes(own[1], own[2], [each[2] for each in others])


def _minutes(own_observed: bytes, own: bytes, others: list[bytes]) -> Iterable[int]:
    if not others:
        return own
    if not own_observed:
        return others[0] if len(others) == 1 else map(_capped, zip(*others, strict=True))
    followed = map(_capped, zip(*others, strict=True))
    return (
        said if seen else other
        for seen, said, other in zip(own_observed, own, followed, strict=True)
    )


def _capped(minute: tuple[int, ...]) -> int:
    return min(FULL_MINUTE, sum(minute))
