-- What the passes leave: thirteen months of days, and charges and lines of the last three days.
CREATE TEMPORARY TABLE part (state smallint, flags smallint, milliseconds bigint, of_slot int);
-- Of the 48 GPU-hours that a slot has in a day; one slot in ten has an unpinned claim too.
INSERT INTO part VALUES (1, 0, 118800000, 1), (2, 0, 43200000, 1), (3, 0, 7200000, 1), (1, 8, 3600000, 10);
INSERT INTO ledger_ledgerjobday (day, posting_month, pool_id, job_id, team_id, workload_id, state, flags,
    list_micros, contracted_micros, effective_micros, billed_micros, unit_milliseconds, unpriced_milliseconds)
SELECT day, date_trunc('month', day)::date, pool_id, ((day - %(first)s) / 4) * %(slots)s + slot, team_id,
       workload_id, state, flags, part.milliseconds * 3414 / 1000,
       CASE WHEN pool_id < %(pools)s THEN part.milliseconds * 2198 / 1000 END,
       CASE WHEN pool_id < %(pools)s THEN part.milliseconds * 2198 / 1000 END, NULL, part.milliseconds,
       CASE WHEN pool_id < %(pools)s THEN 0 ELSE part.milliseconds END
FROM (SELECT %(first)s + n AS day FROM generate_series(0, %(today)s - %(first)s) AS n) AS days,
     owned JOIN part ON owned.slot %% part.of_slot = 0;
INSERT INTO ledger_ledgerday (day, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, tags, is_of_job, list_micros, contracted_micros, effective_micros, billed_micros,
    unit_milliseconds, held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, CASE WHEN day = %(today)s THEN 'provisional' ELSE 'estimated' END, 'node_hour',
       team_id, workload_id, pool_id, 'gpu', pool.gpu_model, pool.purchase_option, state, flags, '{}',
       true, sum(list_micros), sum(contracted_micros), sum(effective_micros), NULL, sum(unit_milliseconds),
       sum(unit_milliseconds), coalesce(sum(unit_milliseconds) FILTER (WHERE state <> 3), 0),
       sum(unpriced_milliseconds)
FROM ledger_ledgerjobday JOIN fleet_pool AS pool ON pool.id = pool_id
GROUP BY day, posting_month, team_id, workload_id, pool_id, pool.id, state, flags;
-- Time of no holder is the team's of the pool.
INSERT INTO ledger_ledgerday (day, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, tags, list_micros, contracted_micros, effective_micros, billed_micros,
    unit_milliseconds, held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT day, date_trunc('month', day)::date, CASE WHEN day = %(today)s THEN 'provisional' ELSE 'estimated' END,
       'node_hour', pool.owner_team_id, NULL, pool.id, 'gpu', pool.gpu_model, pool.purchase_option, state, 0,
       '{}', 900000000, 600000000, 600000000, NULL, 300000000, 0, 0, 0
FROM (SELECT %(first)s + n AS day FROM generate_series(0, %(today)s - %(first)s) AS n) AS days,
     fleet_pool AS pool, generate_series(4, 6) AS state;
INSERT INTO ledger_ledgerteamday (day, posting_month, status, kind, team_id, unit,
    state, flags, list_micros, contracted_micros, effective_micros, billed_micros,
    unit_milliseconds, held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, status, kind, team_id, unit, state, flags,
       sum(list_micros), sum(contracted_micros), sum(effective_micros), sum(billed_micros), sum(unit_milliseconds),
       sum(held_milliseconds), sum(observed_milliseconds), sum(unpriced_milliseconds)
FROM ledger_ledgerday
GROUP BY day, posting_month, status, kind, team_id, unit, state, flags,
         list_micros IS NULL, contracted_micros IS NULL, effective_micros IS NULL, billed_micros IS NULL,
         unit_milliseconds > 0
ORDER BY day;
INSERT INTO ledger_ledgerpoolday (day, posting_month, status, kind, team_id, pool_id, unit, gpu_model, purchase_option,
    state, flags, list_micros, contracted_micros, effective_micros, billed_micros, unit_milliseconds,
    held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, status, kind, team_id, pool_id, unit, gpu_model, purchase_option, state, flags,
       sum(list_micros), sum(contracted_micros), sum(effective_micros), sum(billed_micros), sum(unit_milliseconds),
       sum(held_milliseconds), sum(observed_milliseconds), sum(unpriced_milliseconds)
FROM ledger_ledgerday
GROUP BY day, posting_month, status, kind, team_id, pool_id, unit, gpu_model, purchase_option, state, flags,
         list_micros IS NULL, contracted_micros IS NULL, effective_micros IS NULL, billed_micros IS NULL,
         unit_milliseconds > 0
ORDER BY day, pool_id;
INSERT INTO ledger_ledgermonth (month, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, tags, is_of_job, list_micros, contracted_micros, effective_micros, billed_micros,
    unit_milliseconds, held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT date_trunc('month', day)::date, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model, purchase_option, state, flags,
       tags, is_of_job, sum(list_micros), sum(contracted_micros), sum(effective_micros), sum(billed_micros),
       sum(unit_milliseconds), sum(held_milliseconds), sum(observed_milliseconds), sum(unpriced_milliseconds)
FROM ledger_ledgerday
GROUP BY 1, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model, purchase_option, state, flags,
         tags, is_of_job, list_micros IS NULL, contracted_micros IS NULL, effective_micros IS NULL, billed_micros IS NULL,
         unit_milliseconds > 0
ORDER BY posting_month;
INSERT INTO ledger_ledgeruserday (day, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, is_of_job, user_name, list_micros, contracted_micros, effective_micros,
    billed_micros, unit_milliseconds, held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, CASE WHEN day = %(today)s THEN 'provisional' ELSE 'estimated' END, 'node_hour',
       team_id, workload_id, pool_id, 'gpu', pool.gpu_model, pool.purchase_option, job_day.state, flags, true,
       job."user", sum(list_micros), sum(contracted_micros), sum(effective_micros), NULL, sum(unit_milliseconds),
       sum(unit_milliseconds), coalesce(sum(unit_milliseconds) FILTER (WHERE job_day.state <> 3), 0),
       sum(unpriced_milliseconds)
FROM ledger_ledgerjobday AS job_day JOIN fleet_pool AS pool ON pool.id = pool_id
JOIN workloads_job AS job ON job.id = job_id
GROUP BY day, posting_month, team_id, workload_id, pool_id, pool.id, job_day.state, flags, job."user"
UNION ALL
SELECT day, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model, purchase_option, state, flags,
       false, '', list_micros, contracted_micros, effective_micros, billed_micros, unit_milliseconds,
       held_milliseconds, observed_milliseconds, unpriced_milliseconds
FROM ledger_ledgerday WHERE state > 3
ORDER BY day;
INSERT INTO ledger_ledgernodeday (day, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, node_id, list_micros, contracted_micros, effective_micros,
    billed_micros, unit_milliseconds, held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, CASE WHEN day = %(today)s THEN 'provisional' ELSE 'estimated' END, 'node_hour',
       job_day.team_id, job_day.workload_id, job_day.pool_id, 'gpu', pool.gpu_model, pool.purchase_option, state,
       flags, owned.node_id, sum(list_micros), sum(contracted_micros), sum(effective_micros), NULL,
       sum(unit_milliseconds), sum(unit_milliseconds),
       coalesce(sum(unit_milliseconds) FILTER (WHERE state <> 3), 0), sum(unpriced_milliseconds)
FROM ledger_ledgerjobday AS job_day JOIN fleet_pool AS pool ON pool.id = job_day.pool_id
JOIN owned ON owned.slot = 1 + (job_day.job_id - 1) %% %(slots)s
GROUP BY day, posting_month, job_day.team_id, job_day.workload_id, job_day.pool_id, pool.id, state, flags, owned.node_id
UNION ALL
SELECT day, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model, purchase_option, state, flags,
       first_node.id, list_micros, contracted_micros, effective_micros, billed_micros, unit_milliseconds,
       held_milliseconds, observed_milliseconds, unpriced_milliseconds
FROM ledger_ledgerday JOIN LATERAL (
    SELECT min(node.id) AS id FROM fleet_node AS node WHERE node.pool_id = ledger_ledgerday.pool_id
) AS first_node ON true WHERE state > 3
ORDER BY day;

INSERT INTO ledger_charge (id, kind, node_id, pool_id, part, hour, through, posting_month, list_micros,
    contracted_micros, effective_micros, currency, status, reason, digest)
OVERRIDING SYSTEM VALUE
SELECT h * %(nodes)s + n, 'node_hour', n, 1 + n %% %(pools)s, 0, hour, hour + interval '1 hour',
       date_trunc('month', hour AT TIME ZONE 'UTC')::date, 98320000, 63298500, 63298500, 'USD', 'estimated', '',
       '\x00'
FROM generate_series(0, %(line_hours)s - 1) AS h,
     LATERAL (SELECT date_trunc('hour', %(at)s::timestamptz) - (h + 1) * interval '1 hour' AS hour) AS hours,
     generate_series(1, %(nodes)s) AS n;
INSERT INTO ledger_chargepiece (charge_id, start_ms, end_ms, list_micros, contracted_micros, effective_micros, detail)
SELECT id, 0, 3600000, list_micros, contracted_micros, effective_micros, '' FROM ledger_charge;
INSERT INTO ledger_settlement (id, node_id, hour, version, through, digest, reason, policy_version,
    unit_milliseconds, effective_micros, settled_at)
OVERRIDING SYSTEM VALUE
SELECT id, node_id, hour, 1, through, '\x00', 'first', 1, 28800000, effective_micros, through
FROM ledger_charge;
INSERT INTO ledger_line (charge_id, settlement_id, hour, team_id, pool_id, workload_id, job_id,
    unit_milliseconds, list_micros, contracted_micros, effective_micros, posting_month, policy_version, state,
    flags, evidence)
SELECT charge.id, charge.id, charge.hour, team_id, owned.pool_id, workload_id,
       (((charge.hour AT TIME ZONE 'UTC')::date - %(first)s) / 4) * %(slots)s + slot,
       milliseconds, milliseconds * 3414 / 1000, milliseconds * 2198 / 1000, milliseconds * 2198 / 1000,
       charge.posting_month, 1, state, 0, 2
FROM ledger_charge AS charge JOIN owned ON owned.node_id = charge.node_id,
     (VALUES (1, 5000000::bigint), (2, 2200000)) AS spent (state, milliseconds);
-- One node in ten worked for a key that no job explains.
INSERT INTO ledger_line (charge_id, settlement_id, hour, team_id, pool_id, holder_key_id, unit_milliseconds,
    list_micros, contracted_micros, effective_micros, posting_month, policy_version, state, flags, evidence)
SELECT id, id, hour, %(unowned)s, pool_id, node_id / 10 %% 40 + 1, 3600000, 12000000, 9000000, 9000000,
       posting_month, 1, 1, 2, 1
FROM ledger_charge WHERE node_id %% 10 = 0;
