"""Parquet files, decoded in a process of its own whose memory and time are bounded."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from apps.files.lines import FileUnreadable

CHILD = Path(__file__).with_name("parquet_child.py")
MEMORY_BYTES = 1 << 30
"""What the child may take for a file; a worker beside it keeps its own."""
CPU_SECONDS = 1_800
REFUSED, OUT_OF_MEMORY = 3, 4
ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"}


class ParquetRefused(FileUnreadable):
    """A Parquet file that cannot be read within its bounds, or at all; says why."""


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """The names of a file's columns, and its rows in batches of Arrow's; these refuse ParquetRefused."""

    names: list[str]
    schema: Any
    batches: Iterator[Any]


@contextmanager
def open_parquet(path: Path, columns: Sequence[str] | None = None) -> Iterator[ParquetTable]:
    """Open a file, or some columns of it. Refuses ParquetRefused."""
    import pyarrow

    pa: Any = pyarrow
    with tempfile.TemporaryFile() as error_file:
        child = _started(path, columns, error_file)
        try:
            # For the type checker: it was asked for.
            out: Any = child.stdout
            try:
                stream = pa.ipc.open_stream(out)
            except (pa.ArrowException, OSError) as broken:
                raise _refusal(child, error_file) from broken
            yield ParquetTable(
                list(stream.schema.names), stream.schema, _batches(pa, stream, child, error_file)
            )
        finally:
            child.kill()
            child.wait()
            if child.stdout is not None:
                child.stdout.close()


def _started(
    path: Path, columns: Sequence[str] | None, error_file: IO[bytes]
) -> "subprocess.Popen[bytes]":
    request = {
        "path": str(path.resolve()),
        "columns": None if columns is None else list(columns),
        "memory_bytes": MEMORY_BYTES,
        "cpu_seconds": CPU_SECONDS,
    }
    return subprocess.Popen(  # noqa: S603 - our own program, and a path of ours
        [sys.executable, "-I", str(CHILD), json.dumps(request)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=error_file,
        env=ENVIRONMENT,
    )


def _batches(
    pa: Any, stream: Any, child: "subprocess.Popen[bytes]", error_file: IO[bytes]
) -> Iterator[Any]:
    while True:
        try:
            batch = stream.read_next_batch()
        except StopIteration:
            break
        except (pa.ArrowException, OSError) as broken:
            raise _refusal(child, error_file) from broken
        yield batch
    if child.wait() != 0:
        raise _refusal(child, error_file)


def _refusal(child: "subprocess.Popen[bytes]", error_file: IO[bytes]) -> ParquetRefused:
    """Why the child ended: by what it said, or by how."""
    status = child.wait()
    error_file.seek(0)
    lines = error_file.read(4_096).decode(errors="replace").strip().splitlines()
    if status == REFUSED and lines:
        return ParquetRefused(lines[-1])
    if status == -9 or status == -24:
        return ParquetRefused(f"it takes more than {CPU_SECONDS // 60} minutes to decode")
    return ParquetRefused(f"it unpacks to more than the {MEMORY_BYTES >> 20} MiB that it may take")
