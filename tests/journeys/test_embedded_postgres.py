"""The private database server: who may enter, what stays closed, and how it comes back."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

import psutil
import psycopg
import pytest

from controlplane import embedded_postgres
from controlplane.folders import own_folder
from controlplane.postgres_programs import EmbeddedPostgresFailed
from tests.databases import wait_until

NOBODY = 65_534


def is_living(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose path is too long for a socket, below a folder that only its owner may enter."""
    closed = tmp_path_factory.mktemp("closed")
    closed.chmod(0o700)
    home = closed / ("h" * 60) / ("o" * 60)
    with embedded_postgres.running(home):
        pass
    return home


@pytest.fixture
def url(home: Path) -> Iterator[str]:
    with embedded_postgres.running(home) as url:
        yield url


def folder_of(url: str) -> Path:
    return Path(unquote(url.partition("host=")[2]))


def postmaster_of(home: Path) -> psutil.Process:
    return psutil.Process(int((home / "postgres" / "postmaster.pid").read_text().split()[0]))


def as_another_account(url: str) -> str:
    """What another account of this machine is told that asks to come in."""
    if os.geteuid():
        pytest.skip("only root can become another account")
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        try:
            psycopg.connect(url, connect_timeout=5).close()
            os.write(tell, b"come in")
        except psycopg.OperationalError as refused:
            os.write(tell, str(refused).encode())
        finally:
            os._exit(0)
    os.close(tell)
    os.waitpid(child, 0)
    with os.fdopen(told) as answer:
        return answer.read()


def test_no_other_account_comes_near_the_socket_however_long_the_path_of_the_home(url) -> None:
    assert mode_of(folder_of(url)) == 0o700
    assert "Permission denied" in as_another_account(url)


def test_the_server_asks_who_calls_even_where_its_folder_stands_open(url) -> None:
    folder = folder_of(url)
    folder.chmod(0o755)
    (folder / embedded_postgres.SOCKET).chmod(0o777)
    try:
        assert "Peer authentication failed" in as_another_account(url)
        with psycopg.connect(url) as own:
            assert own.execute("SELECT current_user").fetchone() == ("postgres",)
    finally:
        folder.chmod(0o700)


def test_a_first_start_that_is_refused_says_why_and_leaves_no_server(tmp_path, monkeypatch) -> None:
    def refuse(account: object) -> None:
        raise EmbeddedPostgresFailed("cannot run it")

    monkeypatch.setattr(embedded_postgres, "see_that_it_can_run", refuse)
    with (
        pytest.raises(EmbeddedPostgresFailed, match="cannot run it"),
        embedded_postgres.running(tmp_path / "home"),
    ):
        pass
    assert not (tmp_path / "home" / "postgres").exists()


def test_folders_above_the_home_stay_closed_and_the_home_is_shut(home, tmp_path) -> None:
    assert mode_of(home.parents[1]) == 0o700
    assert mode_of(home) == 0o700
    assert mode_of(home / "postgres") == 0o700
    open_home = tmp_path / "open"
    open_home.mkdir(mode=0o755)
    assert mode_of(own_folder(open_home)) == 0o700
    open_home.chmod(0o1777)
    assert mode_of(own_folder(open_home)) == 0o1777


def test_a_server_that_trusted_everybody_is_mended_when_it_is_used_again(url, home) -> None:
    data = home / "postgres"
    (data / "pg_hba.conf").write_text("local all all trust\n")
    postmaster_of(home).send_signal(1)  # SIGHUP: it reads its files again
    with embedded_postgres.running(home):
        assert "trust" not in (data / "pg_hba.conf").read_text()
    folder = folder_of(url)
    folder.chmod(0o755)
    (folder / embedded_postgres.SOCKET).chmod(0o777)
    try:
        time.sleep(0.2)
        assert "Peer authentication failed" in as_another_account(url)
    finally:
        folder.chmod(0o700)


def test_a_socket_that_an_earlier_version_left_elsewhere_is_given_up(home, tmp_path) -> None:
    with embedded_postgres.running(home) as url:
        was = postmaster_of(home)
        link = home / "postgres.socket"
        link.unlink()
        with embedded_postgres.running(home) as again:
            assert folder_of(again) != folder_of(url)
            assert mode_of(folder_of(again)) == 0o700
            assert not is_living(was)
            psycopg.connect(again).close()
    assert not folder_of(again).exists()
    folder_of(url).rmdir()


def test_the_last_user_stops_it_and_a_killed_one_does_not_count(home) -> None:
    with embedded_postgres.running(home):
        child = os.fork()
        if not child:
            with embedded_postgres.running(home):
                os.kill(os.getpid(), 9)
        os.waitpid(child, 0)
        server = postmaster_of(home)
        assert is_living(server)
    assert not is_living(server)


def test_a_lock_file_whose_number_another_process_has_now_stops_nobody(home) -> None:
    (home / "postgres" / "postmaster.pid").write_text(
        f"{os.getpid()}\n/proc/self/cwd\n1\n5432\n.\n\n1 1\nready\n"
    )
    with embedded_postgres.running(home) as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_what_died_comes_back_at_the_same_address(home) -> None:
    with embedded_postgres.database_for(home, "") as url:
        assert not embedded_postgres.revive()
        server = postmaster_of(home)
        server.kill()
        wait_until(lambda: not is_living(server))
        assert embedded_postgres.revive()
        psycopg.connect(url).close()


def test_no_server_starts_beside_a_backend_that_outlived_its_own(home, monkeypatch):
    monkeypatch.setattr(embedded_postgres, "BACKEND_SECONDS", 0.5)
    with embedded_postgres.running(home) as url, closing(psycopg.connect(url)) as connection:
        backend = psutil.Process(connection.info.backend_pid)
        backend.suspend()
        postmaster = postmaster_of(home)
        postmaster.kill()
        wait_until(lambda: not is_living(postmaster))
        assert is_living(backend)

        with embedded_postgres.running(home) as again:
            assert not is_living(backend)
            with psycopg.connect(again) as other:
                assert other.execute("SELECT 1").fetchone() == (1,)
