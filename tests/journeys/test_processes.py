"""One installation's processes: started together, restarted when killed, stopped cleanly."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def eventually(said, seconds: float = 180.0):
    """The first true answer of `said`; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = said()
        if answer:
            return answer
        time.sleep(0.2)
    pytest.fail("it did not happen in time")


class Installation:
    """`manage.py up` on a database and port of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = free_port()
        bare = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("RUNRATE_", "DJANGO_"))
        }
        with home.with_suffix(".log").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--listen", f"127.0.0.1:{self.port}"],
                cwd=ROOT,
                env={**bare, "RUNRATE_HOME": str(home)},
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
            if child.status() != psutil.STATUS_ZOMBIE
            and word in [Path(part).name for part in child.cmdline()]
        ]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        print(self.home.with_suffix(".log").read_text()[-3000:])
        return code


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    started = Installation(tmp_path / "home")
    try:
        eventually(started.answers)
        yield started
    finally:
        if started.process.poll() is None:
            started.stop()


def test_up_runs_web_worker_and_beat_and_stops_them_with_the_database(installation, tmp_path):
    assert [len(installation.children(word)) for word in ("granian", "worker", "beat")] == [1, 1, 1]
    assert installation.answers("/healthz")
    assert installation.answers("/metrics")
    started = psutil.Process(installation.process.pid).children(recursive=True)
    assert installation.stop() == 0
    assert [child for child in started if child.is_running()] == []
    assert not (tmp_path / "home" / "postgres" / "postmaster.pid").exists()


def test_a_killed_process_is_started_again(installation):
    (web,) = installation.children("granian")
    web.kill()
    eventually(lambda: [each for each in installation.children("granian") if each.pid != web.pid])
    eventually(installation.answers)


def test_after_everything_is_killed_it_starts_again_with_what_it_had(tmp_path):
    home = tmp_path / "home"
    first = Installation(home)
    eventually(first.answers)
    everything = [psutil.Process(first.process.pid)]
    everything += everything[0].children(recursive=True)
    postmaster = int((home / "postgres" / "postmaster.pid").read_text().splitlines()[0])
    everything.append(psutil.Process(postmaster))
    for each in everything:
        if each.is_running():
            each.kill()
    first.process.wait(timeout=30)

    second = Installation(home)
    try:
        eventually(second.answers)
    finally:
        assert second.stop() == 0
