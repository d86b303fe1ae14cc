"""Steps are found with their day, nothing is found in noise, and single spikes are told apart."""

import random
from math import exp

import pytest

from apps.economics.changes import changes, partition, spikes


def series(seed: int, *, step: float = 0.0, at: int = 80, days: int = 120) -> list[float]:
    """AR(1) of 0.3, 5 % of noise, a weekly pattern and 2 % of outliers."""
    chance, noise, values = random.Random(seed), 0.0, []  # noqa: S311 - a simulation, not a secret
    for day in range(days):
        noise = 0.3 * noise + chance.gauss(0, 0.05 * (1 - 0.09) ** 0.5)
        outlier = 0.5 if chance.random() < 0.02 else 0.0
        week = (0.0, 0.02, 0.03, 0.02, 0.0, -0.1, -0.12)[day % 7]
        values.append(exp(noise + week + outlier) * (1 + step if day >= at else 1))
    return values


def test_the_worked_partition() -> None:
    values = [0.0] * 20 + [3.0] * 15 + [1.0] * 10
    assert partition(values, 5.0) == [20, 35]


def test_a_step_is_found_near_its_day_with_about_its_size() -> None:
    found = [changes(series(seed, step=0.15)) for seed in range(20)]
    near = [each for each in found if any(abs(one.day - 80) <= 5 for one in each)]
    assert len(near) >= 19
    assert all(
        one.effect == pytest.approx(0.15, abs=0.07)
        for each in near
        for one in each
        if abs(one.day - 80) <= 5
    )


def test_nothing_is_found_in_noise() -> None:
    assert sum(len(changes(series(seed))) for seed in range(40)) <= 2


def test_a_series_that_is_short_or_flat_has_no_change() -> None:
    assert changes([1.0, 2.0, 3.0]) == []
    assert changes([5.0] * 60) == []


def test_a_single_day_is_a_spike_and_no_change() -> None:
    values = series(3)
    values[60] *= 3
    like = [values[max(0, day - 28) : day] for day in range(120)]
    assert 60 in spikes(values, like)
    assert all(abs(one.day - 60) > 3 for one in changes(values))
    assert spikes([7.0], [[1.0, 1.0, 1.0]]) == []
