"""Unit costs of 500 services over 90 days, and what a day of their lines adds to the roll-up."""

import os

import psutil

from bench.calibration import scaled
from bench.machine import own_database, python

DATABASE = "runrate_bench_units"
MOST_MS = 150


def run(*, full: bool = False) -> dict[str, object]:
    """The figures of one run; `full` asks each address a hundred times instead of twenty.

    `misses` names what takes longer than its target.
    """
    with own_database(os.environ["RUNRATE_DATABASE_URL"], DATABASE) as url:
        figures = python(url, "bench.units_ask", "100" if full else "20")
    most = scaled(MOST_MS)
    misses = [
        f"{name}: {took} ms, over {most}" for name, took in figures["p95_ms"].items() if took > most
    ]
    return figures | {"load": round(psutil.getloadavg()[0], 1), "misses": misses}
