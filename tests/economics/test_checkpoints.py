"""The best cadence of checkpoints by its worked examples, and what failures cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.checkpoints import (
    NotACadence,
    best_cadence,
    hazard,
    is_worth_saying,
    with_failures,
    young,
)

MINUTE = 1 / 60


@pytest.mark.parametrize(
    ("write", "mtbf", "by_young", "exact"),
    [(1, 3.0931, 19.2658, 18.6049), (5, 4, 48.9898, 45.7147), (10, 0.68, 28.5657, 22.3255)],
)
def test_the_worked_examples(write: float, mtbf: float, by_young: float, exact: float) -> None:
    assert young(write * MINUTE, mtbf) / MINUTE == pytest.approx(by_young, abs=5e-5)
    assert best_cadence(write * MINUTE, mtbf) / MINUTE == pytest.approx(exact, abs=2e-4)


def test_what_a_run_takes_with_its_failures() -> None:
    run = with_failures(
        work=48, cadence=0.75, write=5 * MINUTE, mtbf=4, restart=10 * MINUTE, wait=15 * MINUTE
    )
    assert (run.wall, run.failures, run.paid) == pytest.approx(
        (65.682155, 15.454625, 61.818499), abs=5e-7
    )
    assert run.goodput(48) == pytest.approx(0.730792, abs=5e-7)


@given(st.floats(0.001, 1), st.floats(0.1, 10_000), st.floats(0.2, 5))
def test_no_other_cadence_is_faster(write: float, mtbf: float, times: float) -> None:
    best = best_cadence(write, mtbf)
    same = {"work": 100.0, "write": write, "mtbf": mtbf, "restart": 0.1}
    fastest = with_failures(cadence=best, **same).wall
    if (best * times + write) / mtbf < 500:
        assert fastest <= with_failures(cadence=best * times, **same).wall * (1 + 1e-9)


def test_nothing_is_said_until_it_is_three_times_off() -> None:
    assert [is_worth_saying(each, 1.0) for each in (0.3, 0.4, 1, 2.9, 3.1)] == [
        True,
        False,
        False,
        False,
        True,
    ]


def test_of_no_failure_only_a_bound_is_known() -> None:
    none, some = hazard(0, 300), hazard(10, 1000)
    assert (none.rate, none.low, none.high) == (None, 0, 0.01)
    assert some.rate == 0.01
    # The quantiles of Gamma(10.5) are 5.142 and 17.739.
    assert (some.low, some.high) == pytest.approx((0.005142, 0.017739), rel=5e-3)


@pytest.mark.parametrize("times", [(0, 1), (1, 0), (-1, 1)])
def test_a_time_of_nothing_is_refused(times: tuple[float, float]) -> None:
    with pytest.raises(NotACadence):
        best_cadence(*times)
    with pytest.raises(NotACadence):
        young(*times)


def simulated_run(
    segments: int, length: float, mtbf: float, restart: float, wait: float, runs: int
) -> tuple[float, float]:
    """Mean time, all and paid, of so many segments in a row, each of which a failure makes begin again.

    Of each segment the failures before it succeeds are drawn, then when each came; of restarts alike.
    """
    draw = np.random.default_rng(1)

    def tries(needed: float, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Failures before each of `count` goes through, and the time that those had lasted."""
        through = np.exp(-needed / mtbf)
        failures = draw.geometric(through, count) - 1
        uniform = draw.random(int(failures.sum()))
        lasted = -mtbf * np.log1p(-uniform * (1 - through))
        owner = np.repeat(np.arange(count), failures)
        return failures, np.bincount(owner, lasted, count)

    failures, lost = tries(length, segments * runs)
    restarts = int(failures.sum())
    again, lost_again = tries(restart, restarts)
    paid = segments * runs * length + lost.sum() + restarts * restart + lost_again.sum()
    waits = (restarts + again.sum()) * wait
    return (paid + waits) / runs, paid / runs


@pytest.mark.parametrize("mtbf", [2.0, 12.0, 100.0])
@pytest.mark.parametrize("cadence", [0.25, 1.0, 3.0])
@pytest.mark.parametrize(("restart", "wait"), [(0.0, 0.0), (0.1, 0.5), (0.5, 0.0)])
def test_a_simulation_takes_and_costs_the_same_within_a_hundredth(
    mtbf: float, cadence: float, restart: float, wait: float
) -> None:
    write, segments = 0.05, 24
    run = with_failures(
        work=segments * cadence, cadence=cadence, write=write, mtbf=mtbf, restart=restart, wait=wait
    )
    wall, paid = simulated_run(segments, cadence + write, mtbf, restart, wait, 6000)
    assert run.wall == pytest.approx(wall, rel=0.01)
    assert run.paid == pytest.approx(paid, rel=0.01)


@pytest.mark.parametrize("write", [1e-4, 1 / 60, 0.1, 1.0])
@pytest.mark.parametrize("mtbf", [0.5, 3.0931, 24.0, 5000.0])
def test_the_cadence_is_within_half_a_hundredth_of_a_search(write: float, mtbf: float) -> None:
    tried = np.geomspace(write / 10, 10 * mtbf, 200_001)
    waste = np.log(np.expm1((tried + write) / mtbf)) - np.log(tried)
    assert best_cadence(write, mtbf) == pytest.approx(tried[np.argmin(waste)], rel=0.005)
