-- Each slot holds one job after another, four days long.
INSERT INTO workloads_job (id, cluster_id, raw_id, submitted_at, opened_at, restart_count, array_id, het_id,
    name, "user", account, partition, qos, namespace, labels, state, exit_code, started_at, ended_at,
    suspended_seconds, cpus_denominator, source_rank)
OVERRIDING SYSTEM VALUE
SELECT turn * %(slots)s + slot, 1 + pool_id %% 3, (1000000 + turn * %(slots)s + slot)::text, starts_at,
       starts_at, 0, '', '', 'train-' || slot %% 97, 'user-' || slot %% 300,
       CASE WHEN workload_id IS NULL THEN 'account-x' || slot %% 40 ELSE 'account-' || workload_id END,
       'gpu', '', '', '{}', CASE WHEN starts_at + interval '4 days' > %(at)s THEN 'RUNNING' ELSE 'COMPLETED' END,
       '', starts_at, CASE WHEN starts_at + interval '4 days' <= %(at)s THEN starts_at + interval '4 days' END,
       0, 1, 1
FROM owned, generate_series(0, %(turns)s - 1) AS turn,
     LATERAL (SELECT %(began)s::timestamptz + turn * interval '4 days' AS starts_at) AS span;
INSERT INTO workloads_allocation (job_id, node_name, node_id, part, gpus_numerator, gpus_denominator,
    device_uuids, cpus_denominator, divided_evenly, period)
SELECT job.id, 'gpu-' || lpad(node_id::text, 4, '0'), node_id, 0, 2, 1, NULL, 1, false,
       tstzrange(job.started_at, job.ended_at)
FROM workloads_job AS job JOIN owned ON owned.slot = 1 + (job.id - 1) %% %(slots)s;
INSERT INTO workloads_jobevent (job_id, kind, at, source_rank, content, digest)
SELECT id, 2, started_at, 1, '{}', decode(md5(id::text), 'hex') FROM workloads_job
WHERE ended_at IS NULL;
INSERT INTO workloads_runspan (run_id, job_id, period)
SELECT workload_id, turn * %(slots)s + slot, tstzrange(%(began)s::timestamptz + turn * interval '4 days',
       %(began)s::timestamptz + (turn + 1) * interval '4 days')
FROM owned, generate_series(%(turns)s - 10, %(turns)s - 1) AS turn
WHERE workload_id IS NOT NULL AND slot %% 8 = 1;
