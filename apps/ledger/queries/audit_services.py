"""The check of what services cost, by feature: their parts are their lines."""

from apps.ledger.queries.audit_sql import Query

# Pass 5 is the roll-up. Services are workloads of the kinds serving and batch. What one pool's
# roll-up redoes of a service, it redoes in all its pools: a pool that waits leaves the service out.
SERVICE_DAYS = Query(
    (),
    """
WITH waiting AS (
    SELECT (hour AT TIME ZONE %(zone)s)::date AS day, unit AS pool_id
    FROM fleet_changedhour WHERE pass_id = 5
),
bounds AS (
    SELECT (%(from)s::timestamptz AT TIME ZONE %(zone)s)::date AS first_day,
           ((%(to)s::timestamptz - interval '1 microsecond') AT TIME ZONE %(zone)s)::date AS last_day
),
services AS (
    SELECT id AS workload_id, name FROM workloads_workload WHERE kind IN ('serving', 'batch')
),
lines AS (
    SELECT (hour AT TIME ZONE %(zone)s)::date AS day, workload_id, coalesce(pool_id, 0) AS pool_id,
           sum(list_micros) AS listed, sum(contracted_micros) AS contracted,
           sum(effective_micros) AS effective, sum(billed_micros) AS billed,
           sum(unit_milliseconds) AS ms,
           coalesce(sum(unit_milliseconds) FILTER (WHERE effective_micros IS NULL), 0) AS unpriced
    FROM ledger_line JOIN services USING (workload_id), bounds
    WHERE hour >= (first_day::timestamp AT TIME ZONE %(zone)s) - interval '1 hour'
      AND hour < ((last_day + 1)::timestamp AT TIME ZONE %(zone)s) + interval '1 hour'
    GROUP BY 1, 2, 3
),
parts AS (
    SELECT day, workload_id, coalesce(pool_id, 0) AS pool_id, sum(list_micros) AS listed,
           sum(contracted_micros) AS contracted, sum(effective_micros) AS effective,
           sum(billed_micros) AS billed, sum(unit_milliseconds) AS ms,
           sum(unpriced_milliseconds) AS unpriced
    FROM ledger_serviceday, bounds WHERE day BETWEEN first_day AND last_day GROUP BY 1, 2, 3
),
totals AS (
    SELECT day, workload_id, 0::bigint AS pool_id,
           coalesce(answered_micros, 0) + coalesce(idle_micros, 0)
           + coalesce(unattributed_micros, 0) + coalesce(uncounted_micros, 0) AS effective
    FROM ledger_servicetotal, bounds
    WHERE measure = 'effective' AND day BETWEEN first_day AND last_day
),
summed AS (
    SELECT day, workload_id, coalesce(sum(effective), 0) AS effective FROM parts GROUP BY 1, 2
),
compared AS (
    SELECT day, workload_id, pool_id, basis.*
    FROM lines FULL JOIN parts USING (day, workload_id, pool_id)
    CROSS JOIN LATERAL (VALUES
        ('list', lines.listed, parts.listed), ('contracted', lines.contracted, parts.contracted),
        ('effective', lines.effective, parts.effective), ('billed', lines.billed, parts.billed),
        ('milliseconds', lines.ms, parts.ms), ('unpriced', lines.unpriced, parts.unpriced)
    ) AS basis (name, expected, found)
    UNION ALL
    SELECT day, workload_id, 0, 'effective of its days', summed.effective, totals.effective
    FROM summed FULL JOIN totals USING (day, workload_id)
)
SELECT NULL, 'service ' || services.name, compared.day, compared.name, compared.expected,
       compared.found, coalesce(compared.found, 0) - coalesce(compared.expected, 0),
       count(*) OVER (),
       sum(abs(coalesce(compared.found, 0) - coalesce(compared.expected, 0))) OVER ()
FROM compared CROSS JOIN bounds LEFT JOIN services USING (workload_id)
WHERE compared.day BETWEEN bounds.first_day AND bounds.last_day
  AND compared.expected IS DISTINCT FROM compared.found
  AND NOT EXISTS (
      SELECT 1 FROM waiting JOIN lines USING (day, pool_id)
      WHERE lines.day = compared.day AND lines.workload_id = compared.workload_id)
ORDER BY compared.day, compared.workload_id, compared.pool_id, compared.name
LIMIT %(shown)s
""",
)
