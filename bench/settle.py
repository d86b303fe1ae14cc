"""Settle one populated hour of 10,000 GPUs again, and whole days with two workers."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

ROOT = Path(__file__).resolve().parent.parent
DATABASE = "runrate_bench_settle"
NEEDED = ("fsync", "full_page_writes", "synchronous_commit")
SMALL_NODES, LARGE_NODES = 125, 1_250
ROUNDS = 7
DAYS, FULL_DAYS = 1, 30
DAYS_PROMISED = 30
Figures = dict[str, Any]


class BenchRefused(Exception):
    """A server that may lose what it acknowledged is not measured."""


def run(*, full: bool = False) -> dict[str, object]:
    """The figures of one run; `full` settles 30 days instead of one day scaled up.

    Refuses BenchRefused where the server does not write through to disk.
    """
    url = os.environ["RUNRATE_DATABASE_URL"]
    small = _hour(url, SMALL_NODES)
    days = FULL_DAYS if full else DAYS
    with own_database(url, DATABASE) as own:
        python(own, "bench.settle_fleet", str(LARGE_NODES))
        large = _measured(own)
        took = python(own, "bench.settle_days", str(days))["seconds"]
    return {
        "seconds_10k_gpus": large["seconds"],
        "cpu_seconds_10k_gpus": large["cpu_seconds"],
        "peak_mib": large["peak_mib"],
        "growth_1k_to_10k": round(large["seconds"] / small["seconds"], 2),
        "seconds_1k_gpus": small["seconds"],
        "on_one_core": large["one_core"],
        "rows": large["rows"],
        "days_settled": days,
        "seconds_30_days_two_workers": round(took * DAYS_PROMISED / days, 1),
        "is_estimated_from_fewer_days": days < DAYS_PROMISED,
    }


def _hour(url: str, nodes: int) -> Figures:
    with own_database(url, DATABASE) as own:
        python(own, "bench.settle_fleet", str(nodes))
        return _measured(own)


def _measured(url: str) -> Figures:
    return python(url, "bench.settle_hour", str(ROUNDS))


@contextmanager
def own_database(url: str, database: str) -> Iterator[str]:
    """An empty database of the bench's own, dropped at the end.

    Refuses BenchRefused where the server does not write through to disk.
    """
    path = urlsplit(url).path
    admin, own = (url.replace(f"{path}?", f"/{name}?") for name in ("postgres", database))
    with psycopg.connect(admin, autocommit=True) as connection:
        for name in NEEDED:
            value = connection.execute("SELECT current_setting(%s)", [name]).fetchone()
            if value != ("on",):
                raise BenchRefused(f"{name} is {value}; the bench runs only where it is on")
        connection.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {database}")
        try:
            yield own
        finally:
            connection.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")


def python(url: str, module: str, *arguments: str) -> Figures:
    """Run a module in a process of its own and read the last line it prints, as JSON."""
    command: Sequence[str] = [sys.executable, "-m", module, *arguments]
    environment = os.environ | {"RUNRATE_DATABASE_URL": url}
    done = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    printed = done.stdout.splitlines()
    figures: Figures = json.loads(printed[-1]) if printed else {}
    return figures
