"""Settle one populated hour of 10,000 GPUs again, and whole days, beside the least it could take."""

import os

from bench.machine import Figures, own_database, python

DATABASE = "runrate_bench_settle"
SMALL_NODES, LARGE_NODES = 125, 1_250
ROUNDS = 7
DAYS, FULL_DAYS = 1, 30
DAYS_PROMISED = 30


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
    with own_database(url, DATABASE) as own:
        python(own, "bench.settle_fleet", str(LARGE_NODES))
        day = python(own, "bench.settle_work_day")
    return {
        "seconds_10k_gpus": large["seconds"],
        "floor_seconds_10k_gpus": large["floor_seconds"],
        "floor_ratio": round(large["seconds"] / large["floor_seconds"], 2),
        "cpu_seconds_10k_gpus": large["cpu_seconds"],
        "peak_mib": large["peak_mib"],
        "growth_1k_to_10k": round(large["seconds"] / small["seconds"], 2),
        "seconds_1k_gpus": small["seconds"],
        "on_one_core": large["one_core"],
        "rows": large["rows"],
        "day_with_work_seconds": day["seconds"],
        "day_floor_seconds": day["floor_seconds"],
        "day_floor_ratio": round(day["seconds"] / day["floor_seconds"], 2),
        "day_rows": day["rows"],
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
