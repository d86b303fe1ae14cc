"""Files that were sent, as they lie under RUNRATE_HOME/uploads until their imports are over."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that lies under RUNRATE_HOME/uploads as `stored_as`; `name` is what its owner said."""

    name: str
    stored_as: str
    size_bytes: int
    digest: str


def uploads_folder() -> Path:
    """Where files that were sent lie; nobody may have sent one yet."""
    return Path(settings.HOME) / "uploads"


def stored_path(stored_as: str) -> Path:
    """Where a file lies."""
    return uploads_folder() / stored_as


def forget_stored(files: Mapping[int, str], forget: Callable[[int], None]) -> None:
    """Delete the files of these imports, and have each import `forget` its own."""
    for import_id, stored_as in files.items():
        stored_path(stored_as).unlink(missing_ok=True)
        forget(import_id)


def why_unread(broken: Exception) -> str:
    """What is said of a file that could not be read, as a table may keep it."""
    if isinstance(broken, FileNotFoundError):
        return "the uploaded file is no longer there"
    return storable_text(str(broken))


def storable_text(text: str) -> str:
    """What is said of a file in which every other byte is zero, as in UTF-16, quotes some."""
    return text.replace("\0", "")
