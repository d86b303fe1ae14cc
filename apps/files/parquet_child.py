"""A process of its own that decodes a Parquet file: what the file says of its sizes may lie.

Run by path, by `apps.files.parquet`: it loads nothing of Runrate. It writes the rows to standard output as an
Arrow stream, in small batches, and says on standard error, as its last line, why it refuses a file.
"""

import json
import resource
import sys
from typing import Any

REFUSED, OUT_OF_MEMORY = 3, 4
MOST_META_ROWS, MOST_COLUMNS, MOST_GROUPS = 50_000_000, 2_000, 100_000
MOST_CELLS = 2_000_000_000
MOST_CELL_BYTES, MOST_BATCH_BYTES = 1 << 20, 32 << 20
ROWS_AT_ONCE = 2_000
MOST_DEPTH = 4
"""Tags are a map, which is a list of records."""
STACK_AND_MORE_BYTES = 64 << 20
PAGE_BYTES = resource.getpagesize()


class FileRefused(Exception):
    """The file cannot be taken as it is."""


def main(path: str, wanted: list[str] | None, memory_bytes: int, cpu_seconds: int) -> None:
    """Write the rows of a file, of the columns that are wanted (None: of all)."""
    import pyarrow
    from pyarrow import parquet

    _bound_this_process(memory_bytes, cpu_seconds)
    pa: Any = pyarrow
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    with open(path, "rb") as source:  # noqa: PTH123 - nothing but what it needs is loaded
        # Text that is packed as a dictionary stays so: its cells are weighed before there are copies of them.
        names = _text_columns(parquet.ParquetFile(source))  # type: ignore[no-untyped-call]
        source.seek(0)
        file: Any = parquet.ParquetFile(source, read_dictionary=names)  # type: ignore[no-untyped-call]
        _check_words(file)
        columns = list(file.schema_arrow.names) if wanted is None else wanted
        schema = pa.schema([_plain_field(pa, file.schema_arrow.field(name)) for name in columns])
        with pa.ipc.new_stream(sys.stdout.buffer, schema) as out:
            number = 0
            for batch in file.iter_batches(
                batch_size=ROWS_AT_ONCE, columns=columns, use_threads=False
            ):
                for part in _parts(pa, batch, schema, number):
                    out.write_batch(part)
                number += batch.num_rows


def _bound_this_process(memory_bytes: int, cpu_seconds: int) -> None:
    with open("/proc/self/statm") as statm:  # noqa: PTH123
        used = int(statm.read().split()[0]) * PAGE_BYTES
    most = used + memory_bytes + STACK_AND_MORE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _text_columns(file: Any) -> list[str]:
    import pyarrow

    untyped: Any = pyarrow
    kinds = untyped.types
    return [
        field.name
        for field in file.schema_arrow
        if kinds.is_string(field.type)
        or kinds.is_binary(field.type)
        or kinds.is_large_string(field.type)
        or kinds.is_large_binary(field.type)
    ]


def _check_words(file: Any) -> None:
    """Refuse what is too much already by the file's own words."""
    meta = file.metadata
    rows, columns, groups = meta.num_rows, len(file.schema_arrow), meta.num_row_groups
    if columns > MOST_COLUMNS or meta.num_columns > MOST_COLUMNS:
        raise FileRefused(f"it has {meta.num_columns:,} columns; {MOST_COLUMNS:,} are taken")
    if rows > MOST_META_ROWS or rows * columns > MOST_CELLS:
        raise FileRefused(
            f"it has {rows:,} rows of {columns:,} columns, which is more than is taken"
        )
    if groups > MOST_GROUPS:
        raise FileRefused(f"it has {groups:,} row groups; {MOST_GROUPS:,} are taken")
    names = file.schema_arrow.names
    if len(set(names)) != len(names):
        raise FileRefused("several of its columns have one name")


def _plain_field(pa: Any, field: Any) -> Any:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if _depth(pa, kind) > MOST_DEPTH:
        raise FileRefused(f"its column {field.name} nests deeper than {MOST_DEPTH} levels")
    return pa.field(field.name, kind)


def _depth(pa: Any, kind: Any) -> int:
    """How many levels of lists, maps and records a type has; so deep as is too deep, at most."""
    level, depth = [kind], 0
    while depth <= MOST_DEPTH and (
        nested := [field_type for field_type in level if pa.types.is_nested(field_type)]
    ):
        level = [
            field_type.field(place).type
            for field_type in nested
            for place in range(field_type.num_fields)
        ]
        depth += 1
    return depth


def _parts(pa: Any, batch: Any, schema: Any, number: int) -> Any:
    """The batch with plain cells, in parts none of which is large."""
    _check_cells(pa, batch, number)
    rows = max(1, min(batch.num_rows, MOST_BATCH_BYTES // max(1, _row_bytes(pa, batch))))
    for start in range(0, batch.num_rows, rows):
        part = batch.slice(start, rows)
        columns = [
            column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
            for column in part.columns
        ]
        plain = [column.cast(field.type) for column, field in zip(columns, schema, strict=True)]
        yield pa.record_batch(plain, schema=schema)


def _check_cells(pa: Any, batch: Any, number: int) -> None:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        longest = _longest_cell(pa, column)
        if longest > MOST_CELL_BYTES:
            raise FileRefused(
                f"a cell of its column {name}, in rows {number + 1:,} to {number + batch.num_rows:,}, "
                f"has {longest:,} bytes; {MOST_CELL_BYTES:,} are taken"
            )


def _row_bytes(pa: Any, batch: Any) -> int:
    """About so many bytes has a row of it, rather more than fewer."""
    rows = max(1, batch.num_rows)
    return sum(
        column.nbytes // rows + 16
        if pa.types.is_nested(column.type)
        else max(16, _longest_cell(pa, column))
        for column in batch.columns
    )


def _longest_cell(pa: Any, column: Any) -> int:
    import pyarrow.compute as untyped

    compute: Any = untyped
    if pa.types.is_nested(column.type):
        if column.nbytes <= MOST_CELL_BYTES:
            return int(column.nbytes)
        return int(max(column.slice(row, 1).nbytes for row in range(len(column))))
    cells = column.dictionary if pa.types.is_dictionary(column.type) else column
    is_text = (
        pa.types.is_string(cells.type)
        or pa.types.is_binary(cells.type)
        or pa.types.is_large_string(cells.type)
        or pa.types.is_large_binary(cells.type)
    )
    if not is_text:
        return (
            getattr(cells.type, "byte_width", 16)
            if pa.types.is_fixed_size_binary(cells.type)
            else 16
        )
    return int(compute.max(compute.binary_length(cells)).as_py() or 0)


def _say(reason: str) -> None:
    sys.stderr.write(f"{reason.splitlines()[0] if reason else 'it cannot be read'}\n")


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    try:
        main(asked["path"], asked["columns"], asked["memory_bytes"], asked["cpu_seconds"])
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
    except BrokenPipeError:
        sys.exit(0)
    except Exception as broken:  # noqa: BLE001 - whatever it is, it is said in a line
        _say(str(broken))
        is_memory = "malloc" in str(broken) or "bad_alloc" in str(broken)
        sys.exit(OUT_OF_MEMORY if is_memory else REFUSED)
