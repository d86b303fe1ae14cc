"""A bill's file row by row: CSV (also packed) or Parquet, in FOCUS or as a Cost and Usage Report."""

import csv
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import IO, Protocol

from apps.economics.focus.cells import BadCell
from apps.economics.focus.columns import NotABill, count_recognised_columns, layout_of
from apps.economics.focus.cur import CurReader, is_cur
from apps.economics.focus.reading import RowReader
from apps.economics.focus.rows import BilledRow, Rejection
from apps.files.limits import UNPACKED, BodyKind
from apps.files.lines import MOST_COLUMNS, CsvRows, FileUnreadable, RowAllowance, bounded_lines
from apps.files.parquet import ParquetRefused, ParquetTable, open_parquet
from apps.files.unpacking import PARQUET_MAGIC, begins_with, open_text

BYTES_AT_ONCE = 1 << 20
LONGEST_CELL = 1 << 20
ROWS_FOR_WIDTH = 1_000
DELIMITERS = (",", ";", "\t", "|")
BROKEN = (FileUnreadable, UnicodeError, csv.Error)
"""What reading a file raises that is cut short, endless or no text."""


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
    def period_of(self, cells: Sequence[object]) -> tuple[datetime, datetime] | None: ...


@contextmanager
def open_bill(path: Path, *, name: str = "") -> Iterator[BillFile]:
    """Open a bill's file. Refuses NotABill, which says what its header lacks, and OSError.

    Its rows refuse BillBreaksOff.
    """
    digest, size = _file_digest(path)
    with _open_table(path) as (names, cells):
        layout, reader = _reader_of(names)
        rows = _read_rows(cells, reader, len(names))
        yield BillFile(name or path.name, digest, size, layout, rows)


def _reader_of(names: Sequence[str]) -> tuple[str, _Reader]:
    if is_cur(names):
        return "cur", CurReader(names)
    layout = layout_of(names)
    return f"focus {layout.version}", RowReader(layout)


def _read_rows(
    cells: Iterator[tuple[int, Sequence[object]]], reader: _Reader, width: int
) -> Iterator[tuple[int, BilledRow | Rejection]]:
    line = 0
    first: list[tuple[int, Sequence[object]]] = []
    read = reader.read
    try:
        for line, row in islice(cells, ROWS_FOR_WIDTH):
            first.append((line, row))
        widths = {width, _usual_width(first, width)}
        for line, row in chain(first, cells):
            if len(row) not in widths:
                yield line, _misfit(line, row, min(widths))
                continue
            parsed_row: BilledRow | Rejection
            try:
                parsed_row = read(row)
            except BadCell as bad:
                parsed_row = Rejection(line, bad.field, bad.message, reader.period_of(row))
            yield line, parsed_row
    except BROKEN as broken:
        raise BillBreaksOff(
            f"the file breaks off after row {line}: {_broken_reason(broken)}"
        ) from broken


def _usual_width(rows: Sequence[tuple[int, Sequence[object]]], width: int) -> int:
    """The header's, but where every exporter's row leaves its last empty cells out alike."""
    widths = Counter(len(row) for _, row in rows)
    if not widths or width in widths:
        return width
    return min(width, widths.most_common(1)[0][0])


def _misfit(line: int, row: Sequence[object], usual: int) -> Rejection:
    return Rejection(line, "row", f"has {len(row)} cells where there should be {usual}")


@contextmanager
def _open_table(path: Path) -> Iterator[tuple[list[str], Iterator[tuple[int, Sequence[object]]]]]:
    """The names of a file's columns, and its rows of cells with the line of each."""
    with path.open("rb") as source:
        if begins_with(source, PARQUET_MAGIC):
            with _parquet_table(path) as table:
                yield table
            return
        with ExitStack() as stack:
            try:
                text = stack.enter_context(open_text(source, most_bytes=UNPACKED[BodyKind.BILL]))
                table = _csv_table(text)
            except BROKEN as broken:
                raise NotABill(f"the file cannot be read: {_broken_reason(broken)}") from broken
            yield table


def _broken_reason(broken: Exception) -> str:
    if isinstance(broken, UnicodeError):
        return "it is neither UTF-8 nor UTF-16; save it as CSV in UTF-8"
    return str(broken)


def _csv_table(text: IO[str]) -> tuple[list[str], Iterator[tuple[int, Sequence[object]]]]:
    csv.field_size_limit(LONGEST_CELL)
    lines = bounded_lines(text, UNPACKED[BodyKind.BILL])
    first = next(lines, "")
    rows = CsvRows(chain([first], lines), _likely_delimiter(first))
    names = next(rows, None)
    if not names:
        raise NotABill("the file is empty")
    if len(names) > MOST_COLUMNS:
        raise NotABill(f"the file has {len(names):,} columns; {MOST_COLUMNS:,} are taken")
    return names, rows.numbered()


def _likely_delimiter(heading: str) -> str:
    """Under which a heading has most columns of a bill, or most columns: a comma for a start."""

    def told(delimiter: str) -> tuple[int, int]:
        names = next(csv.reader([heading], delimiter=delimiter), [])
        return count_recognised_columns(names) + len(is_cur(names) * names), len(names)

    return max(DELIMITERS, key=told)


@contextmanager
def _parquet_table(
    path: Path,
) -> Iterator[tuple[list[str], Iterator[tuple[int, Sequence[object]]]]]:
    with ExitStack() as stack:
        try:
            table = stack.enter_context(open_parquet(path))
        except ParquetRefused as refused:
            raise NotABill(f"the file is no Parquet that can be read: {refused}") from refused
        yield table.names, _parquet_rows(table)


def _parquet_rows(table: ParquetTable) -> Iterator[tuple[int, Sequence[object]]]:
    number, allowance = 0, RowAllowance()
    try:
        for batch in table.batches:
            width = batch.nbytes // max(1, batch.num_rows)
            columns = [column.to_pylist() for column in batch.columns]
            for row in zip(*columns, strict=True):
                allowance.take(width)
                allowance.end_row()
                number += 1
                yield number, row
    except ParquetRefused as broken:
        raise BillBreaksOff(f"the file breaks off after row {number}: {broken}") from broken


def _file_digest(path: Path) -> tuple[str, int]:
    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as source:
        while chunk := source.read(BYTES_AT_ONCE):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size
