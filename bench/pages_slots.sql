-- Four slots of two GPUs to a node.
CREATE TEMPORARY TABLE slot AS
SELECT n AS slot, 1 + (n - 1) / 4 AS node_id, 1 + (1 + (n - 1) / 4) %% %(pools)s AS pool_id,
       -- A pool runs a quarter of all workloads.
       CASE WHEN n %% 10 > 0 THEN 1 + (((1 + (n - 1) / 4) %% 4) + 4 * (n * 7919 %% (%(workloads)s / 4)))
       END AS workload_id
FROM generate_series(1, %(nodes)s * 4) AS n;
-- Of ten jobs one has no workload; of those one in four has no owner either.
CREATE TEMPORARY TABLE owned AS
SELECT slot.*, coalesce(workload.team_id, CASE WHEN slot %% 40 = 0 THEN %(unowned)s
       ELSE 100 + slot %% %(teams)s END) AS team_id
FROM slot LEFT JOIN workloads_workload AS workload ON workload.id = slot.workload_id;
