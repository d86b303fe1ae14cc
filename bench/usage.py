"""Calls to model APIs taken through the door, priced and charged, and all of them sent twice."""

import os

from bench.machine import own_database, python

DATABASE = "runrate_bench_usage"
CALLS, FULL_CALLS = 100_000, 1_000_000
SECONDS_OF_A_MILLION = 120


def run(*, full: bool = False) -> dict[str, object]:
    """The figures of one run; `full` sends a million calls instead of a tenth, scaled up.

    Refuses BenchRefused where the server does not write through to disk.
    """
    calls = FULL_CALLS if full else CALLS
    with own_database(os.environ["RUNRATE_DATABASE_URL"], DATABASE) as own:
        day = python(own, "bench.usage_day", str(calls))
    scale = FULL_CALLS / calls
    taken, priced = day["taken_seconds"] * scale, day["priced_seconds"] * scale
    figures: dict[str, object] = {
        "million_seconds": round(priced, 1),
        "taken_seconds": round(taken, 1),
        "again_seconds": round(day["again_seconds"] * scale, 1),
        "charged_seconds": day["charged_seconds"],
        "calls": calls,
        "kept": day["kept"],
        "priced": day["priced"],
        "kept_again": day["kept_again"],
        "unpriced": day["unpriced"],
        "residual_micros": day["residual_micros"],
        "is_estimated_from_fewer_calls": calls < FULL_CALLS,
    }
    return figures | {"misses": _misses(figures)}


def _misses(figures: dict[str, object]) -> list[str]:
    aims = {
        "kept": figures["calls"],
        "priced": figures["calls"],
        "kept_again": 0,
        "unpriced": 0,
        "residual_micros": 0,
    }
    found = [
        f"{name} is {figures[name]}, not {aim}"
        for name, aim in aims.items()
        if figures[name] != aim
    ]
    if float(str(figures["million_seconds"])) > SECONDS_OF_A_MILLION:
        found.append(
            f"million_seconds is {figures['million_seconds']}, over {SECONDS_OF_A_MILLION}"
        )
    return found
