-- Nodes of eight GPUs with an agent each, and what they did in the last two days.
INSERT INTO fleet_node (id, cluster_id, pool_id, name, kind, provider_id, period, end_reason, created_at)
OVERRIDING SYSTEM VALUE
SELECT n, 1 + (1 + n %% %(pools)s) %% 3, 1 + n %% %(pools)s, 'gpu-' || lpad(n::text, 4, '0'), 'machine',
       'i-' || n, tstzrange(%(began)s, NULL), '', %(began)s
FROM generate_series(1, %(nodes)s) AS n;
INSERT INTO fleet_nodecapacity (node_id, units, period)
SELECT n, 8, tstzrange(%(began)s, NULL) FROM generate_series(1, %(nodes)s) AS n;
INSERT INTO fleet_device (id, node_id, uuid, kind, model, index, profile, replicas, period, confirmed_at)
OVERRIDING SYSTEM VALUE
SELECT (n - 1) * 8 + g + 1, n, 'GPU-' || lpad(((n - 1) * 8 + g + 1)::text, 8, '0'), 'gpu', pool.gpu_model,
       g, '', 1, tstzrange(%(began)s, NULL), CASE WHEN n %% 100 > 0 THEN %(began)s::timestamptz END
FROM generate_series(1, %(nodes)s) AS n CROSS JOIN generate_series(0, 7) AS g
JOIN fleet_pool AS pool ON pool.id = 1 + n %% %(pools)s;
INSERT INTO accounts_accesstoken (id, name, digest, prefix, scopes, created_at)
OVERRIDING SYSTEM VALUE
SELECT 1000 + n, 'agent on gpu-' || n, sha256(('agent ' || n)::bytea), 'rr_a' || n, '{ingest}', %(began)s
FROM generate_series(1, %(nodes)s) AS n;
INSERT INTO fleet_agent (id, node_id, token_id, source, version, enrolled_at, last_seen_at, clock_offset_ms, machine)
OVERRIDING SYSTEM VALUE
SELECT n, n, 1000 + n, 'nvml', '0.1.0', %(began)s,
       %(at)s - CASE WHEN n %% 150 = 0 THEN interval '9 hours' ELSE interval '20 seconds' END, 0, ''
FROM generate_series(1, %(nodes)s) AS n;
INSERT INTO fleet_outage (id, node_id, kind, period)
OVERRIDING SYSTEM VALUE
SELECT n, 1 + n * 7 %% %(nodes)s, 'maintenance', tstzrange(%(at)s - n * interval '1 day',
       CASE WHEN n > 3 THEN %(at)s - n * interval '1 day' + interval '9 hours' END)
FROM generate_series(1, least(%(nodes)s, 500)) AS n;
INSERT INTO telemetry_rejection (agent_id, day, field, reason, kept, count, last_at)
SELECT n, %(today)s, 'sm_ratio', 'is above 1', true, n, %(at)s
FROM generate_series(1, least(%(nodes)s, 40)) AS n;
INSERT INTO fleet_changedhour (pass_id, unit, hour, revision)
SELECT 3, n, date_trunc('hour', %(at)s::timestamptz), nextval('fleet_revision')
FROM generate_series(1, %(nodes)s) AS n;
INSERT INTO telemetry_holderkey (id, key) OVERRIDING SYSTEM VALUE
SELECT slot, 'slurm/cluster-1/unknown-' || slot FROM generate_series(1, 40) AS slot;
INSERT INTO telemetry_usagehour (hour, device_id, holder_id, source, observed, worked, sm_seconds,
    sm_observed_seconds, energy_joules)
SELECT hour, device, CASE WHEN device <= 40 THEN device ELSE 0 END, 1,
       decode(repeat('f0', 60), 'hex'),
       decode(repeat((ARRAY['f0', 'b0', '70', '00'])[1 + (device + extract(hour FROM hour)::int) %% 4], 60), 'hex'),
       1500, 3600, 2000000
FROM generate_series(date_trunc('hour', %(at)s::timestamptz) - interval '48 hours',
                     date_trunc('hour', %(at)s::timestamptz) - interval '1 hour', interval '1 hour') AS hour,
     generate_series(1, %(nodes)s * 8) AS device;
INSERT INTO telemetry_nodebusyhour (hour, node_id, observed_quarters, worked_quarters)
SELECT told.hour, device.node_id, count(*) * 14400, sum(60 * get_byte(told.worked, 0))
FROM telemetry_usagehour AS told JOIN fleet_device AS device ON device.id = told.device_id
GROUP BY 1, 2;
