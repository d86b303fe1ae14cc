"""Raw windows of one hour, by column."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

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
REAL = dict.fromkeys(
    ("observed_seconds", "worked_seconds", "sm_ratio", "tensor_ratio", "dram_ratio"), ">f4"
) | {"energy_joules": ">f4"}
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
    arrays = {name: array_values(columns[name], kind) for name, kind in (WHOLE | REAL).items()}
    since_epoch = (hour - POSTGRES_EPOCH) // timedelta(microseconds=1)
    return WindowColumns(start_ms=(arrays.pop("starts_at") - since_epoch) // 1000, **arrays)


def array_values(array: bytes | None, kind: str) -> NDArray[Any]:
    """The values of a Postgres array in binary, of the numpy kind of each; none of a null one."""
    element = np.dtype([("length", ">i4"), ("value", kind)])
    values = np.frombuffer((array or b"")[ARRAY_HEADER_BYTES:], element)["value"]
    return values.astype(np.float64 if kind == ">f4" else np.int64)
