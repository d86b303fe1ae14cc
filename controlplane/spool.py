"""Bodies that are on their way to a thread: in memory, or in files without a name, within a bound."""

import io
import logging
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import IO

from controlplane.folders import own_folder

log = logging.getLogger(__name__)

IN_MEMORY_BYTES = 1 << 20
LEFT_FREE_BYTES = 512 << 20
"""So much of the disk stays free for the database, whatever is sent."""
RESERVED_AT_ONCE = 4 << 20
"""By so much the room of a body grows whose length nobody said."""


NO_ROOM_ON_DISK = "The disk has no room for it: tell who runs this installation."


class SpoolFull(Exception):
    """There is no room for a body now; the message says whose bound it is."""


class Spool:
    """How many bytes of bodies are held, over all and by caller; threads give back what the loop took."""

    def __init__(self, folder: Path, *, most_bytes: int, most_bytes_of_caller: int) -> None:
        self.folder = folder
        self.most_bytes, self.most_bytes_of_caller = most_bytes, most_bytes_of_caller
        self._of_caller: Counter[str] = Counter()
        self._lock = Lock()

    @property
    def held_bytes(self) -> int:
        """The bytes of all bodies that are held."""
        return self._of_caller.total()

    def holding(self, caller: str) -> "SpooledBody":
        """Begin to hold a body of a caller."""
        return SpooledBody(self, caller)

    def take(self, caller: str, size_bytes: int) -> None:
        """Count so many bytes more. Refuses SpoolFull, and then counts nothing."""
        with self._lock:
            if self._of_caller[caller] + size_bytes > self.most_bytes_of_caller:
                raise SpoolFull(
                    f"Bodies of yours that are under way come to more than {_mebibytes(self.most_bytes_of_caller)}: "
                    "send one after the other."
                )
            if self.held_bytes + size_bytes > self.most_bytes:
                raise SpoolFull(
                    f"Bodies that are under way come to more than {_mebibytes(self.most_bytes)}: send it again shortly."
                )
            self._of_caller[caller] += size_bytes

    def give_back(self, caller: str, size_bytes: int) -> None:
        """Count so many bytes less."""
        with self._lock:
            self._of_caller[caller] -= size_bytes
            if not self._of_caller[caller]:
                del self._of_caller[caller]

    def open_file(self, size_bytes: int) -> int:
        """Open a file that has no name, for it to be gone with its last reader. Refuses SpoolFull."""
        own_folder(self.folder)
        with tempfile.TemporaryFile(dir=self.folder) as file:
            self.reserve(file.fileno(), 0, size_bytes)
            return os.dup(file.fileno())

    def reserve(self, file: int, held_bytes: int, size_bytes: int) -> None:
        """Take `size_bytes` more of the disk for a file that has `held_bytes` of it. Refuses SpoolFull.

        They are the file's before anything is written, so that whoever looks next, in whatever process, finds so much
        less of it free. It is looked at once more afterwards: others may have taken theirs at the same moment. Who is
        refused closes the file, and what it took is free again.
        """
        self._refuse_to_fill(size_bytes)
        os.posix_fallocate(file, held_bytes, size_bytes)
        self._refuse_to_fill(0)

    def _refuse_to_fill(self, size_bytes: int) -> None:
        if shutil.disk_usage(self.folder).free - size_bytes < LEFT_FREE_BYTES:
            raise SpoolFull(NO_ROOM_ON_DISK)


class SpooledBody:
    """The bytes of one body, counted until it is closed."""

    def __init__(self, spool: Spool, caller: str) -> None:
        self.spool, self.caller = spool, caller
        self.size_bytes = 0
        self._counted = self._reserved = 0
        self._file: IO[bytes] = io.BytesIO()
        self._is_on_disk = False

    def grow(self, size_bytes: int) -> None:
        """Make room for so many bytes more. Refuses SpoolFull."""
        self.spool.take(self.caller, size_bytes)
        self._counted += size_bytes
        if self._counted > IN_MEMORY_BYTES and not self._is_on_disk:
            with _room_on_disk():
                before = self._rewound()
                self._file = os.fdopen(self.spool.open_file(self._counted), "w+b")
                self._is_on_disk, self._reserved = True, self._counted
                shutil.copyfileobj(before, self._file)
        elif self._is_on_disk and self._counted > self._reserved:
            with _room_on_disk():
                more = max(self._counted - self._reserved, RESERVED_AT_ONCE)
                self.spool.reserve(self._file.fileno(), self._reserved, more)
                self._reserved += more

    def write(self, part: bytes) -> None:
        """Append what came. Refuses SpoolFull."""
        with _room_on_disk():
            self._file.write(part)
        self.size_bytes += len(part)

    def body(self) -> IO[bytes]:
        """Return the whole from its beginning; closing it gives back what was counted. Refuses SpoolFull."""
        with _room_on_disk():
            if self._is_on_disk:
                # Room that was reserved and not written to is none of the body.
                self._file.truncate(self.size_bytes)
            return io.BufferedReader(_HeldBody(self, self._rewound()))

    def close(self) -> None:
        """Give back what was counted, and the disk with it; a second time do nothing."""
        # Closing writes what is left, for which a full disk has no room; the file goes all the same.
        with suppress(OSError):
            self._file.close()
        counted, self._counted = self._counted, 0
        if counted:
            self.spool.give_back(self.caller, counted)

    def _rewound(self) -> IO[bytes]:
        self._file.seek(0)
        return self._file


@contextmanager
def _room_on_disk() -> Iterator[None]:
    """Refuse SpoolFull where the disk became full meanwhile, by others too, or fails."""
    try:
        yield
    except OSError as trouble:
        log.warning("body_not_spooled reason=%s", trouble.strerror or trouble)
        raise SpoolFull(NO_ROOM_ON_DISK) from trouble


class _HeldBody(io.RawIOBase):
    """A body as it is read; when it is closed, or nobody has it any more, it is held no longer."""

    def __init__(self, holding: SpooledBody, file: IO[bytes]) -> None:
        self._holding, self._file = holding, file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        part = self._file.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._holding.close()
        super().close()


def _mebibytes(size_bytes: int) -> str:
    return f"{size_bytes >> 20} MiB"
