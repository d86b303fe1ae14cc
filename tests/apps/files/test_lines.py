"""Lines of a text that is packed: none is endless, and nor is the text."""

import io

import pytest

from apps.files import lines
from apps.files.lines import LineTooLong, bounded_lines


def test_lines_come_with_their_endings() -> None:
    assert list(bounded_lines(io.StringIO("a\nb\n\nc", newline=""))) == ["a\n", "b\n", "\n", "c"]


def test_an_endless_line_is_named() -> None:
    with pytest.raises(LineTooLong, match="line 2 is longer than a megabyte"):
        list(bounded_lines(io.StringIO("a\n" + "b" * (1 << 21))))


def test_an_endless_text_ends(monkeypatch) -> None:
    monkeypatch.setattr(lines, "MOST_TEXT", 10)
    with pytest.raises(LineTooLong, match="unpacks to more"):
        list(bounded_lines(io.StringIO("abc\n" * 3)))
