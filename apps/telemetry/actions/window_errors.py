"""Remarks on single windows of a batch: which window, which field, why."""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime

import msgspec
from psycopg import sql

UNKNOWN_FIELD = "unknown field"
PLACE = re.compile(r"\[\d+\]")
COUNT = sql.SQL(
    "INSERT INTO telemetry_rejection AS held (agent_id, day, field, reason, kept, count, last_at)"
    " VALUES {rows} ON CONFLICT (agent_id, day, field, reason, kept)"
    " DO UPDATE SET count = held.count + excluded.count, last_at = excluded.last_at"
)


class Remark(msgspec.Struct, frozen=True, array_like=True):
    """A window was refused, or (`kept`) one of its fields was stored as unknown.

    `index` is None for a remark on the batch as a whole. `reason` is one of a few fixed texts, so
    that remarks can be counted.
    """

    index: int | None
    field: str
    reason: str
    kept: bool


def refused_indices(remarks: Iterable[Remark]) -> list[int]:
    """The windows that were refused, once for each reason."""
    return [remark.index for remark in remarks if remark.index is not None and not remark.kept]


def _counted_as(remark: Remark) -> str:
    """The field, without what a sender chooses: which of a list it is, or a name nobody knows."""
    field = PLACE.sub("[]", remark.field)
    if remark.reason != UNKNOWN_FIELD:
        return field
    parent, dot, _ = field.partition("].")
    return f"{parent}].…" if dot else "…"


def counting(*, agent_id: int, remarks: Iterable[Remark], at: datetime) -> str:
    """The statement that adds to the agent's counts of the day, which Setup shows."""
    counts = Counter((_counted_as(remark), remark.reason, remark.kept) for remark in remarks)
    # Sorted, so that two batches of one agent take the rows in the same order.
    rows = [
        sql.SQL("({})").format(
            sql.SQL(", ").join(map(sql.Literal, (agent_id, at.date(), *key, count, at)))
        )
        for key, count in sorted(counts.items())
    ]
    return COUNT.format(rows=sql.SQL(", ").join(rows)).as_string()
