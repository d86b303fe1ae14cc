"""An embedded installation moves to a Postgres of its keeper's, and back while nothing new was written."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import pytest_django
from django.db import connection
from django.test import override_settings

from apps.web.queries.table_digests import table_digests
from controlplane.copies import moving
from controlplane.copies.making import say_nothing
from controlplane.copies.moving import connected_to, move_back, move_to
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.standing import alone
from controlplane.env import environment
from controlplane.readiness import make_ready
from controlplane.settings import database_of
from tests.databases import address, kept_until_the_end, other_database
from tests.journeys.copied_world import (
    AT,
    CopiedWorld,
    installation,
    keep_upload,
    make_copied_world,
)
from tests.journeys.debians_postgres import debians_postgres
from tests.journeys.installations import FirstStart, manage
from tests.journeys.test_processes import free_port

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def world(
    django_db_setup: None,
    django_db_blocker: pytest_django.DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[CopiedWorld]:
    """An installation that moves."""
    with django_db_blocker.unblock(), kept_until_the_end():
        yield make_copied_world(tmp_path_factory.mktemp("moved"))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Its home, where its embedded database lies."""
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("18")
    with override_settings(HOME=tmp_path):
        yield tmp_path


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The address of an empty database."""
    with other_database():
        url = address()
        name = connection.settings_dict["NAME"]
        connection.close()
        connection.settings_dict["NAME"] = name.rpartition("_")[0]
        yield url
        connection.settings_dict["NAME"] = name


def test_what_moved_is_used_by_the_next_start_and_is_the_same(
    world: CopiedWorld, home: Path, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    move_to(elsewhere, installation(home), say_nothing, AT)

    assert environment({"RUNRATE_HOME": str(home)}).database_url == elsewhere
    named = {"RUNRATE_HOME": str(home), "RUNRATE_DATABASE_URL": "postgres://other/one"}
    assert environment(named).database_url == "postgres://other/one"
    assert (home / "database_url").stat().st_mode & 0o777 == 0o600
    assert table_digests() == world.digests
    with connected_to(database_of(elsewhere)):
        assert table_digests() == world.digests
        monkeypatch.delenv("RUNRATE_DATABASE_URL")
        assert "runrate" in move_back(home)
    assert environment({"RUNRATE_HOME": str(home)}).database_url == ""


def test_there_is_no_way_back_once_something_was_written(
    world: CopiedWorld, home: Path, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    move_to(elsewhere, installation(home), say_nothing, AT)
    monkeypatch.delenv("RUNRATE_DATABASE_URL")
    with connected_to(database_of(elsewhere)):
        keep_upload(b"written since")
        with pytest.raises(
            CopyRefused, match=r"something was written to .*tables ledger_billimport\)"
        ):
            move_back(home)
    assert environment({"RUNRATE_HOME": str(home)}).database_url == elsewhere


def test_there_is_no_way_back_to_an_embedded_database_that_was_deleted(
    world: CopiedWorld, home: Path, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next start would make an empty one."""
    move_to(elsewhere, installation(home), say_nothing, AT)
    shutil.rmtree(home / "postgres")
    monkeypatch.delenv("RUNRATE_DATABASE_URL")
    with (
        connected_to(database_of(elsewhere)),
        pytest.raises(CopyRefused, match="would begin with an empty one"),
    ):
        move_back(home)
    assert environment({"RUNRATE_HOME": str(home)}).database_url == elsewhere


def test_nothing_moves_where_it_cannot(
    world: CopiedWorld, home: Path, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A place that is taken, one that does not answer, and one that is none."""
    wrong = {
        address(): "the database is not empty",
        "postgres://runrate:geheim#1@localhost/runrate": "the address cannot be read",
        f"postgres://runrate:geheim@127.0.0.1:{free_port()}/runrate": "does not answer",
        "mysql://localhost/runrate": "the address must start with postgres://",
    }
    for url, words in wrong.items():
        with pytest.raises(CopyRefused, match=words) as refused:
            move_to(url, installation(home), say_nothing, AT)
        assert "geheim" not in str(refused.value)
        assert not (home / "database_url").exists()
        assert not (home / "moving.copy").exists()
    monkeypatch.delenv("RUNRATE_DATABASE_URL")
    with pytest.raises(CopyRefused, match="nothing was moved"):
        move_back(home)


def killed_before_the_switch(url: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A move that ends once everything is in the other database, before it is used."""

    def end(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(moving, "place_of", end)
        with pytest.raises(KeyboardInterrupt):
            move_to(url, installation(home), say_nothing, AT)
    assert not (home / "database_url").exists()
    with connected_to(database_of(url)):
        assert table_digests()


def test_a_move_that_was_killed_before_its_end_is_done_by_the_next(
    world: CopiedWorld, home: Path, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the installation worked on meanwhile."""
    killed_before_the_switch(elsewhere, home, monkeypatch)
    killed_before_the_switch(elsewhere, home, monkeypatch)
    move_to(elsewhere, installation(home), say_nothing, AT)
    assert environment({"RUNRATE_HOME": str(home)}).database_url == elsewhere
    with connected_to(database_of(elsewhere)):
        assert table_digests() == world.digests
    assert not (home / "moving.json").exists()


def test_the_copy_of_a_move_that_was_killed_is_deleted_by_the_next_start_and_that_is_said(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("controlplane.settings.HOME", home)
    left = home / "moving.copy", home / ".moving.copy.part"
    for path in left:
        path.write_bytes(b"x" * 2_000_000)
    with alone(home):
        # Somebody is at it: a command beside it is none of its business.
        make_ready()
    assert all(path.exists() for path in left)
    capsys.readouterr()
    make_ready()
    assert not any(path.exists() for path in left)
    assert "A move to another database was killed: its copy" in (said := capsys.readouterr().err)
    assert "(4 MB) is deleted" in said
    make_ready()
    assert "killed" not in capsys.readouterr().err


def test_what_somebody_wrote_to_the_other_database_is_not_replaced(
    world: CopiedWorld, home: Path, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what is advised can be done."""
    killed_before_the_switch(elsewhere, home, monkeypatch)
    with connected_to(database_of(elsewhere)):
        keep_upload(b"written there")
    with pytest.raises(
        CopyRefused, match=r"is not empty: .* name an empty one, or have"
    ) as refused:
        move_to(elsewhere, installation(home), say_nothing, AT)
    assert "--replace" not in str(refused.value)
    with psycopg.connect(elsewhere, autocommit=True) as server:
        server.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    move_to(elsewhere, installation(home), say_nothing, AT)


def test_there_is_no_way_back_while_the_environment_names_a_database(
    world: CopiedWorld, home: Path, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It wins over the file of the move, so that the embedded one would not be used."""
    move_to(elsewhere, installation(home), say_nothing, AT)
    monkeypatch.setenv("RUNRATE_DATABASE_URL", elsewhere)
    with (
        connected_to(database_of(elsewhere)),
        pytest.raises(CopyRefused, match="RUNRATE_DATABASE_URL names a database and wins"),
    ):
        move_back(home)
    assert (home / "database_url").exists()


@pytest.mark.proof
def test_an_installation_moves_to_debians_postgres(first_start: FirstStart, tmp_path: Path) -> None:
    """By its commands, to an older version, as a role that owns its database and no more."""
    home = first_start.copied_to(tmp_path)
    with debians_postgres() as url:
        moved = manage(home, "move_database", "-", said=f"{url}\n")
        assert moved.returncode == 0, moved.stdout + moved.stderr
        assert "every table has the digest that it had" in moved.stdout

        back = manage(home, "move_database", "--back")
        assert back.returncode == 0, back.stdout + back.stderr
        taken = manage(home, "move_database", url)
        assert taken.returncode == 1
        assert "the database is not empty" in taken.stderr
        with psycopg.connect(url, autocommit=True) as server:
            server.execute("DROP SCHEMA public CASCADE")
        assert manage(home, "move_database", url).returncode == 0

        team = "from apps.accounts.actions import add_team; add_team(name='New', parent_id=None)"
        written = manage(home, "shell", "-c", team)
        assert written.returncode == 0, written.stderr
        with psycopg.connect(url) as server:
            rows = server.execute("SELECT name FROM accounts_team WHERE name = 'New'").fetchall()
            assert rows == [("New",)]
        late = manage(home, "move_database", "--back")
        assert late.returncode == 1
        assert "something was written to runrate@127.0.0.1" in late.stderr

        copy = tmp_path / "debian.copy"
        assert manage(home, "backup", str(copy)).returncode == 0
        replaced = manage(home, "restore", str(copy), "--replace")
        assert replaced.returncode == 0, replaced.stderr
        assert "the ledger adds up" in replaced.stdout
