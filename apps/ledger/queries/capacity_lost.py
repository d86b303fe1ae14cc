"""The cost of capacity while nothing could run on it, and whose it was."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, LiteralString, NamedTuple

from psycopg import sql

from apps.economics.outages import lost_while_held
from apps.economics.priced_time import PricedTime
from apps.economics.split import largest_remainder
from apps.economics.states import State
from apps.ledger.queries.calendar import next_month
from apps.ledger.queries.tables import named_rows, rows
from apps.ledger.queries.windows import DAY

CUT: LiteralString = """
FROM unnest(%(places)s::int4[], %(nodes)s::int8[], %(whole)s::bool[], %(starts)s::timestamptz[],
            %(ends)s::timestamptz[]) AS span (place, node_id, is_whole, starts_at, ends_at)
JOIN fleet_node_fact AS node ON node.id = span.node_id
JOIN ledger_settlement AS settled
  ON settled.node_id = span.node_id AND settled.superseded_at IS NULL
 AND settled.hour > span.starts_at - interval '1 hour' AND settled.hour < span.ends_at
CROSS JOIN LATERAL (
    SELECT greatest(settled.hour, lower(node.period)) AS begins,
           least(settled.through, coalesce(upper(node.period), settled.through)) AS ends
) AS life
CROSS JOIN LATERAL (
    SELECT extract(epoch FROM life.ends - life.begins) * 1000
) AS lived (ms)
CROSS JOIN LATERAL (
    SELECT greatest(0, extract(epoch FROM least(life.ends, span.ends_at)
                                          - greatest(life.begins, span.starts_at)) * 1000)
) AS cut (ms)
"""
# Of one GPU: its part of all the GPU time that the node-hour was charged for.
COST: LiteralString = (
    """
SELECT span.place, sum(settled.effective_micros::numeric * cut.ms
           / nullif(CASE WHEN span.is_whole THEN lived.ms ELSE settled.unit_milliseconds END, 0)),
       bool_or(settled.effective_micros IS NULL),
       sum(cut.ms)
"""
    + CUT
    + "GROUP BY span.place"
)
OUT: LiteralString = (
    """
SELECT settled.id AS settlement_id, span.place,
       round(CASE WHEN span.is_whole THEN settled.unit_milliseconds * cut.ms / nullif(lived.ms, 0)
                  ELSE cut.ms END)::int8 AS out_ms
"""
    + CUT
    + "WHERE cut.ms >= 1"
)
# OFFSET keeps the join a walk along the index of each month: joined whole, a month is read whole.
LOST: LiteralString = """
WITH outage AS MATERIALIZED ({out})
SELECT outage.settlement_id, outage.place, outage.out_ms, line.*
FROM outage CROSS JOIN LATERAL (
    SELECT id, team_id, workload_id, pool_id, job_id, state, unit_milliseconds AS ms, effective_micros AS micros
    FROM ledger_line
    WHERE posting_month = ANY(%(months)s) AND settlement_id = outage.settlement_id
      AND unit_milliseconds > 0 AND state = ANY(%(states)s)
    ORDER BY id OFFSET 0
) AS line
ORDER BY outage.settlement_id, outage.place, line.id
"""


@dataclass(frozen=True, slots=True)
class UnusableSpan:
    """A node, or one GPU of it, on which nothing could run in `[starts_at, ends_at)`."""

    node_id: int
    is_whole_node: bool
    starts_at: datetime
    ends_at: datetime


class LostOwner(NamedTuple):
    """The owner of GPU time lost to a span, by its place; `job_id` None: no job held it."""

    place: int
    team_id: int
    workload_id: int | None
    pool_id: int | None
    job_id: int | None


def lost_time(spans: Sequence[UnusableSpan]) -> dict[LostOwner, PricedTime]:
    """Return the time lost in spans that do not overlap, by settled hours: held by nobody, or held and not active.

    Of an hour with several spans each has a part by its GPU time.
    """
    if not spans:
        return {}
    query = sql.SQL(LOST).format(out=sql.SQL(OUT))
    out: dict[int, dict[int, int]] = defaultdict(dict)
    parts: dict[int, dict[int, Any]] = defaultdict(dict)
    for row in named_rows(query, _span_columns(spans) | _line_params(spans)):
        out[row.settlement_id][row.place] = row.out_ms
        parts[row.settlement_id][row.id] = row
    lost_by_owner: dict[LostOwner, PricedTime] = defaultdict(PricedTime)
    for settlement_id, lines in parts.items():
        places = out[settlement_id]
        for line, lost in _lost_of_hour(sum(places.values()), list(lines.values())):
            price = None if line.micros is None else Fraction(line.micros, line.ms)
            owner = line.team_id, line.workload_id, line.pool_id, line.job_id
            shares = largest_remainder(lost, list(places.values()))
            for place, share in zip(places, shares, strict=True):
                if share:
                    lost_by_owner[LostOwner(place, *owner)].add(share, price)
    return dict(lost_by_owner)


def _lost_of_hour(out_ms: int, lines: Sequence[Any]) -> Iterator[tuple[Any, int]]:
    """Of each line of a node-hour that was not active what was lost; out of service all of it."""
    free = [line for line in lines if line.state == State.OUT_OF_SERVICE]
    yield from ((line, line.ms) for line in free)
    held_lines = [line for line in lines if line.state != State.OUT_OF_SERVICE]
    idle = [line.ms for line in held_lines]
    yield from zip(
        held_lines, lost_while_held(out_ms, sum(line.ms for line in free), idle), strict=True
    )


def _line_params(spans: Sequence[UnusableSpan]) -> dict[str, object]:
    """An hour's lines are posted in its own local month, which begins or ends within a day of UTC's."""
    month = (min(span.starts_at for span in spans) - DAY).date().replace(day=1)
    last, months = (max(span.ends_at for span in spans) + DAY).date(), []
    while month <= last:
        months.append(month)
        month = next_month(month)
    lost = [State.OUT_OF_SERVICE, State.HELD_IDLE, State.UNOBSERVED]
    return {"months": months, "states": [int(state) for state in lost]}


def capacity_lost(spans: Sequence[UnusableSpan]) -> list[int | None]:
    """The effective cost of each span, in micro-units, as far as it is settled.

    A GPU's is its part of the node-hour's by GPU time. None where no hour of it is settled or one
    has no price: what it cost is not known then.
    """
    if not spans:
        return []
    cost_rows = rows(COST, _span_columns(spans))
    lost: list[int | None] = [None] * len(spans)
    for place, micros, is_unpriced, milliseconds in cost_rows:
        if milliseconds and not is_unpriced and micros is not None:
            lost[place] = round(micros)
    return lost


def _span_columns(spans: Sequence[UnusableSpan]) -> dict[str, object]:
    return {
        "places": list(range(len(spans))),
        "nodes": [span.node_id for span in spans],
        "whole": [span.is_whole_node for span in spans],
        "starts": [span.starts_at for span in spans],
        "ends": [span.ends_at for span in spans],
    }
