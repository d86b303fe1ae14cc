"""Migrations lead to the same tables from wherever a database stands."""

from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.db import connection
from psycopg.sql import SQL, Identifier

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.proof]

BACK = {"workloads": "0010", "ledger": "0018", "fleet": "0010", "telemetry": "0002"}
"""As far as each can be taken back: before what its operations change together."""
SCHEMA = """
SELECT table_name, column_name, concat_ws(' ', data_type, is_nullable, column_default)
FROM information_schema.columns WHERE table_schema = 'public'
UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid)
FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT viewname, '', definition FROM pg_views WHERE schemaname = 'public'
UNION ALL SELECT proname, '', prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
"""


@pytest.fixture
def elsewhere() -> Iterator[None]:
    """A copy of the tests' database, as migrated, to be changed."""
    before = connection.settings_dict["NAME"]
    connection.close()
    name = f"{before}_migrations"
    drop = SQL("DROP DATABASE IF EXISTS {}").format(Identifier(name))
    with connection._nodb_cursor() as cursor:
        cursor.execute(drop)
        copy = SQL("CREATE DATABASE {} TEMPLATE {}")
        cursor.execute(copy.format(Identifier(name), Identifier(before)))
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before
        with connection._nodb_cursor() as cursor:
            cursor.execute(drop)


def schema() -> set[tuple[str, str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(SCHEMA)
        return set(cursor.fetchall())


def test_what_is_taken_back_is_done_again_alike(elsewhere: None) -> None:
    whole = schema()
    for app, name in BACK.items():
        call_command("migrate", app, name, verbosity=0, interactive=False)
    assert len(whole - schema()) > 100

    call_command("migrate", verbosity=0, interactive=False)

    assert schema() == whole
