-- Nine weeks of workloads, half of them services, half training: their days, output and scores.
INSERT INTO accounts_team (id, name, kind, cost_centre) OVERRIDING SYSTEM VALUE
SELECT 100 + n, 'Team ' || n, 'team', '' FROM generate_series(0, %(teams)s - 1) AS n;
INSERT INTO fleet_cluster (id, name, kind, created_at) OVERRIDING SYSTEM VALUE VALUES (1, 'atlas', 'slurm', %(at)s);
INSERT INTO fleet_pool (id, name, cluster_id, provider, region, instance_type, gpu_model, gpus_per_node, unit,
    purchase_option, owner_team_id, idle_sharing, created_at) OVERRIDING SYSTEM VALUE
SELECT n, 'pool-' || n, 1, 'aws', 'us-east-1', 'p5.48xlarge', 'NVIDIA H100 80GB HBM3', 8, 'gpu', 'on_demand',
       100 + n %% %(teams)s, 'keep', %(at)s
FROM generate_series(1, %(pools)s) AS n;
INSERT INTO workloads_workload (id, name, team_id, kind) OVERRIDING SYSTEM VALUE
SELECT n, 'workload-' || n, 100 + n %% %(teams)s, CASE WHEN n %% 2 = 0 THEN 'serving' ELSE 'training' END
FROM generate_series(1, %(workloads)s) AS n;
INSERT INTO workloads_workloadvalue (workload_id, unit, low, high, valid_from, note, stated_name, stated_at)
SELECT id, CASE WHEN kind = 'serving' THEN 'thousand_requests' ELSE 'million_tokens' END,
       0.2 + id %% 7, 0.3 + id %% 7 * 1.5, %(first)s, '', 'bench', %(at)s
FROM workloads_workload WHERE id %% 5 <> 0;
INSERT INTO workloads_workloadscore (workload_id, name, value, higher_is_better, day, stated_name, stated_at)
SELECT workload.id, 'accuracy', 0.9 - week / 100.0, true, %(first)s + week * 7 + 3, 'bench', %(at)s
FROM workloads_workload AS workload, generate_series(0, 8) AS week WHERE kind = 'serving';
CREATE TEMPORARY TABLE day AS
SELECT %(first)s::date + n AS day, date_trunc('month', %(first)s::date + n)::date AS posting_month
FROM generate_series(0, %(last)s::date - %(first)s::date) AS n;
-- 24 to 120 GPU-hours a day of each workload at $2.20, a fifth of it idle; of every pool some unallocated.
CREATE TEMPORARY TABLE cell AS
SELECT team_id, id AS workload_id, 1 + id %% %(pools)s AS pool_id, part.state,
       (24 + id %% 97) * 3600000::int8 * part.share / 10 AS ms
FROM workloads_workload CROSS JOIN (VALUES (1::smallint, 8), (2::smallint, 2)) AS part (state, share)
UNION ALL
SELECT owner_team_id, NULL, id, 6::smallint, 400 * 3600000::int8 FROM fleet_pool;
INSERT INTO ledger_ledgerday (day, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, tags, is_of_job, list_micros, contracted_micros, effective_micros,
    unit_milliseconds, held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, 'estimated', 'node_hour', team_id, workload_id, pool_id, 'gpu', 'NVIDIA H100 80GB HBM3',
       'on_demand', state, 0, '{}', workload_id IS NOT NULL, ms * 3, ms * 2200 / 3600, ms * 2200 / 3600,
       ms, CASE WHEN state < 4 THEN ms ELSE 0 END, CASE WHEN state < 3 THEN ms ELSE 0 END, 0
FROM day, cell ORDER BY day;
INSERT INTO ledger_ledgerteamday (day, posting_month, status, kind, team_id, unit, state, flags, list_micros,
    contracted_micros, effective_micros, unit_milliseconds, held_milliseconds, observed_milliseconds,
    unpriced_milliseconds)
SELECT day, posting_month, status, kind, team_id, unit, state, flags, sum(list_micros), sum(contracted_micros),
       sum(effective_micros), sum(unit_milliseconds), sum(held_milliseconds), sum(observed_milliseconds), 0
FROM ledger_ledgerday GROUP BY day, posting_month, status, kind, team_id, unit, state, flags ORDER BY day;
INSERT INTO ledger_ledgerpoolday (day, posting_month, status, kind, team_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, list_micros, contracted_micros, effective_micros, unit_milliseconds,
    held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT day, posting_month, status, kind, team_id, pool_id, unit, gpu_model, purchase_option, state, flags,
       sum(list_micros), sum(contracted_micros), sum(effective_micros), sum(unit_milliseconds),
       sum(held_milliseconds), sum(observed_milliseconds), 0
FROM ledger_ledgerday
GROUP BY day, posting_month, status, kind, team_id, pool_id, unit, gpu_model, purchase_option, state, flags
ORDER BY day;
INSERT INTO ledger_ledgermonth (month, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, tags, is_of_job, list_micros, contracted_micros, effective_micros,
    unit_milliseconds, held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT date_trunc('month', day)::date, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model, purchase_option, state, flags,
       tags, is_of_job, sum(list_micros), sum(contracted_micros), sum(effective_micros), sum(unit_milliseconds),
       sum(held_milliseconds), sum(observed_milliseconds), 0
FROM ledger_ledgerday
GROUP BY 1, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model, purchase_option, state, flags,
         tags, is_of_job;
INSERT INTO ledger_servicetotal (day, posting_month, measure, workload_id, answered_micros, stated_micros, active_micros,
    unit_milliseconds, unpriced_milliseconds, held_milliseconds, observed_milliseconds, statuses, requests, succeeded,
    prompt_tokens, cached_tokens, output_tokens, prompt_ms, cached_ms, output_ms, untold_ms, measured_ms,
    costless_requests)
SELECT day, posting_month, 'effective', workload_id, sum(effective_micros), sum(effective_micros), sum(effective_micros),
       sum(unit_milliseconds), 0, sum(unit_milliseconds), sum(unit_milliseconds), 2, 40000 + workload_id, 39000,
       50000000, 0, 9000000, 1, 0, 1, 0, 0, 0
FROM ledger_ledgerday WHERE workload_id %% 2 = 0 GROUP BY day, posting_month, workload_id;
INSERT INTO ledger_serviceday (day, posting_month, status, kind, feature, part, state, flags, effective_micros,
    unit_milliseconds, unpriced_milliseconds, pool_id, team_id, workload_id)
SELECT day, posting_month, status, kind, '', 0, state, flags, effective_micros, unit_milliseconds, 0, pool_id,
       team_id, workload_id
FROM ledger_ledgerday WHERE workload_id %% 2 = 0;
INSERT INTO workloads_job (id, cluster_id, raw_id, opened_at, restart_count, array_id, het_id, name, "user", account,
    partition, qos, namespace, labels, state, exit_code, suspended_seconds, cpus_denominator, source_rank)
OVERRIDING SYSTEM VALUE
SELECT id, 1, id::text, %(at)s, 0, '', '', 'train', 'ada', '', '', '', '', '{}', 'RUNNING', '', 0, 1, 1
FROM workloads_workload WHERE kind = 'training';
INSERT INTO workloads_run (id, key, team_id) OVERRIDING SYSTEM VALUE
SELECT id, 'run-' || id, team_id FROM workloads_workload WHERE kind = 'training';
INSERT INTO workloads_runattempt (id, run_id, key, rank, world_size, restarts, host, scheduler, cluster_named, raw_id,
    workload_named, began_at, heard_at, status, model, tags, dropped) OVERRIDING SYSTEM VALUE
SELECT id, id, 'a', 0, 8, 0, '', '', '', '', '', %(at)s, %(last)s, '', '{}', '{}', 0 FROM workloads_run;
INSERT INTO ledger_runfigures (run_id, key, team_id, workload_id, status, gpu_model, jobs, attempts,
    unpriced_milliseconds, unit_milliseconds, mfu_doubt, good_checkpoints, bucket_micros, bucket_unit_ms, computed_at)
SELECT id, key, team_id, id, '', '', 1, 1, 0, 0, '', 0, '[]', '[]', %(at)s FROM workloads_run;
INSERT INTO ledger_runday (day, posting_month, status, kind, bucket, state, flags, effective_micros,
    unit_milliseconds, unpriced_milliseconds, job_id, pool_id, run_id, team_id, workload_id)
SELECT day, posting_month, status, kind, CASE WHEN workload_id %% 10 = 1 AND day > %(last)s::date - 2 THEN 11 ELSE 8 END,
       state, flags, effective_micros, unit_milliseconds, 0, workload_id, pool_id, workload_id, team_id, workload_id
FROM ledger_ledgerday WHERE workload_id %% 2 = 1;
INSERT INTO workloads_runhour (run_id, job_key, hour, bucket_ms, tokens, redone_tokens, examples, flops, steps, step_ms)
SELECT id, id, hour, array_fill(300000::int8, ARRAY[12]), 40000000, 0, 0, 0, 100, 3000000
FROM workloads_run, generate_series(%(first)s::timestamptz, %(last)s::timestamptz + interval '23 hours',
                                    interval '3 hours') AS hour;
-- The loss of every tenth run is no number any more from its last days on: they are divided as diverged above.
INSERT INTO workloads_runscore (attempt_id, sequence, part, name, at, value, higher_is_better)
SELECT id, row_number() OVER (PARTITION BY id ORDER BY at), 0, 'loss', at,
       CASE WHEN id %% 10 = 1 AND at > %(last)s::timestamptz - interval '2 days' THEN NULL
            ELSE 3 - extract(epoch FROM at - %(first)s::timestamptz) / 1e7 END, false
FROM workloads_run, generate_series(%(last)s::timestamptz - interval '27 days', %(last)s::timestamptz,
                                    interval '2 hours') AS at;
