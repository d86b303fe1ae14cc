-- Services over their last days: three features, hours without requests, tokens nobody asked for.
CREATE TEMPORARY TABLE serving AS
SELECT workload.id AS workload_id, workload.team_id, 1 + workload.id %% %(pools)s AS pool_id, day::date,
       part.feature, part.part, part.size, part.requests * (90 + workload.id %% 21) AS requests
FROM workloads_workload AS workload,
     generate_series(%(today)s::date - %(service_days)s + 1, %(today)s::date, interval '1 day') AS day,
     (VALUES ('ask', 0, 7, 900), ('summarise', 0, 4, 120), ('translate', 0, 2, 75), ('', 1, 9, 0),
             ('', 2, 1, 15)) AS part (feature, part, size, requests)
WHERE workload.kind IN ('serving', 'batch');
-- Active, held idle, and its part of a shared cost (flag 32), which has no time.
INSERT INTO ledger_serviceday (day, posting_month, status, kind, pool_id, team_id, workload_id, feature,
    part, state, flags, list_micros, contracted_micros, effective_micros, billed_micros, marginal_micros,
    unit_milliseconds, unpriced_milliseconds)
SELECT day, date_trunc('month', day), CASE WHEN day = %(today)s::date THEN 'provisional' ELSE 'estimated' END,
       line.kind, pool_id, team_id, workload_id, feature, part, line.state, line.flags,
       size * line.weight * 12290, size * line.weight * 10000, size * line.weight * 8000, NULL,
       size * line.weight * line.marginal, size * line.ms, 0
FROM serving, (VALUES ('node_hour', 1, 0, 120, 8000, 6000000), ('node_hour', 2, 0, 80, 8000, 4000000),
                      ('shared', NULL, 32, 9, 0, 0)) AS line (kind, state, flags, weight, marginal, ms);
INSERT INTO ledger_servicecount (day, workload_id, feature, part, hours, requests, succeeded, prompt_tokens,
    cached_tokens, output_tokens, prompt_ms, cached_ms, output_ms, untold_ms, measured_ms)
SELECT day, workload_id, feature, part, 24, requests, requests * 98 / 100, requests * 1400, requests * 400,
       requests * 260, size * 3000000, size * 100000, size * 6900000, 0, 0
FROM serving;
INSERT INTO ledger_servicetotal (day, posting_month, workload_id, measure, answered_micros, idle_micros,
    unattributed_micros, uncounted_micros, stated_micros, active_micros, unit_milliseconds,
    unpriced_milliseconds, held_milliseconds, observed_milliseconds, statuses, requests, succeeded,
    prompt_tokens, cached_tokens, output_tokens, prompt_ms, cached_ms, output_ms, untold_ms, measured_ms,
    costless_requests)
SELECT money.*, counted.requests, counted.succeeded, counted.prompt, counted.cached, counted.output,
       counted.prompt_ms, counted.cached_ms, counted.output_ms, 0, 0, 0
FROM (
    SELECT row.day, row.posting_month, row.workload_id, measure.name, sum(measure.micros) FILTER (WHERE part = 0),
           sum(measure.micros) FILTER (WHERE part = 1), sum(measure.micros) FILTER (WHERE part = 2),
           NULL::int8, sum(measure.micros) FILTER (WHERE state IS NOT NULL),
           sum(measure.micros) FILTER (WHERE state = 1), sum(unit_milliseconds), 0,
           sum(unit_milliseconds), sum(unit_milliseconds), bit_or(CASE status WHEN 'provisional' THEN 1 ELSE 2 END)
    FROM ledger_serviceday AS row CROSS JOIN LATERAL (VALUES
        ('list', list_micros), ('contracted', contracted_micros), ('effective', effective_micros),
        ('billed', billed_micros),
        ('list.direct', CASE WHEN kind <> 'shared' THEN list_micros END),
        ('contracted.direct', CASE WHEN kind <> 'shared' THEN contracted_micros END),
        ('effective.direct', CASE WHEN kind <> 'shared' THEN effective_micros END),
        ('billed.direct', CASE WHEN kind <> 'shared' THEN billed_micros END),
        ('marginal', marginal_micros)) AS measure (name, micros)
    GROUP BY row.day, row.posting_month, row.workload_id, measure.name
) AS money
JOIN (
    SELECT day, workload_id, sum(requests) AS requests, sum(succeeded) AS succeeded,
           sum(prompt_tokens) AS prompt, sum(cached_tokens) AS cached, sum(output_tokens) AS output,
           sum(prompt_ms) AS prompt_ms, sum(cached_ms) AS cached_ms, sum(output_ms) AS output_ms
    FROM ledger_servicecount GROUP BY day, workload_id
) AS counted ON counted.day = money.day AND counted.workload_id = money.workload_id
ORDER BY money.day, money.name, money.workload_id;
-- A change of every tenth service, in all teams.
INSERT INTO review_finding (kind, measure, workload_id, feature, changed_on, first_seen_on, last_seen_on, seen,
    before, after, effect_ratio, impact_micros, parts, causes)
SELECT 'step', 'cost_per_1000_requests', id, '', %(today)s::date - 9, %(today)s::date - 5, %(today)s::date - 1, 4,
       0.42, 0.483, 0.15, 913000000, '[{"name": "price", "millionths": 63000}]',
       '[{"kind": "model", "what": "v7", "on": "2026-03-12", "days": -1}]'
FROM workloads_workload WHERE kind IN ('serving', 'batch') AND (id %% 10 = 0 OR team_id = 100);
