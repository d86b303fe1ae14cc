"""How often a saving that was made, or was not, is told rightly: simulated days of a unit cost, twelve weeks on both sides."""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import product
from math import exp
from random import Random
from typing import Any

from apps.economics.cost_volume import CostDay
from apps.economics.moves.saving import SavingRange
from apps.economics.realised_saving import (
    RealisedSaving,
    SavingStatus,
    judge_saving,
    saving_since,
)

NOISE, SPAN = 0.08, 84
"""Of the mean, the standard deviation of a day's cost; days before the change, and as many since."""
MEMORIES = (0.0, 0.3, 0.6, 0.9)
TRENDS = (-0.002, 0.0, 0.002)
EFFECTS = (0.0, 0.1)
TRIES = 60
EARLIER = (7, 14, 21, 28)
"""Days before the claim at which a saving came that the change did not make."""
DEAR, DEARER = (10, 24, 33, 40, 60), 0.3
"""How many days that end at the claim were dear, and by how much: that they are over is no saving."""
MOST_FALSE, LEAST_TOLD, COVERED = 0.1, 0.7, (0.82, 0.95)


@dataclass(frozen=True, slots=True)
class RealisedCell:
    """Of series of one memory, trend and effect: shares of verdicts, of intervals that hold the effect, and of gates that failed."""

    memory: float
    trend: float
    effect: float
    verified: float
    failed: float
    unknown: float
    covered: float
    gates_failed: float


def simulated_days(
    seed: int,
    *,
    memory: float,
    trend: float,
    effect: float,
    noise: float = NOISE,
    earlier: int = 0,
) -> tuple[list[CostDay], float]:
    """A unit cost of 100 with a trend a day, an effect from the middle on (or `earlier` by so many days) and AR(1) noise.

    And what that saved in truth.
    """
    chance = Random(seed)  # noqa: S311 - a simulation
    moved, days, saved = chance.gauss(0, noise), [], 0.0
    for day in range(2 * SPAN):
        would = 100e6 * exp(trend * day)
        kept = 1 - effect if day >= SPAN - earlier else 1.0
        days.append(CostDay(day, would * kept * max(0.02, 1 + moved)))
        saved += would * (1 - kept)
        moved = memory * moved + chance.gauss(0, noise * (1 - memory**2) ** 0.5)
    return days, saved


def realised_cell(asked: tuple[float, float, float, int]) -> RealisedCell:
    """One cell; the promise is 0.8, 1 and 1.2 times the effect, of no effect a tenth's."""
    memory, trend, effect, tries = asked
    counts: Counter[str] = Counter()
    first = round(1e6 * (memory + 10 * effect + 1e4 * (trend + 1)))
    for seed in range(first, first + tries):
        days, saved = simulated_days(seed, memory=memory, trend=trend, effect=effect)
        found = saving_since(days[:SPAN], days[SPAN:])
        if not isinstance(found, RealisedSaving):
            counts[SavingStatus.UNKNOWN] += 1
            continue
        month = found.before_micros * 730 / 24 * (effect or 0.1)
        promise = SavingRange(*(round(part * month) for part in (0.8, 1.0, 1.2)))
        counts[judge_saving(found, promise, days_since=SPAN)] += 1
        counts["covered"] += found.low <= saved <= found.high
        counts["gates_failed"] += any(gate.is_passed is False for gate in found.gates)
    parts = {
        name: counts[name] / tries
        for name in ("verified", "failed", "unknown", "covered", "gates_failed")
    }
    return RealisedCell(memory, trend, effect, **parts)


def dear_before(days: Sequence[CostDay], length: int) -> list[CostDay]:
    """The same, of which the last so many days before the middle cost DEARER more."""
    return [
        replace(day, micros=day.micros * (1 + DEARER if SPAN - length <= day.day < SPAN else 1))
        for day in days
    ]


def verified_wrongly(asked: tuple[float, str, int, int]) -> float:
    """Of series of one memory, the share that is verified for the change though what came was not of it.

    "earlier": a tenth, so many days before the claim. "dear": DEARER, over the days up to it, and a fifth was promised.
    """
    memory, world, days_before, tries = asked
    is_dear = world == "dear"
    verified, first = 0, round(1e6 * (7 + memory) + 1e3 * days_before)
    for seed in range(first, first + tries):
        effect, earlier = (0.0, 0) if is_dear else (0.1, days_before)
        days, _ = simulated_days(seed, memory=memory, trend=0.0, effect=effect, earlier=earlier)
        if is_dear:
            days = dear_before(days, days_before)
        found = saving_since(days[:SPAN], days[SPAN:])
        if isinstance(found, RealisedSaving):
            month = found.before_micros * 730 / 24 * (0.2 if is_dear else 0.1)
            promise = SavingRange(*(round(part * month) for part in (0.8, 1.0, 1.2)))
            status = judge_saving(found, promise, days_since=SPAN)
            verified += status is SavingStatus.VERIFIED
    return verified / tries


def wrong_figures(
    world: str, days_before: Sequence[int], tries: int = TRIES, workers: int = 2
) -> dict[str, float]:
    """How often what the change did not make is called its own, by how many days before it began."""
    asked = [(memory, world, before, tries) for before, memory in product(days_before, MEMORIES)]
    with ProcessPoolExecutor(workers) as pool:
        found = list(pool.map(verified_wrongly, asked))
    size = len(MEMORIES)
    return {
        str(before): _mean(found[place * size : (place + 1) * size])
        for place, before in enumerate(days_before)
    }


def realised_cells(tries: int = TRIES, workers: int = 2) -> list[RealisedCell]:
    """All of them."""
    asked = [(*cell, tries) for cell in product(MEMORIES, TRENDS, EFFECTS)]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(realised_cell, asked))


def realised_report(tries: int = TRIES) -> dict[str, Any]:
    """The cells, what they come to by effect, and whether that is as it should be."""
    cells = realised_cells(tries)
    none, some = ([cell for cell in cells if bool(cell.effect) is has] for has in (False, True))
    verified = (_mean([cell.verified for cell in none]), _mean([cell.verified for cell in some]))
    by_memory = _by_memory(cells, "covered")
    told = _by_memory(some, "verified")
    figures: dict[str, Any] = {
        "verified_without_effect": verified[0],
        "verified_without_effect_worst": max(cell.verified for cell in none),
        "verified_with_a_tenth": verified[1],
        "verified_with_a_tenth_worst": min(cell.verified for cell in some),
        "verified_without_effect_by_memory": _by_memory(none, "verified"),
        "verified_with_a_tenth_by_memory": told,
        "verified_though_earlier": wrong_figures("earlier", EARLIER, tries),
        "verified_though_dear_before": wrong_figures("dear", DEAR, tries),
        "covered": _mean([cell.covered for cell in cells]),
        "covered_by_memory": by_memory,
    }
    wrong = (figures["verified_though_earlier"], figures["verified_though_dear_before"])
    is_rare = all(share <= MOST_FALSE for shares in wrong for share in shares.values())
    is_covered = all(COVERED[0] <= covered <= COVERED[1] for covered in by_memory.values())
    is_told = verified[0] <= MOST_FALSE and min(told.values()) >= LEAST_TOLD
    return {
        "is_reached": is_told and is_covered and is_rare,
        **figures,
        "cells": [asdict(cell) for cell in cells],
    }


def _by_memory(cells: Sequence[RealisedCell], name: str) -> dict[str, float]:
    return {
        str(memory): _mean([getattr(cell, name) for cell in cells if cell.memory == memory])
        for memory in MEMORIES
    }


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 3)


def run(*, full: bool = False) -> dict[str, Any]:
    """The report, `full` of four times as many series; `misses` says what is not as it should be."""
    report = realised_report(4 * TRIES if full else TRIES)
    wanted = f"{MOST_FALSE:.0%} verified without effect, of one before the claim or of dear days that are over, {LEAST_TOLD:.0%} with a tenth at each memory, {COVERED} covered"
    return report | {"misses": [] if report["is_reached"] else [f"realised savings: {wanted}"]}
