"""Thirteen months of a company in the database of RUNRATE_DATABASE_URL: `-m bench.pages_seed SCALE`.

Scale 1 is 1,250 nodes of 8 GPUs, 50 teams and 440 workloads. Rows are made by SQL: the ledger's are
those that the passes leave, though their sums are not those of each other.
"""

import json
import os
import sys
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import cast

import django

FOLDER = Path(__file__).resolve().parent
NODES, TEAMS, WORKLOADS, POOLS = 1_250, 50, 440, 8
DAYS, JOB_DAYS, LINE_HOURS, SERVICE_DAYS, RUNS = 396, 4, 72, 90, 5_000
Params = dict[str, int | str | date | datetime]


def main(scale: float) -> dict[str, object]:
    """Migrate, bootstrap and fill; how long it took and how many rows of each large table."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from bench.pages_matters import company_of, plant_matters
    from controlplane.readiness import make_ready

    make_ready()
    at = datetime.now(UTC)
    started = time.monotonic()
    params = _params(scale, at)
    _fill(params, at)
    plant_matters(company_of(int(str(params["teams"])), cast(datetime, params["began"])))
    seconds = round(time.monotonic() - started, 1)
    return {"seed_seconds": seconds, "rows": _rows()}


def _params(scale: float, at: datetime) -> Params:
    nodes = max(8, round(NODES * scale))
    first = at.date() - timedelta(days=DAYS)
    return {
        "at": at,
        "today": at.date(),
        "first": first,
        "began": datetime(first.year, first.month, first.day, tzinfo=UTC),
        "nodes": nodes,
        "slots": nodes * 4,
        "turns": DAYS // JOB_DAYS + 1,
        "teams": max(10, round(TEAMS * scale)),
        "workloads": max(20, round(WORKLOADS * scale) // 4 * 4),
        "pools": POOLS,
        "runs": max(100, round(RUNS * scale)),
        "line_hours": LINE_HOURS,
        "service_days": SERVICE_DAYS,
        "unowned": _unowned_team(),
    }


def _unowned_team() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM accounts_team WHERE kind = 'unowned'")
        return int(cursor.fetchone()[0])


def _fill(params: Params, at: datetime) -> None:
    from django.db import connection

    from apps.ledger.actions.partitions import ensure_month
    from apps.telemetry.actions.partitions import ensure_months

    days = [at.date() - timedelta(days=back) for back in range(5)]
    ensure_months(list({day.replace(day=1) for day in days}))
    for month in {day.replace(day=1) for day in days}:
        ensure_month(month=month)
    with connection.cursor() as cursor:
        cursor.execute((FOLDER / "pages_small.sql").read_text(), params)
        # No foreign key is looked up a million times: the rows are made to fit.
        cursor.execute("SET session_replication_role = replica; SET synchronous_commit = off")
        cursor.execute("SET work_mem = '512MB'; SET maintenance_work_mem = '1GB'")
        for name in ("nodes", "slots", "work", "ledger", "bills", "services", "runs"):
            cursor.execute((FOLDER / f"pages_{name}.sql").read_text(), params)
        cursor.execute("RESET ALL")
        cursor.execute("VACUUM ANALYZE")


def _rows() -> dict[str, int]:
    from django.db import connection

    tables = ("ledger_ledgerjobday", "ledger_ledgerday", "ledger_line", "workloads_job")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, sum(n_live_tup)::bigint FROM pg_stat_user_tables GROUP BY 1"
        )
        live = dict(cursor.fetchall())
        cursor.execute("SELECT count(*) FROM ledger_line")
        return {name: int(live[name]) for name in tables if name in live} | {
            "ledger_line": int(cursor.fetchone()[0])
        }


if __name__ == "__main__":
    print(json.dumps(main(float(sys.argv[1]))))
