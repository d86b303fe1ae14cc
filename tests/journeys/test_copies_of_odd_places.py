"""Copies of servers, to places and with secrets that are not as one expects: refused in words, or brought back all the same."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import pytest_django
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.test import override_settings
from psycopg.sql import SQL, Identifier

from apps.accounts.models import Team
from apps.web.queries.table_digests import table_digests
from controlplane.copies.contents import begin_reading
from controlplane.copies.fitting import RestoreWanted
from controlplane.copies.making import make_copy, say_nothing
from controlplane.copies.proving import prove_ledger
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.restoring import restore_copy
from controlplane.copies.server import Server, schema_statements
from controlplane.copies.standing import see_that_nobody_works
from controlplane.env import BadEnvironment
from controlplane.settings import database_of
from tests.databases import kept_until_the_end, other_database
from tests.journeys.copied_world import AT, CopiedWorld, installation, make_copied_world
from tests.journeys.test_processes import free_port

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def world(
    django_db_setup: None,
    django_db_blocker: pytest_django.DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[CopiedWorld]:
    """An installation and its copy."""
    with django_db_blocker.unblock(), kept_until_the_end():
        yield make_copied_world(tmp_path_factory.mktemp("copied"))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """The home of the installation that a copy is brought back to."""
    (tmp_path / "restored").mkdir()
    with override_settings(HOME=tmp_path / "restored"):
        yield tmp_path / "restored"


def test_a_pipe_or_a_device_stays_what_it_is(world: CopiedWorld, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CopyRefused, match="is a device or a pipe"):
        make_copy(installation(tmp_path), tmp_path / "pipe", say_nothing, AT)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("copy", "cannot be the copy and its secrets both"),
        ("../folder/copy", "cannot be the copy and its secrets both"),
        ("gone/secrets", "for the secrets, is no folder"),
        (".", "is there and is no file"),
    ],
)
def test_secrets_take_no_place_that_is_not_theirs(place: str, words: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "copy").write_bytes(b"the one before")
    with pytest.raises(CommandError, match=f"No copy was made: .*{words}"):
        call_command("backup", str(folder / "copy"), "--secrets", str(folder / place))
    assert (folder / "copy").read_bytes() == b"the one before"


def test_a_role_with_little_time_makes_a_copy(world: CopiedWorld, home: Path) -> None:
    """Of a database whose keeper ends long statements; some here take longer than five milliseconds."""
    database = Identifier(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        cursor.execute(SQL("ALTER DATABASE {} SET statement_timeout = '5ms'").format(database))
    try:
        made = make_copy(installation(home), home / "copy", say_nothing, AT)
    finally:
        with connection.cursor() as cursor:
            cursor.execute(SQL("ALTER DATABASE {} RESET statement_timeout").format(database))
    assert made.size


def test_letters_come_back_whatever_the_shell_is_set_to(
    world: CopiedWorld, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with other_database(connection.settings_dict["NAME"]):
        Team.objects.filter(name="Platform").update(name="Größe é")
        digests = table_digests()
        monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
        make_copy(installation(home), home / "copy", say_nothing, AT)
    monkeypatch.delenv("PGCLIENTENCODING")
    with other_database(), (home / "copy").open("rb") as source:
        restore_copy(source, home, RestoreWanted(), say_nothing, prove_ledger)
        assert table_digests() == digests


def test_a_bucket_that_does_not_answer_is_said_of_a_copy_of_its_files(
    world: CopiedWorld, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not the copy's place that cannot be written."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with (
        override_settings(FILES="s3://nobody/there"),
        pytest.raises(CopyRefused, match=r"files cannot be read: .+"),
    ):
        make_copy(installation(home), home / "copy", say_nothing, AT)
    assert not (home / "copy").exists()


def test_a_shell_that_asks_for_tls_everywhere_hinders_no_copy_over_a_socket(
    world: CopiedWorld, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is encrypted; the program that comes with Runrate refuses the word alone."""
    monkeypatch.setenv("PGSSLMODE", "require")
    assert make_copy(installation(home), home / "copy", say_nothing, AT).size


@pytest.mark.parametrize(
    ("variable", "elsewhere", "said"),
    [
        ("PGPORT", "1", "port=5432"),
        ("PGTARGETSESSIONATTRS", "standby", "target_session_attrs=any"),
    ],
)
def test_what_an_address_says_wins_over_the_shell_where_it_is_what_libpq_takes_by_itself_too(
    variable: str, elsewhere: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, _, value = said.partition("=")
    chosen = Server.of_settings(connection.settings_dict).parameters
    monkeypatch.setenv(variable, elsewhere)
    with closing(Server({**chosen, key: value}).connect()) as reading:
        cursor = reading.cursor()
        snapshot = begin_reading(cursor)
        assert "CREATE TABLE public.accounts_team" in schema_statements(
            reading, "pre-data", snapshot
        )


def test_the_key_of_another_installation_is_refused(world: CopiedWorld, home: Path) -> None:
    """It would take the place of the one that opens what the copy sealed."""
    (home / "secret_key").write_text("its own")
    wanted = RestoreWanted(secret_key="of another")
    with other_database(), world.path.open("rb") as source:
        with pytest.raises(CopyRefused, match="the file of secrets is not of this copy"):
            restore_copy(source, home, wanted, say_nothing, prove_ledger)
        assert connection.introspection.table_names() == []
    assert (home / "secret_key").read_text() == "its own"


@contextmanager
def limited_role() -> Iterator[str]:
    """A role that sees no more of others' connections than that they are there."""
    name = f"limited_{secrets.token_hex(3)}"
    with connection.cursor() as cursor:
        cursor.execute(SQL("CREATE ROLE {}").format(Identifier(name)))
    try:
        yield name
    finally:
        with connection.cursor() as cursor:
            cursor.execute(SQL("DROP ROLE {}").format(Identifier(name)))


def test_a_role_that_is_no_superuser_sees_that_others_work() -> None:
    with limited_role() as name, connection.cursor() as cursor:
        cursor.execute(SQL("SET ROLE {}").format(Identifier(name)))
        try:
            see_that_nobody_works(cursor)
            beside = connections["default"].copy()
            with beside.cursor() as other:
                other.execute("SELECT 1")
                with pytest.raises(CopyRefused, match="has connections besides this one"):
                    see_that_nobody_works(cursor)
            beside.close()
        finally:
            cursor.execute("RESET ROLE")


@pytest.mark.parametrize("password", ["pa#ss", "pa/ss", "pa?ss", "p[a]ss"])
def test_a_password_that_breaks_its_address_is_not_repeated(password: str) -> None:
    with pytest.raises(BadEnvironment, match="written as %23") as refused:
        database_of(f"postgres://runrate:{password}@db.example.org/runrate")
    assert password[:2] not in str(refused.value).replace("password", "")
    assert refused.value.__cause__ is None
