"""Settle the populated hour again and again: `python -m bench.settle_hour ROUNDS`.

Prints seconds, peak memory of this process and rows, as JSON. Before each round every usage row
changes and every node is marked, so that each round writes all settlements and lines anew.
"""

import json
import os
import resource
import statistics
import sys
import time
from datetime import datetime
from types import ModuleType

import django
import psutil

from bench.settle_fleet import AT, ENDED, HOUR

KIB = 1024


def main(rounds: int) -> dict[str, object]:
    """The first settling, then the median of `rounds` more."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from bench.settle_floor import floor_seconds
    from controlplane import settling

    pinned = _pin_to_one_core()
    _touch_usage()
    _mark_everything()
    first = _timed(settling)
    seconds, processor_seconds = [], []
    for _ in range(rounds):
        _touch_usage()
        _mark_everything()
        before = _processor_seconds()
        seconds.append(_timed(settling))
        processor_seconds.append(_processor_seconds() - before)
    least = statistics.median(floor_seconds(HOUR, 1) for _ in range(rounds))
    return {
        "first_seconds": round(first, 3),
        "seconds": round(statistics.median(seconds), 3),
        "all_seconds": [round(each, 3) for each in seconds],
        "floor_seconds": round(least, 3),
        "cpu_seconds": round(statistics.median(processor_seconds), 3),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB, 1),
        "one_core": pinned,
        "rows": _rows(),
    }


def _timed(settling: ModuleType) -> float:
    began = time.perf_counter()
    progress = settling.settle_window(starts_at=HOUR, ends_at=ENDED, at=AT)
    took = time.perf_counter() - began
    waiting = _one("SELECT count(*) FROM fleet_changedhour")
    if waiting or not progress.lines:
        raise SystemExit(f"{waiting} marks wait after settling {progress}")
    return took


def _pin_to_one_core() -> bool:
    """Keep this process and its database session on one core, where both are on this machine."""
    pid = _one("SELECT pg_backend_pid()")
    try:
        core = psutil.Process().cpu_affinity()[-1:]
        psutil.Process(pid).cpu_affinity(core)
        psutil.Process().cpu_affinity(core)
    except psutil.Error:
        return False
    return True


def _processor_seconds() -> float:
    """What this process and its database session have used of a core; the session's where seen."""
    try:
        session = psutil.Process(_one("SELECT pg_backend_pid()")).cpu_times()
    except psutil.Error:
        return time.process_time()
    return time.process_time() + session.user + session.system


def _touch_usage() -> None:
    _run(
        "UPDATE telemetry_usagehour SET worked ="
        " set_byte(worked, 30, (get_byte(worked, 30) + 1) %% 120) WHERE hour = %s",
        [HOUR],
    )


def _mark_everything() -> None:
    from django.db import transaction

    from apps.fleet.queries import nodes_alive_between
    from apps.marks.actions import mark_span
    from apps.marks.queries import Pass

    nodes = [node.id for node in nodes_alive_between(HOUR, ENDED)]
    with transaction.atomic():
        mark_span(pass_=Pass.CHARGE, units=[0], starts_at=HOUR, ends_at=ENDED)
        mark_span(pass_=Pass.SPLIT, units=nodes, starts_at=HOUR, ends_at=ENDED)
    # Marks of other hours, laid when the prices were entered, are not what is measured.
    _run("DELETE FROM fleet_changedrange", [])
    _run("DELETE FROM fleet_changedhour WHERE hour <> %s", [HOUR])


def _rows() -> dict[str, int]:
    tables = ("fleet_node", "fleet_device", "workloads_job", "telemetry_usagehour", "ledger_line")
    return {table: _one(f"SELECT count(*) FROM {table}") for table in tables}


def _one(query: str) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(query)
        count: int = cursor.fetchone()[0]
        return count


def _run(query: str, params: list[str | int | datetime]) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(query, params)


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
