"""How hard every GPU of a fleet worked, hour by hour: one question for all of them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg import Cursor, sql

POSTGRES_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
HOUR_MICROSECONDS = 3_600_000_000
FULL_MINUTE = 240
MINUTES = 60
ARRAY_HEADER_BYTES = 20
MOST_DEVICES = 10_000

# One row of whole columns; an aggregate has its rows in the order of the scan, each the same.
QUESTION = sql.SQL(
    "SELECT array_send(array_agg(usage.device_id)), array_send(array_agg(usage.hour)),"
    " array_send(array_agg(usage.holder_id)), string_agg(usage.observed, ''),"
    " string_agg(usage.worked, '')"
    " FROM telemetry_usagehour AS usage"
    " WHERE usage.hour >= %s AND usage.hour < %s AND usage.device_id = ANY(%s)"
)
DEVICES = (
    "SELECT id, node_id FROM fleet_device WHERE kind = 'gpu' AND NOT isempty(period)"
    " AND period && tstzrange(%s, %s) AND node_id = ANY(%s) ORDER BY node_id, index, id"
)


@dataclass(frozen=True, slots=True)
class Heat:
    """Shares of observed time worked, [row, hour]; NaN where nothing was observed.

    A row is a device, or with over 10,000 of them a node: then `device_ids` is empty.
    """

    hours: tuple[datetime, ...]
    node_ids: tuple[int, ...]
    device_ids: tuple[int, ...]
    worked_ratio: NDArray[np.float64]


def heat(starts_at: datetime, ends_at: datetime, node_ids: Collection[int]) -> Heat:
    """The GPUs of these nodes that lived in the full hours of `[starts_at, ends_at)`."""
    hours = tuple(starts_at + timedelta(hours=k) for k in range(_hours(starts_at, ends_at)))
    connection.ensure_connection()
    with Cursor(connection.connection) as cursor:
        cursor.execute(DEVICES, [starts_at, ends_at, list(node_ids)])
        devices = cursor.fetchall()
        ids = np.array([row[0] for row in devices], np.int64)
        cursor.execute(QUESTION, [starts_at, ends_at, ids.tolist()], binary=True)
        answer = cursor.fetchone() or ()
    sums = _sums(answer, ids, starts_at, len(hours))
    nodes = [row[1] for row in devices]
    if len(devices) > MOST_DEVICES:
        places = {node: place for place, node in enumerate(dict.fromkeys(nodes))}
        into = np.array([places[node] for node in nodes])
        whole = np.zeros((2, len(places), len(hours)))
        for each in (0, 1):
            np.add.at(whole[each], into, sums[each])
        return Heat(hours, tuple(places), (), _ratio(whole))
    return Heat(hours, tuple(nodes), tuple(ids.tolist()), _ratio(sums))


def _hours(starts_at: datetime, ends_at: datetime) -> int:
    return max(0, -((starts_at - ends_at) // timedelta(hours=1)))


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    observed, worked = sums
    with np.errstate(invalid="ignore"):
        return np.where(observed > 0, worked / observed, np.nan)


def _sums(
    answer: tuple[bytes | None, ...], ids: NDArray[np.int64], starts_at: datetime, hours: int
) -> NDArray[np.float64]:
    """Quarter-seconds observed and worked: [2, device, hour]."""
    sums = np.zeros((2, len(ids), hours))
    if not answer or answer[0] is None:
        return sums
    device, moment, holder = (
        _values(column, kind) for column, kind in zip(answer, (">i4", ">i8", ">i4"), strict=False)
    )
    first = (starts_at - POSTGRES_EPOCH) // timedelta(microseconds=1)
    order = np.argsort(ids)
    row = order[np.searchsorted(ids, device, sorter=order)]
    cell = row * hours + (moment - first) // HOUR_MICROSECONDS
    told = [np.frombuffer(part or b"", np.uint8).reshape(-1, MINUTES) for part in answer[3:]]
    several = np.bincount(cell, minlength=sums[0].size)[cell] > 1
    for each, minutes in enumerate(told):
        # As a product: summing rows of sixty bytes one by one takes numpy three times as long.
        sums[each].reshape(-1)[cell] = minutes.astype(np.float32) @ np.ones(MINUTES, np.float32)
    if several.any():
        shared = _shared(cell[several], holder[several], [part[several] for part in told])
        for each in (0, 1):
            sums[each].reshape(-1)[shared[0]] = shared[1 + each]
    return sums


def _shared(
    cell: NDArray[np.int64], holder: NDArray[np.int64], told: list[NDArray[np.uint8]]
) -> tuple[NDArray[np.int64], ...]:
    """By the device's own reading; in minutes without one its holders follow one another."""
    cells, place = np.unique(cell, return_inverse=True)
    own = holder == 0
    others = [np.zeros((len(cells), MINUTES), np.int64) for _ in told]
    owned = [np.zeros((len(cells), MINUTES), np.int64) for _ in told]
    for each, minutes in enumerate(told):
        np.add.at(others[each], place[~own], minutes[~own])
        owned[each][place[own]] = minutes[own]
    seen = owned[0] > 0
    both = [
        np.where(seen, owned[each], np.minimum(others[each], FULL_MINUTE)).sum(axis=1)
        for each in (0, 1)
    ]
    return cells, both[0], both[1]


def _values(array: bytes | None, kind: str) -> NDArray[np.int64]:
    element = np.dtype([("length", ">i4"), ("value", kind)])
    values = np.frombuffer((array or b"")[ARRAY_HEADER_BYTES:], element)["value"]
    return values.astype(np.int64)
