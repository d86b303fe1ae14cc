"""Steps on every day before a known one: the same as fitted one by one, and seen on their own day where noise remembers."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.step_dates import date_steps
from apps.economics.step_effect import SeriesPoint, step_effect

FIRST, DAYS = 60, 100


def series(seed: int, memory: float, *, step: float = 0.0, at: int = 0) -> list[SeriesPoint]:
    """Noise of a tenth that remembers, and a step on a day."""
    chance, moved, points = Random(seed), 0.0, []  # noqa: S311 - a simulation
    for day in range(-50, DAYS):
        moved = memory * moved + chance.gauss(0, 0.1 * (1 - memory**2) ** 0.5)
        if day >= 0:
            points.append(SeriesPoint(day, moved + (step if day >= at else 0.0)))
    return points


@given(
    seed=st.integers(0, 10**6),
    memory=st.sampled_from([0.0, 0.5, 0.9]),
    missing=st.sets(st.integers(20, DAYS - 1), max_size=20),
)
def test_each_day_is_as_fitted_alone(seed: int, memory: float, missing: set[int]) -> None:
    points = [point for point in series(seed, memory) if point.day not in missing | {FIRST}]
    days = [point.day for point in points if 20 <= point.day < FIRST - 7]
    found = date_steps(points, FIRST, days)
    assert [each.day for each in found] == days
    for each in found[::7]:
        beside = step_effect(points, each.day, other_step=(FIRST, 1))
        assert each.beside.effect == pytest.approx(beside.effect, abs=1e-9)
        assert each.beside.error == pytest.approx(beside.error, rel=1e-9)


def test_alone_it_is_the_step_without_the_known_one_at_the_likeliest_memory() -> None:
    points = series(3, 0.0, step=0.5, at=40)
    (found,) = date_steps(points, FIRST, [40])
    alone = step_effect(points, 40, memory=0.0)
    assert found.alone.effect == pytest.approx(alone.effect)
    assert found.alone.error == pytest.approx(alone.error)


@pytest.mark.parametrize("memory", [0.0, 0.6, 0.9])
@pytest.mark.parametrize("at", [33, 37, 45, 50])
def test_the_day_of_a_step_is_likelier_than_the_known_day(memory: float, at: int) -> None:
    found = date_steps(series(5, memory, step=-0.6, at=at), FIRST, range(7, FIRST - 7))
    likeliest = max(found, key=lambda each: each.gain)
    assert likeliest.day == at
    assert likeliest.gain > 10
    assert likeliest.alone.effect == pytest.approx(-0.6, abs=0.2)
    at_the_known = date_steps(series(5, memory, step=-0.6, at=FIRST), FIRST, range(7, FIRST - 7))
    assert max(each.gain for each in at_the_known) < 0


def test_where_noise_remembers_a_step_shows_on_its_own_day_alone() -> None:
    found = date_steps(series(2, 0.95, step=1.0, at=33), FIRST, range(7, FIRST - 7))
    errors = {each.day: abs(each.beside.effect / each.beside.error) for each in found}
    assert errors[33] > 10
    assert all(errors[day] < 4 for day in errors if day != 33)


def test_days_that_cannot_be_told_from_the_rest_are_left_out() -> None:
    points = series(1, 0.0)
    assert date_steps(points, FIRST, [0, FIRST, 7_000]) == ()
    assert [each.day for each in date_steps(points, FIRST, [0, 30, FIRST])] == [30]
