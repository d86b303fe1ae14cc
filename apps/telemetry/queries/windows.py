"""Raw windows of one hour, by column."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

import numpy as np
from django.db import connection
from psycopg import Cursor, sql

from apps.economics.usage import WindowColumns

POSTGRES_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
HEADER_BYTES, TRAILER_BYTES = 19, 2

# What is asked for, and its kind in the binary format; nothing is NULL, so that all rows are
# equally long and the whole answer is one array.
ASKED = (
    ("device_id", "device_id", ">i4"),
    ("holder_id", "holder_id", ">i4"),
    ("starts_at", "starts_at", ">i8"),
    ("length_ms", "length_ms", ">i4"),
    ("source", "source", ">i2"),
    ("boot", "boot", ">i8"),
    ("agent_id", "agent_id", ">i4"),
    ("observed_seconds", "observed_seconds", ">f4"),
    *(
        (name, f"coalesce({name}, 'NaN')", ">f4")
        for name in ("worked_seconds", "sm_ratio", "tensor_ratio", "dram_ratio", "energy_joules")
    ),
)
ROW = np.dtype(
    [("fields", ">i2")]
    + [part for name, _, kind in ASKED for part in ((f"{name} length", ">i4"), (name, kind))]
)


def windows_of_hour(hour: datetime, device_ids: Collection[int]) -> WindowColumns:
    """The windows of these devices that start in the hour from `hour`, in no order.

    None crosses the hour: ingest cut it there.
    """
    question = sql.SQL(
        "COPY (SELECT {columns} FROM telemetry_window WHERE device_id = ANY({devices})"
        " AND starts_at >= {start} AND starts_at < {end}) TO STDOUT (FORMAT BINARY)"
    ).format(
        columns=sql.SQL(", ").join(sql.SQL(asked) for _, asked, _ in ASKED),
        devices=sql.Literal(list(device_ids)),
        start=sql.Literal(hour),
        end=sql.Literal(hour + HOUR),
    )
    connection.ensure_connection()
    with Cursor(connection.connection) as cursor, cursor.copy(question) as copy:
        answer = b"".join(copy)
    rows = np.frombuffer(answer[HEADER_BYTES:-TRAILER_BYTES], ROW)
    since_epoch = (hour - POSTGRES_EPOCH) // timedelta(microseconds=1)
    whole, real = np.int64, np.float64
    return WindowColumns(
        device_id=rows["device_id"].astype(whole),
        holder_id=rows["holder_id"].astype(whole),
        start_ms=(rows["starts_at"].astype(whole) - since_epoch) // 1000,
        length_ms=rows["length_ms"].astype(whole),
        source=rows["source"].astype(whole),
        boot=rows["boot"].astype(whole),
        agent_id=rows["agent_id"].astype(whole),
        observed_seconds=rows["observed_seconds"].astype(real),
        worked_seconds=rows["worked_seconds"].astype(real),
        sm_ratio=rows["sm_ratio"].astype(real),
        tensor_ratio=rows["tensor_ratio"].astype(real),
        dram_ratio=rows["dram_ratio"].astype(real),
        energy_joules=rows["energy_joules"].astype(real),
    )
