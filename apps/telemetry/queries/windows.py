"""Raw windows of one hour, by column."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg import Cursor, sql

from apps.economics.hours import HOUR
from apps.economics.usage import WindowColumns

POSTGRES_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)

# An array in Postgres' binary format: dimensions, whether any is NULL, type, length, lower bound;
# then each value with its length before it.
ARRAY_HEADER_BYTES = 20
WHOLE = {
    "device_id": ">i4",
    "holder_id": ">i4",
    "starts_at": ">i8",
    "length_ms": ">i4",
    "source": ">i2",
    "boot": ">i8",
    "agent_id": ">i4",
}
# Asked for with NaN in place of NULL, so that all values of a column are equally long.
REAL = (
    "observed_seconds",
    "worked_seconds",
    "sm_ratio",
    "tensor_ratio",
    "dram_ratio",
    "energy_joules",
)
# One row of whole columns: row by row, handing them over takes longer than counting them.
QUESTION = sql.SQL(
    "SELECT {columns} FROM telemetry_window"
    " WHERE device_id = ANY(%s) AND starts_at >= %s AND starts_at < %s"
).format(
    columns=sql.SQL(", ").join(
        [sql.SQL("array_send(array_agg({}))").format(sql.Identifier(name)) for name in WHOLE]
        + [
            sql.SQL("array_send(array_agg(coalesce({}, 'NaN')))").format(sql.Identifier(name))
            for name in REAL
        ]
    )
)


def windows_of_hour(hour: datetime, device_ids: Collection[int]) -> WindowColumns:
    """The windows of these devices that start in the hour from `hour`, in no order.

    None crosses the hour: ingest cut it there.
    """
    connection.ensure_connection()
    with Cursor(connection.connection) as cursor:
        cursor.execute(QUESTION, [list(device_ids), hour, hour + HOUR], binary=True)
        answer: tuple[bytes | None, ...] = cursor.fetchone() or ()
    columns = dict(zip((*WHOLE, *REAL), answer, strict=True))
    whole = {
        name: _array_values(columns[name], kind).astype(np.int64) for name, kind in WHOLE.items()
    }
    real = {name: _array_values(columns[name], ">f4").astype(np.float64) for name in REAL}
    since_epoch = (hour - POSTGRES_EPOCH) // timedelta(microseconds=1)
    return WindowColumns(
        device_id=whole["device_id"],
        holder_id=whole["holder_id"],
        start_ms=(whole["starts_at"] - since_epoch) // 1000,
        length_ms=whole["length_ms"],
        source=whole["source"],
        boot=whole["boot"],
        agent_id=whole["agent_id"],
        observed_seconds=real["observed_seconds"],
        worked_seconds=real["worked_seconds"],
        sm_ratio=real["sm_ratio"],
        tensor_ratio=real["tensor_ratio"],
        dram_ratio=real["dram_ratio"],
        energy_joules=real["energy_joules"],
    )


def _array_values(array: bytes | None, kind: str) -> NDArray[np.void]:
    element = np.dtype([("length", ">i4"), ("value", kind)])
    return np.frombuffer((array or b"")[ARRAY_HEADER_BYTES:], element)["value"]
