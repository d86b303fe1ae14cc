"""What is there at the end: what came back before may come back, what went down once is gone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.moves.presence import level_at_end, present_parts

NIGHTS = [4.0 if 8 <= hour % 24 < 20 else 2.0 for hour in range(336)]


@pytest.mark.parametrize(
    ("values", "level"),
    [
        ([], 0.0),
        ([10.0] * 504 + [2.0] * 168, 2.0),
        ([10.0] * 100 + [2.0], 2.0),
        ([2.0] * 100 + [10.0], 10.0),
        (NIGHTS, 4.0),
        ([*NIGHTS, *[2.0] * 24], 2.0),
        ([0.0, 0.0, 4.0, 0.0], 0.0),
        ([4.0, 0.0, 0.0, 4.0, 0.0, 0.0], 4.0),
        ([2.5] * 5, 2.5),
    ],
)
def test_a_level_stays_as_long_as_it_was_missed_before(values: list[float], level: float) -> None:
    assert level_at_end(values) == level


def test_what_is_above_it_is_there_no_more() -> None:
    assert present_parts([10.0, 10.0, 3.0, 2.0, 2.0]) == [8.0, 8.0, 1.0, 0.0, 0.0]


@given(st.lists(st.floats(0, 20), min_size=1))
def test_the_level_lies_between_the_last_and_the_highest(values: list[float]) -> None:
    assert values[-1] <= level_at_end(values) <= max(values)
    assert all(part >= 0 for part in present_parts(values))
