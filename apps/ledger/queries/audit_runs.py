"""The check of what runs cost: their parts are their jobs' lines, and never more."""

from apps.ledger.queries.audit_sql import FROZEN, Query

# Pass 5 is the roll-up. A job is covered on a day where its runs' spans hold all of its life in it,
# and no line is of another time; then its parts are its lines, else they are no more.
RUN_DAYS = Query(
    (FROZEN,),
    """,
waiting AS (
    SELECT (hour AT TIME ZONE %(zone)s)::date AS day, unit AS pool_id
    FROM fleet_changedhour WHERE pass_id = 5
),
bounds AS (
    SELECT (%(from)s::timestamptz AT TIME ZONE %(zone)s)::date AS first_day,
           ((%(to)s::timestamptz - interval '1 microsecond') AT TIME ZONE %(zone)s)::date AS last_day
),
carried AS (
    SELECT job_id, range_agg(period) AS during FROM workloads_runspan GROUP BY job_id
),
parts AS (
    SELECT day, job_id, coalesce(pool_id, 0) AS pool_id, sum(list_micros) AS listed,
           sum(contracted_micros) AS contracted, sum(effective_micros) AS effective,
           sum(billed_micros) AS billed, sum(unit_milliseconds) AS ms,
           sum(unpriced_milliseconds) AS unpriced
    FROM ledger_runday, bounds WHERE day BETWEEN first_day AND last_day GROUP BY 1, 2, 3
),
lines AS (
    SELECT (hour AT TIME ZONE %(zone)s)::date AS day, job_id, coalesce(pool_id, 0) AS pool_id,
           min(hour) AS first_hour, max(hour) AS last_hour,
           sum(list_micros) AS listed, sum(contracted_micros) AS contracted,
           sum(effective_micros) AS effective, sum(billed_micros) AS billed,
           sum(unit_milliseconds) AS ms,
           coalesce(sum(unit_milliseconds) FILTER (WHERE effective_micros IS NULL), 0) AS unpriced,
           bool_or(least(list_micros, contracted_micros, effective_micros, billed_micros) < 0)
               AS has_credit
    FROM ledger_line, bounds
    WHERE hour >= (first_day::timestamp AT TIME ZONE %(zone)s) - interval '1 hour'
      AND hour < ((last_day + 1)::timestamp AT TIME ZONE %(zone)s) + interval '1 hour'
      AND job_id IN (SELECT job_id FROM carried UNION SELECT job_id FROM parts)
    GROUP BY 1, 2, 3
),
lives AS (
    SELECT lines.day, lines.job_id, lines.pool_id,
           tstzrange(coalesce(job.started_at, job.opened_at), job.ended_at)
           * tstzrange(lines.first_hour, lines.last_hour + interval '1 hour') AS life,
           coalesce(job.started_at, job.opened_at) < lines.first_hour + interval '1 hour'
           AND coalesce(job.ended_at > lines.last_hour, true) AS is_all_its_life
    FROM lines JOIN workloads_job AS job ON job.id = lines.job_id
),
covered AS (
    SELECT lives.day, lives.job_id, lives.pool_id
    FROM lives JOIN carried ON carried.job_id = lives.job_id AND carried.during @> lives.life
    WHERE lives.is_all_its_life
      AND date_trunc('month', lives.day)::date NOT IN (SELECT month FROM frozen)
),
compared AS (
    SELECT day, job_id, pool_id, lines.has_credit, covered.job_id IS NOT NULL AS is_covered, basis.*
    FROM lines FULL JOIN parts USING (day, job_id, pool_id)
    LEFT JOIN covered USING (day, job_id, pool_id)
    CROSS JOIN LATERAL (VALUES
        ('list', lines.listed, parts.listed), ('contracted', lines.contracted, parts.contracted),
        ('effective', lines.effective, parts.effective), ('billed', lines.billed, parts.billed),
        ('milliseconds', lines.ms, parts.ms), ('unpriced', lines.unpriced, parts.unpriced)
    ) AS basis (name, expected, found)
)
SELECT NULL, 'job ' || job.raw_id, compared.day, compared.name, compared.expected, compared.found,
       coalesce(compared.found, 0) - coalesce(compared.expected, 0), count(*) OVER (),
       sum(abs(coalesce(compared.found, 0) - coalesce(compared.expected, 0))) OVER ()
FROM compared CROSS JOIN bounds JOIN workloads_job AS job ON job.id = compared.job_id
WHERE compared.day BETWEEN bounds.first_day AND bounds.last_day
  AND (compared.is_covered AND compared.expected IS DISTINCT FROM compared.found
       OR coalesce(compared.found, 0) > coalesce(compared.expected, 0)
          AND NOT coalesce(compared.has_credit AND compared.name NOT IN ('milliseconds', 'unpriced'),
                           false))
  AND NOT EXISTS (
      SELECT 1 FROM waiting
      WHERE waiting.day = compared.day AND waiting.pool_id = compared.pool_id)
ORDER BY compared.day, compared.job_id, compared.pool_id, compared.name
LIMIT %(shown)s
""",
)
