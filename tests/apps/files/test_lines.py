"""Lines of a text that is packed: none is endless, and nor is the text."""

import io
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.files import lines
from apps.files.limits import GIBIBYTE, MEBIBYTE
from apps.files.lines import CsvRows, LineTooLong, bounded_lines


def test_lines_come_with_their_endings() -> None:
    assert list(bounded_lines(io.StringIO("a\nb\n\nc", newline=""), MEBIBYTE)) == [
        "a\n",
        "b\n",
        "\n",
        "c",
    ]


def test_an_endless_line_is_named() -> None:
    with pytest.raises(LineTooLong, match="line 2 is longer than a megabyte"):
        list(bounded_lines(io.StringIO("a\n" + "b" * (1 << 21)), 8 * MEBIBYTE))


def test_an_endless_text_ends() -> None:
    with pytest.raises(LineTooLong, match="more than 1 KiB of text"):
        list(bounded_lines(io.StringIO("abc\n" * 300), 1_024))


def test_many_long_lines_are_named_and_some_are_taken() -> None:
    long = "x" * (1 << 19) + "\n"
    assert len(list(bounded_lines(io.StringIO(long * 20), GIBIBYTE))) == 20
    with pytest.raises(LineTooLong, match="longer than 8,192 letters on average"):
        list(bounded_lines(io.StringIO(long * 40), GIBIBYTE))


def test_a_row_that_goes_on_over_lines_without_end_is_named() -> None:
    rows = CsvRows(itertools.chain(["a,b\n", '1,"\n'], itertools.repeat('","\n')), ",")
    with pytest.raises(LineTooLong, match="on average"):
        list(rows)


def test_short_rows_go_on_and_on() -> None:
    rows = CsvRows(('1,"two\nlines"\n' for _ in range(100_000)), ",")
    assert sum(1 for _ in rows) == 100_000
    assert rows.line_num == 100_000


@given(
    text=st.text(st.sampled_from('ab,"\r\n\x0b\x1c\u2028é'), max_size=120),
    at_once=st.integers(1, 9),
)
def test_lines_are_those_of_the_text_wherever_its_blocks_end(text: str, at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LETTERS_AT_ONCE", at_once)
        found = [*bounded_lines(io.StringIO(text, newline=""), 1 << 20)]

    assert found == [*io.StringIO(text, newline="")]


def test_rows_with_their_lines_begin_above_the_line_ends_in_their_cells() -> None:
    text = 'a,b\n"one\ntwo",1\n\nthree,2\n'

    rows = CsvRows(bounded_lines(io.StringIO(text, newline=""), 1 << 20), ",")

    assert [*rows.numbered()] == [(1, ["a", "b"]), (2, ["one\ntwo", "1"]), (5, ["three", "2"])]
