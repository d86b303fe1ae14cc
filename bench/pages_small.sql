-- What a company of this size has a few of; made with the audit triggers on.
INSERT INTO accounts_user (id, password, is_superuser, email, name, role, is_active, is_staff, created_at)
OVERRIDING SYSTEM VALUE
SELECT n, '!', false, 'person-' || n || '@example.org', 'Person ' || n,
       CASE WHEN n = 1 THEN 'finance' WHEN n = 2 THEN 'platform' WHEN n <= 2 + %(teams)s / 5
            THEN 'lead' ELSE 'viewer' END, true, false, %(at)s
FROM generate_series(1, 20 + %(teams)s * 4) AS n;

-- One team in five stands at the top; the lead of the first has the second as well.
INSERT INTO accounts_team (id, name, kind, parent_id, owner_id, cost_centre)
OVERRIDING SYSTEM VALUE
SELECT 100 + n, 'Team ' || n, 'team',
       CASE WHEN n >= %(teams)s / 5 THEN 100 + n %% (%(teams)s / 5) END,
       CASE WHEN n < %(teams)s / 5 THEN 3 + greatest(n - 1, 0) END, 'CC-' || (1000 + n)
FROM generate_series(0, %(teams)s - 1) AS n;
INSERT INTO accounts_membership (user_id, team_id)
SELECT 3 + %(teams)s / 5 + n, 100 + n %% %(teams)s FROM generate_series(0, %(teams)s * 3) AS n;

INSERT INTO fleet_cluster (id, name, kind, created_at) OVERRIDING SYSTEM VALUE
SELECT n, 'cluster-' || n, CASE n WHEN 3 THEN 'kubernetes' ELSE 'slurm' END, %(began)s
FROM generate_series(1, 3) AS n;
INSERT INTO fleet_pool (id, name, cluster_id, provider, region, instance_type, gpu_model,
    gpus_per_node, unit, purchase_option, owner_team_id, idle_sharing, created_at)
OVERRIDING SYSTEM VALUE
SELECT n, 'pool-' || n, 1 + n %% 3, 'aws', 'us-east-' || n, 'p5.48xlarge',
       CASE WHEN n %% 3 = 0 THEN 'NVIDIA A100-SXM4-80GB' ELSE 'NVIDIA H100 80GB HBM3' END, 8, 'gpu',
       CASE WHEN n %% 2 = 0 THEN 'on_demand' ELSE 'reserved' END, 100 + n %% %(teams)s, 'keep', %(began)s
FROM generate_series(1, %(pools)s) AS n;
INSERT INTO fleet_sharepolicy (pool_id, version, rule, period, core_weight, cores_per_node)
SELECT n, 1, 'largest', tstzrange(%(began)s, NULL), 0, 0 FROM generate_series(1, %(pools)s) AS n;
-- The last pool has a list price alone, and for its first half year none.
INSERT INTO pricing_rate (provider, region, instance_type, gpu_model, purchase_option, pool_id, kind,
    amount, currency, quantity_seconds, unit, period, target, source, created_at, standing, doubt, tiers)
SELECT '', '', '', '', pool.purchase_option, pool.id, kind.name,
       CASE kind.name WHEN 'list' THEN 98.32 ELSE 63.2985 END, 'USD', 3600, 'node',
       tstzrange(%(began)s + part * interval '200 days',
                 CASE part WHEN 0 THEN %(began)s + interval '200 days' END),
       'pool:' || pool.id || ':' || kind.name, 'a contract', %(began)s, 'in_force', '', '[]'
FROM fleet_pool AS pool, (VALUES ('list'), ('contract')) AS kind (name), generate_series(0, 1) AS part
WHERE pool.id < %(pools)s OR (kind.name = 'list' AND part = 1);
-- Each fifth pool's list price is said to fall by half, and waits for a second person.
INSERT INTO pricing_rate (provider, region, instance_type, gpu_model, purchase_option, pool_id, kind,
    amount, currency, quantity_seconds, unit, period, target, source, created_at, standing, doubt, tiers)
SELECT '', '', '', '', pool.purchase_option, pool.id, 'list', 49.16, 'USD', 3600, 'node',
       tstzrange(%(began)s + interval '300 days', NULL), 'pool:' || pool.id || ':list', 'a contract',
       %(began)s, 'waiting', 'it moves the price from 98.32 to 49.16 an hour, by 50 %%', '[]'
FROM fleet_pool AS pool WHERE pool.id %% 5 = 0 OR pool.id = 1;

INSERT INTO workloads_workload (id, name, team_id, kind) OVERRIDING SYSTEM VALUE
SELECT n, 'workload-' || n, 100 + n %% %(teams)s,
       (ARRAY['training', 'serving', 'batch', 'notebook'])[1 + n %% 4]
FROM generate_series(1, %(workloads)s) AS n;
INSERT INTO workloads_ownershiprule (priority, cluster_id, account, partition, namespace, "user", label,
    name, team_id, workload_id, period)
SELECT 100 + id, NULL, 'account-' || id, '', '', '', '', '', team_id, id, tstzrange(%(began)s, NULL)
FROM workloads_workload;
INSERT INTO workloads_run (id, workload_id, key) OVERRIDING SYSTEM VALUE
SELECT id, id, 'run-' || id FROM workloads_workload;

INSERT INTO workloads_importbatch (id, kind, name, digest, started_at, ended_at, rows, imported, unchanged,
    rejected, state, stored_as, size_bytes, asked, seen, failure, read_bytes, furthest_bytes, tries,
    gpu_types)
OVERRIDING SYSTEM VALUE
SELECT n, 'sacct', 'sacct-' || n || '.psv', md5(n::text), %(at)s - n * interval '1 day',
       %(at)s - n * interval '1 day' + interval '1 minute', 5000, 4900, 40, 60, 'done', '', 1000000,
       '{}', '{}', '', 1000000, 0, 1, '{}'
FROM generate_series(1, 60) AS n;
INSERT INTO workloads_rejectedrow (batch_id, line, field, reason)
SELECT batch, line, 'Start', 'is not a moment' FROM generate_series(1, 60) AS batch,
       generate_series(2, 61) AS line;
INSERT INTO accounts_accesstoken (id, name, digest, prefix, scopes, created_at)
OVERRIDING SYSTEM VALUE
SELECT n, 'token ' || n, sha256(n::text::bytea), 'rr_' || n, '{read}', %(began)s
FROM generate_series(1, 100) AS n;

-- Calls to twelve models by every team, hour by hour for ninety days, and a contract price of one.
INSERT INTO ledger_apihour (hour, vendor, model, tier, team_id, workload_id, feature, requests,
    rate_limited, server_errors, other_errors, unpriced_requests, input_tokens, cached_tokens,
    cache_write_tokens, output_tokens, reasoning_tokens, micros, list_micros, reason)
SELECT date_trunc('hour', %(at)s::timestamptz, 'UTC') - hour * interval '1 hour',
       CASE model %% 3 WHEN 0 THEN 'openai' WHEN 1 THEN 'anthropic' ELSE 'google' END,
       'model-' || model, '', 100 + (model + hour) %% %(teams)s, NULL, 'feature-' || model %% 4,
       90 + model, hour %% 5, model %% 2, 0, 0, 900000 + hour, 40000, 0, 70000, 9000,
       3000000 + model * 1000 + hour, 3000000 + model * 1000 + hour, ''
FROM generate_series(1, 90 * 24) AS hour, generate_series(1, 12) AS model;
INSERT INTO pricing_apiprice (vendor, model, tier, unit, discount_ratio, per_quantity, currency, period)
VALUES ('openai', 'model-3', '', 'all', 0.1, 1000000, 'USD', tstzrange(%(began)s, NULL));
