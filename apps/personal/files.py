"""Files that hold a name: those that can be made again are deleted, the others are named."""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, TypeAlias, cast

from django.apps import apps
from django.utils.module_loading import import_string

from apps.files import FileEntry, list_files, local_copy
from apps.files.limits import UNPACKED, BodyKind
from apps.files.lines import FileUnreadable
from apps.files.parquet import open_parquet
from apps.files.unpacking import PARQUET_MAGIC, begins_with, open_text
from apps.personal.names import FileOutcome, TakenNames

LETTERS_AT_ONCE = 1 << 20
LONGEST_SPELLING = 2_000
"""No spelling of a name is longer: so much of a part is looked at again with the next."""
EXPORTS, UPLOADS, BACKUPS = "exports", "uploads", "backups"
DELETED = "it held a name, and was deleted: it can be made again"
KEPT = {
    UPLOADS: "it holds a name, and is not imported yet: discard the import, or it goes when that is over",
    EXPORTS: "it holds a name, and nobody knows of which export it is",
}
OLD_BACKUP = "it was made before, and holds the name; a copy that is brought back brings it back"
NOT_READ = "it was made before, and could not be looked through: {}"
Forget: TypeAlias = Callable[[str], bool]
"""Deletes a file that can be made again, given its name; False: it is not this app's, or cannot."""


def forget_files_naming(names: TakenNames, before: datetime) -> list[FileOutcome]:
    """Look through files that were made before; return what became of each that holds a name, or may.

    Each is read within the bounds of what is unpacked, and never whole. Copies are not opened: they hold every name that the
    database had. Raises PlaceUnreachable where the place of files is away: they are to be looked through again.
    """
    outcomes = [
        outcome
        for folder in (EXPORTS, UPLOADS)
        for entry in list_files(folder)
        if entry.modified_at <= before
        and (outcome := _outcome_of(folder, entry, names)) is not None
    ]
    copies = [entry for entry in list_files(BACKUPS) if entry.modified_at <= before]
    return [*outcomes, *(FileOutcome(entry.name, OLD_BACKUP) for entry in copies)]


def _outcome_of(folder: str, entry: FileEntry, names: TakenNames) -> FileOutcome | None:
    try:
        with local_copy(entry.name) as path, path.open("rb") as source:
            holds = any(names.is_in(part) for part in _overlapping(_parts_of(source)))
    except FileNotFoundError:
        return None
    except (FileUnreadable, OSError) as broken:
        return FileOutcome(entry.name, NOT_READ.format(broken))
    if not holds:
        return None
    is_deleted = any(forget(entry.name) for forget in _forgetters())
    return FileOutcome(entry.name, DELETED if is_deleted else KEPT[folder])


def _parts_of(source: IO[bytes]) -> Iterator[str]:
    if begins_with(source, PARQUET_MAGIC):
        yield from _texts_of_parquet(source)
        return
    with open_text(source, most_bytes=UNPACKED[BodyKind.BILL], errors="replace") as text:
        while part := text.read(LETTERS_AT_ONCE):
            yield part


def _texts_of_parquet(source: IO[bytes]) -> Iterator[str]:
    with open_parquet(Path(source.name)) as table:
        for batch in table.batches:
            cells = (cell for column in batch.columns for cell in column.to_pylist())
            yield "\n".join(str(cell) for cell in cells if cell is not None)


def _overlapping(parts: Iterator[str]) -> Iterator[str]:
    """Each part with the end of the one before: a name may lie across both."""
    end = ""
    for part in parts:
        yield end + part
        end = (end + part)[-LONGEST_SPELLING:]


def _forgetters() -> list[Forget]:
    """Return what forgets the files that apps can make again, as their registration names it in `forgets_file`."""
    named = [getattr(config, "forgets_file", "") for config in apps.get_app_configs()]
    return [cast(Forget, import_string(path)) for path in named if path]
