"""What histograms say of how long answers took."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.latency import (
    Histogram,
    HistogramUnreadable,
    budget_left,
    merged,
    quantiles,
    within,
)

SECOND = Histogram((0.5, 1.0, 2.0), (10, 60, 20, 10))


@st.composite
def histograms(draw: st.DrawFn) -> Histogram:
    bounds = draw(st.sets(st.sampled_from([0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0])))
    counts = st.lists(st.integers(0, 1000), min_size=len(bounds) + 1, max_size=len(bounds) + 1)
    return Histogram(tuple(sorted(bounds)), tuple(draw(counts)))


def test_a_quantile_lies_linearly_in_its_bucket() -> None:
    # The 50th of 100 is the 40th of the 60 between half a second and one.
    half, most = quantiles(SECOND, (0.5, 0.95))
    assert half.seconds == pytest.approx(0.5 + 0.5 * 40 / 60)
    assert not half.is_over
    assert (most.seconds, most.is_over) == (2.0, True)


def test_the_first_bucket_begins_at_nothing_and_empty_ones_hold_no_quantile() -> None:
    found = quantiles(Histogram((1.0, 2.0, 4.0), (0, 0, 4, 0)), (0.0, 0.5, 1.0))
    assert [each.seconds for each in found] == [2.0, 3.0, 4.0]
    assert quantiles(Histogram((1.0,), (2, 0)), (0.5,))[0].seconds == 0.5


@pytest.mark.parametrize("silent", [Histogram((), (9,)), Histogram((1.0,), (0, 0))])
def test_no_bounds_or_no_requests_have_no_quantile(silent: Histogram) -> None:
    assert quantiles(silent, (0.5,)) == ()


def test_histograms_of_different_bounds_meet_on_those_they_share() -> None:
    other = Histogram((0.25, 1.0, 5.0), (1, 2, 3, 4))
    assert merged([SECOND, other]) == Histogram((1.0,), (73, 37))
    assert merged([]) is None


@given(st.lists(histograms(), min_size=1, max_size=4))
def test_merging_loses_no_request(given_: list[Histogram]) -> None:
    found = merged(given_)
    assert found is not None
    assert found.total == sum(each.total for each in given_)
    for bound in found.bounds:
        assert within(found, bound).sure == sum(within(each, bound).sure for each in given_)


@given(histograms())
def test_quantiles_never_fall_as_their_share_rises(histogram: Histogram) -> None:
    found = quantiles(histogram, [0.0, 0.1, 0.5, 0.9, 0.99, 1.0])
    assert [each.seconds for each in found] == sorted(each.seconds for each in found)


@pytest.mark.parametrize(
    ("seconds", "sure", "likely"),
    [(1.0, 70, 70.0), (1.5, 70, 80.0), (0.25, 0, 5.0), (3.0, 90, 90.0)],
)
def test_a_promise_is_met_surely_by_whole_buckets_and_likely_within_one(
    seconds: float, sure: int, likely: float
) -> None:
    found = within(SECOND, seconds)
    assert (found.total, found.sure, found.likely) == (100, sure, pytest.approx(likely))


def test_an_error_budget_is_used_up_by_misses() -> None:
    assert budget_left(1.0, 0.99) == 1.0
    assert budget_left(0.995, 0.99) == pytest.approx(0.5)
    assert budget_left(0.97, 0.99) == pytest.approx(-2.0)


@pytest.mark.parametrize(
    ("bounds", "counts"),
    [
        ((1.0,), (1,)),
        ((2.0, 1.0), (1, 1, 1)),
        ((0.0,), (1, 1)),
        ((math.nan,), (1, 1)),
        ((1.0,), (-1, 0)),
    ],
)
def test_a_histogram_that_cannot_be_is_refused(
    bounds: tuple[float, ...], counts: tuple[int, ...]
) -> None:
    with pytest.raises(HistogramUnreadable):
        Histogram(bounds, counts)
