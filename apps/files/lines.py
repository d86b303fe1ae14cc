"""The lines and rows of a text, none of which is longer than a row of a table can be, nor most of which are."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import IO

from apps.files.limits import size_words

LONGEST_LINE = 1 << 20
MOST_COLUMNS = 10_000
LETTERS_AT_ONCE = 1 << 16
LETTERS_A_ROW, LETTERS_MORE = 8 << 10, 16 << 20
"""So long may rows be on average, and so much more at any place: who reads holds some thousand at once."""


class FileUnreadable(ValueError):
    """A file cannot be read within its bounds, or at all; says why."""


class LineTooLong(FileUnreadable):
    """A line of more than a megabyte is no row of a table; nor does a table go on for ever."""


class RowAllowance:
    """How many letters the next rows may have: what short ones leave is for long ones, up to a bound."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = LETTERS_MORE

    def take(self, letters: int) -> None:
        """Count letters of the row that is being read. Refuses LineTooLong."""
        self.left -= letters
        if self.left < 0:
            raise LineTooLong(
                f"its rows are longer than {LETTERS_A_ROW:,} letters on average, over {LETTERS_MORE >> 20} MiB"
            )

    def end_row(self) -> None:
        """Begin another row."""
        self.left = min(self.left + LETTERS_A_ROW, LETTERS_MORE)

    def take_short(self, letters: int, rows: int) -> None:
        """Count as many rows of so many letters together, none of them longer than rows may be on average."""
        self.left = min(self.left + LETTERS_A_ROW * rows - letters, LETTERS_MORE)


def bounded_lines(text: IO[str], most_letters: int) -> Iterator[str]:
    """Each line with its ending; one that is endless, or many that are long, fill no memory. Refuses LineTooLong.

    All lines together have `most_letters` at most.
    """
    number, left, allowance = 0, most_letters, RowAllowance()
    for lines in _blocks_of_lines(text):
        lengths = [*map(len, lines)]
        letters = sum(lengths)
        if letters <= left and max(lengths) <= min(LETTERS_A_ROW, allowance.left):
            number += len(lines)
            left -= letters
            allowance.take_short(letters, len(lines))
            yield from lines
            continue
        for line in lines:
            number += 1
            left -= len(line)
            if left < 0:
                raise LineTooLong(f"the file comes to more than {size_words(most_letters)} of text")
            if len(line) >= LONGEST_LINE:
                raise LineTooLong(f"line {number} is longer than a megabyte")
            allowance.take(len(line))
            allowance.end_row()
            yield line


def _blocks_of_lines(text: IO[str]) -> Iterator[list[str]]:
    """Whole lines, some hundred at a time: only the last of a file, or one that is too long, has no ending."""
    remainder = ""
    while block := text.read(LETTERS_AT_ONCE):
        block = remainder + block
        # A "\r" that ends a block may be half of an ending.
        ends = block.rfind("\n") + 1 or block.rfind("\r", 0, -1) + 1
        if not ends and len(block) < LONGEST_LINE:
            remainder = block
            continue
        ends = ends or len(block)
        remainder = block[ends:]
        yield [*io.StringIO(block[:ends], newline="")]
    if remainder:
        yield [*io.StringIO(remainder, newline="")]


class CsvRows:
    """The rows of a CSV; one that goes on over lines without end fills no memory. Refuses LineTooLong and csv.Error."""

    def __init__(self, lines: Iterable[str], delimiter: str) -> None:
        self._allowance = RowAllowance()
        self._reader = csv.reader(self._counted(lines), delimiter=delimiter)

    @property
    def line_num(self) -> int:
        """How many lines are read."""
        return self._reader.line_num

    def __iter__(self) -> "CsvRows":
        return self

    def __next__(self) -> list[str]:
        cells = next(self._reader)
        self._allowance.end_row()
        return cells

    def numbered(self) -> Iterator[tuple[int, list[str]]]:
        """Each row that has a cell, with the line that it begins at."""
        reader, allowance = self._reader, self._allowance
        # `line_num` is where a row ends; one with line ends in a cell begins above that.
        begins = reader.line_num + 1
        for cells in reader:
            allowance.end_row()
            if cells:
                yield begins, cells
            begins = reader.line_num + 1

    def _counted(self, lines: Iterable[str]) -> Iterator[str]:
        take = self._allowance.take
        for line in lines:
            take(len(line))
            yield line
