"""The bytes or the text of a file that may be packed: plain, gzip, or a zip of one file; never more than a bound.

Whoever reads a file that somebody sent or named reads it through here: a packed one says nothing true of its size.
"""

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from apps.files.limits import MEBIBYTE, SMALL_FILE_BYTES, size_words
from apps.files.lines import FileUnreadable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

GZIP_MAGIC, ZIP_MAGIC, PARQUET_MAGIC = b"\x1f\x8b", b"PK\x03\x04", b"PAR1"
PACKED = (GZIP_MAGIC, PARQUET_MAGIC, ZIP_MAGIC)
BYTES_AT_ONCE = 1 << 20
MOST_RATIO, RATIO_FROM = 400, 256 * MEBIBYTE
"""Beyond 256 MiB a file may unpack to 400 times its size: tables come to 5 to 50, nothing but zeros to 1,030."""
MOST_MEMBERS, MOST_DIRECTORY = 100, MEBIBYTE
"""Of a zip, of which one is read: more files, or a longer list of them, are no table that somebody packed."""
ZIP_END, ZIP_END_BYTES, LONGEST_COMMENT = b"PK\x05\x06", 22, 1 << 16
ZIP64_PLACE, ZIP64_BYTES = b"PK\x06\x07", 20
PackedFile = gzip.GzipFile | zipfile.ZipExtFile
BROKEN = (
    *(EOFError, gzip.BadGzipFile, zlib.error, zipfile.BadZipFile),
    *(zipfile.LargeZipFile, NotImplementedError, RuntimeError, struct.error),
)
"""What unpacking raises of what is cut short, or packed in another way."""


class UnpackRefused(FileUnreadable):
    """A packed file unpacks to too much, holds what is not read, or is broken."""


def begins_with(source: IO[bytes], magic: bytes) -> bool:
    """Whether the file's first bytes are these; it stands at its beginning after."""
    matches = source.read(len(magic)) == magic
    source.seek(0)
    return matches


@contextmanager
def open_text(
    source: IO[bytes], *, most_bytes: int, errors: str = "strict"
) -> Iterator[io.TextIOWrapper]:
    """Give the text of a file, a chunk at a time, in UTF-8 or UTF-16. It and reading on refuse UnpackRefused."""
    with open_unpacked(source, most_bytes) as plain:
        start = plain.peek(4)[:4]
        with io.TextIOWrapper(plain, _encoding_of(start), errors=errors, newline="") as text:
            yield text


@contextmanager
def open_unpacked(source: IO[bytes], most_bytes: int) -> Iterator[io.BufferedReader]:
    """Give what a file holds, a chunk at a time. It and reading on refuse UnpackRefused."""
    packed_bytes = source.seek(0, io.SEEK_END)
    source.seek(0)
    if begins_with(source, GZIP_MAGIC):
        yield _bounded("gzip", gzip.GzipFile(fileobj=source), packed_bytes, most_bytes)
    elif begins_with(source, ZIP_MAGIC) or begins_with(source, ZIP_END):
        with _open_zip(source) as (member, member_bytes):
            yield _bounded("zip", member, member_bytes, most_bytes)
    else:
        yield cast(io.BufferedReader, source)


def read_small_file(path: Path, most_bytes: int = SMALL_FILE_BYTES) -> bytes:
    """Return all that a file holds, plain or packed. Refuses FileUnreadable and OSError."""
    with path.open("rb") as source, open_unpacked(source, most_bytes) as plain:
        content = plain.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise FileUnreadable(f"it has more than {size_words(most_bytes)}")
    return content


def read_small_text(path: Path, most_bytes: int = SMALL_FILE_BYTES) -> str:
    """Return the text of a file, plain or packed, in UTF-8 or UTF-16. Refuses FileUnreadable and OSError."""
    content = read_small_file(path, most_bytes)
    try:
        return content.decode(_encoding_of(content[:4]))
    except UnicodeDecodeError as broken:
        raise FileUnreadable("it is no text in UTF-8 or UTF-16; save it in UTF-8") from broken


def _encoding_of(start: bytes) -> str:
    """By its byte order mark, or by where the zeros of a first letter stand."""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if len(start) > 1 and start[0] and not start[1]:
        return "utf-16-le"
    if len(start) > 1 and start[1] and not start[0]:
        return "utf-16-be"
    return "utf-8-sig"


@contextmanager
def _open_zip(source: IO[bytes]) -> Iterator[tuple[zipfile.ZipExtFile, int]]:
    """Give the one file that a zip holds, and its bytes as they are packed. Refuses UnpackRefused."""
    _check_directory(source)
    try:
        packed = zipfile.ZipFile(source)
    except BROKEN as broken:
        raise UnpackRefused(f"the zip is broken: {broken}") from broken
    with packed:
        only = _only_file(packed)
        try:
            member = packed.open(only)
        except BROKEN as broken:
            raise UnpackRefused(f"the zip cannot be unpacked: {broken}") from broken
        with member:
            yield cast(zipfile.ZipExtFile, member), only.compress_size


def _check_directory(source: IO[bytes]) -> None:
    """Refuse a zip whose list of files would fill memory as it is opened."""
    size = source.seek(0, io.SEEK_END)
    longest = ZIP64_BYTES + ZIP_END_BYTES + LONGEST_COMMENT
    source.seek(max(0, size - longest))
    end = source.read(longest)
    source.seek(0)
    place = end.rfind(ZIP_END)
    if place < 0 or len(end) - place < ZIP_END_BYTES:
        raise UnpackRefused("the zip is broken: it ends before its list of files")
    # Where this precedes the end, Python reads a longer list from another place.
    if end[max(0, place - ZIP64_BYTES) : place].startswith(ZIP64_PLACE):
        raise UnpackRefused("the zip is one for more than 4 GiB (Zip64): send its file by itself")
    count, directory_bytes = struct.unpack_from("<HL", end, place + 10)
    if count > MOST_MEMBERS or directory_bytes > MOST_DIRECTORY:
        raise UnpackRefused(
            f"the zip holds more than {MOST_MEMBERS} files: send each by itself, as one of several"
        )


def _only_file(packed: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The zip's one file, beside what a Mac puts there."""
    files = [
        member
        for member in packed.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if any(member.filename == "xl/workbook.xml" for member in files):
        raise UnpackRefused(
            "this is an Excel workbook: save its sheet as CSV (UTF-8) and send that"
        )
    if len(files) != 1:
        raise UnpackRefused(
            f"the zip holds {len(files)} files: send each by itself, as one of several"
        )
    if files[0].flag_bits & 1:
        raise UnpackRefused("the zip is encrypted")
    return files[0]


def _bounded(
    kind: str, packed: PackedFile, packed_bytes: int, most_bytes: int
) -> io.BufferedReader:
    reader: io.BufferedReader = io.BufferedReader(
        _BoundedBytes(packed, packed_bytes, most_bytes), BYTES_AT_ONCE
    )
    if reader.peek(4)[:4].startswith(PACKED):
        raise UnpackRefused(f"the {kind} holds a file that is packed itself: send that one")
    return reader


class _BoundedBytes(io.RawIOBase):
    """The bytes that a packed file holds, up to its bounds: a small one may unpack to any size."""

    def __init__(self, packed: PackedFile, packed_bytes: int, most_bytes: int) -> None:
        self._packed = packed
        self._most = min(most_bytes, max(RATIO_FROM, MOST_RATIO * packed_bytes))
        self._is_of_ratio = self._most < most_bytes
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        try:
            # Piece by piece: of a file that breaks off what came before is still given.
            data = self._packed.read1(len(memoryview(buffer)))
        except BROKEN as broken:
            raise UnpackRefused(f"it cannot be unpacked further: {broken}") from broken
        self._read += len(data)
        if self._read > self._most:
            raise UnpackRefused(
                f"the file unpacks to more than {MOST_RATIO} times its size"
                if self._is_of_ratio
                else f"the file unpacks to more than {size_words(self._most)}"
            )
        memoryview(buffer)[: len(data)] = data
        return len(data)
