"""A weekly review of 2,000 workloads: how long it is made, frozen and read, and in how much memory."""

import os

import psutil

from bench.calibration import scaled
from bench.machine import own_database, python

DATABASE = "runrate_bench_weekly_review"
MOST_SECONDS, MOST_MEGABYTES, MOST_READ_SECONDS = 60, 500, 2


def run(*, full: bool = False) -> dict[str, object]:
    """The figures of one run; `full` has 5,000 workloads instead of 2,000.

    `misses` names what takes longer, or more memory, than its target.
    """
    with own_database(os.environ["RUNRATE_DATABASE_URL"], DATABASE) as url:
        figures = python(url, "bench.weekly_review_ask", "5000" if full else "2000")
    limits = {
        "made_seconds": scaled(MOST_SECONDS),
        "read_seconds": scaled(MOST_READ_SECONDS),
        "peak_megabytes": MOST_MEGABYTES,
    }
    misses = [
        f"{name}: {figures[name]}, over {most}"
        for name, most in limits.items()
        if figures[name] > most
    ]
    return figures | {
        "targets": limits,
        "load": round(psutil.getloadavg()[0], 1),
        "misses": misses,
    }
