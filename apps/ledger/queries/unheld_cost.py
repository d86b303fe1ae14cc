"""Cost of the time of a pool that no job held."""

from typing import LiteralString

from apps.economics.states import State
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.tables import rows

UNHELD = [int(State.UNALLOCATED), int(State.STRANDED), int(State.OUT_OF_SERVICE)]
SUM: LiteralString = """
SELECT sum(effective_micros)::int8 FROM ledger_ledgermonth
WHERE pool_id = %(pool)s AND kind = 'node_hour' AND state = ANY(%(states)s)
  AND NOT posting_month = ANY(%(closed)s::date[])
"""


def unheld_cost(pool_id: int) -> int | None:
    """Effective cost in micro-units of the pool's time not held by a job in open months, whoever carries it.

    None: nothing of it has a price yet.
    """
    params = {"pool": pool_id, "states": UNHELD, "closed": sorted(closed_months())}
    ((micros,),) = rows(SUM, params)
    return None if micros is None else int(micros)
