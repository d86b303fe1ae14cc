-- Three bills with what no node carries, a file, and a month closed with its statements.
INSERT INTO ledger_bill (id, issuer, provider, account, starts_at, ends_at, currency,
    is_rounded_upstream, residual, created_at, changed_at, reconciled_at, failure)
SELECT k, 'Cloud ' || k, 'Cloud ' || k, '17', now() - interval '60 days', now() - interval '30 days',
       'USD', false, 0, now(), now(), now(), '' FROM generate_series(1, 3) AS k;
INSERT INTO ledger_billimport (id, name, digest, layout, is_addition, state, rows, imported, unchanged,
    replaced, rejected, totals, flags, size_bytes, stored_as, failure, accepted_reason, tries,
    furthest_rows, started_at)
SELECT k, 'bill-' || k || '.csv', repeat('0', 64), 'focus 1.2', false, 'done', 1000, 1000, 0, 0, 0, '{}',
       '[]', 1, '', '', '', 1, 0, now() FROM generate_series(1, 40) AS k;
INSERT INTO ledger_billedcharge (bill_id, kind, billed_kind, reason, label, starts_at, ends_at, hour,
    effective_micros, billed_micros, is_provisional, rows, commitment_id)
SELECT 1 + k %% 3, 'unmatched', 'compute', 'no node has this resource id', 'i-' || k,
       now() - interval '60 days', now() - interval '59 days',
       date_trunc('hour', now() - interval '60 days'), 1000000, 1000000, false, 10, '' FROM generate_series(1, 600) AS k;
INSERT INTO ledger_close (id, month, version, closed_at, note, cut_off, digest, lines, checklist, totals,
    reopen_reason)
SELECT 1, min(posting_month), 1, now(), '', now(), repeat('0', 64), 1, '[]', '{}', ''
FROM ledger_ledgerteamday;
INSERT INTO ledger_statementline (close_id, team_id, kind, status, state, flags, unit, unit_milliseconds,
    unpriced_milliseconds, effective_micros)
SELECT 1, team_id, kind, status, state, flags, unit, sum(unit_milliseconds),
       sum(unpriced_milliseconds), sum(effective_micros)
FROM ledger_ledgerteamday GROUP BY 2, 3, 4, 5, 6, 7;
INSERT INTO ledger_billrule (priority, issuer, service, usage_type, resource_id, sub_account, tag_key,
    tag_value, kind, node_id, created_at)
SELECT 10 * k, '', '', '', 'host-' || k, '', '', '', '', (SELECT min(id) FROM fleet_node), now()
FROM generate_series(1, 100) AS k;
INSERT INTO pricing_sharedcost (name, amount, currency, method, period, created_at)
SELECT 'Shared ' || k, 1000 * k, 'USD', 'by_cost', tstzrange(now() + interval '1 day', NULL), now()
FROM generate_series(1, 40) AS k;
INSERT INTO pricing_commitment (name, kind, provider, region, instance_type, gpu_model, units, unit, spend,
    prices, upfront, hourly, currency, period, external_id, source, created_at)
SELECT 'Commitment ' || k, 'reserved', provider, '', instance_type, '', 20, 'node', 0, '{}', 0, 800, 'USD',
       tstzrange(date_trunc('hour', now()) - interval '300 days', date_trunc('hour', now()) + k * interval '10 days'),
       '', '', now()
FROM generate_series(1, 40) AS k, (SELECT provider, instance_type FROM fleet_pool ORDER BY id LIMIT 1) AS pool;
INSERT INTO fleet_cloudaccount (name, provider, account, regions, syncs, role_arn, export_uri, export_region,
    created_at)
VALUES ('main', 'aws', '123456789012', '["us-east-1"]',
    '["spot_prices", "on_demand_prices", "reserved_instances", "savings_plans", "reservations", "quotas", "machines"]',
    '', '', '', now());
INSERT INTO fleet_cloudsync (account_id, what, state, turn, started_at, alive_at, ended_at, succeeded_at, cursor,
    counts, error, fault, note)
SELECT account.id, what, 'done', 1, now(), now(), now(), now(), '{}', '{"unchanged": 40}', '', '', ''
FROM fleet_cloudaccount AS account, jsonb_array_elements_text(account.syncs) AS what;
INSERT INTO fleet_cloudmachine (account_id, external_id, name, names, region, zone, instance_type, purchase_option,
    cpus, launched_at, seen_at)
SELECT account.id, 'i-' || k, 'machine-' || k, jsonb_build_array('i-' || k, 'machine-' || k), 'us-east-1', 'us-east-1a',
       'p5.48xlarge', 'on_demand', 192, now() - interval '30 days', now()
FROM fleet_cloudaccount AS account, generate_series(1, 2000) AS k;
INSERT INTO pricing_cloudquota (provider, account, region, code, name, value, unit, used, read_at)
SELECT 'aws', '123456789012', 'us-east-1', 'L-' || k, 'Limit ' || k, 1000 * k, 'vCPUs', 192, now()
FROM generate_series(1, 60) AS k;
INSERT INTO pricing_ownedplan (name, pool_id, nodes, purchase, salvage, life_months, watts, pue, currency,
    period, created_at)
SELECT 'Plan ' || k, (SELECT min(id) FROM fleet_pool), 16, 4480000, 448000, 48, 10200, 1.3, 'USD',
       tstzrange(date_trunc('hour', now()) - k * interval '40 days',
                 date_trunc('hour', now()) - (k - 1) * interval '40 days'), now()
FROM generate_series(1, 20) AS k;
INSERT INTO pricing_ownedcost (plan_id, name, monthly, period)
SELECT id, 'staff', 9000, period FROM pricing_ownedplan;
INSERT INTO pricing_powertariff (plan_id, minute, amount, period)
SELECT id, 0, 0.12, period FROM pricing_ownedplan;
