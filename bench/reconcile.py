"""Reconcile a month's bill of a million lines with 10,000 GPUs, and settle what it changed."""

import os

from bench.machine import own_database, python
from bench.settle import DATABASE, LARGE_NODES

DAYS, FULL_DAYS = 1, 31
DAYS_OF_MONTH = 31
MATCH_SECONDS, PEAK_MIB, RESPLIT_SECONDS = 300, 1_024, 1_500


def run(*, full: bool = False) -> dict[str, object]:
    """The figures of one run; `full` settles the whole month instead of one day scaled up.

    Refuses BenchRefused where the server does not write through to disk.
    """
    days = FULL_DAYS if full else DAYS
    with own_database(os.environ["RUNRATE_DATABASE_URL"], DATABASE) as own:
        python(own, "bench.settle_fleet", str(LARGE_NODES))
        python(own, "bench.settle_days", str(days))
        month = python(own, "bench.reconcile_month", str(days))
    resplit = round(month["settle_seconds"] * DAYS_OF_MONTH / days, 1)
    figures = {
        "match_seconds": month["match_seconds"],
        "resplit_seconds": resplit,
        "peak_mib": month["peak_mib"],
        "rows": month["rows"],
        "node_hours": month["node_hours"],
        "again_seconds": month["again_seconds"],
        "hours_settled": days * 24,
        "is_estimated_from_fewer_days": days < DAYS_OF_MONTH,
        "residual_micros": month["residual_micros"],
    }
    return figures | {"misses": _misses(figures)}


def _misses(figures: dict[str, object]) -> list[str]:
    aims = (
        ("match_seconds", MATCH_SECONDS),
        ("resplit_seconds", RESPLIT_SECONDS),
        ("peak_mib", PEAK_MIB),
        ("residual_micros", 0),
    )
    return [
        f"{name} is {figures[name]}, over {aim}"
        for name, aim in aims
        if float(str(figures[name])) > aim
    ]
