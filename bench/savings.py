"""Recommendations on worlds in which it is known what could be saved: how many are right, how many are found, how much they promise."""

import importlib
import importlib.util
import os
from collections.abc import Mapping, Sequence
from typing import Any

from bench.machine import own_database, python

DATABASE = "runrate_bench_savings"
SEEDS, MORE_SEEDS = (1, 2), (1, 2, 3, 4, 5)
LEAST_PRECISION, LEAST_RECALL, LEAST_KINDS = 0.9, 0.9, 12
LEAST_EXPLAINED, MOST_OFF = 0.8, 0.15
REALISED = "bench.savings_realised"


def run(*, full: bool = False) -> dict[str, Any]:
    """By world; `misses` names what misses its aim. What is said of savings that were realised comes after, where it can be measured."""
    worlds = [_world(seed) for seed in (MORE_SEEDS if full else SEEDS)]
    figures: dict[str, Any] = {"worlds": worlds, "misses": list(misses_of(worlds))}
    if importlib.util.find_spec(REALISED) is not None:
        realised = importlib.import_module(REALISED).run(full=full)
        figures["misses"] += realised.pop("misses", [])
        figures["realised"] = realised
    return figures


def _world(seed: int) -> dict[str, Any]:
    with own_database(os.environ["RUNRATE_DATABASE_URL"], DATABASE) as url:
        return python(url, "bench.savings_ask", str(seed))


def misses_of(worlds: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    """What of each world is beyond its aim, in words."""
    found = []
    for world in worlds:
        least = {
            "precision": LEAST_PRECISION,
            "recall": LEAST_RECALL,
            "kinds": LEAST_KINDS,
        }
        name = f"world {world['seed']}"
        found += [
            f"{name}: {figure} {world[figure]}, below {aim}"
            for figure, aim in least.items()
            if (world[figure] or 0) < aim
        ]
        if world["largest_error"] > MOST_OFF:
            found.append(f"{name}: savings off by over {MOST_OFF:.0%}: {', '.join(world['off'])}")
        if world["waste"] is None or world["waste"]["explained"] < LEAST_EXPLAINED:
            found.append(f"{name}: {world['waste']} of the waste is explained")
        if world["without_counter_evidence"]:
            found.append(f"{name}: recommendations that nothing was looked for against")
    return found
