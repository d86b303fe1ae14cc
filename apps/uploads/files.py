"""Files that were sent, as they are kept until their imports are over."""

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path, PurePath

from apps.files import begin_file, delete_file, forget_drafts, local_copy

UPLOADS = "uploads"
LONGEST_NAME = 120
STOPPED = "the worker that read it was asked to stop; it is read again from its first row"
HALF_SENT_FOR = timedelta(days=1)
"""No file is sent for longer: what is half there by then is of a process that died."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that is kept as `stored_as`; `name` is what its owner called it."""

    name: str
    stored_as: str
    size_bytes: int
    digest: str


class UploadDraft:
    """A file that is being sent: kept part by part, with its digest, and seen by workers when it is whole."""

    def __init__(self, ending: str = "upload") -> None:
        self.stored_as = f"{secrets.token_hex(16)}.{ending}"
        self._draft = begin_file(_name_of(self.stored_as))
        self._digest = hashlib.sha256()
        self.size_bytes = 0

    def write(self, block: bytes) -> None:
        """Append what came."""
        self._draft.write(block)
        self._digest.update(block)
        self.size_bytes += len(block)

    def publish(self) -> None:
        """Let workers see it."""
        self._draft.publish()

    def forget(self) -> None:
        """Delete what was written."""
        self._draft.discard()
        delete_file(_name_of(self.stored_as))

    def stored(self, name: str, *, unnamed: str = "a file") -> StoredFile:
        """Return the file under the name that its owner gave, shortened to what a table keeps."""
        bare = PurePath(name).name.replace("\0", "")[-LONGEST_NAME:] or unnamed
        return StoredFile(bare, self.stored_as, self.size_bytes, self._digest.hexdigest())


@contextmanager
def stored_path(stored_as: str) -> Iterator[Path]:
    """Give a path on this machine that has the file. Refuses FileNotFoundError."""
    with local_copy(_name_of(stored_as)) as path:
        yield path


def forget_stored(files: Mapping[int, str], forget: Callable[[int], None], *, at: datetime) -> None:
    """Delete the files of these imports, have each import `forget` its own, and files half sent."""
    for import_id, stored_as in files.items():
        delete_file(_name_of(stored_as))
        forget(import_id)
    forget_drafts(UPLOADS, at - HALF_SENT_FOR)


def _name_of(stored_as: str) -> str:
    return f"{UPLOADS}/{stored_as}"


def why_away(trouble: Exception) -> str:
    """Return what is said of a file that waits for the place where it lies, as a table may keep it."""
    return storable_text(f"it waits for the place where files are kept: {trouble}")


def why_unread(broken: Exception) -> str:
    """Return what is said of a file that could not be read, as a table may keep it."""
    if isinstance(broken, FileNotFoundError):
        return "the uploaded file is no longer there"
    return storable_text(str(broken))


def storable_text(text: str) -> str:
    """Return a text without zero bytes: what is said of a file in which every other byte is zero, as in UTF-16, quotes some."""
    return text.replace("\0", "")
