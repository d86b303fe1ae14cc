"""A restore in a database in which others have something: their grants and extensions stay, and what fails late is said as it is."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import pytest_django
from django.db import OperationalError, connection
from django.test import override_settings
from psycopg.sql import SQL, Identifier

from apps.files import list_files
from apps.web.queries.table_digests import table_digests
from controlplane.copies.finishing import RestoreUnfinished
from controlplane.copies.fitting import RestoreWanted
from controlplane.copies.making import make_copy, say_nothing
from controlplane.copies.proving import prove_ledger
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.restoring import Restored, restore_copy
from tests.databases import kept_until_the_end, other_database
from tests.journeys.copied_world import AT, CopiedWorld, installation, make_copied_world
from tests.journeys.test_migrations import command_said
from tests.journeys.test_processes import free_port

pytestmark = pytest.mark.django_db(transaction=True)
EXTENDED = (
    "CREATE EXTENSION vector SCHEMA public",
    "CREATE TABLE public.of_vector (id int)",
    "ALTER EXTENSION vector ADD TABLE public.of_vector",
)
"""An extension with a table, in `public`."""
GRANTED = """
SELECT relname, grantee::regrole::text, privilege_type, is_grantable FROM pg_class, aclexplode(relacl)
 WHERE relnamespace = 'public'::regnamespace AND grantee <> relowner ORDER BY 1
"""
AS_IT_IS, REPLACING = RestoreWanted(), RestoreWanted(replaces=True)


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


def restore(path: Path, home: Path, wanted: RestoreWanted = AS_IT_IS) -> Restored:
    with path.open("rb") as source:
        return restore_copy(source, home, wanted, say_nothing, prove_ledger)


def run(*statements: str) -> list[tuple[object, ...]]:
    """Run these; the rows of the last."""
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def roles(*names: str) -> Iterator[list[str]]:
    """Roles of these names and something after, dropped at the end."""
    made = [f"{name}_{secrets.token_hex(3)}" for name in names]
    run(*(f"CREATE ROLE {name}" for name in made))
    try:
        yield made
    finally:
        run(*(f"DROP ROLE {name}" for name in made))


@contextmanager
def database_of_keeper(keeper: str, *, has_extension: bool = True) -> Iterator[None]:
    """An empty database, owned by a role that may do no more; an extension of the server's keeper may be in it."""
    with other_database():
        name = Identifier(connection.settings_dict["NAME"])
        if has_extension:
            run(*EXTENDED)
        with connection.cursor() as cursor:
            cursor.execute(SQL("ALTER DATABASE {} OWNER TO {}").format(name, Identifier(keeper)))
        connection.close()
        options = connection.settings_dict["OPTIONS"]
        connection.settings_dict["OPTIONS"] = {**options, "options": f"-c role={keeper}"}
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict["OPTIONS"] = options


def test_a_role_that_owns_its_database_alone_restores_beside_an_extension_of_another(
    world: CopiedWorld, home: Path
) -> None:
    """Which it may neither move nor drop; what the extension made is neither counted, copied nor replaced."""
    with roles("keeper") as (keeper,), database_of_keeper(keeper):
        restore(world.path, home)
        restore(world.path, home, REPLACING)

        assert table_digests() == world.digests
        assert run("SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'") == [("public",)]  # fmt: skip
        assert run("SELECT to_regclass('public.of_vector') IS NOT NULL") == [(True,)]
        assert run("SELECT to_regnamespace('runrate_replaced')") == [(None,)]

        again = make_copy(installation(home), home / "again", say_nothing, AT)
        assert again.digests == {name: each.digest for name, each in world.digests.items()}


def test_an_extension_goes_along_where_that_is_allowed(world: CopiedWorld, home: Path) -> None:
    with other_database():
        run(*EXTENDED)
        restore(world.path, home)
        restore(world.path, home, REPLACING)
        assert table_digests() == world.digests
        assert run("SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'") == [("public",)]  # fmt: skip


@pytest.mark.parametrize("has_extension", [True, False])
def test_what_others_were_granted_they_have_after_a_restore(
    has_extension: bool, world: CopiedWorld, home: Path
) -> None:
    """No less, and no more: not what is granted on new tables on one that was withheld.

    Whether `public` stays or is renamed.
    """
    with (
        roles("keeper", "reader") as (keeper, reader),
        database_of_keeper(keeper, has_extension=has_extension),
    ):
        restore(world.path, home)
        function = "prepend_no_rows()"
        run(
            f"CREATE FUNCTION public.{function} RETURNS int LANGUAGE sql AS 'SELECT 0'",
            f"GRANT USAGE ON SCHEMA public TO {reader}",
            f"GRANT SELECT ON accounts_team TO {reader} WITH GRANT OPTION",
            f"GRANT SELECT (email) ON accounts_user TO {reader}",
            f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO {reader}",
        )
        make_copy(installation(home), home / "with function", say_nothing, AT)
        run(f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC")
        before = run(GRANTED)

        restore(home / "with function", home, REPLACING)

        rights = f"""
            SELECT has_schema_privilege('{reader}', 'public', 'USAGE'),
                   has_table_privilege('{reader}', 'accounts_team', 'SELECT WITH GRANT OPTION'),
                   has_column_privilege('{reader}', 'accounts_user', 'email', 'SELECT'),
                   has_column_privilege('{reader}', 'accounts_user', 'password', 'SELECT'),
                   has_table_privilege('{reader}', 'ledger_charge', 'SELECT'),
                   has_function_privilege('{reader}', '{function}', 'EXECUTE')
        """
        assert run(rights) == [(True, True, True, False, False, False)]
        assert run(GRANTED) == before == [("accounts_team", reader, "SELECT", True)]
        run("CREATE TABLE public.of_later (id int)")
        assert run(f"SELECT has_table_privilege('{reader}', 'of_later', 'SELECT')") == [(True,)]


def test_what_others_built_on_our_tables_is_named_and_nothing_is_replaced(
    world: CopiedWorld, home: Path
) -> None:
    """Once it is taken away, as is advised, the restore goes through."""
    built = {
        "view elsewhere.people": "CREATE VIEW elsewhere.people AS SELECT email FROM public.accounts_user",
        "materialized view elsewhere.spend": "CREATE MATERIALIZED VIEW elsewhere.spend AS SELECT count(*) FROM public.ledger_charge",
        "table constraint note_team_id_fkey on elsewhere.note": "CREATE TABLE elsewhere.note (team_id bigint REFERENCES public.accounts_team)",
        "publication relation public.accounts_team in publication warehouse": "CREATE PUBLICATION warehouse FOR TABLE public.accounts_team",
    }
    with other_database():
        restore(world.path, home)
        run("CREATE SCHEMA elsewhere", *built.values())
        run("CREATE VIEW elsewhere.of_none AS SELECT 1 AS one")
        with pytest.raises(CopyRefused, match="depends on tables that are replaced") as refused:
            restore(world.path, home, REPLACING)
        for thing in built:
            assert thing in str(refused.value)
        assert "of_none" not in str(refused.value)
        assert "(pg_dump --schema-only" in str(refused.value)
        assert run("SELECT count(*) > 0 FROM elsewhere.people") == [(True,)]
        assert not list(home.glob("restoring-*"))

        run("DROP PUBLICATION warehouse", "DROP SCHEMA elsewhere CASCADE")
        restore(world.path, home, REPLACING)
        assert table_digests() == world.digests


def test_a_restore_whose_files_cannot_be_put_in_place_says_so_and_is_finished_by_the_next_command(
    world: CopiedWorld, home: Path
) -> None:
    in_the_way = home / "uploads"
    with other_database():
        in_the_way.write_text("a file where a folder belongs")
        broken_off = command_said("restore", str(world.path), home=home)
        assert broken_off.returncode == 1
        assert "Not finished: the database is restored and proved, but its files" in broken_off.stderr  # fmt: skip
        assert "Nothing was changed" not in broken_off.stderr
        assert table_digests() == world.digests
        connection.close()

        refused = command_said("backup", str(home / "copy"), home=home)
        assert refused.returncode == 1
        assert "No copy was made: the database is restored and proved, but" in refused.stderr
        assert not (home / "copy").exists()

        in_the_way.unlink()
        again = command_said("restore", str(world.path), home=home)
        assert again.returncode == 0, again.stderr
        assert "it is finished now" in again.stdout
        assert [path.name for path in in_the_way.iterdir()] == [world.waiting]
        assert not list(home.glob("restoring-*"))


def test_a_backup_finishes_what_a_killed_restore_left(world: CopiedWorld, home: Path) -> None:
    """Or it would lack the files that rows name."""
    with other_database():
        (home / "uploads").write_text("in the way")
        with pytest.raises(RestoreUnfinished):
            restore(world.path, home)
        (home / "uploads").unlink()
        connection.close()

        done = command_said("backup", str(home / "copy"), home=home)

        assert done.returncode == 0, done.stderr
        assert "is not there" not in done.stderr
        assert [entry.name for entry in list_files("uploads")] == [f"uploads/{world.waiting}"]


def test_a_bucket_that_does_not_answer_leaves_a_restore_to_be_finished(
    world: CopiedWorld, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with other_database():
        with override_settings(FILES="s3://nobody/there"), pytest.raises(RestoreUnfinished, match=r"its files are not all where .* \(.+\)"):  # fmt: skip
            restore(world.path, home)
        assert table_digests() == world.digests
        again = restore(world.path, home)
        assert again.was_begun
        assert again.rows == sum(digest.rows for digest in world.digests.values())
        assert [entry.name for entry in list_files("uploads")] == [f"uploads/{world.waiting}"]


@pytest.mark.parametrize("is_committed", [True, False])
def test_an_answer_to_the_commit_that_was_lost_is_asked_for(
    is_committed: bool, world: CopiedWorld, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server goes between the commit and its answer, or before it."""
    commit = connection._commit  # type: ignore[attr-defined]  # Django's own

    def lose() -> None:
        monkeypatch.undo()
        if is_committed:
            commit()
        raise OperationalError("server closed the connection unexpectedly")

    with other_database():
        monkeypatch.setattr(connection, "_commit", lose)
        if is_committed:
            assert restore(world.path, home).rows
            assert table_digests() == world.digests
        else:
            with pytest.raises(CopyRefused, match="nothing was changed"):
                restore(world.path, home)
            assert connection.introspection.table_names() == []
        assert not list(home.glob("restoring-*"))


def test_a_home_that_cannot_be_written_leaves_everything(world: CopiedWorld, home: Path) -> None:
    """What waits for the commit has no place."""
    with other_database():
        home.rename(home.with_name("elsewhere"))
        home.write_text("no folder")
        with pytest.raises(CopyRefused, match="nothing was changed"):
            restore(world.path, home)
        assert connection.introspection.table_names() == []
