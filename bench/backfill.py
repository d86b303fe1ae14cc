"""A month of a cluster's accounting, imported on the first day: until it is settled and audited."""

import os

from bench.calibration import scaled
from bench.machine import Figures, own_database, python

DATABASE = "runrate_bench_backfill"
DAYS, TWICE = 31, 62
SECONDS = 180
GROWTH = 2.2


def run(*, full: bool = False) -> dict[str, object]:
    """The figures of one run; `full` imports 62 days as well, for how it grows.

    Refuses BenchRefused where the server does not write through to disk.
    """
    month = _backfilled(DAYS)
    figures: dict[str, object] = month | {
        "total_seconds": _total(month),
        "total_target_seconds": scaled(SECONDS),
    }
    if full:
        figures["growth_31_to_62_days"] = round(_total(_backfilled(TWICE)) / _total(month), 2)
    return figures | {"misses": _misses(figures)}


def _backfilled(days: int) -> Figures:
    with own_database(os.environ["RUNRATE_DATABASE_URL"], DATABASE) as own:
        return python(own, "bench.backfill_month", str(days))


def _total(figures: Figures) -> float:
    named = ("import_seconds", "rules_seconds", "settle_seconds", "audit_seconds")
    return round(sum(float(figures[name]) for name in named), 1)


def _misses(figures: dict[str, object]) -> list[str]:
    limits = {"total_seconds": figures["total_target_seconds"], "growth_31_to_62_days": GROWTH}
    return [
        f"{name} is {figures[name]}, over {most}"
        for name, most in limits.items()
        if name in figures and float(str(figures[name])) > float(str(most))
    ]
