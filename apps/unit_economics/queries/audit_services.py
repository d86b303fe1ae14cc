"""The checks of what services cost, by feature: their parts are their lines, their totals the parts."""

from typing import LiteralString

from apps.ledger.queries.audit_compare import Agreement, AuditComparison, Check, Fact
from apps.ledger.queries.audit_rollups import (
    DAY,
    IN_DAYS,
    LINE_SUMS,
    LINES_OF_DAYS,
    MARGINAL,
    MARGINAL_JOIN,
    MARGINAL_SUM,
    MONEY,
    NAMED,
    NAMES,
    NULLS,
    ROW_MONEY,
    ROW_STATUS,
    ROW_UNKNOWN,
    STATUS,
    TRAITS,
    UNKNOWN,
)
from apps.ledger.queries.audit_sql import (
    BOUND_DAYS,
    FROZEN,
    IS_LATER,
    POOLS_UNDIVIDED,
    STATUSES_WAITING,
    WAITING,
)

# Services are workloads of the kinds serving and batch. What one pool's roll-up redoes of a service,
# it redoes in all its pools: a pool that waits leaves the service out, one whose lines went to
# another day too.
SERVICES: LiteralString = """
services AS (
    SELECT id AS workload_id, name FROM workloads_workload WHERE kind IN ('serving', 'batch')
)
"""
SERVICES_WAITING: LiteralString = """
services_waiting AS (
    SELECT DISTINCT waits.day, waits.is_later, line.workload_id
    FROM pools_waiting AS waits JOIN ledger_line AS line
      ON coalesce(line.pool_id, 0) = waits.pool_id
     AND line.hour >= (waits.day::timestamp AT TIME ZONE %(zone)s) - interval '1 hour'
     AND line.hour < ((waits.day + 1)::timestamp AT TIME ZONE %(zone)s) + interval '1 hour'
    WHERE line.workload_id IS NOT NULL
    UNION
    SELECT waits.day, waits.is_later, part.workload_id
    FROM pools_waiting AS waits JOIN ledger_serviceday AS part
      ON part.day = waits.day AND coalesce(part.pool_id, 0) = waits.pool_id
)
"""
NOT_WAITING: LiteralString = f"""
(day, workload_id, {IS_LATER})
NOT IN (SELECT waits.day, waits.workload_id, waits.is_later FROM services_waiting AS waits)
"""
IN_BOUNDS: LiteralString = "row.day BETWEEN bounds.first_day AND bounds.last_day"

SERVICE_DAYS = AuditComparison(
    tables=(
        *(FROZEN, WAITING, POOLS_UNDIVIDED, STATUSES_WAITING, BOUND_DAYS, SERVICES),
        *(SERVICES_WAITING, MARGINAL),
    ),
    expected=f"""
    SELECT {DAY}, {STATUS}, charge.kind, line.team_id, line.workload_id, line.pool_id, line.state,
           line.flags, {UNKNOWN}, {LINE_SUMS}, {MARGINAL_SUM}
    {LINES_OF_DAYS} {MARGINAL_JOIN}
    {IN_DAYS} AND line.workload_id IN (SELECT workload_id FROM services)
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13""",
    found=f"""
    SELECT row.day, row.posting_month, {ROW_STATUS}, row.kind, row.team_id, row.workload_id,
           row.pool_id, row.state, row.flags, {ROW_UNKNOWN}, {ROW_MONEY}, row.marginal_micros
    FROM ledger_serviceday AS row CROSS JOIN bounds WHERE {IN_BOUNDS}""",
    keys=("day", *TRAITS, *NULLS),
    measures=(*MONEY, "milliseconds", "unpriced", "marginal"),
    place=f"""
    concat_ws(', ', 'service ' || workload.name, {NAMED}, compared.kind, compared.status,
              'state ' || compared.state, 'flags ' || compared.flags)""",
    joins=NAMES,
    only=NOT_WAITING,
)

# Every basis with and without what is shared out (kind shared, flag 64), and the marginal part;
# parts are 0 answered, 1 idle, 2 unattributed, 3 uncounted. State 1 is active.
MEASURES: LiteralString = """
(VALUES ('list', row.list_micros), ('contracted', row.contracted_micros),
        ('effective', row.effective_micros), ('billed', row.billed_micros),
        ('list.direct', CASE WHEN is_direct THEN row.list_micros END),
        ('contracted.direct', CASE WHEN is_direct THEN row.contracted_micros END),
        ('effective.direct', CASE WHEN is_direct THEN row.effective_micros END),
        ('billed.direct', CASE WHEN is_direct THEN row.billed_micros END),
        ('marginal', row.marginal_micros)) AS measure (name, micros)
"""
SERVICE_TOTALS = AuditComparison(
    tables=(BOUND_DAYS,),
    expected=f"""
    SELECT row.day, row.posting_month, row.workload_id, measure.name AS measure,
           sum(measure.micros) FILTER (WHERE row.part = 0) AS answered,
           sum(measure.micros) FILTER (WHERE row.part = 1) AS idle,
           sum(measure.micros) FILTER (WHERE row.part = 2) AS unattributed,
           sum(measure.micros) FILTER (WHERE row.part = 3) AS uncounted,
           sum(measure.micros) FILTER (WHERE row.state IS NOT NULL AND row.part <> 3) AS stated,
           sum(measure.micros) FILTER (WHERE row.state = 1 AND row.part <> 3) AS active,
           sum(row.unit_milliseconds) AS milliseconds, sum(row.unpriced_milliseconds) AS unpriced,
           coalesce(sum(row.unit_milliseconds) FILTER (
               WHERE row.state IN (1, 2, 3) AND row.flags & 3 = 0), 0) AS held,
           coalesce(sum(row.unit_milliseconds) FILTER (
               WHERE row.state IN (1, 2) AND row.flags & 3 = 0), 0) AS observed,
           bit_or(CASE row.status WHEN 'provisional' THEN 1 WHEN 'estimated' THEN 2
                                  WHEN 'reconciled' THEN 4 ELSE 8 END) AS statuses
    FROM ledger_serviceday AS row CROSS JOIN bounds
    CROSS JOIN LATERAL (SELECT row.kind <> 'shared' AND row.flags & 64 = 0 AS is_direct) AS direct
    CROSS JOIN LATERAL {MEASURES}
    WHERE {IN_BOUNDS} GROUP BY 1, 2, 3, 4""",
    found=f"""
    SELECT row.day, row.posting_month, row.workload_id, row.measure, row.answered_micros, row.idle_micros,
           row.unattributed_micros, row.uncounted_micros, row.stated_micros, row.active_micros,
           row.unit_milliseconds, row.unpriced_milliseconds, row.held_milliseconds,
           row.observed_milliseconds, row.statuses
    FROM ledger_servicetotal AS row CROSS JOIN bounds WHERE {IN_BOUNDS}""",
    keys=("day", "posting_month", "workload_id", "measure"),
    measures=(
        *("answered", "idle", "unattributed", "uncounted", "stated", "active", "milliseconds"),
        *("unpriced", "held", "observed", "statuses"),
    ),
    place="concat_ws(', ', 'service ' || workload.name, compared.measure)",
    joins="LEFT JOIN workloads_workload AS workload ON workload.id = compared.workload_id",
)

# What was counted stands in each of a service's totals of a day, and corrections of it add 0; hours that nobody counted (part 3)
# are in none of them. Requests are unknown where any part of them is.
SERVICE_COUNTS = Agreement(
    tables=(BOUND_DAYS,),
    source="""ledger_servicetotal AS row CROSS JOIN bounds
    JOIN workloads_workload AS workload ON workload.id = row.workload_id
    CROSS JOIN LATERAL (
        SELECT row.posting_month = date_trunc('month', row.day)::date AS is_own
    ) AS posted
    CROSS JOIN LATERAL (
        SELECT CASE WHEN count(told.requests) = count(*) THEN coalesce(sum(told.requests), 0) END
                   AS requests,
               CASE WHEN count(told.succeeded) = count(*) THEN coalesce(sum(told.succeeded), 0) END
                   AS succeeded,
               sum(told.prompt_tokens) AS prompt_tokens, sum(told.cached_tokens) AS cached_tokens,
               sum(told.output_tokens) AS output_tokens,
               coalesce(sum(told.prompt_ms), 0) AS prompt_ms,
               coalesce(sum(told.cached_ms), 0) AS cached_ms,
               coalesce(sum(told.output_ms), 0) AS output_ms,
               coalesce(sum(told.untold_ms), 0) AS untold_ms,
               coalesce(sum(told.measured_ms), 0) AS measured_ms
        FROM ledger_servicecount AS told
        WHERE told.day = row.day AND told.workload_id = row.workload_id AND told.part <> 3
          AND posted.is_own
    ) AS counted
    CROSS JOIN LATERAL (
        SELECT count(*) AS features FROM ledger_serviceday AS part
        WHERE part.day = row.day AND part.workload_id = row.workload_id AND posted.is_own
          AND part.posting_month = row.posting_month AND NOT EXISTS (
            SELECT 1 FROM ledger_servicecount AS told
            WHERE told.day = part.day AND told.workload_id = part.workload_id
              AND told.feature = part.feature AND told.part = part.part)
    ) AS without""",
    where=IN_BOUNDS,
    facts=(
        Fact("requests", "counted.requests", "row.requests"),
        Fact("succeeded", "counted.succeeded", "row.succeeded"),
        Fact("prompt tokens", "counted.prompt_tokens", "row.prompt_tokens"),
        Fact("cached tokens", "counted.cached_tokens", "row.cached_tokens"),
        Fact("output tokens", "counted.output_tokens", "row.output_tokens"),
        Fact("prompt time", "counted.prompt_ms", "row.prompt_ms"),
        Fact("cached time", "counted.cached_ms", "row.cached_ms"),
        Fact("output time", "counted.output_ms", "row.output_ms"),
        Fact("untold time", "counted.untold_ms", "row.untold_ms"),
        Fact("measured time", "counted.measured_ms", "row.measured_ms"),
        Fact("parts that nobody counted", "0", "without.features"),
    ),
    place="concat_ws(', ', 'service ' || workload.name, row.measure)",
    hour="row.day",
)

CHECKS = (
    Check("parts of a service sum to its lines", SERVICE_DAYS),
    Check("totals of a service sum its parts", SERVICE_TOTALS),
    Check("totals of a service count what its features did", SERVICE_COUNTS),
)
