"""Windows as the bytes of a binary COPY, a whole column at a time."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import DTypeLike, NDArray

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
# Postgres counts its microseconds from 2000-01-01.
EPOCH_MS = 946_684_800_000
# Postgres 18 buffers up to 1,000 rows of a COPY and notes each where finding room takes the longer
# the more there are: 1,000 rows cost it a quarter more in one COPY than in four.
MOST_ROWS = 250

Rows = slice | NDArray[np.bool_]
Values = NDArray[np.generic] | int
Kinds = tuple[tuple[str, str], ...]


def binary_copies(
    kinds: Kinds, columns: Mapping[str, Values], nullable: Sequence[str], count: int
) -> list[bytes]:
    """`count` rows as the bodies of one or more `COPY … (FORMAT BINARY)`, to be done in a row.

    `kinds` names each column in the order of the COPY with its numpy kind in network order
    (">i8"). NaN in a `nullable` column becomes NULL. Rows with the same columns NULL are equally
    long, so each such group is built as one array.
    """
    pieces = []
    for mask, rows in _groups_by_nulls([columns[name] for name in nullable], count):
        absent = frozenset(name for bit, name in enumerate(nullable) if mask >> bit & 1)
        raw = _packed_group(kinds, columns, absent, rows)
        pieces += [raw[first : first + MOST_ROWS] for first in range(0, len(raw), MOST_ROWS)]
    return [
        b"".join((HEADER, *(piece.tobytes() for piece in copy), TRAILER))
        for copy in _copy_bodies(pieces)
    ]


def joined_copy(copies: Sequence[bytes]) -> bytes:
    """The bodies of several COPYs, as `binary_copies` makes them, as the body of one."""
    rows = [copy[len(HEADER) : -len(TRAILER)] for copy in copies]
    return b"".join((HEADER, *rows, TRAILER))


def _copy_bodies(pieces: Sequence[NDArray[np.uint8]]) -> list[list[NDArray[np.uint8]]]:
    """Neighbours together, as many as one COPY should hold; no row at all is one COPY too."""
    copies: list[list[NDArray[np.uint8]]] = [[]]
    for piece in pieces:
        if sum(map(len, copies[-1])) + len(piece) > MOST_ROWS:
            copies.append([])
        copies[-1].append(piece)
    return copies


def _groups_by_nulls(nullable: Sequence[Values], count: int) -> list[tuple[int, Rows]]:
    """Return which columns are NULL, as bits, and the rows in which exactly they are."""
    bits = 1 << np.arange(len(nullable))
    masks = bits @ np.isnan(np.array(nullable)) if count else np.zeros(0, np.intp)
    if count and (masks == masks[0]).all():
        return [(int(masks[0]), slice(None))]
    return [(mask, masks == mask) for mask in np.unique(masks).tolist()]


def _packed_group(
    kinds: Kinds, columns: Mapping[str, Values], absent: frozenset[str], rows: Rows
) -> NDArray[np.uint8]:
    layout, template = _row_layout(kinds, absent)
    named = [name for name, _ in kinds if name not in absent]
    column_values = {
        name: values if isinstance(values := columns[name], int) else values[rows] for name in named
    }
    count = max(values.size for values in column_values.values() if not isinstance(values, int))
    raw = np.empty((count, template.size), np.uint8)
    raw[:] = template
    fields = raw.view(layout)[:, 0]
    for name in named:
        fields[name] = column_values[name]
    return raw


@lru_cache(maxsize=256)
def _row_layout(
    kinds: Kinds, absent: frozenset[str]
) -> tuple[np.dtype[np.void], NDArray[np.uint8]]:
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
