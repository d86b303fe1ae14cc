"""The bytes of a bill's file as text: plain, gzip or a zip of one file, in UTF-8 or UTF-16."""

import gzip
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, cast

from apps.economics.focus.columns import NotABill

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

GZIP_MAGIC = b"\x1f\x8b"
PARQUET_MAGIC = b"PAR1"
ZIP_MAGIC = b"PK\x03\x04"
PACKED = (GZIP_MAGIC, PARQUET_MAGIC, ZIP_MAGIC)
BYTES_AT_ONCE = 1 << 20
MOST_UNPACKED = 32 << 30
"""More bytes than this no packed file may unpack to."""


class BillBreaksOff(Exception):
    """A file cannot be read to its end: what was read of it is no whole bill."""


def begins_with(source: IO[bytes], magic: bytes) -> bool:
    """Whether the file's first bytes are these; it stands at its beginning after."""
    found = source.read(len(magic)) == magic
    source.seek(0)
    return found


@contextmanager
def text_of(source: IO[bytes]) -> Iterator[io.TextIOWrapper]:
    """The text, a chunk at a time. Refuses NotABill; reading on refuses BillBreaksOff too."""
    with _open_unpacked(source) as plain:
        start = plain.peek(4)[:4]
        with io.TextIOWrapper(plain, _encoding_of(start), errors="strict", newline="") as text:
            yield text


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
def _open_unpacked(source: IO[bytes]) -> Iterator[io.BufferedReader]:
    if begins_with(source, GZIP_MAGIC):
        # GzipFile reads like any binary file; typeshed calls it a buffer of another kind.
        yield _open_bounded(cast(IO[bytes], gzip.GzipFile(fileobj=source)))
    elif begins_with(source, ZIP_MAGIC):
        with zipfile.ZipFile(source) as packed, packed.open(_only_file(packed)) as member:
            found = _open_bounded(member)
            if found.peek(4)[:4].startswith(PACKED):
                raise NotABill("the zip holds a file that is packed itself: send that one")
            yield found
    else:
        yield cast(io.BufferedReader, source)


def _only_file(packed: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The zip's one file, beside what a Mac puts there."""
    found = [
        each
        for each in packed.infolist()
        if not each.is_dir() and not each.filename.startswith("__MACOSX/")
    ]
    if any(each.filename == "xl/workbook.xml" for each in found):
        raise NotABill("this is an Excel workbook: save its sheet as CSV (UTF-8) and send that")
    if len(found) != 1:
        raise NotABill(f"the zip holds {len(found)} files: send each by itself, as one of several")
    if found[0].flag_bits & 1:
        raise NotABill("the zip is encrypted")
    return found[0]


def _open_bounded(packed: IO[bytes]) -> io.BufferedReader:
    return io.BufferedReader(_Bounded(packed), BYTES_AT_ONCE)


class _Bounded(io.RawIOBase):
    """What a packed file holds, up to MOST_UNPACKED: a small one may unpack to any size."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._left = MOST_UNPACKED

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        data = self._packed.read(len(memoryview(buffer)))
        self._left -= len(data)
        if self._left < 0:
            raise BillBreaksOff(f"the file unpacks to more than {MOST_UNPACKED >> 30} GiB")
        memoryview(buffer)[: len(data)] = data
        return len(data)
