"""The statements that write a day's rows of services."""

from typing import LiteralString

from apps.ledger.actions.marginal import MARGINAL, MARGINAL_JOIN, MARGINAL_MICROS
from apps.unit_economics.queries.service_measures import MEASURED

SERVICES = """
SELECT DISTINCT workload_id FROM ledger_line_fact
WHERE posting_month = ANY(%(months)s) AND hour >= %(from)s AND hour < %(to)s AND coalesce(pool_id, 0) = ANY(%(pools)s)
  AND workload_id = ANY(%(kinds)s)
UNION
SELECT workload_id FROM ledger_serviceday
WHERE day = %(day)s AND posting_month = ANY(%(months)s) AND coalesce(pool_id, 0) = ANY(%(pools)s)
ORDER BY 1
"""
_DELETE: LiteralString = """
DELETE FROM <table>
WHERE day = %(day)s AND posting_month = ANY(%(months)s) AND workload_id = ANY(%(services)s)
"""
DELETE: tuple[LiteralString, ...] = (
    _DELETE.replace("<table>", "ledger_serviceday"),
    _DELETE.replace("<table>", "ledger_servicetotal"),
)
DELETE_COUNTS = (
    "DELETE FROM ledger_servicecount WHERE day = %(day)s AND workload_id = ANY(%(services)s)"
)
# What was counted is of the day itself: no correction adds to it.
LIVED = """
SELECT workload_id, hour, sum(unit_milliseconds)::int8 FROM ledger_line_fact
WHERE posting_month = %(own_month)s AND hour >= %(from)s AND hour < %(to)s AND workload_id = ANY(%(services)s)
GROUP BY workload_id, hour ORDER BY workload_id, hour
"""
# No row mixes known amounts with unknown ones on any basis, as in the other roll-ups.
WHOLE: LiteralString = (
    """
WITH <marginal>
INSERT INTO ledger_serviceday
    (day, posting_month, status, kind, pool_id, team_id, workload_id, feature, part, state, flags,
     list_micros, contracted_micros, effective_micros, billed_micros, marginal_micros,
     unit_milliseconds, unpriced_milliseconds)
SELECT %(day)s, line.posting_month, charge.status, charge.kind, line.pool_id, line.team_id,
       line.workload_id, coalesce(whole.feature, ''), coalesce(whole.part, %(uncounted)s),
       line.state, line.flags, sum(line.list_micros), sum(line.contracted_micros),
       sum(line.effective_micros), sum(line.billed_micros),
       sum(<marginal_micros>), sum(line.unit_milliseconds),
       coalesce(sum(line.unit_milliseconds) FILTER (WHERE line.effective_micros IS NULL), 0)
FROM ledger_line_fact AS line
JOIN ledger_charge_fact AS charge ON charge.id = line.charge_id
LEFT JOIN unnest(%(whole_of)s::int8[], %(whole_at)s::timestamptz[], %(features)s::text[],
                 %(parts)s::int2[]) AS whole (workload_id, hour, feature, part)
     ON whole.workload_id = line.workload_id AND whole.hour = line.hour
LEFT JOIN unnest(%(divided_of)s::int8[], %(divided_at)s::timestamptz[]) AS divided (workload_id, hour)
     ON divided.workload_id = line.workload_id AND divided.hour = line.hour
<marginal_join>
WHERE line.posting_month = ANY(%(months)s) AND line.hour >= %(from)s AND line.hour < %(to)s
  AND line.workload_id = ANY(%(services)s) AND divided.workload_id IS NULL
GROUP BY line.posting_month, charge.status, charge.kind, line.pool_id, line.team_id,
         line.workload_id, 8, 9, line.state, line.flags, line.list_micros IS NULL,
         line.contracted_micros IS NULL, line.effective_micros IS NULL, line.billed_micros IS NULL
""".replace("<marginal>", MARGINAL)
    .replace("<marginal_join>", MARGINAL_JOIN)
    .replace("<marginal_micros>", MARGINAL_MICROS)
)
DIVIDED: LiteralString = (
    """
WITH <marginal>
SELECT line.workload_id, line.hour, line.posting_month, charge.status, charge.kind, line.pool_id,
       line.team_id, line.state, line.flags, sum(line.list_micros)::int8,
       sum(line.contracted_micros)::int8, sum(line.effective_micros)::int8,
       sum(line.billed_micros)::int8, sum(<marginal_micros>)::int8,
       sum(line.unit_milliseconds)::int8
FROM ledger_line_fact AS line
JOIN ledger_charge_fact AS charge ON charge.id = line.charge_id
JOIN unnest(%(divided_of)s::int8[], %(divided_at)s::timestamptz[]) AS divided (workload_id, hour)
     ON divided.workload_id = line.workload_id AND divided.hour = line.hour
<marginal_join>
WHERE line.posting_month = ANY(%(months)s) AND line.hour >= %(from)s AND line.hour < %(to)s
  AND line.workload_id = ANY(%(services)s)
GROUP BY line.workload_id, line.hour, line.posting_month, charge.status, charge.kind, line.pool_id,
         line.team_id, line.state, line.flags, line.list_micros IS NULL,
         line.contracted_micros IS NULL, line.effective_micros IS NULL, line.billed_micros IS NULL
""".replace("<marginal>", MARGINAL)
    .replace("<marginal_join>", MARGINAL_JOIN)
    .replace("<marginal_micros>", MARGINAL_MICROS)
)
INSERT = """
INSERT INTO ledger_serviceday
    (day, workload_id, feature, part, posting_month, status, kind, pool_id, team_id, state, flags,
     list_micros, contracted_micros, effective_micros, billed_micros, marginal_micros,
     unit_milliseconds, unpriced_milliseconds)
SELECT %(day)s, new.*, CASE WHEN new.effective IS NULL THEN new.ms ELSE 0 END
FROM unnest(%(new_of)s::int8[], %(new_features)s::text[], %(new_parts)s::int2[],
            %(new_months)s::date[], %(new_statuses)s::text[], %(new_kinds)s::text[],
            %(new_pools)s::int8[], %(new_teams)s::int8[], %(new_states)s::int2[],
            %(new_flags)s::int2[], %(new_listed)s::int8[], %(new_contracted)s::int8[],
            %(new_effective)s::int8[], %(new_billed)s::int8[], %(new_marginal)s::int8[],
            %(new_ms)s::int8[])
     AS new (workload_id, feature, part, posting_month, status, kind, pool_id, team_id, state,
             flags, listed, contracted, effective, billed, marginal, ms)
"""
COUNTS = """
INSERT INTO ledger_servicecount
    (day, workload_id, feature, part, hours, requests, succeeded, prompt_tokens, cached_tokens,
     output_tokens, prompt_ms, cached_ms, output_ms, untold_ms, measured_ms)
SELECT %(day)s, new.*
FROM unnest(%(of)s::int8[], %(features)s::text[], %(parts)s::int2[], %(hours)s::int2[],
            %(requests)s::int8[], %(succeeded)s::int8[], %(prompt_tokens)s::int8[],
            %(cached_tokens)s::int8[], %(output_tokens)s::int8[], %(prompt_ms)s::int8[],
            %(cached_ms)s::int8[], %(output_ms)s::int8[], %(untold_ms)s::int8[],
            %(measured_ms)s::int8[]) AS new
"""
# Rows of one measure lie together, as they are read. What corrects a day adds nothing to its counts.
TOTALS: LiteralString = """
INSERT INTO ledger_servicetotal
    (day, posting_month, workload_id, measure, answered_micros, idle_micros, unattributed_micros,
     uncounted_micros, stated_micros, active_micros, unit_milliseconds, unpriced_milliseconds,
     held_milliseconds, observed_milliseconds, statuses, requests, succeeded, prompt_tokens,
     cached_tokens, output_tokens, prompt_ms, cached_ms, output_ms, untold_ms, measured_ms,
     costless_requests)
SELECT %(day)s, money.*,
       CASE WHEN counted.workload_id IS NULL THEN 0 ELSE counted.requests END,
       CASE WHEN counted.workload_id IS NULL THEN 0 ELSE counted.succeeded END,
       counted.prompt_tokens, counted.cached_tokens, counted.output_tokens,
       coalesce(counted.prompt_ms, 0), coalesce(counted.cached_ms, 0),
       coalesce(counted.output_ms, 0), coalesce(counted.untold_ms, 0),
       coalesce(counted.measured_ms, 0), coalesce(costless.requests, 0)
FROM (
    SELECT row.posting_month, row.workload_id, measure.name,
           sum(measure.micros) FILTER (WHERE row.part = 0),
           sum(measure.micros) FILTER (WHERE row.part = 1),
           sum(measure.micros) FILTER (WHERE row.part = 2),
           sum(measure.micros) FILTER (WHERE row.part = %(uncounted)s),
           sum(measure.micros) FILTER (WHERE row.state IS NOT NULL AND row.part <> %(uncounted)s),
           sum(measure.micros) FILTER (WHERE row.state = %(active)s AND row.part <> %(uncounted)s),
           sum(row.unit_milliseconds), sum(row.unpriced_milliseconds),
           coalesce(sum(row.unit_milliseconds) FILTER (
               WHERE row.state = ANY(%(held)s) AND row.flags & %(not_held)s = 0), 0),
           coalesce(sum(row.unit_milliseconds) FILTER (
               WHERE row.state = ANY(%(held)s) AND row.state <> %(unobserved)s
                 AND row.flags & %(not_held)s = 0), 0),
           bit_or(1 << (array_position(%(words)s::text[], row.status) - 1))
    FROM ledger_serviceday AS row CROSS JOIN LATERAL (VALUES <measured>) AS measure (name, micros)
    WHERE row.day = %(day)s AND row.posting_month = ANY(%(months)s)
      AND row.workload_id = ANY(%(services)s)
    GROUP BY row.posting_month, row.workload_id, measure.name
) AS money
LEFT JOIN (
    SELECT workload_id,
           CASE WHEN count(requests) = count(*) THEN sum(requests) END AS requests,
           CASE WHEN count(succeeded) = count(*) THEN sum(succeeded) END AS succeeded,
           sum(prompt_tokens) AS prompt_tokens, sum(cached_tokens) AS cached_tokens,
           sum(output_tokens) AS output_tokens, sum(prompt_ms) AS prompt_ms,
           sum(cached_ms) AS cached_ms, sum(output_ms) AS output_ms, sum(untold_ms) AS untold_ms,
           sum(measured_ms) AS measured_ms
    FROM ledger_servicecount
    WHERE day = %(day)s AND workload_id = ANY(%(services)s) AND part <> %(uncounted)s
    GROUP BY workload_id
) AS counted
     ON counted.workload_id = money.workload_id AND money.posting_month = %(own_month)s
LEFT JOIN unnest(%(costless_of)s::int8[], %(costless)s::int8[]) AS costless (workload_id, requests)
     ON costless.workload_id = money.workload_id AND money.posting_month = %(own_month)s
ORDER BY 4, 3, 2
""".replace("<measured>", MEASURED)
