"""How often a planted change is measured and judged rightly: many simulated series, and work of public clusters."""

import csv
import gzip
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from statistics import median

import pytest

from apps.economics.cost_volume import CostDay
from apps.economics.realised_saving import (
    RealisedSaving,
    SavingStatus,
    UnknownSaving,
    saving_since,
)
from bench.machine import ROOT
from tests.economics.test_realised_saving import (
    measured,
    replayed_days,
    share_saved,
    status_of,
)

DATA = ROOT.parent / "shared" / "data"
SEEDS = 200
pytestmark = pytest.mark.proof


@pytest.mark.parametrize("noise", [0.02, 0.05, 0.1])
def test_how_often_a_verdict_is_right(noise: float) -> None:
    """Eight weeks before and four since, at the first look: nothing is verified that is none, and the interval holds."""
    for effect in (0.0, 0.1, 0.2, 0.3):
        counts: Counter[str] = Counter()
        for seed in range(SEEDS):
            days = replayed_days(10_000 + seed, effect, noise=noise)
            found = measured(days)
            share = share_saved(found)
            counts["within 5 %"] += abs(share - effect) <= 0.05 * effect
            ends = [end / found.counterfactual_micros for end in (found.low, found.high)]
            counts["in the interval"] += ends[0] <= effect <= ends[1]
            counts[str(status_of(days, effect or 0.2))] += 1
        print(noise, effect, dict(counts))
        if not effect:
            assert counts[SavingStatus.VERIFIED] <= 0.03 * SEEDS
        elif effect >= 4 * noise:
            assert counts[SavingStatus.VERIFIED] >= 0.85 * SEEDS
        if effect >= 10 * noise:
            assert counts["within 5 %"] >= 0.6 * SEEDS
        assert counts["in the interval"] >= 0.85 * SEEDS


def with_change(days: list[CostDay], made: int, effect: float) -> list[CostDay]:
    """The same, a unit of cost `effect` less from a day on."""
    return [
        replace(day, micros=day.micros * (1 - effect)) if day.day >= made else day for day in days
    ]


def running_gpus(name: str) -> list[tuple[int, int]]:
    """All GPUs of a cluster and those that run, by the minute of May 2020."""
    path = DATA / "helios" / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip("public series are not beside the checkout")
    with gzip.open(path, "rt") as lines:
        return [
            (int(row["total_gpu_num"]), int(row["running_gpu_num"]))
            for row in csv.DictReader(lines)
        ]


def standing_days(minutes: Sequence[tuple[int, int]]) -> list[CostDay]:
    """All GPUs are paid whatever comes, and those that run are the work."""
    return [
        CostDay(day, sum(gpus for gpus, _ in of_day), sum(running for _, running in of_day))
        for day, of_day in enumerate(batched_days(minutes))
    ]


def rented_days(minutes: Sequence[tuple[int, int]]) -> list[CostDay]:
    """Whole machines of eight that hold what runs are paid by the hour."""
    return [
        CostDay(
            day,
            sum(
                8 * ceil(max(running for _, running in of_day[start : start + 60]) / 8)
                for start in range(0, len(of_day), 60)
            ),
            sum(running for _, running in of_day),
        )
        for day, of_day in enumerate(batched_days(minutes))
    ]


def batched_days(minutes: Sequence[tuple[int, int]]) -> list[Sequence[tuple[int, int]]]:
    return [minutes[start : start + 1440] for start in range(0, len(minutes), 1440)]


CLUSTERS = ("vc3sl", "vc6YE", "vc8Sj", "vcMod", "vcTJs", "vchbv", "vcpDC", "vcvlY")
FIRST_DAYS = (14, 15, 16, 17)
"""Of May, on which the change is made."""


def test_clusters_whose_machines_stand_and_cost_a_fifth_less() -> None:
    """A cost per GPU-hour that ran would say anything from a twentieth to a half, as the work moved."""
    answered = 0
    for name in CLUSTERS:
        days = standing_days(running_gpus(name))
        for made in FIRST_DAYS:
            changed = with_change(days, made, 0.2)
            found = saving_since(changed[:made], changed[made:])
            if isinstance(found, UnknownSaving):
                continue
            answered += 1
            assert share_saved(found) == pytest.approx(0.2, rel=0.05)
    print(f"{answered} of {len(CLUSTERS) * len(FIRST_DAYS)} answered")
    assert answered >= 24


def test_clusters_whose_machines_are_rented_by_the_hour_and_cost_a_fifth_less() -> None:
    """Two weeks before of a volume that moves much: the interval says how far it may be off."""
    errors, inside = [], 0
    for name in CLUSTERS:
        days = rented_days(running_gpus(name))
        for made in FIRST_DAYS:
            changed = with_change(days, made, 0.2)
            found = saving_since(changed[:made], changed[made:])
            if isinstance(found, RealisedSaving):
                errors.append(round(abs(share_saved(found) / 0.2 - 1), 2))
                inside += found.low <= 0.2 * found.counterfactual_micros <= found.high
    print(sorted(errors), inside)
    assert len(errors) >= 20
    assert median(errors) <= 0.25
    assert inside >= 0.7 * len(errors)
