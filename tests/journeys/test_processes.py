"""One installation's processes: started together, restarted when killed, stopped cleanly."""

import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.databases import wait_until
from tests.journeys.installations import ROOT, FirstStart, bare_environment

WORDS = ("granian", "controlplane.workers", "beat")
"""Which of an installation's processes is which, by a word of its command."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_running(process: psutil.Process, word: str) -> bool:
    """Whether a process is there and was begun with this word; one that ends while it is looked at is not."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE and word in [
            Path(part).name for part in process.cmdline()
        ]
    except psutil.NoSuchProcess:
        return False


class Installation:
    """`manage.py up`, or another command that serves, on a database and port of its own."""

    def __init__(self, home: Path, command: str = "up") -> None:
        self.home, self.command = home, command
        self.port = free_port()
        self.start()

    def start(self) -> None:
        with self.home.with_suffix(".log").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", self.command, "--listen", f"127.0.0.1:{self.port}"],
                cwd=ROOT,
                env=bare_environment(self.home),
                stderr=log,
            )

    def answers(self, path: str = "/readyz") -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def children(self, word: str) -> list[psutil.Process]:
        return [
            child
            for child in psutil.Process(self.process.pid).children()
            if is_running(child, word)
        ]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        print(self.home.with_suffix(".log").read_text()[-3000:])
        return code

    def log(self) -> str:
        return self.home.with_suffix(".log").read_text()

    def postmaster(self) -> psutil.Process:
        lock = self.home / "postgres" / "postmaster.pid"
        return psutil.Process(int(lock.read_text().splitlines()[0]))


@pytest.fixture(scope="module")
def only(
    first_start: FirstStart, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    started = Installation(first_start.copied_to(tmp_path_factory.mktemp("up")))
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.stop()


@pytest.fixture
def installation(only: Installation) -> Installation:
    """The one of this module, running, whatever was done to it before."""
    if only.process.poll() is not None:
        only.start()
    wait_until(only.answers)
    return only


@pytest.fixture
def installation_to_end(installation: Installation) -> Installation:
    """For a test that stops it: it comes after the others."""
    return installation


def is_fetching(installation: Installation) -> bool:
    """Whether the worker takes what waits."""
    waiting = installation.home / "broker"
    mark = waiting / f"{'0' * 20}_probe.runrate.msg"
    mark.write_text("not a message")
    wait_until(lambda: not mark.exists())
    return True


@pytest.mark.parametrize(
    "word",
    [
        "granian",
        pytest.param("controlplane.workers", marks=pytest.mark.proof),
        pytest.param("beat", marks=pytest.mark.proof),
    ],
)
def test_a_killed_process_is_started_again(installation, word):
    (killed,) = wait_until(lambda: installation.children(word))
    killed.kill()
    wait_until(lambda: [each for each in installation.children(word) if each.pid != killed.pid])
    wait_until(installation.answers)


def test_a_killed_database_is_started_again_under_the_same_processes(installation):
    before = [installation.children(word)[0].pid for word in WORDS]
    was = installation.postmaster()
    was.kill()
    wait_until(lambda: "the database had ended; it was started again" in installation.log())
    wait_until(installation.answers)
    assert installation.postmaster().pid != was.pid
    after = [installation.children(word)[0].pid for word in WORDS]
    assert after == before


def test_spoilt_messages_are_set_aside_and_the_worker_goes_on(installation):
    (worker,) = wait_until(lambda: installation.children("controlplane.workers"))
    assert is_fetching(installation)
    spoilt = installation.home / "broker" / "unreadable"
    assert [each.read_text() for each in spoilt.iterdir()] == ["not a message"]
    assert installation.children("controlplane.workers")[0].pid == worker.pid
    assert "JSONDecodeError" not in installation.log()


def test_the_home_and_what_is_in_it_is_shut_to_others(installation):
    for folder in (installation.home, installation.home / "broker"):
        assert folder.stat().st_mode & 0o077 == 0


def test_after_everything_is_killed_it_starts_again_and_up_stops_all_of_it(installation_to_end):
    installation = installation_to_end
    everything = [psutil.Process(installation.process.pid)]
    everything += everything[0].children(recursive=True)
    everything.append(installation.postmaster())
    for each in everything:
        if each.is_running():
            each.kill()
    installation.process.wait(timeout=30)
    installation.start()
    wait_until(installation.answers)

    wait_until(lambda: all(installation.children(word) for word in WORDS))
    assert [len(installation.children(word)) for word in WORDS] == [1, 1, 1]
    assert installation.answers("/healthz")
    assert installation.answers("/metrics")
    started = psutil.Process(installation.process.pid).children(recursive=True)
    assert installation.stop() == 0
    assert [child for child in started if child.is_running()] == []
    assert not (installation.home / "postgres" / "postmaster.pid").exists()


@pytest.mark.proof
def test_where_the_database_does_not_come_back_up_ends_and_says_so(installation_to_end):
    installation = installation_to_end
    version = installation.home / "postgres" / "PG_VERSION"
    told = version.read_text()
    version.write_text("no version\n")
    try:
        installation.postmaster().kill()
        assert installation.process.wait(timeout=120) == 1
    finally:
        version.write_text(told)
    assert "the database ended and does not start again" in installation.log()
