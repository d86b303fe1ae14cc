"""What fits a smaller GPU or a slice, and what that saves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.gpu_catalogue import gpu_model
from apps.economics.moves.saving import WorkWeek
from apps.economics.moves.shrinking import (
    MEMORY_MARGIN,
    MOST_WORKED,
    GpuNeed,
    slice_part,
    slice_saving,
    smallest_slice,
)

GIB = 1 << 30
H100 = gpu_model("NVIDIA H100 80GB HBM3")
NEEDS = st.builds(GpuNeed, st.integers(0, 90 * GIB), st.floats(0, 1))
WEEKS = st.lists(
    st.builds(WorkWeek, st.floats(0, 1e9), st.floats(0.1, 1e4)), min_size=1, max_size=4
)


@pytest.mark.parametrize(
    ("gib", "worked", "name"),
    [
        (8, 0.099, "1g.10gb"),
        (8, 0.101, "2g.20gb"),
        (9, 0.099, "1g.20gb"),
        (20, 0.299, "3g.40gb"),
        (20, 0.399, "4g.40gb"),
        (20, 0.41, None),
        (34, 0.1, None),
    ],
)
def test_the_slice_that_takes_least_and_does(gib: int, worked: float, name: str | None) -> None:
    assert H100 is not None
    found = smallest_slice(H100, GpuNeed(gib * GIB, worked))
    assert (found and found.name) == name


def test_what_has_no_slices_gets_none() -> None:
    l40s = gpu_model("NVIDIA L40S")
    assert l40s is not None
    assert smallest_slice(l40s, GpuNeed(GIB, 0.0)) is None


@given(NEEDS, NEEDS)
def test_who_needs_less_never_gets_a_larger_slice(one: GpuNeed, other: GpuNeed) -> None:
    assert H100 is not None
    both = GpuNeed(
        max(one.memory_bytes, other.memory_bytes), max(one.worked_ratio, other.worked_ratio)
    )
    found, larger = smallest_slice(H100, one), smallest_slice(H100, both)
    if larger is not None:
        assert found is not None
        assert slice_part(H100, found) <= slice_part(H100, larger)


@given(NEEDS, st.floats(0, 2))
def test_what_fits_has_the_margin_of_memory_and_of_time(need: GpuNeed, speed: float) -> None:
    if need.fits(80 * GIB, speed):
        assert need.memory_bytes * MEMORY_MARGIN <= 80 * GIB
        assert need.worked_ratio <= MOST_WORKED * speed


@given(WEEKS, st.floats(0.1, 1))
def test_a_slice_saves_between_nothing_and_what_is_freed(
    weeks: list[WorkWeek], part: float
) -> None:
    found = slice_saving(weeks, part)
    month = sum(week.micros for week in weeks) / len(weeks) * 730 / 168
    assert -1 <= found.low <= found.likely <= found.high <= month * (1 - part) + 1
    assert found.low <= 1


def test_half_of_what_is_freed_is_likely() -> None:
    found = slice_saving([WorkWeek(168e6, 168.0)], 0.5)
    assert (found.low, found.likely, found.high) == (0, 182_500_000, 365_000_000)
