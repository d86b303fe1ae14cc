"""Fill a database with services and ask what their units cost: `python -m bench.units_ask ROUNDS`."""

import json
import os
import sys
import time
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import django

FOLDER = Path(__file__).resolve().parent
SERVICES, DAYS, TEAMS, POOLS = 500, 90, 50, 8
WARM = 3
ASKED = {
    "unit-costs by service": "/api/v1/unit-costs?window=90d",
    "unit-costs by service, usage, direct": "/api/v1/unit-costs?window=90d&allocation=usage&load=direct",
    "unit-costs by day": "/api/v1/unit-costs?window=90d&group_by=day",
    "unit-costs by team and month": "/api/v1/unit-costs?window=90d&group_by=team,month",
    "unit-costs of one by day and feature": "/api/v1/unit-costs?window=90d&group_by=day,feature"
    "&service=service-7",
    "services": "/api/v1/services?window=90d&limit=500",
    "page of services": "/services?window=90d",
    "page of one": "/services/7?window=90d",
}
FILL = """
INSERT INTO accounts_user (id, password, is_superuser, email, name, role, is_active, is_staff, created_at)
OVERRIDING SYSTEM VALUE VALUES (1, '!', false, 'f@example.org', 'Finn', 'finance', true, false, %(at)s);
INSERT INTO accounts_team (id, name, kind, cost_centre) OVERRIDING SYSTEM VALUE
SELECT 100 + n, 'Team ' || n, 'team', '' FROM generate_series(0, %(teams)s - 1) AS n;
INSERT INTO fleet_pool (id, name, provider, region, instance_type, gpu_model, gpus_per_node, unit,
    purchase_option, owner_team_id, idle_sharing, created_at) OVERRIDING SYSTEM VALUE
SELECT n, 'pool-' || n, 'aws', 'us-east-1', 'p5.48xlarge', 'NVIDIA H100 80GB HBM3', 8, 'gpu', 'on_demand',
       100, 'keep', %(at)s
FROM generate_series(1, %(pools)s) AS n;
INSERT INTO workloads_workload (id, name, team_id, kind) OVERRIDING SYSTEM VALUE
SELECT n, 'service-' || n, 100 + n %% %(teams)s, 'serving' FROM generate_series(1, %(services)s) AS n;
"""
# A day of every service: active and held idle GPU time and a part of a shared cost in each hour.
DAY = """
INSERT INTO ledger_charge (kind, pool_id, part, hour, through, posting_month, list_micros,
    contracted_micros, effective_micros, currency, status, reason, digest)
SELECT 'service', n, 0, hour, hour + interval '1 hour', date_trunc('month', hour), 1, 1, 1, 'USD',
       'estimated', '', ''
FROM generate_series(1, %(pools)s) AS n,
     generate_series(%(from)s::timestamptz, %(from)s::timestamptz + interval '23 hours', interval '1 hour') AS hour;
INSERT INTO ledger_line (charge_id, hour, posting_month, pool_id, team_id, workload_id, state, flags,
    evidence, unit_milliseconds, list_micros, contracted_micros, effective_micros)
SELECT charge.id, charge.hour, charge.posting_month, charge.pool_id, workload.team_id, workload.id,
       line.state, line.flags, 0, line.ms, 3000001 + workload.id, 2000001, 1000001
FROM workloads_workload AS workload
JOIN ledger_charge AS charge ON charge.pool_id = 1 + workload.id %% %(pools)s
CROSS JOIN (VALUES (1, 0, 5400000), (2, 0, 1800000), (NULL, 32, 0)) AS line (state, flags, ms);
INSERT INTO workloads_requesthour (workload_id, service_named, feature, model, source, source_key, hour,
    revision, requests, succeeded, prompt_tokens, cached_tokens, output_tokens, latency_bounds_seconds,
    latency_counts, first_token_bounds_seconds, first_token_counts, split_kind)
SELECT workload.id, workload.name, feature.name, '', 'gateway', 'gateway', hour, 1, 900 + workload.id, 890,
       120000, 40000, 30000 + workload.id, '{}', '{}', '{}', '{}', ''
FROM workloads_workload AS workload, (VALUES ('ask'), ('summarise'), ('translate')) AS feature (name),
     generate_series(%(from)s::timestamptz, %(from)s::timestamptz + interval '17 hours', interval '1 hour') AS hour;
"""
Figures = dict[str, Any]


def main(rounds: int) -> Figures:
    """Fill, ask and roll up."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from controlplane.readiness import make_ready

    make_ready()
    today = datetime.now(UTC).date()
    rows = _fill(today)
    figures: Figures = {"services": SERVICES, "days": DAYS, "rows": rows, "p95_ms": _ask(rounds)}
    return figures | _rolled_up(today)


def _fill(today: date) -> dict[str, int]:
    from django.db import connection

    params: dict[str, int | date | datetime] = {"at": datetime.now(UTC), "today": today, "service_days": DAYS, "teams": TEAMS,
              "pools": POOLS, "services": SERVICES}  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(FILL, params)
        cursor.execute((FOLDER / "pages_services.sql").read_text(), params)
        cursor.execute("VACUUM ANALYZE")
        tables = ("ledger_serviceday", "ledger_servicecount", "ledger_servicetotal")
        counts = {}
        for table in tables:
            cursor.execute(f"SELECT count(*) FROM {table}")
            counts[table] = int(cursor.fetchone()[0])
    return counts


def _ask(rounds: int) -> dict[str, float]:
    """The 95th percentile of each address, through the WSGI application with its middleware."""
    from bench.pages_ask import TeachTheBench, _asked, _p95, _session
    from controlplane.wsgi import application

    def taking_anything(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        return application(environ | {"HTTP_ACCEPT": "*/*"}, start)

    cookie = _session(1)
    found = {}
    for name, path in ASKED.items():
        answers = [_asked(taking_anything, path, cookie) for _ in range(WARM + rounds)][WARM:]
        if {each.status for each in answers} != {200}:
            raise TeachTheBench(f"{name} answers {answers[0].status}")
        found[name] = _p95([each.milliseconds for each in answers])
    return found


def _rolled_up(today: date) -> Figures:
    """A day rolled up and divided as a whole, and how much of that services are."""
    from django.db import connection, transaction

    from apps.ledger.actions import roll_up_day
    from apps.ledger.actions.partitions import ensure_month
    from apps.ledger.actions.rolled_day import RolledDay
    from apps.marks.actions import Mark, mark
    from apps.marks.queries import Pass
    from apps.unit_economics.actions import services
    from apps.unit_economics.actions.divide import divide_day

    at = datetime.now(UTC)
    first = datetime(today.year, today.month, today.day, tzinfo=UTC) - timedelta(days=200)
    ensure_month(month=first.date().replace(day=1))
    with connection.cursor() as cursor:
        cursor.execute(DAY, {"from": first, "pools": POOLS})
        cursor.execute("ANALYZE")
    pools = tuple(range(1, POOLS + 1))
    with transaction.atomic():
        mark([Mark(Pass.ROLLUP, pool, first) for pool in pools])
    whole = time.perf_counter()
    roll_up_day(first_hour=first)
    divide_day(first_hour=first, at=at)
    whole = time.perf_counter() - whole
    part = time.perf_counter()
    with transaction.atomic():
        services.write_service_days(
            RolledDay(
                first.date(),
                first,
                first + timedelta(days=1),
                pools,
                (first.date().replace(day=1),),
            )
        )
    part = time.perf_counter() - part
    return {"lines_of_a_day": SERVICES * 24 * 3, "roll_up_seconds": round(whole, 2),
            "of_it_services_seconds": round(part, 2)}  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
