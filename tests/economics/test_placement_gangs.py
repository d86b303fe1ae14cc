"""Jobs of several GPUs start where theirs are idle together: whole machines, and the rest on one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.placement.gangs import idle_gpus_after_placement, starts_together

IDLE = st.lists(st.integers(0, 8), max_size=6)


@pytest.mark.parametrize(
    ("idle", "gpus", "is_there"),
    [
        ([8, 8], 16, True),
        ([8, 7, 1], 16, False),
        ([4, 4], 8, False),
        ([8, 3], 11, True),
        ([8, 2, 2], 11, False),
        ([16], 12, True),
        ([3, 5], 5, True),
        ([], 1, False),
    ],
)
def test_whole_machines_and_one_more(idle: list[int], gpus: int, is_there: bool) -> None:
    assert starts_together(idle, gpus, 8) is is_there


@given(IDLE, st.integers(1, 24))
def test_what_is_held_is_idle_no_more_and_no_node_owes_any(idle: list[int], gpus: int) -> None:
    left = idle_gpus_after_placement(idle, gpus, 8)

    assert sum(left) == sum(idle) - min(gpus, sum(idle))
    assert min(left, default=0) >= 0


@given(IDLE, st.integers(1, 24), st.integers(1, 24))
def test_a_job_beside_another_fits_no_better_than_alone(
    idle: list[int], gpus: int, other: int
) -> None:
    if starts_together(idle_gpus_after_placement(idle, other, 8), gpus, 8):
        assert starts_together(idle, gpus, 8)
