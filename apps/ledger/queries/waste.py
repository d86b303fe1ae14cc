"""Waste: what was charged while nothing useful came of it. One definition for every page and answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, LiteralString

from psycopg import sql

from apps.economics.run_time import Bucket
from apps.economics.states import State
from apps.ledger.models import ServicePart
from apps.ledger.queries.costs import (
    DIRECT,
    GROUPS,
    CostFilter,
    GroupNotKnown,
    amount_column,
    parameters,
    roll_up,
    where,
)
from apps.ledger.queries.tables import rows


class WastePart(IntEnum):
    """Why nothing useful came of it. A line counts once: for the first of these that it was.

    FAILED: of runs that failed, or did it again. NO_REQUESTS: hours in which a service was counted
    and nobody asked it. The rest are the states of apps.economics.states, by their numbers.
    """

    FAILED = 101
    NO_REQUESTS = 102
    HELD_IDLE = State.HELD_IDLE
    UNALLOCATED = State.UNALLOCATED
    STRANDED = State.STRANDED
    OUT_OF_SERVICE = State.OUT_OF_SERVICE


NOT_HELD = (WastePart.UNALLOCATED, WastePart.STRANDED, WastePart.OUT_OF_SERVICE)
OF_STATES = (WastePart.HELD_IDLE, *NOT_HELD)
FAILED_BUCKETS = (Bucket.FAILED, Bucket.LOST)
GROUPED = frozenset({"day", "team", "workload", "pool"})
"""What waste may be grouped by."""


@dataclass(frozen=True, slots=True)
class Waste:
    """Micro-units by part; a part that did not occur, or has no price, is not in it."""

    parts: Mapping[WastePart, int] = field(default_factory=dict)

    @property
    def micros(self) -> int | None:
        """All parts together; None where none is known."""
        return sum(self.parts.values()) if self.parts else None

    def of(self, *parts: WastePart) -> int | None:
        """These together; None where none of them is known."""
        known = [self.parts[part] for part in parts if part in self.parts]
        return sum(known) if known else None


def waste_by(chosen: CostFilter, group_by: Sequence[str] = ()) -> dict[tuple[Any, ...], Waste]:
    """Waste of these costs by group (of `GROUPED`), idle shared out aside; refuses GroupNotKnown.

    What runs failed at or lost and what services held unasked are parts of the ledger's lines, so
    they are taken off the states that these lines were in: the parts add up, and never overlap.
    Runs and services keep no tags, so a filter by tags is refused too (GroupNotKnown).
    """
    unknown = [name for name in group_by if name not in GROUPED]
    if unknown or chosen.tags:
        named = unknown[0] if unknown else "tag"
        raise GroupNotKnown(f"waste: {named!r} is none of {', '.join(sorted(GROUPED))}")
    keys = [sql.SQL("{}, ").format(sql.SQL(GROUPS[name])) for name in group_by]
    numbers = sql.SQL(", ").join([sql.Literal(place + 1) for place in range(len(keys) + 1)])
    query = sql.SQL(WASTE).format(
        keys=sql.SQL("").join(keys),
        amount=amount_column(chosen.basis),
        states=roll_up(chosen, group_by),
        where=where(chosen),
        direct=DIRECT,
        grouped=numbers,
    )
    params = parameters(chosen) | {
        "of_states": [int(part) for part in OF_STATES],
        "failed": [int(bucket) for bucket in FAILED_BUCKETS],
        "failed_part": int(WastePart.FAILED),
        "idle": int(ServicePart.IDLE),
        "unasked_part": int(WastePart.NO_REQUESTS),
    }
    found: dict[tuple[Any, ...], dict[WastePart, int]] = {}
    for *key, part, micros in rows(query, params):
        if micros is not None:
            found.setdefault(tuple(key), {})[WastePart(part)] = micros
    return {key: Waste(parts) for key, parts in found.items()}


def waste_of(chosen: CostFilter) -> Waste:
    """All waste of these costs."""
    return waste_by(chosen).get((), Waste())


def wastes_summed(wastes: Iterable[Waste]) -> Waste:
    """Part by part."""
    parts: dict[WastePart, int] = {}
    for waste in wastes:
        for part, micros in waste.parts.items():
            parts[part] = parts.get(part, 0) + micros
    return Waste(parts)


# Each source gives what it adds to its own part, and takes the same off the part that already has it.
WASTE: LiteralString = """
SELECT {keys} day.part, sum(day.micros)::int8
FROM (
    SELECT {keys} day.state AS part, {amount} AS micros
    FROM {states} AS day
    WHERE {where} AND {direct} AND day.state = ANY(%(of_states)s)
    UNION ALL
    SELECT {keys} of.part, of.sign * {amount}
    FROM ledger_runday AS day CROSS JOIN LATERAL (VALUES
        (%(failed_part)s, 1),
        (CASE WHEN day.is_unasked THEN %(unasked_part)s
              WHEN day.state = ANY(%(of_states)s) THEN day.state END, -1)
    ) AS of (part, sign)
    WHERE {where} AND {direct} AND day.bucket = ANY(%(failed)s) AND of.part IS NOT NULL
    UNION ALL
    SELECT {keys} of.part, of.sign * {amount}
    FROM ledger_serviceday AS day CROSS JOIN LATERAL (VALUES
        (%(unasked_part)s, 1),
        (CASE WHEN day.state = ANY(%(of_states)s) THEN day.state END, -1)
    ) AS of (part, sign)
    WHERE {where} AND {direct} AND day.part = %(idle)s AND of.part IS NOT NULL
) AS day
GROUP BY {grouped} ORDER BY {grouped}
"""
