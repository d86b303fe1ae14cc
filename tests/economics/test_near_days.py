"""Days that both forecasts have are the hours' own, and the days after them begin where these end."""

import numpy as np
import pytest

from apps.economics.forecast.hour_paths import DayOfHours, HourPaths
from apps.economics.forecast.near_days import NearDays, joined, near_days
from apps.economics.forecast.planned import ORDINARY, DayEffect
from apps.economics.forecast.scores import Floats

HOURS = 72


def paths(low: float = 8.0, high: float = 12.0, rows: int = 200) -> Floats:
    """Each scenario has the same in all of its hours."""
    return np.linspace(low, high, rows)[:, None] * np.ones(HOURS)


def hours_of(drawn: Floats, effect: DayEffect = ORDINARY) -> HourPaths:
    effects = [(effect, 1 / 24)] * HOURS
    expected = [effect.planned(value, 1 / 24) for value in drawn.mean(axis=0).tolist()]
    return HourPaths(drawn.astype("<f4").tobytes(), effects, expected)


DAYS = [
    DayOfHours(0, 0, 20, came=50.0, came_hours=4, came_held=48.0),
    DayOfHours(1, 20, 44),
    DayOfHours(2, 44, 67),
]
"""One that has begun, one of 24 hours, and one in which the clock turns."""


def test_a_day_is_what_came_of_it_and_what_is_expected_of_its_hours() -> None:
    near = near_days(hours_of(paths()), DAYS, is_mean=False)
    assert near is not None
    assert near.places.tolist() == [0, 1, 2]
    assert near.planned.mean(axis=0) == pytest.approx([250.0, 240.0, 230.0])
    assert near.planned[-1] == pytest.approx([290.0, 288.0, 276.0])
    waits = near_days(hours_of(paths()), DAYS, is_mean=True)
    assert waits is not None
    assert waits.planned.mean(axis=0) == pytest.approx([250 / 24, 10.0, 10.0])


@pytest.mark.parametrize(
    "effect",
    [DayEffect(factor=1.5), DayEffect(added=24.0), DayEffect(added=-250.0), DayEffect(0.0)],
)
def test_what_events_do_to_hours_is_done_to_days_to_the_last_digit(effect: DayEffect) -> None:
    hours = hours_of(paths(), effect)
    near = near_days(hours, DAYS, is_mean=False)
    assert near is not None
    wanted = [sum(hours.expected[day.begin : day.end]) + day.came for day in DAYS]
    assert near.planned.mean(axis=0) == pytest.approx(wanted, abs=1e-9)
    assert near.ordinary.mean(axis=0) == pytest.approx([250.0, 240.0, 230.0])


def test_without_a_path_or_a_day_nothing_is_near_and_one_path_stands_for_all() -> None:
    assert near_days(HourPaths(b"", [], []), DAYS, is_mean=False) is None
    assert near_days(hours_of(paths()), [], is_mean=False) is None
    one = near_days(hours_of(paths(10, 10, 1)), DAYS, is_mean=False)
    assert one is not None
    assert one.planned.shape == (200, 3)


def near_of(values: Floats) -> NearDays:
    return NearDays(np.arange(values.shape[1]), values, values, values.mean(axis=0))


def test_later_days_begin_where_the_near_ones_end_and_come_back_to_their_own() -> None:
    draw = np.random.default_rng(0)
    own = 100 * np.exp(draw.normal(0, 0.1, (200, 1))) * np.ones(60)
    near = near_of(150 * np.exp(draw.normal(0, 0.1, (200, 1))) * np.ones(14))
    found, order = joined(own, near)
    assert (found[:, :14] == near.ordinary[order]).all()
    means = found.mean(axis=0)
    assert means[14] == pytest.approx(means[13], rel=0.05), "no jump"
    assert means[28] == pytest.approx(125, rel=0.05), "half of the way after two weeks"
    assert means[-1] < 112
    first, last = found[:, :14].sum(axis=1), found[:, 14:].sum(axis=1)
    assert np.corrcoef(first, last)[0, 1] > 0.95, "what begins high goes on high"


def test_near_days_join_on_to_days_of_nothing_and_days_to_near_ones_of_nothing() -> None:
    found, _ = joined(np.zeros((200, 30)), near_of(np.full((200, 14), 10.0)))
    assert 9 < found[:, 14].mean() < 10
    assert found[:, -1].mean() < 5
    found, _ = joined(np.full((200, 30), 10.0), near_of(np.zeros((200, 14))))
    assert found[:, 14].mean() < 1


def test_a_day_holds_no_more_than_its_hours_do() -> None:
    drawn = paths(10, 10)
    drawn[:, 20:24] = 30.0
    full = HourPaths(
        drawn.astype("<f4").tobytes(), [(ORDINARY, 0.0)] * HOURS, drawn[0].tolist(), [16.0] * HOURS
    )
    near = near_days(full, DAYS, is_mean=False)
    assert near is not None
    assert near.held.tolist() == [248.0, 4 * 16 + 200.0, 230.0]
    assert near.room_beside([384.0] * 5) == [248.0, 264.0, 384.0, 384.0, 384.0]
    assert near.room_beside([]) == []
