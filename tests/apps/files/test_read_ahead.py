"""Rows read ahead are the same rows, and what breaks off breaks off where it did."""

import threading
from collections.abc import Iterator

import pytest

from apps.files.read_ahead import CHUNKS_AHEAD, ROWS_AT_ONCE, read_ahead


class BreaksOff(Exception):
    """The rows' own."""


def numbers(count: int, then: Exception | None = None) -> Iterator[int]:
    yield from range(count)
    if then is not None:
        raise then


@pytest.mark.parametrize("count", [0, 1, ROWS_AT_ONCE, 3 * ROWS_AT_ONCE + 7])
def test_the_rows_come_in_order_and_whole(count: int) -> None:
    with read_ahead(numbers(count)) as rows:
        assert list(rows) == list(range(count))


def test_what_reading_refuses_comes_after_the_rows_before_it() -> None:
    with read_ahead(numbers(2 * ROWS_AT_ONCE, BreaksOff("here"))) as rows:
        assert [next(rows) for _ in range(2 * ROWS_AT_ONCE)] == list(range(2 * ROWS_AT_ONCE))
        with pytest.raises(BreaksOff, match="here"):
            next(rows)


def test_no_more_is_read_than_a_few_chunks_and_nothing_after_the_end() -> None:
    read = []

    def endless() -> Iterator[int]:
        while True:
            read.append(len(read))
            yield read[-1]

    before = threading.active_count()
    with read_ahead(endless()) as rows:
        assert next(rows) == 0
    assert len(read) <= (CHUNKS_AHEAD + 2) * ROWS_AT_ONCE
    assert threading.active_count() == before
