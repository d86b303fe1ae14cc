"""A bill's file row by row: CSV, gzip or Parquet, in FOCUS or as a Cost and Usage Report."""

import csv
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, cast

from apps.economics.focus.cells import BadCell
from apps.economics.focus.columns import NotABill, layout_of
from apps.economics.focus.cur import CurReader, is_cur
from apps.economics.focus.rows import BilledRow, Rejection, RowReader
from apps.ledger.providers.read_ahead import read_ahead

GZIP_MAGIC = b"\x1f\x8b"
PARQUET_MAGIC = b"PAR1"
BYTES_AT_ONCE = 1 << 20
ROWS_AT_ONCE = 5_000
LONGEST_CELL = 1 << 20
BROKEN = (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError, csv.Error)


class BillBreaksOff(Exception):
    """A file cannot be read to its end: what was read of it is no whole bill."""


@dataclass(frozen=True, slots=True)
class BillFile:
    """An open file; `layout` names how it is written (focus 1.0 … or cur)."""

    name: str
    digest: str
    size_bytes: int
    layout: str
    rows: Iterator[tuple[int, BilledRow | Rejection]]


class _Reader(Protocol):
    def read(self, cells: Sequence[object]) -> BilledRow: ...


@contextmanager
def open_bill(path: Path, *, name: str = "") -> Iterator[BillFile]:
    """Open a bill's file. Refuses NotABill, which says what its header lacks, and OSError.

    Its rows refuse BillBreaksOff.
    """
    digest, size = _digest(path)
    with _table(path) as (names, cells):
        layout, reader = _reader(names)
        with read_ahead(_read(cells, reader, len(names))) as rows:
            yield BillFile(name or path.name, digest, size, layout, rows)


def _reader(names: Sequence[str]) -> tuple[str, _Reader]:
    if is_cur(names):
        return "cur", CurReader(names)
    layout = layout_of(names)
    return f"focus {layout.version}", RowReader(layout)


def _read(
    cells: Iterator[tuple[int, Sequence[object]]], reader: _Reader, width: int
) -> Iterator[tuple[int, BilledRow | Rejection]]:
    line, usual = 0, 0
    try:
        for line, row in cells:
            # Some exporters leave the last empty cells out, of every row alike.
            usual = usual or min(width, len(row))
            yield line, _row(line, row, reader, usual)
    except BROKEN as broken:
        raise BillBreaksOff(f"the file breaks off after row {line}: {broken}") from broken


def _row(line: int, row: Sequence[object], reader: _Reader, width: int) -> BilledRow | Rejection:
    if len(row) != width:
        return Rejection(line, "row", f"has {len(row)} cells where there should be {width}")
    try:
        return reader.read(row)
    except BadCell as bad:
        return Rejection(line, bad.field, str(bad))


@contextmanager
def _table(path: Path) -> Iterator[tuple[list[str], Iterator[tuple[int, Sequence[object]]]]]:
    """The names of a file's columns, and its rows of cells with the line of each."""
    with path.open("rb") as source:
        if _begins_with(source, PARQUET_MAGIC):
            yield _parquet(source)
            return
        is_gzip = _begins_with(source, GZIP_MAGIC)
        # GzipFile reads like any binary file; typeshed calls it a buffer of another kind.
        plain = cast(IO[bytes], gzip.GzipFile(fileobj=source)) if is_gzip else source
        with io.TextIOWrapper(plain, "utf-8-sig", errors="strict", newline="") as text:
            yield _csv(text)


def _csv(text: Iterable[str]) -> tuple[list[str], Iterator[tuple[int, Sequence[object]]]]:
    csv.field_size_limit(LONGEST_CELL)
    rows = csv.reader(text)
    try:
        names = next(rows, None)
    except BROKEN as broken:
        raise NotABill(f"the file cannot be read: {broken}") from broken
    if not names:
        raise NotABill("the file is empty")
    return names, _csv_rows(rows)


def _csv_rows(rows: Any) -> Iterator[tuple[int, Sequence[object]]]:
    # `line_num` is where a row ends; one with line ends in a cell begins above that.
    begins = rows.line_num + 1
    for row in rows:
        if row:
            yield begins, row
        begins = rows.line_num + 1


def _parquet(source: IO[bytes]) -> tuple[list[str], Iterator[tuple[int, Sequence[object]]]]:
    # Heavy, and only here: a process that reads no Parquet never loads it.
    from pyarrow import lib, parquet

    try:
        file: Any = parquet.ParquetFile(source)  # type: ignore[no-untyped-call]
    except lib.ArrowException as broken:
        raise NotABill(f"the file is no Parquet that can be read: {broken}") from broken
    return list(file.schema_arrow.names), _parquet_rows(file)


def _parquet_rows(file: Any) -> Iterator[tuple[int, Sequence[object]]]:
    from pyarrow import lib

    number = 0
    try:
        for batch in file.iter_batches(batch_size=ROWS_AT_ONCE):
            columns = [column.to_pylist() for column in batch.columns]
            for row in zip(*columns, strict=True):
                number += 1
                yield number, row
    except (lib.ArrowException, OSError) as broken:
        raise BillBreaksOff(f"the file breaks off after row {number}: {broken}") from broken


def _begins_with(source: IO[bytes], magic: bytes) -> bool:
    found = source.read(len(magic)) == magic
    source.seek(0)
    return found


def _digest(path: Path) -> tuple[str, int]:
    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as source:
        while chunk := source.read(BYTES_AT_ONCE):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size
