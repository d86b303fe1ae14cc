"""The roll-up pass: the lines of a local day and pool, summed as pages and reports read them."""

import json
from collections.abc import Collection
from datetime import datetime
from typing import LiteralString

from django.db import transaction

from apps.accounts import queries as accounts
from apps.economics.states import Flag, State
from apps.fleet import queries as fleet
from apps.ledger.actions.closed import kept_closed
from apps.ledger.actions.meter_days import write_meter_days
from apps.ledger.actions.outcome import BUSY, NOTHING, Outcome
from apps.ledger.actions.rolled_day import RolledDay
from apps.ledger.actions.runs import write_run_days, write_run_figures
from apps.ledger.actions.services import write_service_days
from apps.ledger.queries.calendar import day_span, local_day
from apps.ledger.queries.tables import rows, run
from apps.marks.actions import clear, try_lock
from apps.marks.queries import Pass, marks_of_hour
from apps.workloads import queries as workloads


def roll_up_day(*, first_hour: datetime, at: datetime) -> Outcome:
    """Sum the day that begins with `first_hour` anew, for every pool marked (0: lines of none)."""
    zone = accounts.organisation().zone
    day = local_day(first_hour, zone)
    with transaction.atomic():
        kept = kept_closed(day.replace(day=1))
        if kept is not None:
            return kept
        if not try_lock(Pass.ROLLUP, day.toordinal()):
            return BUSY
        marks = marks_of_hour(Pass.ROLLUP, first_hour)
        if not marks:
            return NOTHING
        span = day_span(day, zone)
        marked = tuple(each.unit for each in marks)
        rolled = RolledDay(day, span.starts_at, span.ends_at, marked)
        params: dict[str, object] = rolled.parameters() | {
            "held": [int(State.ACTIVE), int(State.HELD_IDLE), int(State.UNOBSERVED)],
            "unobserved": int(State.UNOBSERVED),
            "not_held": int(Flag.UNSCHEDULED | Flag.UNCLAIMED),
        }
        for query in DELETE:
            run(query, params)
        written = run(DAYS, params | _pool_columns(marked) | _tag_columns(params))
        run(TEAM_DAYS, params)
        run(JOB_DAYS, params)
        write_meter_days(rolled)
        unasked = write_service_days(rolled)
        touched = write_run_days(rolled, unasked)
        write_run_figures(run_ids=touched, at=at)
        clear(Pass.ROLLUP, first_hour, marks)
    return Outcome(changed=written)


def _pool_columns(pool_ids: Collection[int]) -> dict[str, object]:
    pools = [pool for pool in fleet.pools().values() if pool.id in set(pool_ids)]
    return {
        "pool_ids": [pool.id for pool in pools],
        "units": [pool.unit for pool in pools],
        "models": [pool.gpu_model for pool in pools],
        "options": [pool.purchase_option for pool in pools],
    }


def _tag_columns(params: dict[str, object]) -> dict[str, object]:
    jobs = [job_id for (job_id,) in rows(JOBS, params)]
    tags = workloads.tags_of_jobs(jobs)
    return {
        "job_ids": list(tags),
        "tags": [json.dumps(of_job, sort_keys=True) for of_job in tags.values()],
    }


DELETE: tuple[LiteralString, ...] = (
    "DELETE FROM ledger_ledgerday WHERE day = %(day)s AND coalesce(pool_id, 0) = ANY(%(pools)s)",
    "DELETE FROM ledger_ledgerjobday WHERE day = %(day)s AND coalesce(pool_id, 0) = ANY(%(pools)s)",
    "DELETE FROM ledger_ledgerteamday WHERE day = %(day)s",
)
JOBS = """
SELECT DISTINCT job_id FROM ledger_line
WHERE hour >= %(from)s AND hour < %(to)s AND coalesce(pool_id, 0) = ANY(%(pools)s)
  AND job_id IS NOT NULL
ORDER BY job_id
"""
# No row mixes known amounts with unknown ones: a sum is of everything it names, or null.
DAYS = """
INSERT INTO ledger_ledgerday
    (day, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,
     purchase_option, state, flags, tags, list_micros, contracted_micros, effective_micros,
     billed_micros, unit_milliseconds, held_milliseconds, observed_milliseconds,
     unpriced_milliseconds)
SELECT %(day)s, line.posting_month, charge.status, charge.kind, line.team_id, line.workload_id,
       line.pool_id, coalesce(pool.unit, ''), coalesce(pool.gpu_model, ''),
       coalesce(pool.purchase_option, ''), line.state, line.flags, coalesce(tag.tags, '{}'::jsonb),
       sum(line.list_micros), sum(line.contracted_micros), sum(line.effective_micros),
       sum(line.billed_micros), sum(line.unit_milliseconds),
       coalesce(sum(line.unit_milliseconds) FILTER (
           WHERE line.state = ANY(%(held)s) AND line.flags & %(not_held)s = 0), 0),
       coalesce(sum(line.unit_milliseconds) FILTER (
           WHERE line.state = ANY(%(held)s) AND line.state <> %(unobserved)s
             AND line.flags & %(not_held)s = 0), 0),
       coalesce(sum(line.unit_milliseconds) FILTER (WHERE line.effective_micros IS NULL), 0)
FROM ledger_line AS line
JOIN ledger_charge AS charge ON charge.id = line.charge_id
LEFT JOIN unnest(%(pool_ids)s::int8[], %(units)s::text[], %(models)s::text[], %(options)s::text[])
     AS pool (id, unit, gpu_model, purchase_option) ON pool.id = line.pool_id
LEFT JOIN unnest(%(job_ids)s::int8[], %(tags)s::jsonb[]) AS tag (job_id, tags)
     ON tag.job_id = line.job_id
WHERE line.hour >= %(from)s AND line.hour < %(to)s AND coalesce(line.pool_id, 0) = ANY(%(pools)s)
GROUP BY line.posting_month, charge.status, charge.kind, line.team_id, line.workload_id,
         line.pool_id, pool.unit, pool.gpu_model, pool.purchase_option, line.state, line.flags,
         tag.tags, line.list_micros IS NULL, line.effective_micros IS NULL
"""
# Of all pools, marked or not. Rows stay apart where any question tells them apart: what is unknown
# on a basis, what has no time.
TEAM_DAYS = """
INSERT INTO ledger_ledgerteamday
    (day, posting_month, status, kind, team_id, unit, state, flags, list_micros, contracted_micros,
     effective_micros, billed_micros, unit_milliseconds, held_milliseconds, observed_milliseconds,
     unpriced_milliseconds)
SELECT day, posting_month, status, kind, team_id, unit, state, flags,
       sum(list_micros), sum(contracted_micros), sum(effective_micros), sum(billed_micros),
       sum(unit_milliseconds), sum(held_milliseconds), sum(observed_milliseconds),
       sum(unpriced_milliseconds)
FROM ledger_ledgerday
WHERE day = %(day)s
GROUP BY day, posting_month, status, kind, team_id, unit, state, flags,
         list_micros IS NULL, contracted_micros IS NULL, effective_micros IS NULL,
         billed_micros IS NULL, unit_milliseconds > 0
"""
JOB_DAYS = """
INSERT INTO ledger_ledgerjobday
    (day, posting_month, pool_id, job_id, team_id, workload_id, state, flags, list_micros,
     contracted_micros, effective_micros, billed_micros, unit_milliseconds, unpriced_milliseconds)
SELECT %(day)s, posting_month, pool_id, job_id, team_id, workload_id, state, flags,
       sum(list_micros), sum(contracted_micros), sum(effective_micros), sum(billed_micros),
       sum(unit_milliseconds),
       coalesce(sum(unit_milliseconds) FILTER (WHERE effective_micros IS NULL), 0)
FROM ledger_line
WHERE hour >= %(from)s AND hour < %(to)s AND coalesce(pool_id, 0) = ANY(%(pools)s)
  AND job_id IS NOT NULL
GROUP BY posting_month, pool_id, job_id, team_id, workload_id, state, flags, list_micros IS NULL,
         effective_micros IS NULL
"""
