"""Fill a ledger of 10,000 GPUs and ask the Cost explorer: `python -m bench.explore_ask ROUNDS [SCALE]`."""

import json
import os
import sys
import time
from datetime import UTC, date, datetime
from typing import Any

import django

WARM = 3
Figures = dict[str, Any]


def main(rounds: int, scale: float = 1.0) -> Figures:
    """Fill, and ask each question of the page as finance."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from controlplane.readiness import make_ready

    make_ready()
    at, began = datetime.now(UTC), time.monotonic()
    rows = _fill(scale, at)
    seconds = round(time.monotonic() - began, 1)
    asked = _ask(rounds, at.date())
    return {"seed_seconds": seconds, "rows": rows, "requests_each": rounds, "p95_ms": asked}


def questions(today: date) -> dict[str, list[str]]:
    """The page's addresses: one period alone, or two with what made the difference."""
    month = today.replace(day=1)
    year = f"window={month.replace(year=month.year - 1)}/{month}"
    return {
        "alone": [
            f"group_by=month,team&{year}",
            f"group_by=month,workload&{year}",
            f"group_by=workload,pool&{year}",
            f"group_by=gpu_model,state&{year}",
            "group_by=day&window=100d",
            "group_by=day,pool&window=100d",
            "group_by=day,team&window=100d",
            "group_by=day,state&window=100d&workload=workload-7",
            "group_by=workload,team&window=100d",
            "group_by=pool,team&window=100d",
            "group_by=tag.project,workload&window=100d",
            "group_by=node,team&window=35d&team=Team+1",
            "group_by=node,state&window=35d&pool=pool-3",
            "group_by=job&window=35d&team=Team+1",
            "group_by=job,state&window=35d&pool=pool-3",
        ],
        "compared": [
            f"group_by=workload,pool&{year}&compare=lastmonth",
            "group_by=day,pool&window=100d&compare=before",
            "group_by=workload,team&window=100d&compare=before",
            "group_by=pool,team&window=lastmonth&compare=before",
            "group_by=node,team&window=35d&team=Team+1&compare=before",
        ],
    }


def _fill(scale: float, at: datetime) -> dict[str, int]:
    from django.conf import settings
    from django.db import connection

    from bench.pages_seed import FOLDER, _params

    settings.TAG_KEYS = ("project",)
    params = _params(scale, at)
    with connection.cursor() as cursor:
        cursor.execute((FOLDER / "pages_small.sql").read_text(), params)
        # No foreign key is looked up a million times: the rows are made to fit.
        cursor.execute("SET session_replication_role = replica; SET synchronous_commit = off")
        cursor.execute("SET work_mem = '256MB'")
        for name in ("pages_slots", "explore_ledger"):
            cursor.execute((FOLDER / f"{name}.sql").read_text(), params)
        cursor.execute("RESET ALL")
        cursor.execute("VACUUM ANALYZE")
        cursor.execute(
            "SELECT relname, n_live_tup FROM pg_stat_user_tables"
            " WHERE relname ~ '^ledger_ledger' ORDER BY 1"
        )
        return {name: int(count) for name, count in cursor.fetchall()}


def _ask(rounds: int, today: date) -> dict[str, dict[str, float]]:
    """The 95th percentile of each question, through the WSGI application with its middleware."""
    from bench.pages_ask import TeachTheBench, _asked, _p95, _session
    from controlplane.wsgi import application

    cookie = _session(1)
    found: dict[str, dict[str, float]] = {}
    for kind, asked in questions(today).items():
        found[kind] = {}
        for question in asked:
            path = f"/costs?{question}"
            answers = [_asked(application, path, cookie) for _ in range(WARM + rounds)][WARM:]
            if any(each.status != 200 for each in answers):
                raise TeachTheBench(f"{question} answers {answers[0].status}")
            found[kind][question] = _p95([each.milliseconds for each in answers])
    return found


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), *map(float, sys.argv[2:]))))
