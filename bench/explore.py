"""Cost explorer over a ledger of 10,000 GPUs and 13 months: any two dimensions, alone and compared."""

import os

from bench.calibration import scaled
from bench.machine import own_database, python

DATABASE = "runrate_bench_explore"
TARGETS_MS = {"alone": 250, "compared": 500}


def run(*, full: bool = False) -> dict[str, object]:
    """The figures of one run; `full` asks each question a hundred times instead of ten.

    `misses` names what takes longer than its target.
    """
    with own_database(os.environ["RUNRATE_DATABASE_URL"], DATABASE) as url:
        figures = python(url, "bench.explore_ask", "100" if full else "10")
    misses = [
        f"{question}: {took} ms, over {scaled(most)}"
        for kind, most in TARGETS_MS.items()
        for question, took in figures["p95_ms"][kind].items()
        if took > scaled(most)
    ]
    targets = {kind: scaled(most) for kind, most in TARGETS_MS.items()}
    return {"targets": targets, **figures, "misses": misses}
