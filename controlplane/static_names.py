"""Our own style sheets and scripts under names that change with what they say, made at the start.

What has such a name may be kept for good by browsers; a vendored file has its version in its path and
may be, too. The files lie with their .br and .gz under RUNRATE_HOME/static-named and are made where
they are missing, so nothing must be collected before a start.
"""

import gzip
import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import brotli  # type: ignore[import-untyped]  # it has no stubs
from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.files.storage import FileSystemStorage, Storage

COMPRESS: Callable[..., bytes] = brotli.compress
FOLDERS = ("css", "js")
DIGITS = 12
IMMUTABLE = rf"/vendor/[^/]+@[^/]+/|\.[0-9a-f]{{{DIGITS}}}\.(css|js)$"
"""Addresses under which there will never be anything else."""


class NamedStorage(StaticFilesStorage):
    """`{% static %}` gives the name of today; while debugging files change, and so they keep theirs."""

    def url(self, name: str | None) -> str:
        """The address of a file by its plain name."""
        plain = name or ""
        return super().url(plain if settings.DEBUG else named().get(plain, plain))


class NamedFinder(BaseFinder):
    """Finds what `NamedStorage` speaks of."""

    def __init__(self) -> None:
        self.storage = FileSystemStorage(settings.HOME / "static-named")

    def find(self, path: str, find_all: bool = False, **given: Any) -> Any:  # noqa: FBT001, FBT002 - Django's signature
        """Where the file lies; nothing where no file of today has this name."""
        if path not in self._paths():
            return []
        found = self.storage.path(path)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:
        """Every file with its compressed forms."""
        for path in self._paths():
            yield path, self.storage

    def _paths(self) -> set[str]:
        return {f"{name}{form}" for name in named().values() for form in ("", ".br", ".gz")}


@cache
def named() -> dict[str, str]:
    """The plain name of each of our files and the one of today, under which it has been laid."""
    found = {}
    for folder in FOLDERS:
        for source in sorted((settings.PROJECT_ROOT / "static" / folder).glob(f"*.{folder}")):
            content = source.read_bytes()
            digest = hashlib.sha256(content).hexdigest()[:DIGITS]
            name = f"{folder}/{source.stem}.{digest}{source.suffix}"
            _lay(settings.HOME / "static-named" / name, content)
            found[f"{folder}/{source.name}"] = name
    return found


def _lay(path: Path, content: bytes) -> None:
    """The file and its compressed forms, each whole from the moment it is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    forms: dict[str, Callable[[], bytes]] = {
        ".br": lambda: COMPRESS(content, quality=11),
        ".gz": lambda: gzip.compress(content, 9, mtime=0),
        "": lambda: content,
    }
    for form, made in forms.items():
        target = path.with_name(path.name + form)
        if not target.exists():
            draft = path.with_name(f"{secrets.token_hex(8)}.draft")
            draft.write_bytes(made())
            draft.replace(target)
