"""Windows as the bytes of a binary COPY, a whole column at a time."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import DTypeLike, NDArray

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
# Postgres counts its microseconds from 2000-01-01.
EPOCH_MS = 946_684_800_000

Rows = NDArray[np.intp]
Values = NDArray[np.generic] | int
Kinds = tuple[tuple[str, str], ...]


def binary_rows(
    kinds: Kinds, columns: Mapping[str, Values], nullable: Sequence[str], count: int
) -> bytes:
    """`count` rows in the format of `COPY … (FORMAT BINARY)`, header and trailer included.

    `kinds` names each column in the order of the COPY with its numpy kind in network order
    (">i8"). NaN in a `nullable` column becomes NULL. Rows with the same columns NULL are equally
    long, so each such group is built as one array.
    """
    parts = [HEADER]
    for mask, rows in _groups([columns[name] for name in nullable], count):
        absent = frozenset(name for bit, name in enumerate(nullable) if mask >> bit & 1)
        parts.append(_group(kinds, columns, absent, rows))
    parts.append(TRAILER)
    return b"".join(parts)


def _groups(nullable: Sequence[Values], count: int) -> Iterator[tuple[int, Rows]]:
    """Which columns are NULL, as bits, and the rows in which exactly they are."""
    masks = np.zeros(count, np.int64)
    for bit, column in enumerate(nullable):
        masks |= np.isnan(column).astype(np.int64) << bit
    if count and (masks == masks[0]).all():
        yield int(masks[0]), np.arange(count)
        return
    for mask in np.unique(masks).tolist():
        yield mask, np.flatnonzero(masks == mask)


def _group(
    kinds: Kinds, columns: Mapping[str, Values], absent: frozenset[str], rows: Rows
) -> bytes:
    layout, template = _layout(kinds, absent)
    raw = np.empty((rows.size, template.size), np.uint8)
    raw[:] = template
    fields = raw.view(layout)[:, 0]
    for name, _ in kinds:
        if name not in absent:
            values = columns[name]
            fields[name] = values if isinstance(values, int) else values[rows]
    return raw.tobytes()


@lru_cache(maxsize=256)
def _layout(kinds: Kinds, absent: frozenset[str]) -> tuple[np.dtype[np.void], NDArray[np.uint8]]:
    """The shape of a row and the bytes all rows share: the field count and each length."""
    shape: list[tuple[str, DTypeLike]] = [("fields", ">i2")]
    for name, kind in kinds:
        shape.append((f"{name} length", ">i4"))
        if name not in absent:
            shape.append((name, kind))
    layout = np.dtype(shape)
    row = np.zeros(1, layout)
    row["fields"] = len(kinds)
    for name, kind in kinds:
        row[f"{name} length"] = -1 if name in absent else np.dtype(kind).itemsize
    return layout, row.view(np.uint8)
