"""Slow ranks are found where they stay, and not where chance makes one slow."""

import random

import pytest

from apps.economics.step_times import robust_z, slowness, stragglers


def test_the_worked_example() -> None:
    steps = [[1.0, 1.0, 1.0, 1.4], [1.0, 1.05, 1.0, 1.5], [1.0, 1.05, 1.1, 1.5]]
    found = slowness(steps)
    assert found.factor == pytest.approx(4.4 / 3.1)
    assert slowness([[1.0, 1.025, 1.05, 1.4]] * 3 + [[0.0]]).wasted == pytest.approx(
        1 - 3.1125 / 4.2
    )
    assert slowness([]) is None


def test_robust_z_by_its_worked_example() -> None:
    assert robust_z(14, [10, 11, 9, 10, 12, 10, 8]) == pytest.approx(2.697963, abs=5e-7)
    assert robust_z(14, [10, 10, 10]) is None


def test_a_rank_that_stays_slow_is_named_and_one_that_was_slow_once_is_not() -> None:
    chance = random.Random(1)  # noqa: S311 - a simulation, not a secret
    steps = [{rank: 1 + chance.gauss(0, 0.01) for rank in range(16)} for _ in range(500)]
    for number, step in enumerate(steps):
        step[5] *= 1.3
        if number < 100:
            step[9] *= 2
    assert stragglers(steps) == {5: 1.0}
    assert stragglers([{0: 1.0, 1: 1.0}]) == {}
    assert stragglers([]) == {}
