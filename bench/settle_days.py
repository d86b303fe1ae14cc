"""Settle days like the populated hour with two workers: `python -m bench.settle_days DAYS`."""

import json
import os
import subprocess
import sys
import time
from datetime import datetime, timedelta

import django

from bench.settle_fleet import AT, HOUR

WORKERS = 2
WORKER = "worker"


def main(days: int) -> dict[str, object]:
    """Repeat the hour's usage through `days`, then time two processes that settle all of it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    hours = days * 24
    _fill(hours)
    began = time.perf_counter()
    command = [sys.executable, "-m", "bench.settle_days", WORKER, str(hours)]
    workers = [subprocess.Popen(command) for _ in range(WORKERS)]
    failed = [worker.returncode for worker in workers if worker.wait()]
    took = time.perf_counter() - began
    waiting, lines = _one("SELECT count(*) FROM fleet_changedhour"), _one(LINES)
    if failed or waiting:
        raise SystemExit(f"{waiting} marks wait, workers answered {failed}")
    return {"seconds": round(took, 1), "hours": hours, "lines": lines}


LINES = "SELECT count(*) FROM ledger_line"


def settle(hours: int) -> None:
    """What one worker does: settle until nothing in the span waits."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from controlplane.settling import settle_window

    while _one("SELECT count(*) FROM fleet_changedhour"):
        settle_window(starts_at=HOUR, ends_at=_end(hours), at=_end(hours) + (AT - HOUR))


def _end(hours: int) -> datetime:
    return HOUR + timedelta(hours=hours)


def _fill(hours: int) -> None:
    """Jobs go on through the days, and every hour is used as the first one was."""
    from django.db import connection, transaction

    from apps.marks.actions import Mark, mark
    from apps.marks.queries import Pass
    from apps.telemetry.actions.partitions import ensure_months

    ensure_months([HOUR.date(), _end(hours).date()])
    with connection.cursor() as cursor:
        cursor.execute("UPDATE workloads_job SET ended_at = %s", [_end(hours)])
        cursor.execute(
            "UPDATE workloads_allocation SET period = tstzrange(lower(period), %s)", [_end(hours)]
        )
        cursor.execute(
            "INSERT INTO telemetry_usagehour (hour, device_id, holder_id, source, observed, worked)"
            " SELECT hour + k * interval '1 hour', device_id, holder_id, source, observed, worked"
            " FROM telemetry_usagehour, generate_series(1, %s) AS k WHERE hour = %s",
            [hours - 1, HOUR],
        )
        cursor.execute("ANALYZE telemetry_usagehour")
    with transaction.atomic():
        mark(Mark(Pass.CHARGE, 0, HOUR + timedelta(hours=k)) for k in range(hours))


def _one(query: str) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(query)
        return int(cursor.fetchone()[0])


if __name__ == "__main__":
    if sys.argv[1] == WORKER:
        settle(int(sys.argv[2]))
    else:
        print(json.dumps(main(int(sys.argv[1]))))
