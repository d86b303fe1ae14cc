"""Writes a month of the ledger as a FOCUS file: CSV, gzip or Parquet by its name."""

import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, Any, Protocol, cast

from django.db import connection, transaction

from apps.economics.bases import BilledCosts
from apps.economics.focus.exported import COLUMNS, Cell, FocusColumn, FocusType
from apps.economics.focus.making import FocusRow, PartFacts, rows_of
from apps.ledger.queries.focus_rows import billed_by, charges_of_month, sums_posted

ROWS_AT_ONCE = 10_000
DIGITS = 38


class FileDoesNotMatch(Exception):
    """A written file that does not sum to what the ledger has: it was not kept."""


@dataclass(slots=True)
class Written:
    """How many rows a file has, and what their lines sum to in micro-units."""

    rows: int = 0
    sums: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("billed", "effective", "list", "contracted"), 0)
    )

    def add(self, parts: Sequence[PartFacts]) -> None:
        """Count the rows of a charge in; what is not known adds nothing."""
        self.rows += len(parts)
        for part in parts:
            costs = part.costs
            self.sums["billed"] += costs.billed or 0
            self.sums["effective"] += costs.effective or 0
            self.sums["list"] += costs.listed or 0
            self.sums["contracted"] += costs.contracted or 0


class _Table(Protocol):
    def write(self, chunk: Sequence[FocusRow]) -> None: ...


def write_file(month: date, version: str, path: Path) -> Written:
    """The whole month, of all teams, as it is at one moment; or no file. Refuses FileDoesNotMatch.

    `version` is one of COLUMNS.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with transaction.atomic():
            _see_one_moment()
            with _open_table(part, path.name, COLUMNS[version]) as table:
                written = _write_month(month, table)
            _refuse_difference(written, *sums_posted(month))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return written


def _see_one_moment() -> None:
    # Inside another transaction, as tests run, that one's view has to do.
    if len(connection.savepoint_ids) == 0:
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


def _refuse_difference(written: Written, lines: int, sums: BilledCosts) -> None:
    expected_sums = {
        "billed": sums.billed,
        "effective": sums.effective,
        "list": sums.listed,
        "contracted": sums.contracted,
    }
    if written.rows != lines or written.sums != expected_sums:
        raise FileDoesNotMatch(
            f"{written.rows} rows of {lines} lines: {written.sums} not {expected_sums}"
        )


def _write_month(month: date, table: _Table) -> Written:
    written = Written()
    rows = _month_rows(month, written)
    while chunk := list(islice(rows, ROWS_AT_ONCE)):
        table.write(chunk)
    return written


def _month_rows(month: date, written: Written) -> Iterator[FocusRow]:
    by = billed_by(month)
    for charge, parts in charges_of_month(month):
        written.add(parts)
        yield from rows_of(charge, parts, by)


@contextmanager
def _open_table(path: Path, name: str, columns: Sequence[FocusColumn]) -> Iterator[_Table]:
    if name.endswith(".parquet"):
        with _parquet_table(path, columns) as table:
            yield table
        return
    with path.open("wb") as out:
        # No time and no name in it: the same rows are the same bytes.
        zipped = gzip.GzipFile("", "wb", 6, fileobj=out, mtime=0) if name.endswith(".gz") else None
        with io.TextIOWrapper(cast(IO[bytes], zipped or out), "utf-8", newline="") as text:
            yield _FocusCsv(text, columns)


class _FocusCsv:
    def __init__(self, text: IO[str], columns: Sequence[FocusColumn]) -> None:
        self._columns = columns
        self._out = csv.writer(text, lineterminator="\n")
        self._out.writerow([column.name for column in columns])

    def write(self, chunk: Sequence[FocusRow]) -> None:
        """Rows as text; nothing where a cell is null."""
        self._out.writerows(
            [[_cell_text(column.cell_of(row)) for column in self._columns] for row in chunk]
        )


def _cell_text(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Decimal):
        return f"{cell.normalize():f}" if cell else "0"
    return f"{cell:%Y-%m-%dT%H:%M:%SZ}"


@contextmanager
def _parquet_table(path: Path, columns: Sequence[FocusColumn]) -> Iterator[_Table]:
    # Heavy, and only here: a process that writes no Parquet never loads it.
    import pyarrow
    from pyarrow import parquet

    # Its names come from compiled code, of which its stubs say nothing.
    pa: Any = pyarrow
    kinds: dict[FocusType, Any] = {FocusType.TEXT: pa.string(), FocusType.JSON: pa.string()}
    schema = pa.schema(
        [
            pa.field(
                column.name,
                _arrow_type(pa, column) if column.type not in kinds else kinds[column.type],
            )
            for column in columns
        ]
    )
    writer: Any = parquet.ParquetWriter(path, schema)  # type: ignore[no-untyped-call]
    with writer:
        yield _FocusParquet(pa, writer, schema, columns)


def _arrow_type(pa: Any, column: FocusColumn) -> Any:
    if column.type is FocusType.NUMBER:
        return pa.decimal128(DIGITS, column.scale)
    return pa.timestamp("ms", tz="UTC")


@dataclass(frozen=True, slots=True)
class _FocusParquet:
    pa: Any
    writer: Any
    schema: Any
    of: Sequence[FocusColumn]

    def write(self, chunk: Sequence[FocusRow]) -> None:
        """Rows as values, a group of them at a time."""
        columns = [[column.cell_of(row) for row in chunk] for column in self.of]
        arrays = [
            self.pa.array(cells, type=of.type)
            for cells, of in zip(columns, self.schema, strict=True)
        ]
        self.writer.write_table(self.pa.Table.from_arrays(arrays, schema=self.schema))
