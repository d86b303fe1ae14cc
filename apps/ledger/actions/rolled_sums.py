"""LedgerDay and what else sums the lines of a day: by job, user, node and team; and of its month."""

import json
from collections.abc import Collection
from typing import LiteralString

from apps.economics.states import Flag, State
from apps.fleet import queries as fleet
from apps.ledger.actions.rolled_day import RolledDay
from apps.ledger.queries.calendar import next_month
from apps.ledger.queries.tables import rows, run
from apps.workloads import queries as workloads

# Arbitrary but fixed: whoever sums a month anew has it alone.
SUMMING = 7_305_034


def write_day_sums(rolled: RolledDay) -> int:
    """Write the day's sums anew, in the roll-up's transaction; how many rows LedgerDay has of it.

    The lines are read once, and added up as far as all these tables tell them apart.
    """
    params = rolled.parameters() | _state_parameters() | _pool_columns(rolled.pool_ids)
    for query in DELETE:
        run(query, params)
    jobs = [job_id for (job_id,) in rows(JOBS, params)]
    ((written,),) = rows(DAYS, params | _tag_columns(jobs) | _user_columns(jobs))
    run(POOL_DAYS, params)
    run(TEAM_DAYS, params)
    return int(written)


def write_month_sums(rolled: RolledDay) -> None:
    """Write the sums of the days of the day's month anew, for the pools and months of this roll-up.

    The last thing before the marks are lifted: two days of a month wait here for each other, and
    the second reads what the first wrote.
    """
    month = rolled.own_month
    params = rolled.parameters() | {"month": month, "next_month": next_month(month)}
    rows(LOCK_MONTH, {"summing": SUMMING, "month": month.toordinal()})
    run(DELETE_MONTH, params)
    run(MONTH, params)


def _state_parameters() -> dict[str, object]:
    return {
        "held": [int(State.ACTIVE), int(State.HELD_IDLE), int(State.UNOBSERVED)],
        "unobserved": int(State.UNOBSERVED),
        "not_held": int(Flag.UNSCHEDULED | Flag.UNCLAIMED),
    }


def _pool_columns(pool_ids: Collection[int]) -> dict[str, object]:
    pools = [pool for pool in fleet.pools().values() if pool.id in set(pool_ids)]
    return {
        "pool_ids": [pool.id for pool in pools],
        "units": [pool.unit for pool in pools],
        "models": [pool.gpu_model for pool in pools],
        "options": [pool.purchase_option for pool in pools],
    }


def _tag_columns(job_ids: Collection[int]) -> dict[str, object]:
    tags = workloads.tags_of_jobs(job_ids)
    return {
        "tagged_ids": list(tags),
        "tags": [json.dumps(of_job, sort_keys=True) for of_job in tags.values()],
    }


def _user_columns(job_ids: Collection[int]) -> dict[str, object]:
    users = workloads.users_of_jobs(job_ids)
    return {"used_ids": list(users), "users": list(users.values())}


_DELETE: LiteralString = """
DELETE FROM <table>
WHERE day = %(day)s AND posting_month = ANY(%(months)s) AND coalesce(pool_id, 0) = ANY(%(pools)s)
"""
DELETE: tuple[LiteralString, ...] = (
    _DELETE.replace("<table>", "ledger_ledgerday"),
    _DELETE.replace("<table>", "ledger_ledgerjobday"),
    _DELETE.replace("<table>", "ledger_ledgeruserday"),
    _DELETE.replace("<table>", "ledger_ledgernodeday"),
    _DELETE.replace("<table>", "ledger_ledgerpoolday"),
    """DELETE FROM ledger_ledgerteamday
    WHERE day = %(day)s AND posting_month = ANY(%(months)s)""",
)
JOBS: LiteralString = """
SELECT DISTINCT job_id FROM ledger_line
WHERE posting_month = ANY(%(months)s) AND hour >= %(from)s AND hour < %(to)s
  AND coalesce(pool_id, 0) = ANY(%(pools)s) AND job_id IS NOT NULL
ORDER BY job_id
"""
SUMMED: LiteralString = """
    sum(list_micros)::int8, sum(contracted_micros)::int8, sum(effective_micros)::int8,
    sum(billed_micros)::int8, sum(unit_milliseconds)::int8
"""
UNPRICED: LiteralString = """
    coalesce(sum(unit_milliseconds) FILTER (WHERE effective_micros IS NULL), 0)::int8
"""
HELD: LiteralString = """
    coalesce(sum(unit_milliseconds) FILTER (
        WHERE state = ANY(%(held)s) AND flags & %(not_held)s = 0), 0)::int8,
    coalesce(sum(unit_milliseconds) FILTER (
        WHERE state = ANY(%(held)s) AND state <> %(unobserved)s
          AND flags & %(not_held)s = 0), 0)::int8
"""
SUMS: LiteralString = """list_micros, contracted_micros, effective_micros, billed_micros,
    unit_milliseconds"""
UNKNOWN: LiteralString = """list_micros IS NULL, contracted_micros IS NULL,
    effective_micros IS NULL, billed_micros IS NULL, unit_milliseconds > 0"""
CELLS: LiteralString = """posting_month, status, kind, team_id, workload_id, pool_id, unit,
    gpu_model, purchase_option, state, flags"""
# No row mixes known amounts with unknown ones: a sum is of everything it names, or null. Pools are
# asked for in words of which the planner has statistics: else it takes a day for a few lines and
# sorts them.
DAYS: LiteralString = f"""
WITH part AS MATERIALIZED (
    SELECT line.posting_month, charge.status, charge.kind, charge.node_id, line.team_id,
           line.workload_id, line.pool_id, line.job_id, line.state, line.flags,
           sum(line.list_micros)::int8 AS list_micros,
           sum(line.contracted_micros)::int8 AS contracted_micros,
           sum(line.effective_micros)::int8 AS effective_micros,
           sum(line.billed_micros)::int8 AS billed_micros,
           sum(line.unit_milliseconds)::int8 AS unit_milliseconds
    FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
    WHERE line.posting_month = ANY(%(months)s) AND line.hour >= %(from)s AND line.hour < %(to)s
      AND (line.pool_id = ANY(%(pools)s) OR (line.pool_id IS NULL AND 0 = ANY(%(pools)s)))
    GROUP BY line.job_id, line.posting_month, charge.status, charge.kind, charge.node_id,
             line.team_id, line.workload_id, line.pool_id, line.state, line.flags,
             line.list_micros IS NULL, line.contracted_micros IS NULL,
             line.effective_micros IS NULL, line.billed_micros IS NULL, line.unit_milliseconds > 0
), of_pool AS MATERIALIZED (
    SELECT part.*, coalesce(pool.unit, '') AS unit, coalesce(pool.gpu_model, '') AS gpu_model,
           coalesce(pool.purchase_option, '') AS purchase_option
    FROM part LEFT JOIN unnest(
        %(pool_ids)s::int8[], %(units)s::text[], %(models)s::text[], %(options)s::text[]
    ) AS pool (id, unit, gpu_model, purchase_option) ON pool.id = part.pool_id
), days AS (
    INSERT INTO ledger_ledgerday (day, {CELLS}, tags, is_of_job, {SUMS},
        held_milliseconds, observed_milliseconds, unpriced_milliseconds)
    SELECT %(day)s, {CELLS}, coalesce(tag.tags, '{{}}'::jsonb), job_id IS NOT NULL, {SUMMED},
           {HELD}, {UNPRICED}
    FROM of_pool LEFT JOIN unnest(%(tagged_ids)s::int8[], %(tags)s::jsonb[])
         AS tag (tagged_id, tags) ON tag.tagged_id = of_pool.job_id
    GROUP BY {CELLS}, tag.tags, job_id IS NOT NULL, {UNKNOWN}
    RETURNING 1
), jobs AS (
    INSERT INTO ledger_ledgerjobday (day, posting_month, pool_id, job_id, team_id, workload_id,
        state, flags, {SUMS}, unpriced_milliseconds)
    SELECT %(day)s, posting_month, pool_id, job_id, team_id, workload_id, state, flags, {SUMMED},
           {UNPRICED}
    FROM part WHERE job_id IS NOT NULL
    GROUP BY posting_month, pool_id, job_id, team_id, workload_id, state, flags, {UNKNOWN}
), users AS (
    INSERT INTO ledger_ledgeruserday (day, {CELLS}, is_of_job, user_name, {SUMS},
        held_milliseconds, observed_milliseconds, unpriced_milliseconds)
    SELECT %(day)s, {CELLS}, job_id IS NOT NULL, coalesce(used.user_name, ''), {SUMMED}, {HELD},
           {UNPRICED}
    FROM of_pool LEFT JOIN unnest(%(used_ids)s::int8[], %(users)s::text[])
         AS used (used_id, user_name) ON used.used_id = of_pool.job_id
    GROUP BY {CELLS}, job_id IS NOT NULL, used.user_name, {UNKNOWN}
), nodes AS (
    INSERT INTO ledger_ledgernodeday (day, {CELLS}, node_id, {SUMS},
        held_milliseconds, observed_milliseconds, unpriced_milliseconds)
    SELECT %(day)s, {CELLS}, node_id, {SUMMED}, {HELD}, {UNPRICED}
    FROM of_pool GROUP BY {CELLS}, node_id, {UNKNOWN}
)
SELECT count(*) FROM days
"""
ROLLED: LiteralString = """
    sum(list_micros), sum(contracted_micros), sum(effective_micros), sum(billed_micros),
    sum(unit_milliseconds), sum(held_milliseconds), sum(observed_milliseconds),
    sum(unpriced_milliseconds)
"""
# Rows stay apart where any question tells them apart: what is unknown on a basis, what has no time.
POOL_DAYS: LiteralString = f"""
INSERT INTO ledger_ledgerpoolday
    (day, posting_month, status, kind, team_id, pool_id, unit, gpu_model, purchase_option, state,
     flags, {SUMS}, held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, status, kind, team_id, pool_id, unit, gpu_model, purchase_option, state,
       flags, {ROLLED}
FROM ledger_ledgerday
WHERE day = %(day)s AND posting_month = ANY(%(months)s) AND coalesce(pool_id, 0) = ANY(%(pools)s)
GROUP BY day, posting_month, status, kind, team_id, pool_id, unit, gpu_model, purchase_option,
         state, flags, {UNKNOWN}
"""
# Of all pools, marked or not.
TEAM_DAYS: LiteralString = f"""
INSERT INTO ledger_ledgerteamday
    (day, posting_month, status, kind, team_id, unit, state, flags, {SUMS}, held_milliseconds,
     observed_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, status, kind, team_id, unit, state, flags, {ROLLED}
FROM ledger_ledgerpoolday
WHERE day = %(day)s AND posting_month = ANY(%(months)s)
GROUP BY day, posting_month, status, kind, team_id, unit, state, flags, {UNKNOWN}
"""
LOCK_MONTH: LiteralString = "SELECT pg_advisory_xact_lock(%(summing)s, %(month)s)"
DELETE_MONTH: LiteralString = """
DELETE FROM ledger_ledgermonth
WHERE month = %(month)s AND posting_month = ANY(%(months)s)
  AND coalesce(pool_id, 0) = ANY(%(pools)s)
"""
MONTH: LiteralString = f"""
INSERT INTO ledger_ledgermonth (month, {CELLS}, tags, is_of_job, {SUMS}, held_milliseconds,
     observed_milliseconds, unpriced_milliseconds)
SELECT %(month)s, {CELLS}, tags, is_of_job, {ROLLED}
FROM ledger_ledgerday
WHERE day >= %(month)s AND day < %(next_month)s AND posting_month = ANY(%(months)s)
  AND coalesce(pool_id, 0) = ANY(%(pools)s)
GROUP BY {CELLS}, tags, is_of_job, {UNKNOWN}
"""
