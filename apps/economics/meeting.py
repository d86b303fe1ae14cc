"""Two divisions of the same time put into one table, by the minutes in which they met."""

from collections.abc import Hashable, Mapping, Sequence
from operator import mul
from typing import TypeVar

from apps.economics.minutes import Minutes

Row = TypeVar("Row", bound=Hashable)
Column = TypeVar("Column", bound=Hashable)

MOST_ROUNDS = 200
NEAR = 1e-9
"""Of the whole; sums this near are taken for equal."""
LOOSE = 1e-3
"""What minutes that contradict the sums are trusted less than wholly: this part of any cell."""
BILLION = 10**9

Table = list[list[float]]


def met_weights(
    rows: Mapping[Row, int],
    columns: Mapping[Column, int],
    row_minutes: Mapping[Row, Minutes],
    column_minutes: Mapping[Column, Minutes],
) -> dict[Row, dict[Column, int]]:
    """For each row, by what it is divided over the columns; whole numbers, a billion in all.

    `rows` and `columns` are two divisions of the same time, in any units (states of GPUs and what a
    run was doing). How much of a row lies in a column is taken from the minutes that both took, and
    brought to the sums of both by iterative proportional fitting (Deming and Stephan, 1940): rows
    keep their sums exactly, columns as near as their minutes allow. Where minutes say nothing of a
    row or column, or contradict the sums, it is divided as the whole is.
    """
    wanted_rows = _as_parts(list(rows.values()))
    wanted_columns = _as_parts(list(columns.values()))
    even = [[row * column for column in wanted_columns] for row in wanted_rows]
    met = [
        _time_met(row_minutes.get(row), column_minutes.get(column))
        for row in rows
        for column in columns
    ]
    width = len(columns)
    seed = [met[at : at + width] for at in range(0, len(met), width)]
    _fill_silent(seed, even)
    table, is_near = _fit_sums(seed, wanted_rows, wanted_columns)
    if not is_near:
        total = sum(map(sum, seed))
        mixed = [
            [cell / total + LOOSE * flat for cell, flat in zip(*both, strict=True)]
            for both in zip(seed, even, strict=True)
        ]
        table, _ = _fit_sums(mixed, wanted_rows, wanted_columns)
    return {
        row: {
            column: round(cell * BILLION)
            for column, cell in zip(columns, _as_parts(of), strict=True)
        }
        for row, of in zip(rows, table, strict=True)
    }


def _as_parts(amounts: Sequence[float]) -> list[float]:
    total = sum(amounts)
    return [amount / total for amount in amounts]


def _time_met(one: Minutes | None, other: Minutes | None) -> float:
    return 0.0 if one is None or other is None else float(sum(map(mul, one, other)))


def _fill_silent(seed: Table, even: Table) -> None:
    """Rows and columns of which no minute tells are divided as the whole is."""
    total = sum(map(sum, seed)) or 1.0
    silent = [
        place
        for place, column in enumerate(zip(*seed, strict=True))
        if not any(column) and any(row[place] for row in even)
    ]
    for row, flat in zip(seed, even, strict=True):
        places = silent if any(row) else range(len(row))
        for place in places:
            row[place] = flat[place] * total


def _fit_sums(seed: Table, rows: Sequence[float], columns: Sequence[float]) -> tuple[Table, bool]:
    """The table with these sums of rows, and whether its columns' sums are near what they shall be."""
    table = [list(row) for row in seed]
    for _ in range(MOST_ROUNDS):
        column_sums = [sum(column) for column in zip(*table, strict=True)]
        scale = [
            want / have if have else 0.0 for want, have in zip(columns, column_sums, strict=True)
        ]
        table = [list(map(mul, row, scale)) for row in table]
        for place, want in enumerate(rows):
            have = sum(table[place])
            table[place] = [cell * want / have if have else 0.0 for cell in table[place]]
        off = [
            abs(sum(column) - want)
            for column, want in zip(zip(*table, strict=True), columns, strict=True)
        ]
        if max(off) < NEAR:
            return table, all(map(any, table))
    return table, False
