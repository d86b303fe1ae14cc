"""What the time of a pool cost that no job held."""

from typing import LiteralString

from apps.economics.states import State
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.tables import rows

UNHELD = [int(State.UNALLOCATED), int(State.STRANDED), int(State.OUT_OF_SERVICE)]
SUM: LiteralString = """
SELECT coalesce(sum(effective_micros), 0)::int8 FROM ledger_ledgermonth
WHERE pool_id = %(pool)s AND team_id = %(team)s AND kind = 'node_hour' AND state = ANY(%(states)s)
  AND NOT posting_month = ANY(%(closed)s::date[])
"""


def unheld_cost(pool_id: int, team_id: int) -> int:
    """Effective cost in micro-units that this team carries of the pool's time not held by a job, in open months."""
    asked = {"pool": pool_id, "team": team_id, "states": UNHELD, "closed": sorted(closed_months())}
    ((micros,),) = rows(SUM, asked)
    return int(micros)
