-- Five thousand training runs over thirteen months, five days each, with what their pages tell of them.
CREATE TEMPORARY TABLE bucket (bucket smallint, part int);
INSERT INTO bucket VALUES (0, 0), (1, 6), (2, 2), (3, 3), (4, 9), (5, 4), (6, 3), (7, 61), (8, 1), (9, 1), (10, 10);
CREATE TEMPORARY TABLE trained AS
SELECT n AS run_id, workload.id AS workload_id, workload.team_id, 1 + workload.id %% %(pools)s AS pool_id,
       %(at)s::timestamptz - (n %% 390) * interval '1 day' - interval '5 days' AS began_at,
       (ARRAY[8, 16, 32, 64, 128])[1 + n %% 5] AS gpus, 1 + n %% 97 AS size,
       (ARRAY['finished', 'finished', 'finished', 'failed', ''])[1 + n / 5 %% 5] AS status,
       (SELECT max(job_id) FROM ledger_line WHERE ledger_line.workload_id = workload.id) AS job_id
FROM generate_series(1, %(runs)s) AS n
JOIN workloads_workload AS workload ON workload.id = 1 + n %% %(workloads)s;
INSERT INTO workloads_run (id, workload_id, key) OVERRIDING SYSTEM VALUE
SELECT run_id, workload_id, 'run-' || run_id FROM trained WHERE run_id > %(workloads)s;
INSERT INTO ledger_runfigures (run_id, key, team_id, workload_id, status, began_at, ended_at, wall_seconds,
    gpus, gpu_model, jobs, attempts, effective_micros, unpriced_milliseconds, unit_milliseconds,
    energy_joules, observed_ratio, told_ratio, goodput_ratio, tokens, examples, tokens_per_second,
    mfu_ratio, mfu_doubt, tensor_active_ratio, scaling_ratio, first_good_seconds, good_checkpoints,
    checkpoint_micros, million_tokens_micros, data_wait_ratio, bucket_micros, bucket_unit_ms, computed_at)
SELECT run_id, 'run-' || run_id, team_id, workload_id, status, began_at,
       CASE WHEN status <> '' THEN began_at + interval '5 days' END, 432000, gpus,
       'NVIDIA H100 80GB HBM3', 1, 3, gpus * 300000000::bigint, 0, gpus * 432000000::bigint,
       gpus * 2.6e8, 0.98, 0.9, 0.61 / 0.9, gpus * 1000000::bigint * size, NULL,
       gpus * 3000.0 * (1 - gpus / 1000.0), 0.2 + size / 300.0, '', NULL, 1 - gpus / 600.0,
       7200 + 60 * size, 4, gpus * 75000000::bigint, 300000 + size * 1000, 0.1,
       (SELECT jsonb_agg(gpus * 3000000::bigint * part ORDER BY bucket) FROM bucket),
       (SELECT jsonb_agg(gpus * 4320000::bigint * part ORDER BY bucket) FROM bucket), %(at)s
FROM trained;
INSERT INTO ledger_runday (day, posting_month, status, kind, pool_id, run_id, job_id, team_id, workload_id,
    bucket, state, flags, list_micros, contracted_micros, effective_micros, billed_micros,
    marginal_micros, unit_milliseconds, unpriced_milliseconds, energy_joules)
SELECT day, date_trunc('month', day)::date, 'estimated', 'node_hour', pool_id, run_id, job_id, team_id,
       workload_id, bucket, 1, 0, gpus * 900000::bigint * part, gpus * 600000::bigint * part,
       gpus * 600000::bigint * part, NULL, gpus * 600000::bigint * part, gpus * 864000::bigint * part, 0,
       gpus * 520000.0 * part
FROM trained, bucket, generate_series(0, 4) AS ahead,
     LATERAL (SELECT (began_at + ahead * interval '1 day')::date AS day) AS days
WHERE part > 0 AND job_id IS NOT NULL;
INSERT INTO workloads_runhour (run_id, job_key, hour, bucket_ms, tokens, redone_tokens, examples, flops,
    steps, step_ms)
SELECT run_id, job_id, date_trunc('hour', began_at) + ahead * interval '1 hour',
       (SELECT array_agg(36000::bigint * part ORDER BY bucket) FROM bucket), gpus * 8000::bigint * size, 0, 0,
       gpus * 4e17, 900, 2700000
FROM trained, generate_series(0, 119) AS ahead WHERE run_id %% 10 = 0 AND job_id IS NOT NULL;
INSERT INTO workloads_runattempt (run_id, key, rank, world_size, restarts, scheduler, cluster_named, raw_id,
    workload_named, job_id, began_at, ended_at, heard_at, status, model, tags, first_step, last_step, dropped)
SELECT run_id, attempt::text, 0, gpus, attempt, '', '', '', '', job_id, began_at + attempt * interval '40 hours',
       began_at + (attempt + 1) * interval '40 hours', began_at + (attempt + 1) * interval '40 hours',
       CASE attempt WHEN 2 THEN 'finished' ELSE 'interrupted' END, '{"active_parameters": 7e9}', '{}',
       attempt * 36000, (attempt + 1) * 36000, 0
FROM trained, generate_series(0, 2) AS attempt WHERE job_id IS NOT NULL;
INSERT INTO workloads_runevent (attempt_id, sequence, part, kind, at, step, metric)
SELECT id, 1, 0, 'good_checkpoint', began_at + interval '20 hours', first_step + 18000, 2.5
FROM workloads_runattempt;
INSERT INTO workloads_runsummary (run_id, told_at, folded_at, submitted_at, began_at, ended_at, status,
    attempts, jobs, gpus, model, tags, steps, tokens, redone_tokens, examples, flops, good_checkpoints,
    first_good_at, last_good_step, dropped)
SELECT run_id, %(at)s, %(at)s, began_at, began_at, began_at + interval '5 days', status, 3, 1, gpus,
       '{"active_parameters": 7e9}', '{}', 108000, gpus * 1000000::bigint * size, 0, 0, 0, 4,
       began_at + interval '2 hours', 90000, 0
FROM trained;
INSERT INTO workloads_runspan (run_id, job_id, period, is_reported)
SELECT run_id, job_id, tstzrange(began_at, began_at + interval '5 days'), true
FROM trained WHERE job_id IS NOT NULL AND run_id > %(workloads)s;
