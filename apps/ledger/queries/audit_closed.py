"""The audit's checks of closed months and of what corrects them; answers are those of audit_sql."""

from typing import LiteralString

from apps.ledger.queries.audit_compare import AuditComparison
from apps.ledger.queries.audit_sql import FROZEN, Query

# Closes of which the month touches the span, and are in force.
CLOSES = """
SELECT id, month, version, digest, lines,
       (SELECT count(*) FROM ledger_close AS told WHERE told.month = ledger_close.month) AS versions
FROM ledger_close
WHERE reopened_at IS NULL
  AND (month::timestamp AT TIME ZONE %(zone)s) < %(to)s
  AND ((month + interval '1 month') AT TIME ZONE %(zone)s) > %(from)s
ORDER BY month
"""

# Corrections that stand in the hour in which they were posted.
WHERE_POSTED = """
SELECT count(*) FROM ledger_charge AS later JOIN ledger_charge AS original ON original.id = later.corrects_id
WHERE later.hour <> original.hour AND later.hour >= %(from)s AND later.hour < %(to)s
"""

# What a month was closed with, what its statements, lines and charges come to: all the same.
TOLD = Query(
    (),
    """
WITH told AS (
    SELECT id, month, totals FROM ledger_close
    WHERE reopened_at IS NULL
      AND (month::timestamp AT TIME ZONE %(zone)s) < %(to)s
      AND ((month + interval '1 month') AT TIME ZONE %(zone)s) > %(from)s
),
compared AS (
    SELECT told.month, made.name AS what, basis.name AS basis, basis.expected, basis.found
    FROM told
    CROSS JOIN LATERAL (
        SELECT 'statements' AS name, sum(list_micros) AS listed,
               sum(contracted_micros) AS contracted, sum(effective_micros) AS effective,
               sum(billed_micros) AS billed
        FROM ledger_statementline WHERE close_id = told.id
        UNION ALL
        SELECT 'lines', sum(list_micros), sum(contracted_micros), sum(effective_micros),
               sum(billed_micros)
        FROM ledger_line WHERE posting_month = told.month
        UNION ALL
        SELECT 'charges', sum(list_micros), sum(contracted_micros), sum(effective_micros),
               sum(billed_micros)
        FROM ledger_charge WHERE posting_month = told.month
    ) AS made
    CROSS JOIN LATERAL (VALUES
        ('list', (told.totals ->> 'list_micros')::numeric, made.listed),
        ('contracted', (told.totals ->> 'contracted_micros')::numeric, made.contracted),
        ('effective', (told.totals ->> 'effective_micros')::numeric, made.effective),
        ('billed', (told.totals ->> 'billed_micros')::numeric, made.billed)
    ) AS basis (name, expected, found)
)
SELECT NULL, what || ' of the close', month, basis, expected, found,
       coalesce(found, 0) - coalesce(expected, 0), count(*) OVER (),
       sum(abs(coalesce(found, 0) - coalesce(expected, 0))) OVER ()
FROM compared WHERE expected IS DISTINCT FROM found
ORDER BY month, what, basis
LIMIT %(shown)s
""",
)

# Each team's statement, by all that it tells apart, is the lines posted in the month.
CLOSED: LiteralString = """
    JOIN ledger_close AS close ON close.{on} AND close.reopened_at IS NULL
     AND (close.month::timestamp AT TIME ZONE %(zone)s) < %(to)s
     AND ((close.month + interval '1 month') AT TIME ZONE %(zone)s) > %(from)s
"""
STATEMENTS = AuditComparison(
    tables=(),
    expected=f"""
    SELECT line.posting_month AS day, line.team_id, line.workload_id, line.pool_id, charge.kind,
           charge.status, line.state, line.flags, original.posting_month AS corrects_month,
           coalesce(pool.unit, '') AS unit, line.effective_micros IS NULL AS no_effective,
           sum(line.list_micros) AS list, sum(line.contracted_micros) AS contracted,
           sum(line.effective_micros) AS effective, sum(line.billed_micros) AS billed,
           sum(line.unit_milliseconds) AS milliseconds,
           coalesce(sum(line.unit_milliseconds) FILTER (WHERE line.effective_micros IS NULL), 0)
               AS unpriced
    FROM ledger_line AS line {CLOSED.replace("{on}", "month = line.posting_month")}
    JOIN ledger_charge AS charge ON charge.id = line.charge_id
    LEFT JOIN ledger_charge AS original ON original.id = charge.corrects_id
    LEFT JOIN fleet_pool AS pool ON pool.id = line.pool_id
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11""",
    found=f"""
    SELECT close.month, told.team_id, told.workload_id, told.pool_id, told.kind, told.status,
           told.state, told.flags, told.corrects_month, told.unit, told.effective_micros IS NULL,
           told.list_micros, told.contracted_micros, told.effective_micros, told.billed_micros,
           told.unit_milliseconds, told.unpriced_milliseconds
    FROM ledger_statementline AS told {CLOSED.replace("{on}", "id = told.close_id")}""",
    keys=(
        *("day", "team_id", "workload_id", "pool_id", "kind", "status", "state", "flags"),
        *("corrects_month", "unit", "no_effective"),
    ),
    measures=("list", "contracted", "effective", "billed", "milliseconds", "unpriced"),
    place="""
    concat_ws(', ', 'statement of ' || team.name, 'pool ' || pool.name, compared.kind,
              compared.status, 'state ' || compared.state, 'flags ' || compared.flags)""",
    joins="""LEFT JOIN accounts_team AS team ON team.id = compared.team_id
    LEFT JOIN fleet_pool AS pool ON pool.id = compared.pool_id""",
)

# A correction is of a charge that is none itself, of a month that was closed once, and is posted in
# another, in the hour that it corrects. Those of a month that is open again come to nothing. What was
# posted before corrections stood in the hour that they are of, in a month that was closed since,
# stands in the hour in which it was posted.
CORRECTIONS = Query(
    (FROZEN,),
    """,
made AS (
    SELECT later.id, later.node_id, later.hour, 'a charge of a closed month' AS basis,
           1 AS expected,
           (original.corrects_id IS NULL AND original.posting_month <> later.posting_month
            AND original.kind = later.kind AND original.part = later.part
            AND original.node_id IS NOT DISTINCT FROM later.node_id
            AND (original.hour = later.hour
                 OR later.posting_month
                    = date_trunc('month', later.hour AT TIME ZONE %(zone)s)::date
                    AND EXISTS (SELECT 1 FROM ledger_close AS close
                                WHERE close.month = later.posting_month))
            AND EXISTS (SELECT 1 FROM ledger_close AS close
                        WHERE close.month = original.posting_month))::int AS found
    FROM ledger_charge AS later JOIN ledger_charge AS original ON original.id = later.corrects_id
    WHERE later.hour >= %(from)s AND later.hour < %(to)s
),
left_over AS (
    SELECT original.id, original.node_id, original.hour, 'corrections of an open month',
           0, coalesce(sum(later.effective_micros), 0)
    FROM ledger_charge AS later JOIN ledger_charge AS original ON original.id = later.corrects_id
    WHERE original.hour >= %(from)s AND original.hour < %(to)s
      AND original.posting_month NOT IN (SELECT month FROM frozen)
    GROUP BY original.id, original.node_id, original.hour
),
compared AS (SELECT * FROM made UNION ALL SELECT * FROM left_over)
SELECT compared.id, node.name, compared.hour, compared.basis, expected, found, found - expected,
       count(*) OVER (), sum(abs(found - expected)) OVER ()
FROM compared LEFT JOIN fleet_node AS node ON node.id = compared.node_id
WHERE expected <> found
ORDER BY compared.hour, compared.id, compared.basis
LIMIT %(shown)s
""",
)
