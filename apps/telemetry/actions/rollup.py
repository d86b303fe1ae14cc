"""Windows to usage hours: only the hours that changed, only the devices that changed in them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from math import isnan
from operator import itemgetter

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray

from apps.economics.hours import HOUR
from apps.economics.usage import UsageRow
from apps.economics.usage import usage_of_hour as counted_usage
from apps.fleet.queries import devices_alive_between, nodes_owned
from apps.logs.changes import logged_pass
from apps.marks.actions import ORGANISATION, Mark, clear, hour_key, mark, try_lock
from apps.marks.queries import MarkFact, Pass, marks_of_hour
from apps.telemetry.actions.busy import ByDevice, note_busy_hour
from apps.telemetry.actions.copying import EPOCH_MS, Values, binary_copies
from apps.telemetry.actions.partitions import ensure_months, has_windows_of
from apps.telemetry.queries import usage_rows, windows_of_hour

# 8 GPUs, a window a minute: some 240,000 windows in memory at once.
NODES_AT_ONCE = 500

SUMS = (
    "sm_seconds",
    "sm_observed_seconds",
    "tensor_seconds",
    "tensor_observed_seconds",
    "dram_seconds",
    "dram_observed_seconds",
    "energy_joules",
)
KINDS = (
    ("hour", ">i8"),
    ("device_id", ">i4"),
    ("holder_id", ">i4"),
    ("source", ">i2"),
    ("observed", "S60"),
    ("worked", "S60"),
    *((name, ">f4") for name in SUMS[:-1]),
    (SUMS[-1], ">f8"),
)
COPY = (
    f"COPY telemetry_usagehour ({', '.join(name for name, _ in KINDS)}) FROM STDIN (FORMAT BINARY)"
)


@logged_pass("roll_up_usage")
def roll_up_hour(*, hour: datetime) -> int:
    """Redo the usage of an hour for its marked nodes; how many.

    At most 500 at a time: call it again until it answers 0. Nodes whose usage changed are marked
    for the split in the same transaction, the hour for the charge where one of them is owned;
    then their own marks are lifted.
    Usage whose windows are over and gone stays as it is. Answers 0 while another process does this
    hour.
    """
    ensure_months([hour.date()])
    with transaction.atomic():
        if not try_lock(Pass.USAGE, hour_key(hour)):
            return 0
        # Marks before facts: a batch that commits in between leaves a newer mark behind.
        marks = marks_of_hour(Pass.USAGE, hour)[:NODES_AT_ONCE]
        if not marks:
            return 0
        if has_windows_of(hour.date()):
            _stay_on_one_core()
            changed = _rolled_up(hour, [node_mark.unit for node_mark in marks])
            mark(_next_marks(hour, changed))
    _lift_marks(hour, marks)
    return len(marks)


def _lift_marks(hour: datetime, marks: Sequence[MarkFact]) -> None:
    """Lift what is done in a transaction of its own, which does not wait for the disk.

    A batch of one of these nodes waits for it. With the usage in it, it would wait until all of
    that is on disk, which took most of a second. Where it is lost, the hour is done again.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit = off")
        clear(Pass.USAGE, {hour: marks})


def _stay_on_one_core() -> None:
    """Keep this transaction from spreading over the cores that batches are waiting for."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL max_parallel_workers_per_gather = 0")


@dataclass(frozen=True, slots=True)
class _Changed:
    """The nodes whose observed or worked time differs, and those of which anything does."""

    in_time: frozenset[int]
    at_all: frozenset[int]


def _next_marks(hour: datetime, changed: _Changed) -> list[Mark]:
    """The split goes by time; what hardware of one's own costs goes by joules, too."""
    marks = [Mark(Pass.SPLIT, node_id, hour) for node_id in changed.in_time]
    if nodes_owned(changed.at_all):
        marks.append(Mark(Pass.CHARGE, ORGANISATION, hour))
    return marks


def _rolled_up(hour: datetime, node_ids: Sequence[int]) -> _Changed:
    """Replace what differs; the nodes of which it did."""
    devices = devices_alive_between(node_ids, hour, hour + HOUR)
    node_of = {device.id: device.node_id for device in devices}
    device_ids = sorted(node_of)
    stored = _by_device(usage_rows(hour, device_ids))
    counted = _by_device(_as_stored(counted_usage(windows_of_hour(hour, device_ids))))
    note_busy_hour(hour=hour, node_ids=node_ids, devices=devices, usage=counted)
    differing = [
        device_id for device_id in device_ids if stored.get(device_id) != counted.get(device_id)
    ]
    if not differing:
        return _Changed(frozenset(), frozenset())
    _replace_usage(
        hour, differing, [row for device_id in differing for row in counted.get(device_id, ())]
    )
    in_time = [
        device_id
        for device_id in differing
        if _times_by_holder(stored, device_id) != _times_by_holder(counted, device_id)
    ]
    return _Changed(
        frozenset(node_of[device_id] for device_id in in_time),
        frozenset(node_of[device_id] for device_id in differing),
    )


def _by_device(rows: Iterable[UsageRow]) -> ByDevice:
    return {device_id: list(group) for device_id, group in groupby(rows, itemgetter(0))}


def _times_by_holder(rows: ByDevice, device_id: int) -> list[tuple[int, bytes, bytes]]:
    return [(row.holder_id, row.observed, row.worked) for row in rows.get(device_id, ())]


def _as_stored(rows: Sequence[UsageRow]) -> list[UsageRow]:
    """Return the rows with their sums as exact as the table keeps them, so that they compare."""
    if not rows:
        return []
    columns: list[Iterable[object]] = list(zip(*rows, strict=True))
    for name in SUMS[:-1]:
        place = UsageRow._fields.index(name)
        values = _real_array([getattr(row, name) for row in rows]).astype(np.float32).tolist()
        columns[place] = [None if isnan(value) else value for value in values]
    return [UsageRow._make(row) for row in zip(*columns, strict=True)]


def _replace_usage(hour: datetime, device_ids: Sequence[int], rows: Sequence[UsageRow]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM telemetry_usagehour WHERE hour = %s AND device_id = ANY(%s)",
            [hour, list(device_ids)],
        )
        if not rows:
            return
        columns: dict[str, Values] = {
            name: _real_array([getattr(row, name) for row in rows]) for name in SUMS
        }
        columns["hour"] = (int(hour.timestamp()) * 1000 - EPOCH_MS) * 1000
        for name in ("device_id", "holder_id", "source"):
            columns[name] = np.array([getattr(row, name) for row in rows], np.int64)
        for name in ("observed", "worked"):
            columns[name] = np.array([getattr(row, name) for row in rows], "S60")
        for body in binary_copies(KINDS, columns, SUMS, len(rows)):
            with cursor.copy(COPY) as copy:
                copy.write(body)


def _real_array(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array(values, np.float64)
