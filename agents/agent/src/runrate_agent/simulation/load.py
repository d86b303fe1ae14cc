"""How hard a kind of work drives a GPU, by the hour of the scenario's clock."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from runrate_agent.batch import WINDOW_SECONDS
from runrate_agent.compat import SLOTS
from runrate_agent.simulation.fleet import Model
from runrate_agent.simulation.table import Table

# Quarter seconds: what the server keeps of each minute, so a total does not depend on rounding.
FULL_QUARTERS = WINDOW_SECONDS * 4
NOISE_LEVELS = 256
QUIETEST_HOUR = 4


@dataclass(frozen=True, **SLOTS)
class Load:
    """A kind of work. Ratios are while a kernel is resident, but for the `worked` ones.

    Outside `works_from_hour` to `works_to_hour` it holds its GPU and does nothing.
    """

    name: str
    worked_ratio: float
    night_worked_ratio: float
    noise_ratio: float
    works_from_hour: int
    works_to_hour: int
    sm_ratio: float
    tensor_ratio: float
    dram_ratio: float
    power_ratio: float
    memory_ratio: float


IDLE = Load("idle", 0, 0, 0, 0, 24, 0, 0, 0, 0, 0)


@dataclass(frozen=True, **SLOTS)
class Readings:
    """What a device reads in a minute, by noise level: every tuple has NOISE_LEVELS values."""

    worked_seconds: tuple[float, ...]
    sm_ratio: tuple[float, ...]
    tensor_ratio: tuple[float, ...]
    dram_ratio: tuple[float, ...]
    energy_joules: tuple[float, ...]
    memory_used_bytes: int


def loads_in(root: Table) -> dict[str, Load]:
    loads = {}
    table = root.table("loads")
    for name in table.keys_left():
        loads[name] = _load(name, table.table(name))
    return loads


@lru_cache(maxsize=4096)
def readings(load: Load, model: Model, hour_of_day: int) -> Readings:
    """The same noise moves all readings of a minute together, as real ones do."""
    worked = [_worked_ratio(load, hour_of_day, level) for level in range(NOISE_LEVELS)]
    return Readings(
        worked_seconds=tuple(round(ratio * FULL_QUARTERS) / 4 for ratio in worked),
        sm_ratio=_scaled(worked, load.sm_ratio),
        tensor_ratio=_scaled(worked, load.tensor_ratio),
        dram_ratio=_scaled(worked, load.dram_ratio),
        energy_joules=tuple(_joules(load, model, ratio, n) for n, ratio in enumerate(worked)),
        memory_used_bytes=int(load.memory_ratio * model.memory_bytes),
    )


def together(worked_seconds: list[list[float]]) -> list[float]:
    """Time in which at least one of several holders worked, taking them as independent."""
    joint = []
    for minute in zip(*worked_seconds):
        nobody = math.prod(1 - seconds / WINDOW_SECONDS for seconds in minute)
        joint.append(round((1 - nobody) * FULL_QUARTERS) / 4)
    return joint


def _load(name: str, table: Table) -> Load:
    worked_ratio = table.ratio("worked_ratio")
    load = Load(
        name=name,
        worked_ratio=worked_ratio,
        night_worked_ratio=table.ratio("night_worked_ratio", worked_ratio),
        noise_ratio=table.ratio("noise_ratio", 0),
        works_from_hour=table.count("works_from_hour", 0),
        works_to_hour=table.count("works_to_hour", 24),
        sm_ratio=table.ratio("sm_ratio"),
        tensor_ratio=table.ratio("tensor_ratio"),
        dram_ratio=table.ratio("dram_ratio"),
        power_ratio=table.ratio("power_ratio"),
        memory_ratio=table.ratio("memory_ratio"),
    )
    table.end()
    return load


def _worked_ratio(load: Load, hour_of_day: int, level: int) -> float:
    """A whole number of quarter seconds of the minute, as a ratio."""
    if not load.works_from_hour <= hour_of_day < load.works_to_hour:
        return 0.0
    day = 0.5 - 0.5 * math.cos(2 * math.pi * (hour_of_day - QUIETEST_HOUR) / 24)
    mean = load.night_worked_ratio + (load.worked_ratio - load.night_worked_ratio) * day
    noise = load.noise_ratio * (2 * level / (NOISE_LEVELS - 1) - 1)
    quarters = round((mean + noise) * FULL_QUARTERS) if mean else 0
    return min(max(quarters, 0), FULL_QUARTERS) / FULL_QUARTERS


def _scaled(worked: list[float], ratio: float) -> tuple[float, ...]:
    return tuple(round(each * ratio, 3) for each in worked)


def _joules(load: Load, model: Model, worked: float, level: int) -> float:
    span_watts = (model.peak_watts - model.idle_watts) * load.power_ratio
    # An idle board still wanders by some watts.
    watts = model.idle_watts + worked * span_watts + (level % 16) / 8
    return round(watts * WINDOW_SECONDS, 1)
