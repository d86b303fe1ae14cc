"""Migrations lead to the same tables from wherever a database stands, or refuse in words."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from controlplane.migration_history import (
    SQUASHED_FROM,
    SQUASHED_ON,
    DatabaseTooOld,
    is_migrated,
    refuse_too_old,
)
from controlplane.postgres_programs import binaries
from tests.databases import address, other_database
from tests.journeys.installations import ROOT, CommandSaid, bare_environment
from tests.journeys.older_version import older_version

pytestmark = pytest.mark.django_db(transaction=True)

COUNTED_ANEW = {"auth_permission", "django_content_type", "django_migrations"}
"""Tables whose rows have numbers of the order in which apps come."""


@pytest.fixture
def migrated() -> Iterator[None]:
    """A copy of the tests' database, as migrated, to be changed."""
    with other_database(connection.settings_dict["NAME"]):
        yield


@pytest.fixture
def empty() -> Iterator[None]:
    """A database without a table."""
    with other_database():
        yield


def schema() -> str:
    """Return all that Postgres says of the database's tables, functions, triggers and views."""
    return re.sub(r"^\\(un)?restrict .*$", "", dumped("--schema-only"), flags=re.MULTILINE)


def rows() -> set[tuple[str, str]]:
    """Every row that there is, but numbers of what Django counts in the order of apps."""
    listed = {("", line) for line in dumped("--data-only", "--inserts").splitlines()
              if line.startswith("INSERT") and not COUNTED_ANEW & set(re.findall(r"\w+", line[:60]))}  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT app_label || '.' || model, codename FROM auth_permission"
            " JOIN django_content_type AS type ON type.id = content_type_id"
        )
        return listed | set(cursor.fetchall())


def dumped(*options: str) -> str:
    connection.close()
    command = [binaries() / "pg_dump", "--no-owner", *options, "--dbname", address()]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def migrate(*target: str) -> None:
    call_command("migrate", *target, verbosity=0, interactive=False)


def replacing() -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Each migration of ours that takes the place of others, and which."""
    disk = MigrationLoader(None).disk_migrations
    return {
        key: migration.replaces
        for key, migration in disk.items()
        if migration.replaces and type(migration).__module__.startswith("apps.")
    }


def forget_applied(*keys: tuple[str, str]) -> None:
    """Leave the database as if these had not been written down."""
    with connection.cursor() as cursor:
        for key in keys:
            cursor.execute("DELETE FROM django_migrations WHERE (app, name) = (%s, %s)", key)


def command_said(*arguments: str, home: Path) -> CommandSaid:
    """A command of this version on the database that `connection` is of."""
    environment = bare_environment(home) | {"RUNRATE_DATABASE_URL": address()}
    connection.close()
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return CommandSaid(done.returncode, done.stdout, done.stderr)


@pytest.mark.proof
def test_an_empty_database_has_what_the_commit_before_the_squash_made(tmp_path: Path) -> None:
    """Its schema to the letter, its rows, and what an upgrade from there adds is the same."""
    before = older_version(SQUASHED_FROM)
    with other_database():
        made = before.manage("migrate", database_url=address(), home=tmp_path / "old")
        assert made.returncode == 0, made.stderr
        schema_before, rows_before = schema(), rows()
        assert not is_migrated()
        refuse_too_old()
        migrate()
        assert is_migrated()
        upgraded, rows_upgraded = schema(), rows()
    with other_database():
        for app, name in replacing():
            migrate(app, name)
        for app in ("account", "contenttypes", "mfa", "pghistory", "sessions", "socialaccount"):
            migrate(app)
        squashed, rows_squashed = schema(), rows()
        migrate()
        whole, rows_whole = schema(), rows()

    assert len(schema_before.splitlines()) > 10_000
    assert squashed == schema_before
    assert rows_squashed == rows_before
    assert whole == upgraded
    assert rows_whole == rows_upgraded


def test_what_became_one_is_not_run_again_where_all_of_it_was_applied(migrated: None) -> None:
    """As a database of the commit before the squash has it: old names alone."""
    whole = schema()
    forget_applied(*replacing())
    assert not is_migrated()

    refuse_too_old()
    migrate()

    assert is_migrated()
    assert schema() == whole


def test_an_empty_database_that_was_stopped_between_two_apps_is_not_refused(empty: None) -> None:
    migrate("accounts")
    assert "fleet_node" not in connection.introspection.table_names()

    refuse_too_old()


@pytest.mark.proof
def test_an_empty_database_that_was_stopped_between_two_apps_goes_on(empty: None) -> None:
    migrate("accounts")
    migrate()
    ended = schema()

    with other_database():
        migrate()
        assert schema() == ended


def test_a_database_in_the_middle_is_refused_in_words_and_left_as_it_is(
    migrated: None, tmp_path: Path
) -> None:
    one = ("workloads", "0001_squashed_0020_runs_wrong_by_their_loss")
    forget_applied(one, replacing()[one][-1])
    before = dumped()
    for command in ("prepare", "migrate"):
        refused = command_said(command, home=tmp_path)
        assert refused.returncode == 1
        assert "Traceback" not in refused.stderr
        for words in ("12 of 13 migrations of workloads are applied", "Nothing was changed",
                      SQUASHED_FROM, SQUASHED_ON, "docs/guides/operator.md"):  # fmt: skip
            assert words in refused.stderr
    assert without_key(dumped()) == without_key(before)


def without_key(dump: str) -> str:
    return re.sub(r"^\\(un)?restrict .*$", "", dump, flags=re.MULTILINE)


def test_tables_without_the_migrations_that_made_them_are_refused(migrated: None) -> None:
    """As in a database from before an earlier squash, of which other names were written down."""
    one = ("marks", "0001_squashed_0002_divide_pass")
    forget_applied(one, *replacing()[one])
    with pytest.raises(DatabaseTooOld, match="table fleet_changedhour is there without"):
        refuse_too_old()
