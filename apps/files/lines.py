"""The lines of a text, none of which is longer than a row of a table can be."""

from collections.abc import Iterator
from typing import IO

LONGEST_LINE = 1 << 20
MOST_TEXT = 32 << 30
"""More letters than this no file may unpack to."""
MOST_COLUMNS = 10_000


class LineTooLong(ValueError):
    """A line of more than a megabyte is no row of a table; nor does a table go on for ever."""


def bounded_lines(text: IO[str]) -> Iterator[str]:
    """Each line with its ending; one that is endless fills no memory. Refuses LineTooLong."""
    number, left = 0, MOST_TEXT
    while line := text.readline(LONGEST_LINE):
        number += 1
        left -= len(line)
        if left < 0:
            raise LineTooLong(f"the file unpacks to more than {MOST_TEXT >> 30} GiB of text")
        if len(line) == LONGEST_LINE:
            raise LineTooLong(f"line {number} is longer than a megabyte")
        yield line
