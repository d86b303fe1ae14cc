"""An upgrade ends in the new, proved, or in what was there before."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_django
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations import Migration, RunSQL
from django.db.migrations.loader import MigrationLoader
from django.test import override_settings

from apps.web.queries.table_digests import table_digests
from controlplane.copies import upgrading
from controlplane.copies.fitting import RestoreWanted
from controlplane.copies.making import say_nothing
from controlplane.copies.proving import prove_ledger, why_not_proved
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.restoring import restore_copy
from controlplane.copies.upgrading import (
    GOING_BACK,
    MIGRATING,
    UpgradeFailed,
    begin_upgrade,
    finish_upgrade,
    schema_age,
    upgrade_note,
)
from controlplane.ledger_audit import audit
from tests.databases import kept_until_the_end, other_database
from tests.journeys.copied_world import AT, CopiedWorld, installation, make_copied_world

pytestmark = pytest.mark.django_db(transaction=True)
NEXT = ("marks", "0999_of_a_test")


@pytest.fixture(scope="module")
def world(
    django_db_setup: None,
    django_db_blocker: pytest_django.DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[CopiedWorld]:
    """An installation of this version; tests upgrade databases like its own."""
    with django_db_blocker.unblock(), kept_until_the_end():
        yield make_copied_world(tmp_path_factory.mktemp("upgraded"))


@pytest.fixture
def home(tmp_path: Path, world: CopiedWorld) -> Iterator[Path]:
    """The home of an installation like it, with a database of its own."""
    with override_settings(HOME=tmp_path), other_database(connection.settings_dict["NAME"]):
        yield tmp_path


@pytest.fixture
def next_migration(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """This version has one more migration, of these statements."""

    def add(statements: str, **given: Any) -> None:
        last = list(MigrationLoader(None).graph.leaf_nodes("marks"))
        operations = [RunSQL(statements)]
        made = type("Migration", (Migration,), {"dependencies": last, "operations": operations, **given})  # fmt: skip
        load = MigrationLoader.load_disk

        def load_with_next(self: MigrationLoader) -> None:
            load(self)
            self.disk_migrations[NEXT] = made(NEXT[1], NEXT[0])

        monkeypatch.setattr(MigrationLoader, "load_disk", load_with_next)

    return add


def upgrade(home: Path) -> None:
    begin_upgrade(installation(home), schema_age().lacking, say_nothing, AT)
    finish_upgrade(home, say_in_vain, say_nothing)


def say_in_vain(words: str) -> None:
    """Tell nobody."""


def is_applied() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_migrations WHERE name = %s", [NEXT[1]])
        return bool(cursor.fetchone()[0])


def test_what_this_version_brings_is_applied_after_a_copy(
    home: Path, next_migration: Callable[..., None]
) -> None:
    next_migration("CREATE TABLE of_a_test (id int); ALTER TABLE ledger_charge ADD of_a_test int")
    before = table_digests()
    assert schema_age().lacking == ("marks.0999_of_a_test",)

    upgrade(home)

    assert is_applied()
    assert upgrade_note(home) is None
    assert len(list((home / "upgrades").glob("before-*.copy"))) == 1
    assert table_digests(["accounts_team"])["accounts_team"] == before["accounts_team"]


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        (
            "ALTER TABLE ledger_charge DISABLE TRIGGER USER;"
            "UPDATE ledger_charge SET reason = reason || chr(33)",
            "ledger_charge is not what it was, and no migration says that it changes it",
        ),
        ("ALTER TABLE ledger_export RENAME TO gone", "ledger_export is not what it was"),
    ],
)  # fmt: skip
def test_what_changes_the_ledger_goes_back_to_the_copy(
    statements: str, reason: str, home: Path, next_migration: Callable[..., None]
) -> None:
    before = table_digests()
    next_migration(statements)
    with pytest.raises(UpgradeFailed, match=reason):
        upgrade(home)

    assert table_digests() == before
    assert not is_applied()
    with pytest.raises(UpgradeFailed, match="the last upgrade went back to the copy"):
        finish_upgrade(home, say_in_vain, say_nothing)


def test_what_fails_goes_back_past_what_others_built_and_says_what_it_drops(
    home: Path, next_migration: Callable[..., None]
) -> None:
    """Refused, as a restore is, the database would stay half migrated."""
    before, said = table_digests(), list[str]()
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE SCHEMA elsewhere; CREATE VIEW elsewhere.people AS SELECT email FROM accounts_user"
        )
    next_migration("SELECT 1 / 0")
    begin_upgrade(installation(home), schema_age().lacking, say_nothing, AT)
    with pytest.raises(UpgradeFailed, match="a migration failed: DataError: division by zero"):
        finish_upgrade(home, said.append, say_nothing)
    assert table_digests() == before
    assert [words for words in said if "view elsewhere.people" in words]
    assert not is_applied()
    with pytest.raises(UpgradeFailed, match="the last upgrade went back to the copy"):
        finish_upgrade(home, say_in_vain, say_nothing)


def test_a_migration_may_change_the_ledger_where_it_says_so(
    home: Path, next_migration: Callable[..., None]
) -> None:
    next_migration(
        "ALTER TABLE ledger_export RENAME failure TO why_it_failed",
        rewrites_ledger=("ledger_export",),
    )
    upgrade(home)
    assert is_applied()


def test_an_upgrade_that_was_killed_while_it_migrated_goes_on(
    home: Path, next_migration: Callable[..., None]
) -> None:
    """The next start does the rest, and does it once."""
    next_migration("CREATE TABLE of_a_test (id int)")
    begin_upgrade(installation(home), schema_age().lacking, say_nothing, AT)
    note = upgrade_note(home)
    assert note is not None
    assert note.phase == MIGRATING

    assert finish_upgrade(home, say_in_vain, say_nothing)
    assert is_applied()
    assert not finish_upgrade(home, say_in_vain, say_nothing)


def test_an_upgrade_that_was_killed_while_it_went_back_goes_on_back(
    home: Path, next_migration: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = table_digests()
    next_migration("SELECT 1 / 0")

    def killed(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(upgrading, "restore_copy", killed)
        with pytest.raises(KeyboardInterrupt):
            upgrade(home)
    note = upgrade_note(home)
    assert note is not None
    assert note.phase == GOING_BACK
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE halfway (id int)")

    with pytest.raises(UpgradeFailed, match="division by zero"):
        finish_upgrade(home, say_in_vain, say_nothing)
    assert table_digests() == before


def test_a_lost_copy_is_said(home: Path, next_migration: Callable[..., None]) -> None:
    next_migration("SELECT 1 / 0")
    path = begin_upgrade(installation(home), schema_age().lacking, say_nothing, AT)
    path.unlink()
    with pytest.raises(CopyRefused, match=r"division by zero.*cannot be read: No such file"):
        finish_upgrade(home, say_in_vain, say_nothing)


def test_the_command_says_that_there_is_nothing_to_do(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controlplane.management.commands.upgrade.HOME", home)
    call_command("upgrade")
    assert "Nothing to do: the database is of Runrate" in capsys.readouterr().out
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('ledger', '9999_later', now())")  # fmt: skip
    with pytest.raises(CommandError, match=r"newer Runrate: .* ledger.9999_later"):
        call_command("upgrade", "--plan")


def test_a_database_in_the_middle_of_an_upgrade_is_not_copied(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is neither the version before nor this one."""
    begin_upgrade(installation(home), schema_age().lacking, say_nothing, AT)
    note = json.loads((home / "upgrade.json").read_text())
    monkeypatch.setattr("controlplane.copies.of_settings.HOME", home)
    for phase in (MIGRATING, GOING_BACK):
        (home / "upgrade.json").write_text(json.dumps(note | {"phase": phase}))
        with pytest.raises(CommandError, match="No copy was made: an upgrade is under way, or was"):
            call_command("backup", str(home / "copy"))
        assert not (home / "copy").exists(), phase


def test_failures_without_a_place_are_counted_in_words() -> None:
    """Places beyond those that are listed are counted alone."""
    failed = replace(audit(), failures=3, places=())
    assert why_not_proved(failed) == "the ledger does not add up in 3 places"
    assert why_not_proved(replace(failed, failures=0)) is None


def test_a_copy_is_migrated_by_what_changes_rows_and_then_their_table(
    world: CopiedWorld, tmp_path: Path, next_migration: Callable[..., None]
) -> None:
    """In the transaction that loaded them."""
    next_migration(
        "ALTER TABLE fleet_node ADD of_a_test int;"
        "UPDATE fleet_node SET of_a_test = 1;"
        "ALTER TABLE fleet_node ALTER of_a_test SET NOT NULL"
    )
    with override_settings(HOME=tmp_path), other_database(), world.path.open("rb") as source:
        restored = restore_copy(source, tmp_path, RestoreWanted(), say_nothing, prove_ledger)
        assert restored.migrated == ("marks.0999_of_a_test",)
        assert table_digests(["fleet_node"])["fleet_node"].rows
