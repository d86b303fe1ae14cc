"""A file of jobs as lines of text: plain, gzip or a zip of one file, from a path or from standard input."""

import hashlib
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from apps.files.limits import UNPACKED, BodyKind
from apps.files.lines import FileUnreadable, bounded_lines
from apps.files.unpacking import open_text
from apps.workloads.providers.job_record import JobRow, RejectedJobRow

MOST_TEXT = UNPACKED[BodyKind.JOBS]
STANDARD_INPUT = "-"
BYTES_AT_ONCE = 1 << 20
ROWS_AT_ONCE = 2_000


@dataclass(slots=True)
class JobFile:
    """An open file; `digest` is of its bytes as they lie there, `line` the last one read."""

    name: str
    digest: str
    text: io.TextIOWrapper
    source: BinaryIO
    line: int = 0

    @property
    def read_bytes(self) -> int:
        """How many of its bytes, as they lie there, are read."""
        return self.source.tell()

    def lines(self) -> Iterator[str]:
        """Each line once, with its own ending; bytes that are no UTF-8 are replaced."""
        for text in bounded_lines(self.text, MOST_TEXT):
            self.line += 1
            yield text

    def all_lines(self) -> Generator[str, None, None]:
        """Yield each line from the first on, beside what is read of it: `lines` goes on as if it had not."""
        place = os.lseek(self.source.fileno(), 0, os.SEEK_CUR)
        try:
            with os.fdopen(os.dup(self.source.fileno()), "rb") as again:
                again.seek(0)
                with open_text(again, most_bytes=MOST_TEXT, errors="replace") as text:
                    yield from bounded_lines(text, MOST_TEXT)
        finally:
            # Both stand at one place of the file.
            os.lseek(self.source.fileno(), place, os.SEEK_SET)

    def chunks(self, rows: Iterator[JobRow]) -> Iterator[list[JobRow]]:
        """`rows` read from these lines, ROWS_AT_ONCE at a time.

        Where the file breaks off, that is the last rejection.
        """
        remaining_rows = self._to_its_end(rows)
        while chunk := list(islice(remaining_rows, ROWS_AT_ONCE)):
            yield chunk

    def _to_its_end(self, rows: Iterator[JobRow]) -> Iterator[JobRow]:
        try:
            yield from rows
        except FileUnreadable as broken:
            yield RejectedJobRow(self.line + 1, "file", f"breaks off: {broken}")


@contextmanager
def open_jobs(path: str) -> Iterator[JobFile]:
    """Open `path`, or for `-` what comes on standard input, which is kept on disk meanwhile.

    Refuses OSError and, of what is packed and cannot be unpacked, FileUnreadable.
    """
    with _open_source(path) as source:
        digest = hashlib.sha256()
        while chunk := source.read(BYTES_AT_ONCE):
            digest.update(chunk)
        with open_text(source, most_bytes=MOST_TEXT, errors="replace") as text:
            yield JobFile(_file_name(path), digest.hexdigest(), text, source)


@contextmanager
def _open_source(path: str) -> Iterator[BinaryIO]:
    if path == STANDARD_INPUT:
        with tempfile.TemporaryFile() as spooled:
            shutil.copyfileobj(sys.stdin.buffer, spooled)
            spooled.seek(0)
            yield spooled
        return
    with Path(path).open("rb") as source:
        yield source


def _file_name(path: str) -> str:
    return "standard input" if path == STANDARD_INPUT else Path(path).name
