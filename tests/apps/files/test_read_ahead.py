"""Rows read ahead are the same rows, and what breaks off breaks off where it did."""

import threading
from collections.abc import Iterator

import pytest

from apps.files.read_ahead import read_ahead

MANY, AHEAD = 2_500, 8


class BreaksOff(Exception):
    """The rows' own."""


def numbers(count: int, then: Exception | None = None) -> Iterator[int]:
    yield from range(count)
    if then is not None:
        raise then


@pytest.mark.parametrize("count", [0, 1, MANY, 3 * MANY + 7])
def test_the_rows_come_in_order_and_whole(count: int) -> None:
    with read_ahead(numbers(count)) as rows:
        assert list(rows) == list(range(count))


def test_what_reading_refuses_comes_after_the_rows_before_it() -> None:
    with read_ahead(numbers(2 * MANY, BreaksOff("here"))) as rows:
        assert [next(rows) for _ in range(2 * MANY)] == list(range(2 * MANY))
        with pytest.raises(BreaksOff, match="here"):
            next(rows)


def test_no_more_is_read_than_a_few_and_nothing_after_the_end() -> None:
    read = []

    def endless() -> Iterator[int]:
        while True:
            read.append(len(read))
            yield read[-1]

    before = threading.active_count()
    with read_ahead(endless(), ahead=AHEAD) as rows:
        assert next(rows) == 0
    assert len(read) <= AHEAD + 2
    assert threading.active_count() == before
