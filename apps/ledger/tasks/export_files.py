"""Files of ledger rows as they are written: CSV packed by gzip, or Parquet of the same cells."""

import gzip
import hashlib
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any, Protocol

from apps.files import Draft
from apps.ledger.queries.export_rows import heading, names_of
from apps.ledger.queries.exports import ExportWhat, FileForm

LEVEL = 6
GROUP_BYTES = 4 << 20
"""So much text becomes a row group of Parquet at once: memory does not grow with the file."""
DIGITS, DECIMALS = 19, 6
"""Any number of micro-units that fits in eight bytes."""


class Type(Enum):
    """Types of the cells of a column."""

    TEXT = "text"
    DATE = "date"
    MOMENT = "moment"
    WHOLE = "whole"
    FLOAT = "float"
    AMOUNT = "amount"


OF_TYPE = {
    Type.DATE: ("day",),
    Type.MOMENT: ("hour",),
    Type.WHOLE: (
        *("unit_milliseconds", "unpriced_milliseconds", "held_milliseconds"),
        *("observed_milliseconds", "job_id", "run_id", "charge_id", "policy_version"),
    ),
    Type.FLOAT: ("energy_joules",),
    Type.AMOUNT: (
        *("list_cost", "contracted_cost", "effective_cost", "billed_cost", "marginal_cost"),
    ),
}
TYPES = {name: type_ for type_, names in OF_TYPE.items() for name in names}
"""The type of a column by its name; every other is text."""


class Hashed:
    """A file that knows the digest and the number of the bytes it was given."""

    closed = False
    """Who opened the file closes it; Parquet's writer asks."""

    def __init__(self, out: Draft) -> None:
        self.out = out
        self.digest = hashlib.sha256()
        self.size = 0

    def write(self, block: bytes) -> int:
        """On to the file."""
        self.digest.update(block)
        self.size += len(block)
        return self.out.write(block)

    def flush(self) -> None:
        """Flush the file, as gzip asks."""
        self.out.flush()


class RowsFile(Protocol):
    """A file that takes rows as Postgres writes them in CSV."""

    def write(self, block: bytes) -> None:
        """Whole rows, each with its line's end."""

    def end_day(self) -> None:
        """A local day's rows are all there."""


@contextmanager
def rows_file(form: FileForm, what: ExportWhat, out: Hashed) -> Iterator[RowsFile]:
    """A file of such rows; the same rows are the same bytes."""
    if form is FileForm.PARQUET:
        with _parquet_file(names_of(what), out) as file:
            yield file
        return
    # No time and no name in the file.
    with gzip.GzipFile("", "wb", LEVEL, fileobj=out, mtime=0) as zipped:
        zipped.write(heading(what).encode())
        yield _Csv(zipped)


class _Csv:
    def __init__(self, zipped: gzip.GzipFile) -> None:
        self._zipped = zipped

    def write(self, block: bytes) -> None:
        self._zipped.write(block)

    def end_day(self) -> None:
        """Days follow each other."""


@contextmanager
def _parquet_file(names: Sequence[str], out: Hashed) -> Iterator[RowsFile]:
    # Heavy, and only here: a worker that writes no Parquet never loads it.
    import pyarrow
    from pyarrow import parquet

    # Its names come from compiled code, of which its stubs say nothing.
    pa: Any = pyarrow
    types = {
        Type.TEXT: pa.string(),
        Type.DATE: pa.date32(),
        Type.MOMENT: pa.timestamp("ms", tz="UTC"),
        Type.WHOLE: pa.int64(),
        Type.FLOAT: pa.float64(),
        Type.AMOUNT: pa.decimal128(DIGITS, DECIMALS),
    }
    schema = pa.schema([(name, types[TYPES.get(name, Type.TEXT)]) for name in names])
    writer: Any = parquet.ParquetWriter(out, schema, compression="zstd")  # type: ignore[no-untyped-call]
    with writer:
        yield _Parquet(writer, schema)


class _Parquet:
    """Rows by the group, no group of more than a day: cells that are empty are null."""

    def __init__(self, writer: Any, schema: Any) -> None:
        self._writer, self._schema = writer, schema
        self._waiting, self._size = list[bytes](), 0

    def write(self, block: bytes) -> None:
        self._waiting.append(block)
        self._size += len(block)
        if self._size >= GROUP_BYTES:
            self.end_day()

    def end_day(self) -> None:
        if self._waiting:
            self._writer.write_table(_arrow_table(b"".join(self._waiting), self._schema))
            self._waiting, self._size = [], 0


def _arrow_table(text: bytes, schema: Any) -> Any:
    from pyarrow import csv as untyped

    csv: Any = untyped

    return csv.read_csv(
        io.BytesIO(text),
        # In one block: no row can be too long for it.
        csv.ReadOptions(column_names=schema.names, use_threads=False, block_size=len(text) + 1),
        convert_options=csv.ConvertOptions(
            column_types=schema,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )
