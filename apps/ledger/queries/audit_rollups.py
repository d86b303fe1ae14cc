"""The checks of the roll-ups, apart from those of charges and lines."""

from apps.ledger.queries.audit_sql import Query

# Whole local days only: a day that the span cuts is compared by all of its lines.
ROLLUPS = Query(
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
lines AS (
    SELECT (hour AT TIME ZONE %(zone)s)::date AS day, coalesce(pool_id, 0) AS pool_id,
           sum(list_micros) AS listed, sum(contracted_micros) AS contracted,
           sum(effective_micros) AS effective, sum(billed_micros) AS billed,
           sum(unit_milliseconds) AS ms,
           sum(effective_micros) FILTER (WHERE job_id IS NOT NULL) AS of_jobs
    FROM ledger_line, bounds
    WHERE hour >= (first_day::timestamp AT TIME ZONE %(zone)s) - interval '1 hour'
      AND hour < ((last_day + 1)::timestamp AT TIME ZONE %(zone)s) + interval '1 hour'
    GROUP BY 1, 2
),
days AS (
    SELECT day, coalesce(pool_id, 0) AS pool_id, sum(list_micros) AS listed,
           sum(contracted_micros) AS contracted, sum(effective_micros) AS effective,
           sum(billed_micros) AS billed, sum(unit_milliseconds) AS ms
    FROM ledger_ledgerday, bounds WHERE day BETWEEN first_day AND last_day GROUP BY 1, 2
),
jobs AS (
    SELECT day, coalesce(pool_id, 0) AS pool_id, sum(effective_micros) AS of_jobs
    FROM ledger_ledgerjobday, bounds WHERE day BETWEEN first_day AND last_day GROUP BY 1, 2
),
compared AS (
    SELECT day, pool_id, basis.*
    FROM lines FULL JOIN days USING (day, pool_id) FULL JOIN jobs USING (day, pool_id)
    CROSS JOIN LATERAL (VALUES
        ('list', lines.listed, days.listed), ('contracted', lines.contracted, days.contracted),
        ('effective', lines.effective, days.effective), ('billed', lines.billed, days.billed),
        ('milliseconds', lines.ms, days.ms), ('effective of jobs', lines.of_jobs, jobs.of_jobs)
    ) AS basis (name, expected, found)
)
SELECT NULL, 'pool ' || coalesce(pool.name, 'none'), compared.day, compared.name,
       compared.expected, compared.found,
       coalesce(compared.found, 0) - coalesce(compared.expected, 0), count(*) OVER (),
       sum(abs(coalesce(compared.found, 0) - coalesce(compared.expected, 0))) OVER ()
FROM compared CROSS JOIN bounds LEFT JOIN fleet_pool AS pool ON pool.id = compared.pool_id
WHERE compared.day BETWEEN bounds.first_day AND bounds.last_day
  AND compared.expected IS DISTINCT FROM compared.found
  AND NOT EXISTS (
      SELECT 1 FROM waiting
      WHERE waiting.day = compared.day AND waiting.pool_id = compared.pool_id)
ORDER BY compared.day, compared.pool_id, compared.name
LIMIT %(shown)s
""",
)

# In one transaction with the days that they sum, so nothing waits.
TEAM_DAYS = Query(
    (),
    """
WITH bounds AS (
    SELECT (%(from)s::timestamptz AT TIME ZONE %(zone)s)::date AS first_day,
           ((%(to)s::timestamptz - interval '1 microsecond') AT TIME ZONE %(zone)s)::date AS last_day
),
days AS (
    SELECT day, team_id, coalesce(state, 0) AS state, status, sum(list_micros) AS listed,
           sum(contracted_micros) AS contracted, sum(effective_micros) AS effective,
           sum(billed_micros) AS billed, sum(unit_milliseconds) AS ms,
           sum(held_milliseconds) AS held, sum(observed_milliseconds) AS observed,
           sum(unpriced_milliseconds) AS unpriced
    FROM ledger_ledgerday, bounds WHERE day BETWEEN first_day AND last_day GROUP BY 1, 2, 3, 4
),
team_days AS (
    SELECT day, team_id, coalesce(state, 0) AS state, status, sum(list_micros) AS listed,
           sum(contracted_micros) AS contracted, sum(effective_micros) AS effective,
           sum(billed_micros) AS billed, sum(unit_milliseconds) AS ms,
           sum(held_milliseconds) AS held, sum(observed_milliseconds) AS observed,
           sum(unpriced_milliseconds) AS unpriced
    FROM ledger_ledgerteamday, bounds WHERE day BETWEEN first_day AND last_day GROUP BY 1, 2, 3, 4
),
compared AS (
    SELECT day, team_id, state, status, basis.*
    FROM days FULL JOIN team_days USING (day, team_id, state, status)
    CROSS JOIN LATERAL (VALUES
        ('list', days.listed, team_days.listed),
        ('contracted', days.contracted, team_days.contracted),
        ('effective', days.effective, team_days.effective),
        ('billed', days.billed, team_days.billed), ('milliseconds', days.ms, team_days.ms),
        ('held', days.held, team_days.held), ('observed', days.observed, team_days.observed),
        ('unpriced', days.unpriced, team_days.unpriced)
    ) AS basis (name, expected, found)
)
SELECT NULL, 'team ' || team.name, compared.day, compared.name, compared.expected, compared.found,
       coalesce(compared.found, 0) - coalesce(compared.expected, 0), count(*) OVER (),
       sum(abs(coalesce(compared.found, 0) - coalesce(compared.expected, 0))) OVER ()
FROM compared LEFT JOIN accounts_team AS team ON team.id = compared.team_id
WHERE compared.expected IS DISTINCT FROM compared.found
ORDER BY compared.day, compared.team_id, compared.state, compared.status, compared.name
LIMIT %(shown)s
""",
)
