"""ServiceDay in the roll-up: the day's lines of services, divided over their features."""

from apps.ledger.actions.rolled_day import RolledDay
from apps.ledger.models import ServicePart
from apps.ledger.queries.tables import run


def write_service_days(rolled: RolledDay) -> None:
    """Write the day's rows of services anew, in the roll-up's transaction."""
    run(DELETE, rolled.parameters())
    run(UNCOUNTED, rolled.parameters() | {"part": int(ServicePart.UNCOUNTED)})


DELETE = """
DELETE FROM ledger_serviceday WHERE day = %(day)s AND coalesce(pool_id, 0) = ANY(%(pools)s)
"""
UNCOUNTED = """
INSERT INTO ledger_serviceday
    (day, posting_month, status, kind, pool_id, team_id, workload_id, feature, part, state, flags,
     list_micros, contracted_micros, effective_micros, billed_micros, marginal_micros,
     unit_milliseconds, unpriced_milliseconds)
SELECT %(day)s, line.posting_month, charge.status, charge.kind, line.pool_id, line.team_id,
       line.workload_id, '', %(part)s, line.state, line.flags,
       sum(line.list_micros), sum(line.contracted_micros), sum(line.effective_micros),
       sum(line.billed_micros), sum(line.effective_micros), sum(line.unit_milliseconds),
       coalesce(sum(line.unit_milliseconds) FILTER (WHERE line.effective_micros IS NULL), 0)
FROM ledger_line AS line
JOIN ledger_charge AS charge ON charge.id = line.charge_id
JOIN workloads_workload AS workload
     ON workload.id = line.workload_id AND workload.kind = 'serving'
WHERE line.hour >= %(from)s AND line.hour < %(to)s AND coalesce(line.pool_id, 0) = ANY(%(pools)s)
GROUP BY line.posting_month, charge.status, charge.kind, line.pool_id, line.team_id,
         line.workload_id, line.state, line.flags, line.list_micros IS NULL,
         line.contracted_micros IS NULL, line.effective_micros IS NULL, line.billed_micros IS NULL
"""
