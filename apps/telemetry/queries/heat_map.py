"""How hard the nodes of a fleet worked, hour by hour: one question for all of them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg import Cursor, sql

from apps.economics.hours import HOUR
from apps.telemetry.queries.windows import POSTGRES_EPOCH, array_values

HOUR_MICROSECONDS = 3_600_000_000
QUARTERS_PER_SECOND = 4

# One row of whole columns; an aggregate has its rows in the order of the scan, each the same.
QUESTION = sql.SQL(
    "SELECT array_send(array_agg(node_id)), array_send(array_agg(hour)),"
    " array_send(array_agg(observed_quarters)), array_send(array_agg(worked_quarters))"
    " FROM telemetry_nodebusyhour WHERE hour >= %s AND hour < %s AND node_id = ANY(%s)"
)
KINDS = (">i8", ">i8", ">i4", ">i4")


@dataclass(frozen=True, slots=True)
class HeatSample:
    """GPU-seconds observed, and worked of those, [node, hour]; 0 observed is unknown, not idle."""

    hours: tuple[datetime, ...]
    node_ids: tuple[int, ...]
    observed_seconds: NDArray[np.float64]
    worked_seconds: NDArray[np.float64]

    @property
    def worked_ratio(self) -> NDArray[np.float64]:
        """Shares of observed time worked; NaN where nothing was observed."""
        with np.errstate(invalid="ignore"):
            return np.where(
                self.observed_seconds > 0, self.worked_seconds / self.observed_seconds, np.nan
            )


def heat(starts_at: datetime, ends_at: datetime, node_ids: Collection[int]) -> HeatSample:
    """Return what the GPUs of these nodes did together in the hours of `[starts_at, ends_at)`.

    The nodes are in the order given; kept for the last 35 days.
    """
    hours = tuple(starts_at + k * HOUR for k in range(max(0, -((starts_at - ends_at) // HOUR))))
    asked_ids = np.array(list(node_ids), np.int64)
    sums = np.zeros((2, len(asked_ids), len(hours)))
    connection.ensure_connection()
    with Cursor(connection.connection) as cursor:
        cursor.execute(QUESTION, [starts_at, ends_at, asked_ids.tolist()], binary=True)
        answer: tuple[bytes | None, ...] = cursor.fetchone() or ()
    if answer[0] is not None:
        node, moment, *readings = map(array_values, answer, KINDS)
        order = np.argsort(asked_ids)
        row = order[np.searchsorted(asked_ids, node, sorter=order)]
        first = (starts_at - POSTGRES_EPOCH) // timedelta(microseconds=1)
        column = (moment - first) // HOUR_MICROSECONDS
        for place, quarters in enumerate(readings):
            sums[place, row, column] = quarters / QUARTERS_PER_SECOND
    return HeatSample(hours, tuple(asked_ids.tolist()), sums[0], sums[1])
