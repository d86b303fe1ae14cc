"""The digest of a table is of its rows' values alone: not of their order, their columns' order, or the session."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from apps.web.queries.table_digests import (
    TableDigest,
    table_columns,
    table_digest,
    table_digests,
    write_values_alike,
)
from controlplane.ledger_audit import ledger_tables
from tests.planted import undone

pytestmark = pytest.mark.django_db

NAMES = ("amount", "at", "code", "name", "ratio")
TYPES = {"amount": "int8", "at": "timestamptz", "code": "bytea", "name": "text", "ratio": "float8"}
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
moments = st.integers(0, 10**9).map(
    lambda n: datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=n)
)
rows = st.lists(
    st.tuples(
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | moments,
        st.none() | st.binary(max_size=4),
        st.none() | text,
        st.none() | st.floats(allow_nan=False),
    ),
    max_size=8,
)  # fmt: skip


def digest_of(
    table_rows: Sequence[tuple[Any, ...]],
    order: Sequence[str] = NAMES,
    wanted: Sequence[str] = NAMES,
    zone: str = "UTC",
) -> TableDigest:
    """The digest of a table that has these rows, its columns in this order, asked for in a session of this zone."""
    with undone(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL timezone = '{zone}'")
        cursor.execute("SET LOCAL extra_float_digits = -3")
        cursor.execute(f"CREATE TABLE digested ({', '.join(f'{n} {TYPES[n]}' for n in order)})")
        columns = ", ".join(NAMES)
        cursor.executemany(
            f"INSERT INTO digested ({columns}) VALUES (%s, %s, %s, %s, %s)",  # noqa: S608  # names of our own
            table_rows,
        )
        write_values_alike(cursor)
        return table_digest(cursor, "digested", wanted)


@given(rows, st.permutations(NAMES), st.sampled_from(["UTC", "Asia/Kolkata"]), st.randoms())
def test_order_of_rows_and_columns_and_the_session_change_nothing(
    table_rows: list[tuple[Any, ...]], order: list[str], zone: str, random: Any
) -> None:
    digest = digest_of(table_rows)
    shuffled = random.sample(table_rows, len(table_rows))

    assert digest_of(shuffled, order, order, zone) == digest
    assert digest.rows == len(table_rows)


@given(rows.filter(bool), st.data())
def test_any_other_value_and_any_row_more_or_less_changes_it(
    table_rows: list[tuple[Any, ...]], data: Any
) -> None:
    place = data.draw(st.integers(0, len(table_rows) - 1))
    column = data.draw(st.integers(0, len(NAMES) - 1))
    other = data.draw(st.just(rows).flatmap(lambda drawn: drawn.filter(bool)))[0]
    row = table_rows[place]
    changed = (*row[:column], other[column], *row[column + 1 :])
    digest = digest_of(table_rows)

    altered = [*table_rows[:place], changed, *table_rows[place + 1 :]]
    assert (digest_of(altered) == digest) == (repr(changed) == repr(row))
    assert digest_of([*table_rows, row]) != digest
    assert digest_of(table_rows[1:]) != digest


def test_values_never_run_into_each_other() -> None:
    """What is in one column is not in the next, and nothing is not the empty text."""
    first = [(None, None, None, 'a","b', None), (1, None, None, "", None)]
    others = [
        [(None, None, None, "a", None), (1, None, None, '","b', None)],
        [(None, None, None, 'a","b', None), (1, None, None, None, None)],
        [(None, None, None, "", None), (1, None, None, 'a","b', None)],
    ]
    assert len({digest_of(table).digest for table in (first, *others)}) == 4


def test_some_columns_have_a_digest_that_a_new_column_does_not_change() -> None:
    """So that an upgrade that adds one can be held against what was there."""
    table = [(1, None, b"x", "a", 0.1), (2, None, b"y", "b", 0.2)]
    recoded = [(*row[:2], b"z", *row[3:]) for row in table]
    old = [name for name in NAMES if name != "code"]

    assert digest_of(table, wanted=old) == digest_of(recoded, wanted=old)
    assert digest_of(table) != digest_of(recoded)


def test_only_the_rows_that_are_asked_for_count() -> None:
    with undone(), connection.cursor() as cursor:
        cursor.execute("CREATE TABLE digested (month int, amount int)")
        cursor.execute("INSERT INTO digested VALUES (9, 1), (9, 2), (10, 3)")
        write_values_alike(cursor)
        columns = table_columns(cursor)["digested"]
        september = table_digest(cursor, "digested", columns, where="month = 9")
        cursor.execute("UPDATE digested SET amount = 4 WHERE month = 10")
        assert table_digest(cursor, "digested", columns, where="month = 9") == september
        cursor.execute("UPDATE digested SET amount = 5 WHERE amount = 2")
        assert table_digest(cursor, "digested", columns, where="month = 9") != september


def test_every_table_has_one_and_partitions_are_of_their_table() -> None:
    digests = table_digests()

    assert {"ledger_charge", "ledger_line", "ledger_runday", "accounts_team"} <= set(digests)
    assert not [name for name in digests if name.startswith("ledger_line_20")]
    assert {"ledger_charge", "ledger_line", "ledger_runday"} <= ledger_tables()
    assert set(table_digests(["ledger_line"])) == {"ledger_line"}
