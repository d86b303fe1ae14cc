"""The lines of a text, none of which is longer than a row of a table can be."""

from collections.abc import Iterator
from typing import IO

LONGEST_LINE = 1 << 20
MOST_COLUMNS = 10_000


class LineTooLong(ValueError):
    """A line of more than a megabyte is no row of a table."""


def bounded_lines(text: IO[str]) -> Iterator[str]:
    """Each line with its ending; one that is endless fills no memory. Refuses LineTooLong."""
    number = 0
    while line := text.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise LineTooLong(f"line {number} is longer than a megabyte")
        yield line
