"""Whatever is killed while it copies, restores or upgrades leaves the old or the new, never between."""

import contextlib
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copyfile

import pytest
import pytest_django
from django.db import connection
from django.test import override_settings

from apps.web.queries.table_digests import TableDigest, table_digests
from controlplane.copies.archive import CopyReader
from controlplane.copies.finishing import finish_restore
from controlplane.migration_history import is_migrated
from tests.databases import address, kept_until_the_end, other_database, wait_until
from tests.journeys.copied_world import CopiedWorld, keep_upload, make_copied_world
from tests.journeys.installations import ROOT, FirstStart, bare_environment, manage
from tests.journeys.test_migrations import forget_applied, replacing

pytestmark = pytest.mark.django_db(transaction=True)
KILLS = [
    pytest.param(1, id="once"),
    pytest.param(10, id="ten times", marks=pytest.mark.proof),
]
OF_VERSIONS = {"django_migrations"}


@pytest.fixture(scope="module")
def world(
    django_db_setup: None,
    django_db_blocker: pytest_django.DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[CopiedWorld]:
    """An installation and its copy."""
    with django_db_blocker.unblock(), kept_until_the_end():
        yield make_copied_world(tmp_path_factory.mktemp("killed"))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home of its own."""
    (tmp_path / "home").mkdir()
    with override_settings(HOME=tmp_path / "home"):
        yield tmp_path / "home"


class Killed:
    """Runs a command on the database that `connection` is of, or on the home's own, and kills it at a random moment of its work.

    The moment lies within what its work takes, which is measured first; or, of one kill alone, within a second.
    """

    def __init__(
        self,
        home: Path,
        begins: Callable[[], bool],
        *command: str,
        times: int = 1,
        is_embedded: bool = False,
    ) -> None:
        self.home, self.begins, self.command = home, begins, command
        self.is_embedded = is_embedded
        self.random = random.Random()  # noqa: S311  # moments, no secrets
        self.whole: float | None = None if times > 1 else 1.0
        self.runs = range(times + 1 if times > 1 else 1)

    def run(self) -> None:
        """To its end, where it is not known how long it works; else up to a moment of that."""
        connection.close()
        named = {} if self.is_embedded else {"RUNRATE_DATABASE_URL": address()}
        process = subprocess.Popen(
            [sys.executable, "manage.py", *self.command],
            cwd=ROOT,
            env=bare_environment(self.home) | named,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with process:
            wait_until(lambda: self.begins() or process.poll() is not None)
            began = time.monotonic()
            if self.whole is None:
                assert process.wait() == 0
                self.whole = time.monotonic() - began
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(self.random.uniform(0, self.whole))
                process.kill()
        wait_until(nobody_else_works)


def nobody_else_works() -> bool:
    """Whether the server has noticed that the killed one is gone."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        return bool(cursor.fetchone() == (0,))


def charged() -> dict[str, TableDigest]:
    return {name: each for name, each in table_digests().items() if name not in OF_VERSIONS}


@pytest.mark.parametrize("times", KILLS)
def test_a_killed_backup_leaves_the_copy_before_or_a_whole_one(
    times: int, world: CopiedWorld, home: Path, tmp_path: Path
) -> None:
    target = tmp_path / "runrate.copy"
    killed = Killed(
        home, (tmp_path / ".runrate.copy.part").exists, "backup", str(target), times=times
    )
    copyfile(world.path, target)
    for _ in killed.runs:
        before = target.read_bytes()
        killed.run()
        if target.read_bytes() != before:
            with target.open("rb") as source:
                reader = CopyReader(source)
                assert [member.name for member in reader.members()]
                expected = {name: each.digest for name, each in world.digests.items()}
                found = {name: each["digest"] for name, each in reader.digests["tables"].items()}
                assert found == expected


@pytest.mark.parametrize("times", KILLS)
def test_a_killed_restore_leaves_the_old_or_the_new(
    times: int, world: CopiedWorld, home: Path
) -> None:
    """Rows and files alike."""
    command = ("restore", str(world.path), "--replace")
    killed = Killed(home, lambda: any(home.glob("restoring-*")), *command, times=times)
    with other_database(connection.settings_dict["NAME"]):
        for _ in killed.runs:
            kept = keep_upload(b"written since")
            old = table_digests()
            files = {path.name for path in (home / "uploads").iterdir()}
            killed.run()
            finish_restore(home)
            now = {path.name for path in (home / "uploads").iterdir()}
            assert (table_digests(), now) in [(world.digests, {world.waiting}), (old, files)]
            assert kept in files
            assert not list(home.glob("restoring-*"))


@pytest.mark.parametrize("times", KILLS)
def test_a_killed_upgrade_ends_in_the_new_by_the_next_one(
    times: int, world: CopiedWorld, home: Path
) -> None:
    """Until then it is the old, or halfway with a note that says so."""
    killed = Killed(home, lambda: any(home.glob("upgrades/.*.part")), "upgrade", times=times)
    with other_database(connection.settings_dict["NAME"]):
        before = charged()
        for _ in killed.runs:
            forget_applied(*replacing())
            killed.run()
            if not (home / "upgrade.json").exists():
                assert charged() == before
            connection.close()
            done = subprocess.run(
                [sys.executable, "manage.py", "upgrade"],
                cwd=ROOT,
                env=bare_environment(home) | {"RUNRATE_DATABASE_URL": address()},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            assert is_migrated()
            assert charged() == before
            assert not (home / "upgrade.json").exists()


@pytest.mark.proof
def test_a_killed_move_leaves_one_database_in_use_and_is_done_by_the_next(
    first_start: FirstStart, tmp_path: Path
) -> None:
    """The embedded one as it was, or the other with all of it."""
    home = first_start.copied_to(tmp_path)
    with other_database():
        url = address()
        command = ("move_database", url)
        killed = Killed(
            home, lambda: any(home.glob("*moving.copy*")), *command, times=10, is_embedded=True
        )
        whole: dict[str, TableDigest] = {}
        for _ in killed.runs:
            killed.run()
            connection.close()
            if not (home / "database_url").exists():
                done = manage(home, *command)
                assert done.returncode == 0, done.stdout + done.stderr
            whole = whole or table_digests()
            assert table_digests() == whole
            connection.close()
            back = manage(home, "move_database", "--back")
            assert back.returncode == 0, back.stderr
            assert not list(home.glob("*moving*"))
            with connection.cursor() as cursor:
                cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        assert manage(home, "audit_ledger").returncode == 0
