"""Usage hours: what everything after the raw windows reads."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, LiteralString

from django.db import connection
from psycopg import Cursor

from apps.economics.node_hour.facts import UsageFact
from apps.economics.usage import UsageRow

# In the order of UsageRow.
COLUMNS: LiteralString = """
SELECT device_id, holder_id, observed, worked, sm_seconds, sm_observed_seconds, tensor_seconds,
       tensor_observed_seconds, dram_seconds, dram_observed_seconds, energy_joules, source"""
ROWS: LiteralString = f"""{COLUMNS}
FROM telemetry_usagehour
WHERE hour = %s AND device_id = ANY(%s) ORDER BY device_id, holder_id
"""
ROWS_OF_HOURS: LiteralString = f"""{COLUMNS}, hour
FROM telemetry_usagehour
WHERE hour = ANY(%s) AND device_id = ANY(%s) ORDER BY hour, device_id, holder_id
"""
FACTS = """
SELECT device_id, holder_id, observed, worked FROM telemetry_usagehour
WHERE hour = %s AND device_id = ANY(%s) ORDER BY device_id, holder_id
"""


def usage_of_hour(hour: datetime, device_ids: Collection[int]) -> list[UsageFact]:
    """Return what these devices did in the hour that starts at `hour`; by device, then holder."""
    return [UsageFact._make(row) for row in _fetch_binary(FACTS, hour, device_ids)]


def usage_rows(hour: datetime, device_ids: Collection[int]) -> list[UsageRow]:
    """Return the usage of these devices in an hour with ratios, joules and source, as the roll-up wrote it."""
    return [UsageRow._make(row) for row in _fetch_binary(ROWS, hour, device_ids)]


def usage_rows_of_hours(
    hours: Collection[datetime], device_ids: Collection[int]
) -> dict[datetime, list[UsageRow]]:
    """Return the usage rows of several hours, in one statement; of each hour by device, then holder."""
    rows_by_hour: dict[datetime, list[UsageRow]] = {hour: [] for hour in hours}
    for *row, hour in _fetch_binary(ROWS_OF_HOURS, list(hours), device_ids):
        rows_by_hour[hour].append(UsageRow._make(row))
    return rows_by_hour


def _fetch_binary(
    question: LiteralString, hour: datetime | list[datetime], device_ids: Collection[int]
) -> list[tuple[Any, ...]]:
    # Django's own cursor fetches text, which for 60 bytes is hexadecimal to be parsed again.
    connection.ensure_connection()
    with Cursor(connection.connection) as cursor:
        cursor.execute(question, [hour, list(device_ids)], binary=True)
        return cursor.fetchall()
