"""Rows of reports added to hours of devices and nodes: sums, means by their weight, peaks."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import connection
from psycopg import sql

from apps.economics.hours import from_epoch_ms
from apps.telemetry.actions.report_wire import DEVICE_SUMS, NODE_READINGS, ReportRow

MEANS = {
    "temperature_celsius": "temperature",
    "sm_clock_mhz": "clock",
    "graphics_ratio": "graphics",
}
PEAKS = {
    "fabric_peak": ("fabric_bytes",),
    "network_peak": ("network_bytes",),
    "disk_peak": ("disk_read_bytes", "disk_written_bytes"),
}
DEVICE_COLUMNS = (
    "observed_seconds",
    *(f"{name}_{part}" for name in MEANS.values() for part in ("sum", "seconds")),
    "temperature_peak",
    *DEVICE_SUMS,
)
NODE_COLUMNS = ("observed_seconds", *NODE_READINGS, *PEAKS)

Hour = tuple[int, int]
"""ms since 1970 at which it starts, and the id of a device or node."""


class EvidenceSums:
    """The sums that are to be added to each hour."""

    def __init__(self) -> None:
        self.hours: dict[Hour, dict[str, float]] = {}

    def add(self, key: Hour, name: str, value: float) -> None:
        """A peak keeps the larger, all else adds up."""
        hour = self.hours.setdefault(key, {})
        if name.endswith("_peak"):
            hour[name] = max(hour.get(name, value), value)
        else:
            hour[name] = hour.get(name, 0.0) + value


def add_device_rows(rows: Iterable[ReportRow], ids: Mapping[int, int], source: int) -> None:
    """Add rows of devices, whose ids are by their place in the report; in the caller's transaction.

    Not safe to repeat by itself: the report's own row sees to that.
    """
    sums = EvidenceSums()
    for row in rows:
        for hour_ms, share in row.parts():
            _add_device_part(sums, (hour_ms, ids[row.device or 0]), row, share)
    _add_to_hours("telemetry_devicehour", "device_id", DEVICE_COLUMNS, sums, source)


def add_node_rows(rows: Iterable[ReportRow], node_id: int, source: int) -> None:
    """Add the rows of a node's report to the hours of the node."""
    sums = EvidenceSums()
    for row in rows:
        for hour_ms, share in row.parts():
            key = (hour_ms, node_id)
            sums.add(key, "observed_seconds", row.seconds * share)
            for name in NODE_READINGS:
                if name in row.values:
                    sums.add(key, name, row.values[name] * share)
            for name, parts in PEAKS.items():
                readings = [row.values[part] for part in parts if part in row.values]
                if readings:
                    sums.add(key, name, sum(readings) / row.seconds)
    _add_to_hours("telemetry_nodehour", "node_id", NODE_COLUMNS, sums, source)


def _add_device_part(sums: EvidenceSums, key: Hour, row: ReportRow, share: float) -> None:
    observed = min(row.values.get("observed_seconds", row.seconds), row.seconds) * share
    sums.add(key, "observed_seconds", observed)
    for reading, name in MEANS.items():
        if reading in row.values:
            sums.add(key, f"{name}_sum", row.values[reading] * observed)
            sums.add(key, f"{name}_seconds", observed)
    if "temperature_celsius" in row.values:
        sums.add(key, "temperature_peak", row.values["temperature_celsius"])
    for name in DEVICE_SUMS:
        if name in row.values:
            sums.add(key, name, row.values[name] * share)


def _add_to_hours(
    table: str, key: str, columns: tuple[str, ...], sums: EvidenceSums, source: int
) -> None:
    if not sums.hours:
        return
    names = ("hour", key, "source", *columns)
    values: list[datetime | float | None] = []
    # Sorted, so that two reports take the rows in the same order.
    for (hour_ms, unit), amounts in sorted(sums.hours.items()):
        values += [from_epoch_ms(hour_ms), unit, source, *(amounts.get(name) for name in columns)]
    row = sql.SQL("({})").format(sql.SQL(", ").join([sql.SQL("%s")] * len(names)))
    statement = sql.SQL(
        "INSERT INTO {table} AS held ({names}) VALUES {rows}"
        " ON CONFLICT (hour, {key}, source) DO UPDATE SET {changes}"
    ).format(
        table=sql.Identifier(table),
        names=sql.SQL(", ").join(map(sql.Identifier, names)),
        rows=sql.SQL(", ").join([row] * len(sums.hours)),
        key=sql.Identifier(key),
        changes=sql.SQL(", ").join(map(_column_change, columns)),
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def _column_change(name: str) -> sql.Composed:
    """Return the change of a column by a sum: what was never told stays unknown, whatever is added to it."""
    how = (
        "{0} = greatest(held.{0}, excluded.{0})"
        if name.endswith("_peak")
        else "{0} = coalesce(held.{0} + excluded.{0}, held.{0}, excluded.{0})"
    )
    return sql.SQL(how).format(sql.Identifier(name))
