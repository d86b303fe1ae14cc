"""The columns of our FOCUS files: each once, FOCUS's own before ours, and every cell has one."""

from dataclasses import replace

import pytest

from apps.economics.focus.exported import COLUMNS, FocusLevel
from apps.economics.focus.making import rows_of
from tests.economics.test_focus_making import BESIDE, JULY, NODE_HOUR, PART, PLAIN


@pytest.mark.parametrize("version", ["1.2", "1.4"])
def test_columns_of_our_own_come_after_those_of_focus(version: str) -> None:
    columns = COLUMNS[version]
    assert len({column.name for column in columns}) == len(columns)
    levels = [column.level is FocusLevel.CUSTOM for column in columns]
    assert levels == sorted(levels)
    assert [column.name.startswith("x_") for column in columns] == levels


@pytest.mark.parametrize("version", ["1.2", "1.4"])
def test_every_row_fills_what_must_not_be_empty(version: str) -> None:
    committed = replace(NODE_HOUR, commitment_id="c-1")
    rows = [
        *rows_of(NODE_HOUR, [PART], JULY),
        *rows_of(committed, [PART, PLAIN], JULY),
        *rows_of(BESIDE, [PLAIN], JULY),
        *rows_of(replace(BESIDE, kind="tax"), [PLAIN], JULY),
    ]
    for row in rows:
        for column in COLUMNS[version]:
            cell = row.get(column.name)
            assert column.may_be_null or cell is not None, column.name
            assert not column.allowed or cell is None or cell in column.allowed, column.name


def test_no_cell_is_without_a_column() -> None:
    known = {column.name for columns in COLUMNS.values() for column in columns}
    (whole,) = rows_of(replace(NODE_HOUR, commitment_id="c-1"), [PART], JULY)
    divided = list(rows_of(NODE_HOUR, [PART, PLAIN], JULY))
    for row in (whole, *divided):
        assert set(row) <= known
