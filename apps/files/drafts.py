"""The two things that every place of files has: files that are whole, and drafts of files."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Protocol


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A stored file: its name, its size, and when it was published."""

    name: str
    size_bytes: int
    modified_at: datetime


class Draft(Protocol):
    """A file as it is written; nobody sees it before `publish`, and then they see all of it."""

    def write(self, block: bytes, /) -> int:
        """Append some bytes."""

    def flush(self) -> None:
        """Do nothing that a reader could see: packers ask it of a file."""

    def publish(self) -> None:
        """Put the whole file under its name, in place of one that has it; a second time do nothing."""

    def discard(self) -> None:
        """Leave nothing of it; of one that is published or discarded already, do nothing."""


class FilePlace(Protocol):
    """A folder or a bucket that keeps files by name."""

    def open(self, name: str) -> IO[bytes]:
        """Open a whole file for reading. Refuses FileNotFoundError."""

    def draft(self, name: str) -> Draft:
        """Begin a file."""

    def delete(self, name: str) -> None:
        """Delete a file, if there is one."""

    def entries(self, folder: str) -> Iterator[FileEntry]:
        """List the files in a folder and in those below it, by name."""

    def is_there(self, name: str) -> bool:
        """Return whether the whole file is there."""

    def local_copy(self, name: str) -> AbstractContextManager[str]:
        """Give a path on this machine that has the file, for as long as it is needed."""

    def forget_drafts(self, folder: str, begun_before: datetime) -> int:
        """Delete drafts of who died while writing; return how many."""


class MarkablePlace(FilePlace, Protocol):
    """One of which a mark says that it is the same as before."""

    def begin_mark(self, name: str, mark: str) -> None:
        """Write a small file where there is none of this name."""
