"""Services had lines before their days were kept: nobody counted their requests then."""

from django.db import migrations

DAYS = """
INSERT INTO ledger_serviceday
    (day, posting_month, status, kind, pool_id, team_id, workload_id, feature, part, state, flags,
     list_micros, contracted_micros, effective_micros, billed_micros, marginal_micros,
     unit_milliseconds, unpriced_milliseconds)
SELECT (line.hour AT TIME ZONE organisation.zone)::date, line.posting_month, charge.status,
       charge.kind, line.pool_id, line.team_id, line.workload_id, '', 3, line.state, line.flags,
       sum(line.list_micros), sum(line.contracted_micros), sum(line.effective_micros),
       sum(line.billed_micros), sum(round(
           CASE WHEN charge.marginal_micros IS NULL THEN line.effective_micros
                WHEN charge.effective_micros = 0 THEN 0
                ELSE line.effective_micros::numeric * charge.marginal_micros
                     / charge.effective_micros END)),
       sum(line.unit_milliseconds),
       coalesce(sum(line.unit_milliseconds) FILTER (WHERE line.effective_micros IS NULL), 0)
FROM accounts_organisation AS organisation, ledger_line AS line
JOIN workloads_workload AS workload
     ON workload.id = line.workload_id AND workload.kind IN ('serving', 'batch')
JOIN ledger_charge AS charge ON charge.id = line.charge_id
WHERE NOT EXISTS (SELECT 1 FROM ledger_serviceday)
GROUP BY 1, line.posting_month, charge.status, charge.kind, line.pool_id, line.team_id,
         line.workload_id, line.state, line.flags, line.list_micros IS NULL,
         line.contracted_micros IS NULL, line.effective_micros IS NULL, line.billed_micros IS NULL
"""
TOTALS = """
INSERT INTO ledger_servicetotal
    (day, workload_id, measure, uncounted_micros, unit_milliseconds, unpriced_milliseconds,
     held_milliseconds, observed_milliseconds, statuses, requests, succeeded, prompt_ms, cached_ms,
     output_ms, untold_ms, measured_ms, costless_requests)
SELECT part.day, part.workload_id, measure.name, sum(measure.micros), sum(part.unit_milliseconds),
       sum(part.unpriced_milliseconds),
       coalesce(sum(part.unit_milliseconds) FILTER (
           WHERE part.state IN (1, 2, 3) AND part.flags & 3 = 0), 0),
       coalesce(sum(part.unit_milliseconds) FILTER (
           WHERE part.state IN (1, 2) AND part.flags & 3 = 0), 0),
       bit_or(1 << (array_position(
           ARRAY['provisional', 'estimated', 'reconciled', 'restated'], part.status) - 1)),
       0, 0, 0, 0, 0, 0, 0, 0
FROM ledger_serviceday AS part CROSS JOIN LATERAL (VALUES
    ('list', part.list_micros), ('contracted', part.contracted_micros),
    ('effective', part.effective_micros), ('billed', part.billed_micros),
    ('list.direct',
     CASE WHEN part.kind <> 'shared' AND part.flags & 64 = 0 THEN part.list_micros END),
    ('contracted.direct',
     CASE WHEN part.kind <> 'shared' AND part.flags & 64 = 0 THEN part.contracted_micros END),
    ('effective.direct',
     CASE WHEN part.kind <> 'shared' AND part.flags & 64 = 0 THEN part.effective_micros END),
    ('billed.direct',
     CASE WHEN part.kind <> 'shared' AND part.flags & 64 = 0 THEN part.billed_micros END),
    ('marginal', part.marginal_micros)
) AS measure (name, micros)
WHERE NOT EXISTS (SELECT 1 FROM ledger_servicetotal)
GROUP BY part.day, part.workload_id, measure.name
ORDER BY part.day, measure.name, part.workload_id
"""


class Migration(migrations.Migration):
    dependencies = [("ledger", "0013_service_day_exports")]

    operations = [
        migrations.RunSQL(sql=DAYS, reverse_sql=migrations.RunSQL.noop),
        migrations.RunSQL(sql=TOTALS, reverse_sql=migrations.RunSQL.noop),
    ]
