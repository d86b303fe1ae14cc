"""A day of the whole fleet with runs and services, settled, rolled up and divided by one process.

`python -m bench.settle_work_day` prints its seconds and those of its floor, as JSON. Half of the
jobs carry a training run, each told hour by hour; another quarter are 25 services of three
features, whose requests were counted each hour.
"""

import json
import os
import time
from datetime import timedelta

import django

from bench.settle_fleet import AT, HOUR

HOURS = 24
WORK = """
INSERT INTO accounts_team (id, name, kind, cost_centre) OVERRIDING SYSTEM VALUE
SELECT 100 + n, 'Team ' || n, 'team', '' FROM generate_series(0, 9) AS n;
INSERT INTO workloads_workload (id, name, team_id, kind) OVERRIDING SYSTEM VALUE
SELECT 100 + n, 'work-' || n, 100 + n %% 10, CASE WHEN n < 50 THEN 'training' ELSE 'serving' END
FROM generate_series(0, 74) AS n;
UPDATE workloads_job SET account = 'account-' || id %% 100;
INSERT INTO workloads_ownershiprule (priority, account, partition, namespace, "user", label, name, period,
    team_id, workload_id)
SELECT n, 'account-' || n, '', '', '', '', '', tstzrange(NULL, NULL), 100 + n %% 10, 100 + n
FROM generate_series(0, 74) AS n;
INSERT INTO workloads_run (id, workload_id, key) OVERRIDING SYSTEM VALUE
SELECT id, 100 + id %% 100, 'run-' || id FROM workloads_job WHERE id %% 100 < 50;
INSERT INTO workloads_runspan (run_id, job_id, period, is_reported)
SELECT id, id, tstzrange(started_at, ended_at), true FROM workloads_job WHERE id %% 100 < 50;
INSERT INTO workloads_runsummary (run_id, told_at, folded_at, submitted_at, began_at, ended_at, status,
    attempts, jobs, gpus, model, tags, steps, tokens, redone_tokens, examples, flops, good_checkpoints, dropped)
SELECT id, ended_at, ended_at, started_at, started_at, ended_at, 'finished', 1, 1, 8,
       '{"active_parameters": 7e9, "precision": "bf16"}', '{}', 108000, 0, 0, 0, 0, 4, 0
FROM workloads_job WHERE id %% 100 < 50;
INSERT INTO workloads_runhour (run_id, job_key, hour, bucket_ms, tokens, redone_tokens, examples, flops,
    steps, step_ms)
SELECT id, id, hour, '{0,216000,72000,108000,324000,144000,108000,2196000,36000,36000,360000}',
       1, 0, 0, 0, 1, 3000000
FROM workloads_job,
     generate_series(%(from)s::timestamptz, %(to)s::timestamptz - interval '1 hour', interval '1 hour') AS hour
WHERE id %% 100 < 50;
INSERT INTO workloads_requesthour (workload_id, service_named, feature, model, source, source_key, hour,
    revision, requests, succeeded, prompt_tokens, cached_tokens, output_tokens, latency_bounds_seconds,
    latency_counts, first_token_bounds_seconds, first_token_counts, split_kind)
SELECT workload.id, workload.name, feature.name, '', 'gateway', 'gateway', hour, 1, 900, 890,
       120000, 40000, 30000, '{}', '{}', '{}', '{}', ''
FROM workloads_workload AS workload, (VALUES ('ask'), ('summarise'), ('translate')) AS feature (name),
     generate_series(%(from)s::timestamptz, %(to)s::timestamptz - interval '1 hour', interval '1 hour') AS hour
WHERE workload.kind = 'serving';
"""


def main() -> dict[str, object]:
    """Fill the day, settle it once, then take its floor."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from django.db import connection

    from bench.settle_days import _fill, _one
    from bench.settle_floor import floor_seconds
    from bench.settle_hour import _mark_everything, _pin_to_one_core
    from controlplane.settling import settle_window

    ended = HOUR + timedelta(hours=HOURS)
    _pin_to_one_core()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM fleet_changedrange")
    _mark_everything()
    _fill(HOURS)
    with connection.cursor() as cursor:
        cursor.execute(WORK, {"from": HOUR, "to": ended})
        cursor.execute("ANALYZE")
    began = time.perf_counter()
    while _one("SELECT count(*) FROM fleet_changedhour"):
        settle_window(starts_at=HOUR, ends_at=ended, at=ended + (AT - HOUR))
    took = time.perf_counter() - began
    tables = ("ledger_line", "ledger_ledgerday", "ledger_ledgerjobday", "ledger_ledgeruserday",
              "ledger_ledgernodeday", "ledger_ledgerpoolday", "ledger_ledgermonth", "ledger_serviceday",
              "ledger_servicetotal", "ledger_runday", "ledger_runfigures")  # fmt: skip
    rows = {table: _one(f"SELECT count(*) FROM {table}") for table in tables}
    return {
        "seconds": round(took, 2),
        "floor_seconds": round(floor_seconds(HOUR, HOURS), 2),
        "rows": rows,
    }


if __name__ == "__main__":
    print(json.dumps(main()))
