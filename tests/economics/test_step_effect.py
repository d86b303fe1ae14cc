"""A step beside a trend: the worked examples, what is found without noise, and intervals that hold under a memory."""

from math import exp, inf, log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.step_effect import SeriesPoint, bend_of, step_effect, step_error

NOISE = (0.8, -0.5, 0.3, -0.9, 0.6, 0.1, -0.4, 0.7, -0.2, -0.6, 0.5, -0.3) * 2
"""Of 24 weeks, beside a cost of about 100."""
MADE = 12


def weeks(trend: float, effect: float) -> list[SeriesPoint]:
    return [
        SeriesPoint(
            week, log(100 * exp(trend * week) * (1 - effect if week >= MADE else 1) + NOISE[week])
        )
        for week in range(24)
    ]


def mean_of(points: list[SeriesPoint]) -> float:
    return sum(exp(point.value) for point in points) / len(points)


def test_a_trend_without_effect_is_not_proven_though_the_means_differ() -> None:
    points = weeks(-0.014, 0.0)
    assert mean_of(points[MADE:]) - mean_of(points[:MADE]) == pytest.approx(-14.335, abs=5e-4)
    found = step_effect(points, MADE, memory=0.5, weekly=False)
    assert (found.effect, found.error) == (
        pytest.approx(0.0096, abs=5e-5),
        pytest.approx(0.0096, abs=5e-5),
    )
    assert not found.is_told


def test_a_tenth_less_beside_a_rise_is_proven_though_the_means_rise() -> None:
    points = weeks(0.014, 0.1)
    assert mean_of(points[MADE:]) - mean_of(points[:MADE]) == pytest.approx(6.99, abs=5e-3)
    found = step_effect(points, MADE, memory=0.5, weekly=False)
    assert exp(found.effect) - 1 == pytest.approx(-0.0932, abs=5e-5)
    assert found.error == pytest.approx(0.0075, abs=5e-5)
    assert found.is_told
    assert found.high < 0
    assert found.slope == pytest.approx(0.014, abs=0.001)


def test_a_placebo_of_the_weeks_before_passes() -> None:
    found = step_effect(weeks(-0.014, 0.0)[:MADE], 6, memory=0.5, weekly=False)
    assert (found.effect, found.error) == (
        pytest.approx(-0.0027, abs=5e-5),
        pytest.approx(0.0109, abs=5e-5),
    )
    assert not found.is_told


@given(
    effect=st.floats(-0.9, 0.9),
    slope=st.floats(-0.01, 0.01),
    missing=st.sets(st.integers(0, 99), max_size=40),
)
def test_without_noise_the_step_is_found_with_days_missing(
    effect: float, slope: float, missing: set[int]
) -> None:
    points = [
        SeriesPoint(day, 3 + slope * day + (effect if day >= 60 else 0) + 0.1 * (day % 7 == 5))
        for day in range(100)
        if day not in missing
    ]
    found = step_effect(points, 60)
    assert found.effect == pytest.approx(effect, abs=1e-7)
    assert found.low <= found.effect <= found.high
    assert found.slope == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_the_memory_is_told_and_the_interval_holds_the_step(memory: float) -> None:
    """Of 60 series; an interval that takes days for independent holds it in half of those that remember."""
    inside, memories = 0, 0.0
    for seed in range(60):
        chance, moved, points = Random(seed), 0.0, []  # noqa: S311 - a simulation
        for day in range(-50, 120):
            moved = memory * moved + chance.gauss(0, (1 - memory**2) ** 0.5)
            if day >= 0:
                points.append(SeriesPoint(day, moved))
        found = step_effect(points, 60)
        inside += found.low <= 0 <= found.high
        memories += found.memory / 60
    assert inside >= 48
    assert memories == pytest.approx(memory, abs=0.12)


def test_the_error_that_more_days_will_have_falls() -> None:
    now, later = (step_error(range(84 + days), 84, memory=0.6, noise=0.05) for days in (28, 84))
    assert later < now
    points = [SeriesPoint(day, float(day % 3)) for day in range(168)]
    known = step_effect(points, 84, memory=0.6)
    assert known.error == pytest.approx(step_error(range(168), 84, memory=0.6, noise=known.noise))


def test_a_bend_is_what_lies_beside_the_line() -> None:
    line = [SeriesPoint(day, 0.01 * day) for day in range(60)]
    assert bend_of(line, memory=0.0, noise=0.1)[0] == pytest.approx(0, abs=1e-9)
    bent = [SeriesPoint(day, 0.5 * ((day - 29.5) / 29.5) ** 2) for day in range(60)]
    assert bend_of(bent, memory=0.3, noise=0.1)[0] == pytest.approx(0.5)
    assert bend_of(line[:2], memory=0.0, noise=0.1) == (0.0, inf)


def test_what_has_no_two_sides_is_refused_and_what_cannot_be_told_apart_is_endless() -> None:
    points = [SeriesPoint(day, float(day % 2)) for day in range(8)]
    for first in (0, 8):
        with pytest.raises(ValueError, match="points before and since"):
            step_effect(points, first)
    with pytest.raises(ValueError, match="four at least"):
        step_effect(points[:3], 1)
