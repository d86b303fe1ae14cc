"""Files in a folder that its owner alone may enter."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from apps.files.drafts import FileEntry
from apps.files.names import DRAFT_ENDING
from apps.files.trouble import reaching, reading_from


class FolderDraft:
    """A file under a name of its own, beside the one that it becomes."""

    def __init__(self, path: Path, address: str) -> None:
        self.path, self.address = path, address
        self.part = path.with_name(f"{path.name}.{secrets.token_hex(8)}{DRAFT_ENDING}")
        with reaching(address):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.out = self.part.open("xb")
            self.part.chmod(0o600)

    def write(self, block: bytes, /) -> int:
        """Append some bytes. Refuses PlaceFull and PlaceUnreachable."""
        with reaching(self.address):
            return self.out.write(block)

    def flush(self) -> None:
        """Hand on what is in memory. Refuses PlaceFull and PlaceUnreachable."""
        with reaching(self.address):
            self.out.flush()

    def publish(self) -> None:
        """Put the whole file under its name. Refuses PlaceFull and PlaceUnreachable."""
        if self.out.closed:
            return
        with reaching(self.address):
            self.out.flush()
            # After a power cut the name would else stand for a file without content.
            os.fsync(self.out.fileno())
            self.out.close()
            self.part.replace(self.path)

    def discard(self) -> None:
        """Leave nothing of it, also where the disk is full or gone: closing writes what is left."""
        with suppress(OSError):
            self.out.close()
        with suppress(OSError):
            self.part.unlink(missing_ok=True)


class FolderPlace:
    """A folder on a disk, of this machine's or one that several machines mount."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def open(self, name: str) -> IO[bytes]:
        """Open a whole file for reading. Refuses FileNotFoundError."""
        with reaching(str(self.root)):
            return (self.root / name).open("rb")

    def draft(self, name: str) -> FolderDraft:
        """Begin a file."""
        return FolderDraft(self.root / name, str(self.root))

    def delete(self, name: str) -> None:
        """Delete a file, if there is one."""
        with reaching(str(self.root)):
            (self.root / name).unlink(missing_ok=True)

    def entries(self, folder: str) -> Iterator[FileEntry]:
        """List the files in a folder and in those below it, by name."""
        for path in self._paths(folder, is_draft=False):
            try:
                status = path.stat()
            except FileNotFoundError:
                continue  # deleted since it was listed
            name = path.relative_to(self.root).as_posix()
            yield FileEntry(name, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC))

    def is_there(self, name: str) -> bool:
        """Return whether the whole file is there."""
        try:
            with reaching(str(self.root)):
                return stat.S_ISREG((self.root / name).stat().st_mode)
        except FileNotFoundError:
            return False

    @contextmanager
    def local_copy(self, name: str) -> Iterator[str]:
        """Give the file itself. Refuses FileNotFoundError."""
        path = self.root / name
        with reaching(str(self.root)):
            path.stat()
        with reading_from(str(self.root)):
            yield str(path)

    def begin_mark(self, name: str, mark: str) -> None:
        """Write a small file where there is none of this name."""
        path = self.root / name
        with reaching(str(self.root)):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = path.with_name(f"{name}.{secrets.token_hex(8)}{DRAFT_ENDING}")
            draft.touch(mode=0o600)
            draft.write_text(mark)
            try:
                # A link is made where there is nothing, or not at all.
                os.link(draft, path)
            except FileExistsError:
                pass
            except OSError:
                # Some that are mounted know no links.
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)

    def forget_drafts(self, folder: str, begun_before: datetime) -> int:
        """Delete drafts that nobody wrote to since `begun_before`; return how many."""
        forgotten = 0
        for path in self._paths(folder, is_draft=True):
            try:
                if path.stat().st_mtime < begun_before.timestamp():
                    path.unlink()
                    forgotten += 1
            except FileNotFoundError:
                continue  # published or forgotten since it was listed
        return forgotten

    def _paths(self, folder: str, *, is_draft: bool) -> list[Path]:
        with reaching(str(self.root)):
            return sorted(
                path
                for path in (self.root / folder).rglob("*")
                if path.is_file() and path.name.endswith(DRAFT_ENDING) == is_draft
            )
