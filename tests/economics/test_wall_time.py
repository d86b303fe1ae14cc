"""How long interrupted work takes: the mean of the worked example, and spread and chances as simulated."""

import random

import pytest

from apps.economics.checkpoints import NotACadence, with_failures
from apps.economics.placement.wall_time import (
    NeverFinishes,
    QueueWait,
    WallTime,
    interrupted,
    uninterrupted,
)

MINUTE = 1 / 60
RUNS = 4000


def simulated_wall(
    rng: random.Random, *, work: float, cadence: float, write: float, mtbf: float,
    restart: float, wait: float,
) -> float:  # fmt: skip
    """One run, second thoughts included: the process that the formulas are of, played out."""
    clock = 0.0
    for _ in range(round(work / cadence)):
        while True:
            life = rng.expovariate(1 / mtbf)
            if life >= cadence + write:
                clock += cadence + write
                break
            clock += life + rng.expovariate(1 / wait)
            while (life := rng.expovariate(1 / mtbf)) < restart:
                clock += life + rng.expovariate(1 / wait)
            clock += restart
    return clock


def test_the_mean_is_that_of_the_worked_example() -> None:
    given = {"work": 48, "cadence": 0.75, "write": 5 * MINUTE, "mtbf": 4.0}
    found = interrupted(**given, restart=10 * MINUTE, wait=15 * MINUTE)
    told = with_failures(**given, restart=10 * MINUTE, wait=15 * MINUTE)

    assert found.mean == pytest.approx(65.682155, abs=5e-7)
    assert (found.mean, found.interruptions, found.paid) == pytest.approx(
        (told.wall, told.failures, told.paid)
    )


@pytest.mark.parametrize(
    ("work", "cadence", "mtbf", "restart", "wait"),
    [(12.0, 0.5, 4.0, 0.1, 0.25), (24.0, 1.0, 30.0, 0.2, 1.0), (8.0, 2.0, 3.0, 0.1, 0.5)],
)
def test_spread_and_chances_are_as_simulated(
    work: float, cadence: float, mtbf: float, restart: float, wait: float
) -> None:
    rng = random.Random(20261123)  # noqa: S311 - a simulation
    given = {"work": work, "cadence": cadence, "write": 0.05, "mtbf": mtbf}
    found = interrupted(**given, restart=restart, wait=wait)
    runs = sorted(simulated_wall(rng, **given, restart=restart, wait=wait) for _ in range(RUNS))

    mean = sum(runs) / RUNS
    variance = sum((run - mean) ** 2 for run in runs) / RUNS
    assert found.mean == pytest.approx(mean, rel=0.015)
    assert found.variance == pytest.approx(variance, rel=0.12)
    for level in (0.25, 0.5, 0.75, 0.9, 0.97):
        limit = runs[int(level * RUNS)]
        within = sum(run <= limit for run in runs) / RUNS
        assert found.chance_within(limit) == pytest.approx(within, abs=0.035)


def test_nothing_is_done_before_its_least_time_and_calm_work_is_done_then() -> None:
    found = interrupted(work=10, cadence=1, write=0.1, mtbf=50, restart=0.1, wait=0)

    assert found.chance_within(found.least * 0.999) == 0
    assert found.chance_within(found.least) == pytest.approx(found.calm, abs=1e-6)
    assert found.chance_within(1000) == pytest.approx(1)
    assert uninterrupted(10, 1, 0.1).chance_within(11) == 1
    assert uninterrupted(10, None, 0.1).least == 10


def test_work_without_an_interruption_in_sight_is_calm() -> None:
    found = interrupted(work=1e-9, cadence=1e-9, write=0, mtbf=1e9, restart=0, wait=0)

    assert found.calm < 1 or found.chance_within(1) == 1
    assert found.chance_within(1) == pytest.approx(1)


def test_what_never_ends_and_what_is_no_time_is_refused() -> None:
    with pytest.raises(NeverFinishes):
        interrupted(work=100, cadence=100, write=0, mtbf=1, restart=0, wait=0)
    with pytest.raises(NotACadence):
        interrupted(work=1, cadence=0, write=0, mtbf=1, restart=0, wait=0)


def test_waits_pass_through_their_median_and_their_ninth() -> None:
    wait = QueueWait(2.0, 8.0)

    assert wait.quantile(0.5) == 2.0
    assert wait.quantile(0.9) == pytest.approx(8.0)
    assert list(wait.points) == sorted(wait.points)
    assert QueueWait(0.5, 0.5).mean == 0.5


def test_a_delay_that_is_always_as_long_is_over_when_it_is() -> None:
    certain = WallTime(1.0, 2.0, 1.0, calm=0.5, interruptions=0.5, paid=2.0)

    assert certain.chance_within(2.5) == 0.5
    assert certain.chance_within(3.0) == 1.0
