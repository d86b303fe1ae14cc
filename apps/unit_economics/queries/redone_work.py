"""Work that has to be done again because its job ended in an outage, as far as its run reports it."""

from collections.abc import Sequence
from datetime import timedelta
from fractions import Fraction
from typing import LiteralString

from psycopg import sql

from apps.economics.priced_time import PricedTime
from apps.economics.run_time import Bucket
from apps.economics.states import State
from apps.ledger.queries.capacity_lost import LostOwner, UnusableSpan
from apps.ledger.queries.core_time import gpu_time
from apps.ledger.queries.kinds import ChargeKind
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import DAY

BEFORE = timedelta(minutes=5)
"""So long before an outage is on record a job may have ended by it."""
LOST_WITHIN = 7 * DAY
"""As far before an outage as work may be that its end lost."""

# A job of several nodes that were out ended once: the first of them has it.
REDONE: LiteralString = """
WITH ended AS (
    SELECT DISTINCT ON (job.id) job.id AS job_id, span.place
    FROM unnest(%(places)s::int4[], %(nodes)s::int8[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
        AS span (place, node_id, starts_at, ends_at)
    JOIN workloads_allocation_fact AS held ON held.node_id = span.node_id
        AND held.period && tstzrange(span.starts_at - %(before)s, span.ends_at)
    JOIN workloads_job_fact AS job ON job.id = held.job_id
    WHERE held.gpus_numerator > 0 AND job.started_at < span.starts_at
      AND job.ended_at >= span.starts_at - %(before)s AND job.ended_at <= span.ends_at
    ORDER BY job.id, span.starts_at, span.place
)
SELECT ended.place, day.team_id, day.workload_id, day.pool_id, day.job_id,
       sum(day.unit_milliseconds)::int8, sum(day.unpriced_milliseconds)::int8,
       coalesce(sum(day.effective_micros), 0)::int8
FROM ended JOIN ledger_runday AS day ON day.job_id = ended.job_id
WHERE day.day >= %(first)s AND day.day <= %(last)s AND day.bucket = %(lost)s
  AND day.state = %(active)s AND day.kind = %(kind)s AND NOT day.is_unasked AND {is_gpu}
GROUP BY 1, 2, 3, 4, 5 HAVING sum(day.unit_milliseconds) > 0 ORDER BY 1, 5
"""


def work_redone(spans: Sequence[UnusableSpan]) -> dict[LostOwner, PricedTime]:
    """Of jobs that held GPUs of a node and ended while it was out: their active time that is lost to their run.

    Time that was not active is left out, so that none of it is lost to the outage itself too.
    """
    if not spans:
        return {}
    params = {
        "places": list(range(len(spans))),
        "nodes": [span.node_id for span in spans],
        "starts": [span.starts_at for span in spans],
        "ends": [span.ends_at for span in spans],
        "before": BEFORE,
        "first": (min(span.starts_at for span in spans) - LOST_WITHIN).date(),
        "last": (max(span.ends_at for span in spans) + DAY).date(),
        "lost": int(Bucket.LOST),
        "active": int(State.ACTIVE),
        "kind": str(ChargeKind.NODE_HOUR),
    }
    query = sql.SQL(REDONE).format(is_gpu=sql.SQL(gpu_time("day")))
    return {
        LostOwner(*owner): PricedTime(milliseconds, Fraction(micros), unpriced_ms)
        for *owner, milliseconds, unpriced_ms, micros in rows(query, params)
    }
