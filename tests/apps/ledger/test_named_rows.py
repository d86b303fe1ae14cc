"""Rows of statements are read by the names of their columns, wherever these stand."""

from typing import NamedTuple

import pytest

from apps.ledger.queries.tables import columns_as, named_rows


class PoolSum(NamedTuple):
    """A part of a row."""

    pool_id: int
    micros: int | None


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 7 AS pool_id, NULL::int8 AS micros",
        "SELECT NULL::int8 AS micros, 'between' AS added, 7 AS pool_id",
    ],
)
def test_a_column_more_or_elsewhere_changes_nothing(statement: str) -> None:
    (row,) = named_rows(statement, {})

    assert columns_as(PoolSum)(row) == PoolSum(7, None)


@pytest.mark.django_db
def test_a_column_that_is_not_there_is_refused() -> None:
    (row,) = named_rows("SELECT 7 AS pool_id", {})

    with pytest.raises(AttributeError, match="micros"):
        columns_as(PoolSum)(row)
