"""The scalability law by its worked example, and no answer where too little was seen."""

from math import inf

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from apps.economics.scaling import (
    BeyondObservedScale,
    ScalingLaw,
    Throughput,
    TooFewRuns,
    fit,
    middle_of,
    resampled,
)

LAW = ScalingLaw(speed=1.0, contention=0.02, coherence=1e-4, largest=128)


def runs(law: ScalingLaw, *sizes: int) -> list[Throughput]:
    return [Throughput(size, law.rate(size)) for size in sizes]


def test_the_worked_example() -> None:
    rates = [LAW.rate(size) for size in (32, 64, 128)]
    assert rates == pytest.approx([18.6133, 24.0312, 24.7793], abs=5e-5)
    assert LAW.speed_up(32, 64) == pytest.approx(1.2911, abs=5e-5)
    assert LAW.peak == pytest.approx(98.99, abs=5e-3)


@pytest.mark.parametrize(("times", "dearer"), [(1.8, 1.1111), (1.2, 1.6667)])
def test_what_twice_the_gpus_cost(times: float, dearer: float) -> None:
    law = ScalingLaw(1.0, 2 / times - 1, 0.0, 2)
    assert law.speed_up(1, 2) == pytest.approx(times)
    assert law.cost_multiplier(1, 2) == pytest.approx(dearer, abs=5e-5)


@given(
    speed=st.floats(0.01, 1000),
    contention=st.floats(0, 0.3),
    coherence=st.floats(0, 1e-3),
    sizes=st.sets(st.integers(1, 512), min_size=4, max_size=8),
)
def test_a_law_is_found_again_in_its_own_figures(
    speed: float, contention: float, coherence: float, sizes: set[int]
) -> None:
    assume(max(sizes) > 4 * min(sizes))
    law = ScalingLaw(speed, contention, coherence, max(sizes))
    found = fit(runs(law, *sizes))
    for size in sizes:
        assert found.rate(size) == pytest.approx(law.rate(size), rel=1e-4)
    assert min(found.contention, found.coherence) >= 0


def test_faster_than_linear_is_never_made_a_negative_wait() -> None:
    law = fit([Throughput(1, 1.0), Throughput(2, 2.2), Throughput(4, 5.0), Throughput(8, 11.0)])
    assert (law.contention, law.coherence, law.peak) == (0.0, 0.0, inf)


def test_sizes_that_hardly_differ_give_a_law_without_a_bend() -> None:
    law = fit([Throughput(size, 1e6) for size in (10**9, 10**9 + 1, 10**9 + 2)])
    assert law.rate(10**9) == pytest.approx(1e6, rel=1e-6)


def test_too_few_sizes_and_questions_far_beyond_are_refused() -> None:
    with pytest.raises(TooFewRuns, match="there are 2"):
        fit([Throughput(8, 1.0), Throughput(8, 1.1), Throughput(16, 1.8), Throughput(32, 0.0)])
    law = fit(runs(LAW, 8, 16, 32))
    assert law.rate(64) > 0
    with pytest.raises(BeyondObservedScale, match="twice the largest run seen, 32"):
        law.rate(65)


def test_runs_that_follow_the_law_leave_no_doubt_and_runs_that_vary_do() -> None:
    exact = runs(LAW, 8, 16, 32, 64)
    noisy = [Throughput(run.gpus, run.rate * by) for run in exact for by in (0.9, 1.0, 1.1)]

    sure = middle_of([law.speed_up(32, 64) for law in resampled(exact)])
    unsure = middle_of([law.speed_up(32, 64) for law in resampled(noisy)])

    assert sure == pytest.approx((1.2911, 1.2911), abs=1e-3)
    assert unsure is not None
    assert unsure[0] < 1.2911 < unsure[1]
    assert unsure[1] - unsure[0] > 0.05


def test_the_same_runs_always_have_the_same_range() -> None:
    some = [Throughput(size, rate) for size, rate in ((1, 1.0), (2, 1.7), (4, 3.3), (8, 5.0))]
    assert resampled(some) == resampled(some[::-1])
    assert {law.largest for law in resampled(some)} == {8}


def test_three_runs_are_too_few_to_tell_a_range_by() -> None:
    assert resampled(runs(LAW, 8, 16, 32)) == []
    assert middle_of([]) is None
