"""How long devices were observed and worked, hour by hour, whoever held them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, LiteralString

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg import Cursor

READINGS: LiteralString = """
SELECT device_id, hour, holder_id, observed, worked FROM telemetry_usagehour
WHERE hour >= %s AND hour < %s AND device_id = ANY(%s) ORDER BY device_id, hour, holder_id
"""
QUARTERS_PER_SECOND = 4
FULL_MINUTE = 240
MINUTES = 60
NOTHING = bytes(MINUTES)
# The id of the empty key: the device as a whole.
NO_HOLDER = 0

Reading = tuple[int, bytes, bytes]
"""A holder, and what was observed and worked of each minute, in quarter-seconds."""


@dataclass(frozen=True, slots=True)
class DeviceHourReading:
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
) -> list[DeviceHourReading]:
    """The hours of `[starts_at, ends_at)` of which anything was measured, by device and hour."""
    return [
        DeviceHourReading(
            device_minute.device_id,
            device_minute.hour,
            sum(device_minute.observed) / QUARTERS_PER_SECOND,
            sum(device_minute.worked) / QUARTERS_PER_SECOND,
        )
        for device_minute in device_minutes(device_ids, starts_at, ends_at)
    ]


def device_minutes(
    device_ids: Collection[int], starts_at: datetime, ends_at: datetime
) -> list[DeviceMinutes]:
    """Return the hours of `[starts_at, ends_at)` of which anything was measured, by device and hour, minute by minute."""
    connection.ensure_connection()
    with Cursor(connection.connection) as cursor:
        cursor.execute(READINGS, [starts_at, ends_at, list(device_ids)], binary=True)
        device_rows = cursor.fetchall()
    readings: dict[tuple[int, datetime], list[Reading]] = {}
    for device_id, hour, *reading in device_rows:
        readings.setdefault((device_id, hour), []).append((reading[0], reading[1], reading[2]))
    return [
        DeviceMinutes(*key, *quarter_seconds_by_minute(device_readings))
        for key, device_readings in readings.items()
    ]


def quarter_seconds_by_minute(readings: Sequence[Reading]) -> tuple[bytes, bytes]:
    """Quarter-seconds observed and worked in each minute of a device's hour, of all its readings.

    By the device's own reading; in minutes without one its holders follow one another.
    """
    own_reading = next(
        (reading for reading in readings if reading[0] == NO_HOLDER), (0, NOTHING, NOTHING)
    )
    others = [reading for reading in readings if reading[0] != NO_HOLDER]
    if not others or 0 not in own_reading[1]:
        return own_reading[1], own_reading[2]
    if len(readings) == 1:
        return others[0][1], others[0][2]
    is_seen = np.frombuffer(own_reading[1], np.uint8) > 0
    observed = np.where(
        is_seen, np.frombuffer(own_reading[1], np.uint8), _holders_in_turn(others, 1)
    )
    worked = np.where(is_seen, np.frombuffer(own_reading[2], np.uint8), _holders_in_turn(others, 2))
    return observed.tobytes(), worked.tobytes()


def _holders_in_turn(others: Sequence[Reading], part: Literal[1, 2]) -> NDArray[np.uint8]:
    quarters = np.frombuffer(b"".join(other[part] for other in others), np.uint8)
    together = quarters.reshape(len(others), MINUTES).sum(axis=0, dtype=np.int64)
    capped: NDArray[np.uint8] = np.minimum(together, FULL_MINUTE).astype(np.uint8)
    return capped
