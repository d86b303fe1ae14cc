"""The checks of the roll-ups, apart from those of charges and lines.

Whole local days only: a day that the span cuts is compared by all of its lines.
"""

from typing import LiteralString

from apps.ledger.queries.audit_compare import AuditComparison
from apps.ledger.queries.audit_sql import (
    BOUND_DAYS,
    FROZEN,
    IS_LATER,
    POOLS_WAITING,
    STATUSES_WAITING,
    WAITING,
)

MONEY: tuple[LiteralString, ...] = ("list", "contracted", "effective", "billed")
OWNER: tuple[LiteralString, ...] = ("team_id", "workload_id", "pool_id")

NOT_WAITING: LiteralString = f"""
(day, coalesce(pool_id, 0), {IS_LATER})
NOT IN (SELECT waits.day, waits.pool_id, waits.is_later FROM pools_waiting AS waits)
"""
# What is told of a job later moves neither what a closed month has, nor what corrects its days.
OPEN_LINE: LiteralString = """(
    line.posting_month NOT IN (SELECT month FROM frozen)
    AND date_trunc('month', line.hour AT TIME ZONE %(zone)s)::date NOT IN (SELECT month FROM frozen))
"""
OPEN_ROW: LiteralString = """(
    row.posting_month NOT IN (SELECT month FROM frozen)
    AND date_trunc('month', row.day)::date NOT IN (SELECT month FROM frozen))
"""

# States 1 to 3 are held (3: unobserved) but for flags 1 and 2, which no job claims.
LINE_SUMS: LiteralString = """
    sum(line.list_micros) AS list, sum(line.contracted_micros) AS contracted,
    sum(line.effective_micros) AS effective, sum(line.billed_micros) AS billed,
    sum(line.unit_milliseconds) AS milliseconds,
    coalesce(sum(line.unit_milliseconds) FILTER (WHERE line.effective_micros IS NULL), 0) AS unpriced
"""
HELD_SUMS: LiteralString = """
    coalesce(sum(line.unit_milliseconds) FILTER (
        WHERE line.state IN (1, 2, 3) AND line.flags & 3 = 0), 0) AS held,
    coalesce(sum(line.unit_milliseconds) FILTER (
        WHERE line.state IN (1, 2) AND line.flags & 3 = 0), 0) AS observed
"""
LINES_OF_DAYS: LiteralString = """
    FROM ledger_line AS line CROSS JOIN bounds
    JOIN ledger_charge AS charge ON charge.id = line.charge_id
    LEFT JOIN fleet_pool AS pool ON pool.id = line.pool_id
"""
# The hours are told without `bounds`, and their days without BETWEEN: a planner that cannot tell how
# many lines there are takes millions for a few, and looks the job of each up by itself.
IN_DAYS: LiteralString = """
    WHERE line.hour >= date_trunc('day', %(from)s::timestamptz, %(zone)s) - interval '1 hour'
      AND line.hour < date_trunc('day', %(to)s::timestamptz - interval '1 microsecond', %(zone)s)
                      + interval '26 hours'
      AND NOT ((line.hour AT TIME ZONE %(zone)s)::date < bounds.first_day
               OR (line.hour AT TIME ZONE %(zone)s)::date > bounds.last_day)
"""
DAY: LiteralString = "(line.hour AT TIME ZONE %(zone)s)::date AS day, line.posting_month"
STATUS: LiteralString = """
    CASE WHEN ((line.hour AT TIME ZONE %(zone)s)::date, coalesce(line.pool_id, 0))
              NOT IN (SELECT waits.day, waits.pool_id FROM statuses_waiting AS waits)
         THEN charge.status END AS status
"""
ROW_STATUS: LiteralString = """
    CASE WHEN (row.day, coalesce(row.pool_id, 0))
              NOT IN (SELECT waits.day, waits.pool_id FROM statuses_waiting AS waits)
         THEN row.status END
"""
ROW_MONEY: LiteralString = """
    row.list_micros AS list, row.contracted_micros AS contracted,
    row.effective_micros AS effective, row.billed_micros AS billed,
    row.unit_milliseconds AS milliseconds, row.unpriced_milliseconds AS unpriced
"""
ROW_HELD: LiteralString = "row.held_milliseconds AS held, row.observed_milliseconds AS observed"
NAMES: LiteralString = """
    LEFT JOIN fleet_pool AS pool ON pool.id = compared.pool_id
    LEFT JOIN accounts_team AS team ON team.id = compared.team_id
    LEFT JOIN workloads_workload AS workload ON workload.id = compared.workload_id
"""
NAMED: LiteralString = """
    'pool ' || coalesce(pool.name, 'none'), 'team ' || team.name, 'workload ' || workload.name
"""

# What a line adds to what is owed anyway: of a charge that knows its marginal part the step of its
# rounded running sum, by effective amounts; of any other all that the line costs.
MARGINAL: LiteralString = """
marginal AS (
    SELECT posting_month, id, (through - lag(through, 1, 0::numeric) OVER (
               PARTITION BY charge_id ORDER BY id))::int8 AS micros
    FROM (
        SELECT line.posting_month, line.id, line.charge_id,
               CASE WHEN charge.effective_micros = 0 THEN 0 ELSE round(
                   charge.marginal_micros * sum(line.effective_micros) OVER (
                       PARTITION BY line.charge_id ORDER BY line.id) / charge.effective_micros)
               END AS through
        FROM ledger_charge AS charge JOIN ledger_line AS line ON line.charge_id = charge.id
        CROSS JOIN bounds
        WHERE charge.marginal_micros IS NOT NULL AND charge.effective_micros IS NOT NULL
          AND charge.hour >= (bounds.first_day::timestamp AT TIME ZONE %(zone)s) - interval '1 hour'
          AND charge.hour < ((bounds.last_day + 1)::timestamp AT TIME ZONE %(zone)s)
                            + interval '1 hour'
    ) AS owned
)
"""
MARGINAL_SUM: LiteralString = """
    sum(CASE WHEN charge.marginal_micros IS NULL THEN line.effective_micros
             ELSE marginal.micros END) AS marginal
"""
MARGINAL_JOIN: LiteralString = """
    LEFT JOIN marginal ON marginal.id = line.id AND marginal.posting_month = line.posting_month
"""
UNKNOWN: LiteralString = """
    line.list_micros IS NULL AS no_list, line.contracted_micros IS NULL AS no_contracted,
    line.effective_micros IS NULL AS no_effective, line.billed_micros IS NULL AS no_billed
"""
ROW_UNKNOWN: LiteralString = """
    row.list_micros IS NULL AS no_list, row.contracted_micros IS NULL AS no_contracted,
    row.effective_micros IS NULL AS no_effective, row.billed_micros IS NULL AS no_billed
"""
NULLS: tuple[LiteralString, ...] = ("no_list", "no_contracted", "no_effective", "no_billed")
TRAITS: tuple[LiteralString, ...] = ("posting_month", "status", "kind", *OWNER, "state", "flags")

# Tags are compared by the keys that a pool's day uses: which labels are tags is a setting. What a
# scheduler told of a job later moves no closed month.
TAG_KEYS: LiteralString = f"""
tag_keys AS (
    SELECT row.day, coalesce(row.pool_id, 0) AS pool_id, array_agg(DISTINCT key ORDER BY key) AS keys
    FROM ledger_ledgerday AS row CROSS JOIN bounds
    CROSS JOIN jsonb_each(CASE jsonb_typeof(row.tags) WHEN 'object' THEN row.tags END)
        AS tag (key, value)
    WHERE row.day BETWEEN bounds.first_day AND bounds.last_day
      AND {OPEN_ROW}
    GROUP BY 1, 2
)
"""
LABELLED: LiteralString = """
labelled AS MATERIALIZED (
    SELECT used.keys, job.id AS job_id, jsonb_object_agg(key, job.labels -> key) AS tags
    FROM (SELECT DISTINCT keys FROM tag_keys) AS used CROSS JOIN unnest(used.keys) AS key
    JOIN workloads_job AS job ON job.labels ? key
    GROUP BY 1, 2
)
"""

ROLLUPS = AuditComparison(
    tables=(FROZEN, WAITING, POOLS_WAITING, STATUSES_WAITING, BOUND_DAYS, TAG_KEYS, LABELLED),
    expected=f"""
    SELECT {DAY}, {STATUS}, charge.kind, line.team_id, line.workload_id, line.pool_id,
           coalesce(pool.unit, '') AS unit, coalesce(pool.gpu_model, '') AS gpu_model,
           coalesce(pool.purchase_option, '') AS purchase_option, line.state, line.flags,
           CASE WHEN tag_keys.keys IS NOT NULL THEN coalesce(labelled.tags, '{{}}') END AS tags,
           line.job_id IS NOT NULL AS is_of_job,
           line.list_micros IS NULL AS no_list, line.effective_micros IS NULL AS no_effective,
           {LINE_SUMS}, {HELD_SUMS}
    {LINES_OF_DAYS}
    LEFT JOIN tag_keys ON tag_keys.day = (line.hour AT TIME ZONE %(zone)s)::date
     AND tag_keys.pool_id = coalesce(line.pool_id, 0)
     AND {OPEN_LINE}
    LEFT JOIN labelled ON labelled.keys = tag_keys.keys AND labelled.job_id = line.job_id
    {IN_DAYS}
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16""",
    found=f"""
    SELECT row.day, row.posting_month, {ROW_STATUS}, row.kind, row.team_id, row.workload_id,
           row.pool_id, row.unit, row.gpu_model, row.purchase_option, row.state, row.flags,
           CASE WHEN tag_keys.keys IS NOT NULL THEN row.tags END, row.is_of_job,
           row.list_micros IS NULL, row.effective_micros IS NULL, {ROW_MONEY}, {ROW_HELD}
    FROM ledger_ledgerday AS row CROSS JOIN bounds
    LEFT JOIN tag_keys ON tag_keys.day = row.day AND tag_keys.pool_id = coalesce(row.pool_id, 0)
     AND {OPEN_ROW}
    WHERE row.day BETWEEN bounds.first_day AND bounds.last_day""",
    keys=(
        *("day", "posting_month", "status", "kind", *OWNER, "unit", "gpu_model"),
        *("purchase_option", "state", "flags", "tags", "is_of_job", "no_list", "no_effective"),
    ),
    measures=(*MONEY, "milliseconds", "unpriced", "held", "observed"),
    place=f"""
    concat_ws(', ', {NAMED}, compared.kind, compared.status, 'state ' || compared.state,
              'flags ' || compared.flags, 'tags ' || nullif(compared.tags::text, '{{}}'))""",
    joins=NAMES,
    only=NOT_WAITING,
)

JOB_DAYS = AuditComparison(
    tables=(FROZEN, WAITING, POOLS_WAITING, BOUND_DAYS),
    expected=f"""
    SELECT {DAY}, line.pool_id, line.job_id, line.team_id, line.workload_id, line.state, line.flags,
           line.list_micros IS NULL AS no_list, line.effective_micros IS NULL AS no_effective,
           {LINE_SUMS}
    FROM ledger_line AS line CROSS JOIN bounds
    {IN_DAYS} AND line.job_id IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10""",
    found=f"""
    SELECT row.day, row.posting_month, row.pool_id, row.job_id, row.team_id, row.workload_id,
           row.state, row.flags, row.list_micros IS NULL, row.effective_micros IS NULL, {ROW_MONEY}
    FROM ledger_ledgerjobday AS row CROSS JOIN bounds
    WHERE row.day BETWEEN bounds.first_day AND bounds.last_day""",
    keys=(
        *("day", "posting_month", "job_id", *OWNER, "state", "flags", "no_list", "no_effective"),
    ),
    measures=(*MONEY, "milliseconds", "unpriced"),
    place=f"""
    concat_ws(', ', 'job ' || job.raw_id, {NAMED}, 'state ' || compared.state,
              'flags ' || compared.flags)""",
    joins=f"{NAMES} LEFT JOIN workloads_job AS job ON job.id = compared.job_id",
    only=NOT_WAITING,
)

ROW_TEAM_CELLS: LiteralString = f"""
    row.day, row.posting_month, row.status, row.kind, row.team_id, row.unit, row.state, row.flags,
    {ROW_UNKNOWN}, row.unit_milliseconds > 0 AS has_time, {ROW_MONEY}, {ROW_HELD}"""
# In one transaction with the days that they sum, so nothing waits.
TEAM_DAYS = AuditComparison(
    tables=(BOUND_DAYS,),
    expected=f"""
    SELECT {ROW_TEAM_CELLS} FROM ledger_ledgerday AS row CROSS JOIN bounds
    WHERE row.day BETWEEN bounds.first_day AND bounds.last_day""",
    found=f"""
    SELECT {ROW_TEAM_CELLS} FROM ledger_ledgerteamday AS row CROSS JOIN bounds
    WHERE row.day BETWEEN bounds.first_day AND bounds.last_day""",
    keys=(
        *("day", "posting_month", "status", "kind", "team_id", "unit", "state", "flags"),
        *NULLS,
        "has_time",
    ),
    measures=(*MONEY, "milliseconds", "unpriced", "held", "observed"),
    place="""
    concat_ws(', ', 'team ' || team.name, compared.kind || ' ' || compared.status,
              'state ' || compared.state, 'flags ' || compared.flags)""",
    joins="LEFT JOIN accounts_team AS team ON team.id = compared.team_id",
)
