"""What capacity cost while nothing could run on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.ledger.queries.tables import rows

# Of one GPU: its part of all the GPU time that the node-hour was charged for.
COST = """
SELECT span.place, sum(settled.effective_micros::numeric * cut.ms
           / nullif(CASE WHEN span.is_whole THEN lived.ms ELSE settled.unit_milliseconds END, 0)),
       bool_or(settled.effective_micros IS NULL),
       sum(cut.ms)
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
GROUP BY span.place
"""


@dataclass(frozen=True, slots=True)
class UnusableSpan:
    """A node, or one GPU of it, on which nothing could run in `[starts_at, ends_at)`."""

    node_id: int
    is_whole_node: bool
    starts_at: datetime
    ends_at: datetime


def capacity_lost(spans: Sequence[UnusableSpan]) -> list[int | None]:
    """The effective cost of each span, in micro-units, as far as it is settled.

    A GPU's is its part of the node-hour's by GPU time. None where no hour of it is settled or one
    has no price: what it cost is not known then.
    """
    if not spans:
        return []
    found = rows(
        COST,
        {
            "places": list(range(len(spans))),
            "nodes": [span.node_id for span in spans],
            "whole": [span.is_whole_node for span in spans],
            "starts": [span.starts_at for span in spans],
            "ends": [span.ends_at for span in spans],
        },
    )
    lost: list[int | None] = [None] * len(spans)
    for place, micros, is_unpriced, milliseconds in found:
        if milliseconds and not is_unpriced and micros is not None:
            lost[place] = round(micros)
    return lost
