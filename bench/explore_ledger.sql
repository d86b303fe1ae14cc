-- What the cube reads: thirteen months of days of sums; of users, nodes and jobs as long as they are asked for.
INSERT INTO fleet_node (id, cluster_id, pool_id, name, kind, provider_id, period, end_reason, created_at)
OVERRIDING SYSTEM VALUE
SELECT n, 1 + (1 + n %% %(pools)s) %% 3, 1 + n %% %(pools)s, 'gpu-' || lpad(n::text, 4, '0'), 'machine',
       'i-' || n, tstzrange(%(began)s, NULL), '', %(began)s
FROM generate_series(1, %(nodes)s) AS n;
INSERT INTO workloads_job (id, cluster_id, raw_id, submitted_at, opened_at, restart_count, array_id, het_id, name,
    "user", account, partition, qos, namespace, labels, state, exit_code, started_at, ended_at, suspended_seconds,
    cpus_denominator, source_rank)
OVERRIDING SYSTEM VALUE
SELECT turn * %(slots)s + slot, 1 + pool_id %% 3, (turn * %(slots)s + slot)::text, starts_at, starts_at, 0, '', '',
       'train-' || slot %% 97, 'user-' || slot %% 300, '', 'gpu', '', '', '{}', 'RUNNING', '', starts_at, NULL, 0, 1, 1
FROM owned, generate_series(%(turns)s - 11, %(turns)s - 1) AS turn,
     LATERAL (SELECT %(began)s::timestamptz + turn * interval '4 days' AS starts_at) AS span;
-- Of the 48 GPU-hours that a slot has in a day; one slot in ten has an unpinned claim too.
CREATE TEMPORARY TABLE part (state smallint, flags smallint, ms bigint, of_slot int);
INSERT INTO part VALUES (1, 0, 118800000, 1), (2, 0, 43200000, 1), (3, 0, 7200000, 1), (1, 8, 3600000, 10);
CREATE TEMPORARY TABLE told AS
SELECT owned.*, part.state, part.flags, part.ms, part.ms * 3414 / 1000 AS list_micros,
       CASE WHEN pool_id < %(pools)s THEN part.ms * 2198 / 1000 END AS micros, pool.gpu_model, pool.purchase_option,
       CASE WHEN slot %% 3 = 0 THEN '{"project": "project-0"}'::jsonb ELSE '{}' END AS tags,
       'user-' || slot %% 300 AS user_name
FROM owned JOIN part ON owned.slot %% part.of_slot = 0 JOIN fleet_pool AS pool ON pool.id = owned.pool_id
UNION ALL
-- Time of no holder is the team's of the pool.
SELECT NULL, pool.id, pool.id, NULL, pool.owner_team_id, state::smallint, 0, 300000000, 900000000,
       600000000, pool.gpu_model, pool.purchase_option, '{}', NULL
FROM fleet_pool AS pool, generate_series(4, 6) AS state;
CREATE TEMPORARY TABLE day AS
SELECT day, date_trunc('month', day)::date AS posting_month,
       CASE WHEN day = %(today)s THEN 'provisional' ELSE 'estimated' END AS status
FROM (SELECT %(first)s + n AS day FROM generate_series(0, %(today)s - %(first)s) AS n) AS days;
INSERT INTO ledger_ledgerday (day, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, tags, is_of_job, list_micros, contracted_micros, effective_micros,
    unit_milliseconds, held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, status, 'node_hour', cell.*
FROM day, (
    SELECT team_id, workload_id, pool_id, 'gpu', gpu_model, purchase_option, state, flags, tags,
           user_name IS NOT NULL, sum(list_micros),
           sum(micros), sum(micros) AS effective_micros, sum(ms), CASE WHEN state < 4 THEN sum(ms) ELSE 0 END,
           CASE WHEN state < 3 THEN sum(ms) ELSE 0 END, CASE WHEN sum(micros) IS NULL THEN sum(ms) ELSE 0 END
    FROM told GROUP BY team_id, workload_id, pool_id, gpu_model, purchase_option, state, flags, tags, user_name IS NOT NULL) AS cell
ORDER BY day, pool_id;
INSERT INTO ledger_ledgerteamday (day, posting_month, status, kind, team_id, unit, state, flags, list_micros,
    contracted_micros, effective_micros, unit_milliseconds, held_milliseconds, observed_milliseconds,
    unpriced_milliseconds)
SELECT day, posting_month, status, kind, team_id, unit, state, flags, sum(list_micros), sum(contracted_micros),
       sum(effective_micros), sum(unit_milliseconds), sum(held_milliseconds), sum(observed_milliseconds),
       sum(unpriced_milliseconds)
FROM ledger_ledgerday
GROUP BY day, posting_month, status, kind, team_id, unit, state, flags, effective_micros IS NULL ORDER BY day;
INSERT INTO ledger_ledgerpoolday (day, posting_month, status, kind, team_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, list_micros, contracted_micros, effective_micros, unit_milliseconds,
    held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, status, kind, team_id, pool_id, unit, gpu_model, purchase_option, state, flags,
       sum(list_micros), sum(contracted_micros), sum(effective_micros), sum(unit_milliseconds),
       sum(held_milliseconds), sum(observed_milliseconds), sum(unpriced_milliseconds)
FROM ledger_ledgerday
GROUP BY day, posting_month, status, kind, team_id, pool_id, unit, gpu_model, purchase_option, state, flags,
         effective_micros IS NULL
ORDER BY day, pool_id;
INSERT INTO ledger_ledgermonth (month, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, tags, is_of_job, list_micros, contracted_micros, effective_micros,
    unit_milliseconds, held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT date_trunc('month', day)::date, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model, purchase_option, state, flags,
       tags, is_of_job, sum(list_micros), sum(contracted_micros), sum(effective_micros), sum(unit_milliseconds),
       sum(held_milliseconds), sum(observed_milliseconds), sum(unpriced_milliseconds)
FROM ledger_ledgerday
GROUP BY 1, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model, purchase_option, state, flags,
         tags, is_of_job, effective_micros IS NULL
ORDER BY posting_month;
INSERT INTO ledger_ledgeruserday (day, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, is_of_job, user_name, list_micros, contracted_micros, effective_micros,
    unit_milliseconds, held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, status, 'node_hour', cell.*
FROM day, (
    SELECT team_id, workload_id, pool_id, 'gpu', gpu_model, purchase_option, state, flags, user_name IS NOT NULL,
           coalesce(user_name, ''), sum(list_micros), sum(micros), sum(micros) AS effective_micros, sum(ms),
           CASE WHEN state < 4 THEN sum(ms) ELSE 0 END, CASE WHEN state < 3 THEN sum(ms) ELSE 0 END,
           CASE WHEN sum(micros) IS NULL THEN sum(ms) ELSE 0 END
    FROM told GROUP BY team_id, workload_id, pool_id, gpu_model, purchase_option, state, flags, user_name) AS cell
ORDER BY day, pool_id;
INSERT INTO ledger_ledgernodeday (day, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, node_id, list_micros, contracted_micros, effective_micros, unit_milliseconds,
    held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, status, 'node_hour', cell.*
FROM day, (
    SELECT team_id, workload_id, pool_id, 'gpu', gpu_model, purchase_option, state, flags, node_id, sum(list_micros),
           sum(micros), sum(micros) AS effective_micros, sum(ms), CASE WHEN state < 4 THEN sum(ms) ELSE 0 END,
           CASE WHEN state < 3 THEN sum(ms) ELSE 0 END, CASE WHEN sum(micros) IS NULL THEN sum(ms) ELSE 0 END
    FROM told GROUP BY team_id, workload_id, pool_id, gpu_model, purchase_option, state, flags, node_id) AS cell
WHERE day > %(today)s - 40 ORDER BY day, pool_id;
INSERT INTO ledger_ledgerjobday (day, posting_month, pool_id, job_id, team_id, workload_id, state, flags, list_micros,
    contracted_micros, effective_micros, unit_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, pool_id, ((day - %(first)s) / 4) * %(slots)s + slot, team_id, workload_id, state, flags,
       list_micros, micros, micros, ms, CASE WHEN micros IS NULL THEN ms ELSE 0 END
FROM day, told WHERE slot IS NOT NULL AND day > %(today)s - 40 ORDER BY day, pool_id;
