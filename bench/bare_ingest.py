"""A bare WSGI application that stores batches: inflate, decode, COPY, and nothing else.

What small batches are measured against, under the same server, into the same table. It asks for no
token, checks nothing, remembers nothing and marks nothing; devices and holders are taken by their
place in the batch.
"""

import os
import threading
import zlib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec
import psycopg

DATABASE = os.environ["RUNRATE_DATABASE_URL"]
ANSWER = b'{"accepted":8,"duplicate":false,"rejected":[],"ignored":[]}'
HEADERS = [("Content-Type", "application/json"), ("Content-Length", str(len(ANSWER)))]
COPY = (
    "COPY telemetry_window (starts_at, boot, memory_used_bytes, device_id, holder_id, agent_id,"
    " length_ms, observed_seconds, worked_seconds, sm_ratio, tensor_ratio, dram_ratio,"
    " energy_joules, source, flags) FROM STDIN"
)
# Beyond every device that the fleet of the bench has.
FIRST_DEVICE = 1_000_000
mine = threading.local()


class Windows(msgspec.Struct):
    """The columns of a batch."""

    device: list[int]
    holder: list[int]
    starts_at_ms: list[int]
    seconds: list[float]
    observed_seconds: list[float]
    worked_seconds: list[float | None]
    sm_ratio: list[float | None]
    tensor_ratio: list[float | None]
    dram_ratio: list[float | None]
    energy_joules: list[float | None]
    memory_used_bytes: list[int | None]


class Batch(msgspec.Struct):
    """What is read of a body."""

    boot: int
    windows: Windows


decoder = msgspec.json.Decoder(Batch)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Store one batch in one transaction."""
    body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    batch = decoder.decode(zlib.decompress(body, wbits=31))
    columns = batch.windows
    with _connection().cursor().copy(COPY) as copy:
        for row in zip(
            columns.starts_at_ms, columns.memory_used_bytes, columns.device, columns.holder,
            columns.seconds, columns.observed_seconds, columns.worked_seconds, columns.sm_ratio,
            columns.tensor_ratio, columns.dram_ratio, columns.energy_joules, strict=True,
        ):  # fmt: skip
            starts_at_ms, memory, device, holder, seconds, *measured = row
            copy.write_row(
                (datetime.fromtimestamp(starts_at_ms / 1000, UTC), batch.boot, memory,
                 FIRST_DEVICE + device, holder, 1, int(seconds * 1000), *measured, 1, 0)
            )  # fmt: skip
    start_response("200 OK", HEADERS)
    return [ANSWER]


def _connection() -> "psycopg.Connection[tuple[Any, ...]]":
    if not hasattr(mine, "connection"):
        mine.connection = psycopg.connect(DATABASE, autocommit=True)
    connection: psycopg.Connection[tuple[Any, ...]] = mine.connection
    return connection
