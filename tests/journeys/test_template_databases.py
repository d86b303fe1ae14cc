"""Checkouts that share a server of tests leave each other's template databases alone."""

from collections.abc import Iterator

import pytest
from django.db import connection
from psycopg.sql import SQL, Identifier

from tests import databases

pytestmark = pytest.mark.django_db


def there() -> dict[str, str | None]:
    """The templates of this test's database, by the last part of their names."""
    begins = f"template_{connection.settings_dict['NAME']}_"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT substr(datname, %s), shobj_description(oid, 'pg_database') FROM pg_database "
            "WHERE starts_with(datname, %s)",
            [len(begins) + 1, begins],
        )
        return dict(cursor.fetchall())


def said(name: str, statement: str) -> None:
    """A statement about the template that ends so."""
    whole = Identifier(f"template_{connection.settings_dict['NAME']}_{name}")
    with connection._nodb_cursor() as cursor:
        cursor.execute(SQL(statement).format(whole))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Templates are empty here, and go with the test."""
    monkeypatch.setattr(databases, "_migrate", lambda database: None)
    yield
    for name in there():
        said(name, "DROP DATABASE {}")


def ask(monkeypatch: pytest.MonkeyPatch, digest: str) -> str:
    """As a checkout whose migrations have this digest."""
    monkeypatch.setattr(databases, "_migrations_digest", lambda: digest)
    return databases.migrated_template()


def test_a_template_stays_until_nobody_asked_for_it_for_days(
    asked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(monkeypatch, "one").endswith("_one")
    ask(monkeypatch, "two")
    assert set(there()) == {"one", "two"}

    for name in ("one", "two"):
        said(name, "COMMENT ON DATABASE {} IS '2026-01-01'")
    ask(monkeypatch, "two")
    ask(monkeypatch, "three")
    assert set(there()) == {"two", "three"}
