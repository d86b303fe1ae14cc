"""Fill a database with training runs, ask for them and sum a day: `python -m bench.runs_ask ROUNDS`."""

import json
import os
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import django

RUNS, TEAMS, WORKLOADS, POOLS, NODES = 5_000, 50, 440, 8, 1_250
# So many of the day's jobs, of 50 nodes each or fewer, carry a run.
DAY_JOBS = 200
WARM = 3
FILL = """
INSERT INTO accounts_user (id, password, is_superuser, email, name, role, is_active, is_staff, created_at)
OVERRIDING SYSTEM VALUE VALUES (1, '!', false, 'f@example.org', 'Finn', 'finance', true, false, %(at)s),
    (2, '!', false, 'l@example.org', 'Lea', 'lead', true, false, %(at)s);
INSERT INTO accounts_team (id, name, kind, cost_centre, owner_id) OVERRIDING SYSTEM VALUE
SELECT 100 + n, 'Team ' || n, 'team', '', CASE WHEN n %% 5 = 0 THEN 2 END
FROM generate_series(0, %(teams)s - 1) AS n;
INSERT INTO fleet_cluster (id, name, kind, created_at) OVERRIDING SYSTEM VALUE VALUES (1, 'atlas', 'slurm', %(at)s);
INSERT INTO fleet_pool (id, name, provider, region, instance_type, gpu_model, gpus_per_node, unit,
    purchase_option, owner_team_id, idle_sharing, created_at) OVERRIDING SYSTEM VALUE
SELECT n, 'pool-' || n, 'aws', 'us-east-1', 'p5.48xlarge', 'NVIDIA H100 80GB HBM3', 8, 'gpu', 'on_demand',
       100, 'keep', %(at)s
FROM generate_series(1, %(pools)s) AS n;
INSERT INTO workloads_workload (id, name, team_id, kind) OVERRIDING SYSTEM VALUE
SELECT n, 'programme-' || n, 100 + n %% %(teams)s, 'training' FROM generate_series(1, %(workloads)s) AS n;
INSERT INTO workloads_ownershiprule (priority, account, partition, namespace, "user", label, name, period,
    team_id, workload_id)
SELECT n, 'account-' || n, '', '', '', '', '', tstzrange(NULL, NULL), 100 + n %% %(teams)s, n
FROM generate_series(1, %(workloads)s) AS n;
CREATE TEMPORARY TABLE trained AS
SELECT n AS id, 1 + n * 31 %% %(workloads)s AS workload_id, 100 + (1 + n * 31 %% %(workloads)s) %% %(teams)s AS team_id,
       %(today)s::timestamptz - (n %% 390) * interval '1 day' - interval '5 days' AS began_at,
       (ARRAY[8, 16, 32, 64, 128])[1 + n %% 5] AS gpus, 1 + n * 7919 %% 97 AS size,
       (ARRAY['finished', 'finished', 'failed', 'interrupted', ''])[1 + n / 5 %% 5] AS status
FROM generate_series(1, %(runs)s) AS n;
INSERT INTO workloads_run (id, workload_id, key) OVERRIDING SYSTEM VALUE
SELECT id, workload_id, 'run-' || lpad(id::text, 5, '0') FROM trained;
-- Three attempts of the scheduler to a run.
INSERT INTO workloads_job (id, cluster_id, raw_id, submitted_at, opened_at, restart_count, array_id, het_id,
    name, "user", account, partition, qos, namespace, labels, state, exit_code, started_at, ended_at,
    suspended_seconds, cpus_denominator, source_rank) OVERRIDING SYSTEM VALUE
SELECT id * 3 + place, 1, (id * 3 + place)::text, since, since, 0, '', '', 'train', 'ada',
       'account-' || workload_id, '', '', '', '{}', 'COMPLETED', '', since, since + interval '40 hours', 0, 1, 1
FROM trained, generate_series(0, 2) AS place, LATERAL (SELECT began_at + place * interval '40 hours' AS since) AS job;
INSERT INTO workloads_runspan (run_id, job_id, period, is_reported)
SELECT id, id * 3 + place, tstzrange(began_at + place * interval '40 hours', began_at + (place + 1) * interval '40 hours'), true
FROM trained, generate_series(0, 2) AS place;
INSERT INTO workloads_runsummary (run_id, told_at, folded_at, submitted_at, began_at, ended_at, status,
    attempts, jobs, gpus, model, tags, steps, tokens, redone_tokens, examples, flops, good_checkpoints, dropped)
SELECT id, %(at)s, %(at)s, began_at, began_at, began_at + interval '5 days', status, 3, 3, gpus,
       '{"active_parameters": 7e9, "precision": "bf16"}', '{}', 108000, 0, 0, 0, 0, 4, 0
FROM trained;
-- Each tenth run does not know a figure.
INSERT INTO ledger_runfigures (run_id, key, team_id, workload_id, status, began_at, ended_at, wall_seconds,
    gpus, gpu_model, jobs, attempts, effective_micros, unpriced_milliseconds, unit_milliseconds,
    energy_joules, observed_ratio, told_ratio, goodput_ratio, tokens, examples, tokens_per_second,
    mfu_ratio, mfu_doubt, tensor_active_ratio, scaling_ratio, first_good_seconds, good_checkpoints,
    checkpoint_micros, million_tokens_micros, data_wait_ratio, bucket_micros, bucket_unit_ms, folded_at,
    computed_at)
SELECT id, 'run-' || lpad(id::text, 5, '0'), team_id, workload_id, status, began_at,
       CASE WHEN status <> '' THEN began_at + interval '5 days' END, 432000, gpus,
       'NVIDIA H100 80GB HBM3', 3, 3, gpus * 300000000::bigint * size, 0, gpus * 432000000::bigint,
       CASE WHEN id %% 10 > 0 THEN gpus * 2.6e8 END, 0.98, 0.9, size / 100.0, gpus * 1000000::bigint * size,
       NULL, CASE WHEN id %% 10 > 0 THEN gpus * 3000.0 * size END,
       CASE WHEN id %% 10 > 0 THEN size / 200.0 END, '', NULL,
       CASE WHEN id %% 10 > 0 THEN size / 97.0 END, 60 * size, 4, gpus * 75000000::bigint * size,
       300000 + size * 1000, size / 300.0, '[1,2,3,4,5,6,7,8,9,10,11]', '[1,2,3,4,5,6,7,8,9,10,11]',
       %(at)s, %(at)s
FROM trained;
"""
# A day of all nodes in jobs that carry runs: each node-hour is active, held idle and not watched.
DAY = """
INSERT INTO workloads_job (id, cluster_id, raw_id, submitted_at, opened_at, restart_count, array_id, het_id,
    name, "user", account, partition, qos, namespace, labels, state, exit_code, started_at, ended_at,
    suspended_seconds, cpus_denominator, source_rank) OVERRIDING SYSTEM VALUE
SELECT 1000000 + n, 1, (1000000 + n)::text, %(from)s, %(from)s, 0, '', '', 'train', 'ada',
       'account-' || n, '', '', '', '{}', 'RUNNING', '', %(from)s, %(from)s::timestamptz + interval '1 day', 0, 1, 1
FROM generate_series(1, %(jobs)s) AS n;
INSERT INTO ledger_charge (kind, shared_cost_id, pool_id, part, hour, through, posting_month, list_micros,
    contracted_micros, effective_micros, currency, status, reason, digest)
SELECT 'service', n, 1 + n %% %(jobs)s %% %(pools)s, 0, hour, hour + interval '1 hour', date_trunc('month', hour), 1, 1, 1, 'USD',
       'estimated', '', ''
FROM generate_series(1, %(nodes)s) AS n,
     generate_series(%(from)s::timestamptz, %(from)s::timestamptz + interval '23 hours', interval '1 hour') AS hour;
INSERT INTO ledger_line (charge_id, hour, posting_month, pool_id, team_id, workload_id, job_id, state, flags,
    evidence, unit_milliseconds, list_micros, contracted_micros, effective_micros)
SELECT charge.id, charge.hour, charge.posting_month, charge.pool_id, 100, 1,
       1000001 + charge.shared_cost_id %% %(jobs)s, line.state, 0, 0, line.ms, 3000001, 2000001, 1000001
FROM ledger_charge AS charge
CROSS JOIN (VALUES (1, 19800000), (2, 5400000), (3, 3600000)) AS line (state, ms)
WHERE charge.hour >= %(from)s AND charge.hour < %(from)s::timestamptz + interval '1 day';
"""
CARRY = """
INSERT INTO workloads_runspan (run_id, job_id, period, is_reported)
SELECT n, 1000000 + n, tstzrange(%(from)s, %(from)s::timestamptz + interval '1 day'), true
FROM generate_series(1, %(carried)s) AS n;
INSERT INTO workloads_runhour (run_id, job_key, hour, bucket_ms, tokens, redone_tokens, examples, flops, steps,
    step_ms)
SELECT n, 1000000 + n, hour, '{0,216000,72000,108000,324000,144000,108000,2196000,36000,36000,360000}',
       1, 0, 0, 0, 1, 3000000
FROM generate_series(1, %(carried)s) AS n,
     generate_series(%(from)s::timestamptz, %(from)s::timestamptz + interval '23 hours', interval '1 hour') AS hour;
ANALYZE;
"""
Figures = dict[str, Any]


def main(rounds: int) -> Figures:
    """Fill, ask and roll up: without runs, with few and with every job carrying one."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from controlplane.readiness import make_ready

    make_ready()
    at = datetime.now(UTC).replace(microsecond=0)
    params: Figures = {
        "at": at,
        "today": at.replace(hour=0, minute=0, second=0),
        "from": at.replace(hour=0, minute=0, second=0) - timedelta(days=450),
        "runs": RUNS,
        "teams": TEAMS,
        "workloads": WORKLOADS,
        "pools": POOLS,
        "nodes": NODES,
        "jobs": DAY_JOBS,
    }
    _execute(FILL, params)
    asked = _ask(rounds)
    rolled = {f"with_{carried}_runs": _rolled_up(params, carried) for carried in (0, 5, DAY_JOBS)}
    return {"runs": RUNS, "p95_ms": asked, "lines_of_a_day": NODES * 24 * 3, "roll_up": rolled}


def _execute(query: str, params: Figures) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(query, params)
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _ask(rounds: int) -> dict[str, float]:
    """The 95th percentile of each list, through the WSGI application with its middleware."""
    from apps.unit_economics.queries.runs.values import RunSort
    from bench.pages_ask import TeachTheBench, _asked, _p95, _session
    from controlplane.wsgi import application

    def taking_anything(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        return application(environ | {"HTTP_ACCEPT": "*/*"}, start)

    paths = {f"by {sort} as finance": (1, f"sort={sort}") for sort in RunSort}
    paths |= {f"by {sort} as lead": (2, f"sort={sort}") for sort in ("cost", "mfu", "began")}
    paths |= {
        "failed ones of 90 days, rising": (1, "sort=cost&order=rising&status=failed&window=90d")
    }
    found = {}
    for name, (person, query) in paths.items():
        cookie, path = _session(person), f"/api/v1/runs?limit=50&{query}"
        answers = [_asked(taking_anything, path, cookie) for _ in range(WARM + rounds)][WARM:]
        if {each.status for each in answers} != {200}:
            raise TeachTheBench(f"{name} answers {answers[0].status}")
        found[name] = _p95([each.milliseconds for each in answers])
    return found


def _rolled_up(params: Figures, carried: int) -> dict[str, float]:
    """A day of 10,000 GPUs of which so many jobs carried a run, rolled up and divided twice."""
    from django.db import connection, transaction

    from apps.ledger.actions import roll_up_day
    from apps.ledger.actions.partitions import ensure_month
    from apps.ledger.actions.rolled_day import RolledDay
    from apps.marks.actions import Mark, mark
    from apps.marks.queries import Pass
    from apps.unit_economics.actions.divide import divide_day
    from apps.unit_economics.actions.runs import write_run_days, write_run_figures

    first = params["from"]
    if not carried:
        ensure_month(month=first.date().replace(day=1))
        _execute(DAY, params)
    _execute(
        "DELETE FROM workloads_runspan WHERE job_id > 1000000; DELETE FROM workloads_runhour",
        params,
    )
    _execute(CARRY, params | {"carried": carried})
    pools = tuple(range(1, POOLS + 1))
    with transaction.atomic():
        mark([Mark(Pass.ROLLUP, pool, first) for pool in pools])
    whole = time.perf_counter()
    roll_up_day(first_hour=first)
    divide_day(first_hour=first, at=params["at"])
    whole = time.perf_counter() - whole
    days = time.perf_counter()
    with transaction.atomic():
        touched = write_run_days(
            RolledDay(
                first.date(),
                first,
                first + timedelta(days=1),
                pools,
                (first.date().replace(day=1),),
            ),
            frozenset(),
        )
        days = time.perf_counter() - days
        figures = time.perf_counter()
        write_run_figures(run_ids=touched, at=params["at"])
        figures = time.perf_counter() - figures
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM ledger_runday")
        (rows,) = cursor.fetchone()
    return {"roll_up_seconds": round(whole, 2), "of_it_run_days_seconds": round(days, 2),
            "of_it_run_figures_seconds": round(figures, 2), "run_days": rows}  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
