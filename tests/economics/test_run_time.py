"""Every second of a run is in one bucket, and work that was done again was lost the first time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.run_time import (
    Bucket,
    ReportedTime,
    coverage,
    goodput,
    goodput_if_reported,
    stretches_of,
)

spans = st.tuples(st.integers(0, 500), st.integers(1, 200)).map(lambda s: (s[0], s[0] + s[1]))
told = st.lists(st.tuples(spans, st.sampled_from(Bucket)).map(lambda t: ReportedTime(*t[0], t[1])))


def buckets_of(spans: list[tuple[int, int]], told: list[ReportedTime]) -> dict[Bucket, int]:
    spent: dict[Bucket, int] = {}
    for start, end, bucket in stretches_of(spans, told):
        spent[bucket] = spent.get(bucket, 0) + end - start
    return spent


def test_the_worked_ledger() -> None:
    hours = {
        Bucket.PRODUCTIVE: 600,
        Bucket.CHECKPOINT: 30,
        Bucket.STARTUP: 20,
        Bucket.DATA_WAIT: 90,
        Bucket.LOST: 40,
        Bucket.RECOVERY: 15,
        Bucket.CAPACITY_WAIT: 5,
    }
    assert goodput(hours) == 0.75


@given(told, st.lists(st.integers(1, 100), max_size=6))
def test_the_buckets_are_the_time_exactly(said: list[ReportedTime], lengths: list[int]) -> None:
    apart, at = [], 0
    for length in lengths:
        apart.append((at, at + length))
        at += length + 7
    spent = buckets_of(apart, said)
    assert sum(spent.values()) == sum(lengths)
    assert all(milliseconds > 0 for milliseconds in spent.values())


def test_of_two_that_are_told_of_a_second_the_graver_holds() -> None:
    said = [ReportedTime(0, 100, Bucket.PRODUCTIVE), ReportedTime(40, 60, Bucket.DATA_WAIT)]
    spent = buckets_of([(0, 120)], said)
    assert spent == {Bucket.PRODUCTIVE: 80, Bucket.DATA_WAIT: 20, Bucket.UNTOLD: 20}
    assert coverage(spent) == pytest.approx(100 / 120)
    assert goodput(spent) == 0.8


def test_nothing_told_is_nothing_known() -> None:
    assert goodput({Bucket.UNTOLD: 5}) is None
    assert coverage({}) is None


@pytest.mark.parametrize(
    ("productive", "untold", "known"), [(1, 99, None), (0, 99, None), (3, 4, 0.75), (4, 4, 1.0)]
)
def test_of_time_that_mostly_nobody_told_goodput_is_not_known(
    productive: int, untold: int, known: float | None
) -> None:
    """A hundredth that was told says nothing of the other ninety-nine; half of it does."""
    told = {Bucket.PRODUCTIVE: productive, Bucket.DATA_WAIT: int(untold == 4 and productive == 3)}
    spent = {**told, Bucket.UNTOLD: untold}
    assert goodput_if_reported(goodput(spent), coverage(spent)) == known


def test_of_no_time_no_goodput_is_known() -> None:
    assert goodput_if_reported(goodput({}), coverage({})) is None
