"""Time of nodes by state: for pools by day, for nodes by the hour; never amounts.

Only `charged_since` tells money, for whoever may see all of it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from psycopg import sql

from apps.ledger.queries.tables import rows

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class PoolSpan:
    """Milliseconds of a pool's units by state (apps.economics.states.State), held and observed."""

    by_state: Mapping[int, int] = field(default_factory=dict)
    held: int = 0
    observed: int = 0


@dataclass(frozen=True, slots=True)
class ChargedSince:
    """The cost charged for a node from a moment on; null where no hour of it has a price."""

    hours: int
    effective_micros: int | None


def time_of_pools(first_day: date, end_day: date) -> dict[int, PoolSpan]:
    """The time of each pool in the local days `[first_day, end_day)`."""
    pool_rows = rows(
        """
        SELECT pool_id, state, sum(unit_milliseconds)::int8, sum(held_milliseconds)::int8,
               sum(observed_milliseconds)::int8
        FROM ledger_ledgerday
        WHERE day >= %(first)s AND day < %(end)s AND pool_id IS NOT NULL AND state IS NOT NULL
        GROUP BY 1, 2 ORDER BY 1, 2
        """,
        {"first": first_day, "end": end_day},
    )
    spans: dict[int, PoolSpan] = {}
    for pool_id, state, milliseconds, held_ms, observed in pool_rows:
        before = spans.get(pool_id, PoolSpan())
        spans[pool_id] = PoolSpan(
            {**before.by_state, state: milliseconds},
            before.held + held_ms,
            before.observed + observed,
        )
    return spans


def time_of_nodes(
    node_ids: Collection[int], starts_at: datetime, ends_at: datetime
) -> dict[int, dict[int, int]]:
    """Unit-milliseconds of each node by state, settled in the hours of `[starts_at, ends_at)`."""
    state_rows = rows(
        sql.SQL(
            "SELECT node_id, state, sum(milliseconds)::int8 FROM ({}) AS hours GROUP BY 1, 2"
        ).format(HOURS),
        _span_params(node_ids, starts_at, ends_at),
    )
    nodes: dict[int, dict[int, int]] = {}
    for node_id, state, milliseconds in state_rows:
        nodes.setdefault(node_id, {})[state] = milliseconds
    return nodes


def hours_of_node(
    node_id: int, starts_at: datetime, ends_at: datetime
) -> dict[datetime, dict[int, int]]:
    """Unit-milliseconds of a node by state, for each settled hour of `[starts_at, ends_at)`."""
    hour_rows = rows(
        sql.SQL("{} ORDER BY 2, 3").format(HOURS), _span_params([node_id], starts_at, ends_at)
    )
    hours: dict[datetime, dict[int, int]] = {}
    for _, hour, state, milliseconds in hour_rows:
        hours.setdefault(hour, {})[state] = milliseconds
    return hours


def charged_since(node_id: int, starts_at: datetime) -> ChargedSince:
    """Return the cost charged for the hours of a node that begin at `starts_at` or later."""
    ((hours, micros),) = rows(
        """
        SELECT count(DISTINCT hour), sum(effective_micros)::int8 FROM ledger_charge
        WHERE kind = 'node_hour' AND node_id = %(node)s AND hour >= %(from)s
        """,
        {"node": node_id, "from": starts_at},
    )
    return ChargedSince(hours, micros)


# OFFSET keeps the join a walk along the index of each month: joined whole, a month is read whole.
# An hour's lines are posted in its own local month, which begins or ends within a day of UTC's.
HOURS = sql.SQL("""
SELECT settlement.node_id AS node_id, line.hour AS hour, line.state AS state,
       sum(line.unit_milliseconds)::int8 AS milliseconds
FROM ledger_settlement AS settlement
CROSS JOIN LATERAL (
    SELECT hour, state, unit_milliseconds FROM ledger_line
    WHERE posting_month = ANY(%(months)s) AND settlement_id = settlement.id
      AND unit_milliseconds > 0
    OFFSET 0
) AS line
WHERE settlement.node_id = ANY(%(nodes)s) AND settlement.hour >= %(from)s
  AND settlement.hour < %(to)s AND settlement.superseded_at IS NULL
GROUP BY 1, 2, 3
""")


def _span_params(
    node_ids: Collection[int], starts_at: datetime, ends_at: datetime
) -> dict[str, object]:
    months = {(starts_at - DAY).date().replace(day=1), (ends_at + DAY).date().replace(day=1)}
    params = {"nodes": list(node_ids), "from": starts_at, "to": ends_at}
    return {**params, "months": sorted(months)}
