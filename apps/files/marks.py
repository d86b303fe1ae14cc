"""The mark of a place of files, by which one that is not mounted is known from one in which a file is not."""

import json
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import IO

from apps.files.drafts import Draft, FileEntry, MarkablePlace
from apps.files.trouble import PlaceUnreachable

MARK = ".runrate-files"
"""The file with the mark: no name of a stored file."""
NOTE = "files_places.json"
"""The file in RUNRATE_HOME with the mark of each place that this host has seen."""
MARK_BYTES = 64
FOLDERS = ("uploads", "exports", "backups")


class MarkedPlace:
    """A place that is asked for its mark before it is written to, and where it lacks what it is asked for.

    The mark is made by the first writer, and noted by every host that sees it. A mark that was there and is not any
    more, or is another, refuses PlaceUnreachable: what lies there now is not what was used before.
    """

    def __init__(self, place: MarkablePlace, address: str, home: Path) -> None:
        self.place, self.address, self.home = place, address, home

    def open(self, name: str) -> IO[bytes]:
        """Open a whole file for reading. Refuses FileNotFoundError and PlaceUnreachable."""
        try:
            return self.place.open(name)
        except FileNotFoundError:
            self.check()
            raise

    def draft(self, name: str) -> Draft:
        """Begin a file. Refuses PlaceUnreachable."""
        self._begin_or_check()
        return self.place.draft(name)

    def delete(self, name: str) -> None:
        """Delete a file, if there is one. Refuses PlaceUnreachable, for then nobody knows whether there is."""
        if self.place.is_there(name):
            self.place.delete(name)
        elif self._is_begun():
            self.check()

    def entries(self, folder: str) -> Iterator[FileEntry]:
        """List the files in a folder and in those below it, by name. Refuses PlaceUnreachable."""
        is_empty = True
        for entry in self.place.entries(folder):
            is_empty = False
            yield entry
        if is_empty and self._is_begun():
            self.check()

    def is_there(self, name: str) -> bool:
        """Return whether the whole file is there."""
        return self.place.is_there(name)

    def local_copy(self, name: str) -> AbstractContextManager[str]:
        """Give a path on this machine that has the file. Refuses FileNotFoundError."""
        return self.place.local_copy(name)

    def forget_drafts(self, folder: str, begun_before: datetime) -> int:
        """Delete drafts of who died while writing; return how many."""
        return self.place.forget_drafts(folder, begun_before)

    def check(self) -> None:
        """Refuse PlaceUnreachable where this is not the place that was used, or none was ever used here."""
        mark, noted = self._mark(), self._noted().get(self.address)
        if mark is not None and noted in (None, mark):
            self._note(mark)
        elif mark is not None:
            raise PlaceUnreachable(
                f"{self.address} is another place than before: its {MARK} says {mark}, this host noted {noted}. Where "
                f"that is meant, delete {self.home / NOTE}"
            )
        elif noted is not None:
            raise PlaceUnreachable(
                f"{self.address} is not what it was: its {MARK} is missing. Is it mounted?"
            )
        elif any(True for folder in FOLDERS for _ in self.place.entries(folder)):
            # It was used before places had marks.
            self._begin()
        else:
            raise PlaceUnreachable(f"nothing was ever kept at {self.address}. Is it mounted?")

    def check_if_used(self) -> None:
        """Refuse PlaceUnreachable as `check` does; one that nobody has used yet is as it should be."""
        if self._is_begun() or self._mark() is not None:
            self.check()

    def _begin_or_check(self) -> None:
        if self._is_begun() or self._mark() is not None:
            self.check()
        else:
            self._begin()

    def _is_begun(self) -> bool:
        """Return whether this host has used the place."""
        return self.address in self._noted()

    def _begin(self) -> None:
        """Give it a mark; of several who do at once the first one's stays."""
        try:
            self.place.begin_mark(MARK, secrets.token_hex(16))
        except FileNotFoundError as absent:
            raise PlaceUnreachable(f"{self.address} is not there: {absent}") from absent
        mark = self._mark()
        if mark is None:
            raise PlaceUnreachable(f"{self.address} does not keep what is written there")
        self._note(mark)

    def _mark(self) -> str | None:
        try:
            with self.place.open(MARK) as source:
                return source.read(MARK_BYTES).decode(errors="replace").strip()
        except FileNotFoundError:
            return None

    def _noted(self) -> dict[str, str]:
        try:
            noted = json.loads((self.home / NOTE).read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return noted if isinstance(noted, dict) else {}

    def _note(self, mark: str) -> None:
        noted = self._noted()
        if noted.get(self.address) == mark:
            return
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self.home / f"{NOTE}.{secrets.token_hex(8)}"
        draft.write_text(json.dumps(noted | {self.address: mark}))
        draft.replace(self.home / NOTE)
