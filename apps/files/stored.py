"""Reads, writes, lists and deletes stored files, wherever RUNRATE_FILES says that they lie.

What was written under RUNRATE_HOME before the setting was made is found there as before.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO

from django.conf import settings

from apps.files.bucket import BucketPlace
from apps.files.drafts import Draft, FileEntry, FilePlace
from apps.files.folder import FolderPlace
from apps.files.marks import MarkedPlace
from apps.files.names import checked_name
from apps.files.trouble import PlaceUnreachable


def open_file(name: str) -> IO[bytes]:
    """Open a stored file for reading, a part at a time. Refuses FileNotFoundError."""
    checked_name(name)
    return _place_of(name).open(name)


def begin_file(name: str) -> Draft:
    """Begin a file whose writer calls `publish` or `discard` at some later time."""
    return _places()[0].draft(checked_name(name))


@contextmanager
def write_file(name: str) -> Iterator[Draft]:
    """Write a file that is seen when the block ends, or at `publish`; never where the block raises."""
    draft = begin_file(name)
    try:
        yield draft
        draft.publish()
    except BaseException:
        draft.discard()
        raise


def delete_file(name: str) -> None:
    """Delete a stored file, if there is one."""
    checked_name(name)
    for place in _places():
        place.delete(name)


def list_files(folder: str) -> list[FileEntry]:
    """List the stored files below a folder by name, with size and moment of each."""
    checked_name(folder)
    # The first place wins: it is what would be read.
    entries = {
        entry.name: entry for place in reversed(_places()) for entry in place.entries(folder)
    }
    return [entries[name] for name in sorted(entries)]


def is_stored(name: str) -> bool:
    """Return whether there is such a file, whole. Refuses PlaceUnreachable where nobody can know."""
    checked_name(name)
    return _place_of(name).is_there(name)


@contextmanager
def local_copy(name: str) -> Iterator[Path]:
    """Give a path on this machine that has the file, until the block ends; only to be read.

    Refuses FileNotFoundError.
    """
    checked_name(name)
    with _place_of(name).local_copy(name) as path:
        yield Path(path)


def forget_drafts(folder: str, begun_before: datetime) -> int:
    """Delete what was begun before and never published; return how many drafts that were."""
    checked_name(folder)
    return sum(place.forget_drafts(folder, begun_before) for place in _places())


def place_trouble() -> str:
    """Return why the place where files are kept cannot be asked, or is not the one it was; empty: it can."""
    place = _places()[0]
    if not isinstance(place, MarkedPlace):
        return ""
    try:
        place.check_if_used()
    except PlaceUnreachable as away:
        return str(away)
    return ""


def _place_of(name: str) -> FilePlace:
    """Return the place that has the file, or the first. Refuses PlaceUnreachable where that is not there itself."""
    places = _places()
    file_place = next((place for place in places if place.is_there(name)), None)
    if file_place is not None:
        return file_place
    if isinstance(places[0], MarkedPlace):
        places[0].check()
    return places[0]


def _places() -> list[FilePlace]:
    home = FolderPlace(Path(settings.HOME))
    address: str = settings.FILES
    if "://" in address:
        bucket = BucketPlace(address, home.root / "temporary")
        return [MarkedPlace(bucket, address, home.root), home]
    if address and Path(address) != home.root:
        return [MarkedPlace(FolderPlace(Path(address)), address, home.root), home]
    return [home]
