"""What lives and does nothing is killed and started again, each by its own sign of life; what is only slow is not."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from controlplane.heartbeats import OwnHeartbeat, heartbeats
from controlplane.supervision import Question, Watch, web_answers
from tests.databases import wait_until
from tests.journeys.installations import FirstStart
from tests.journeys.test_processes import WORDS, Installation, free_port

AFTER = 60.0


@pytest.fixture
def sleepers() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two processes of groups of their own, as `up` starts them."""
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    started = [subprocess.Popen(command, start_new_session=True) for _ in range(2)]
    yield started
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def look(
    watch: Watch, processes: list[subprocess.Popen[bytes]], seconds: float, **asked: Question
) -> None:
    """Look every two seconds for so long; who is asked is the group of that place: `_0` is the first's."""
    questions = {processes[int(place[1:])].pid: question for place, question in asked.items()}
    for _ in range(round(seconds / 2)):
        watch.end_hung([process.pid for process in processes], questions, 2.0)


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.2)
    return process.poll() is not None


def write(home: Path, kind: str, pid: int, at: float) -> None:
    path = home / "heartbeats" / f"{kind}.{pid}"
    path.parent.mkdir(exist_ok=True)
    path.touch()
    os.utime(path, (at, at))


def test_a_process_whose_sign_stays_the_same_is_killed(
    tmp_path: Path, sleepers: list[subprocess.Popen[bytes]]
) -> None:
    hung, busy = sleepers
    watch = Watch(tmp_path, AFTER)
    write(tmp_path, "worker", hung.pid, 1_000)
    for minute in range(3):
        write(tmp_path, "beat", busy.pid, 1_000 + minute)
        look(watch, sleepers, 40)
    assert has_ended(hung)
    assert not has_ended(busy)
    assert hung.returncode == -signal.SIGKILL


def test_a_stopped_process_is_killed_though_it_leaves_no_sign(
    tmp_path: Path, sleepers: list[subprocess.Popen[bytes]]
) -> None:
    stopped, other = sleepers
    stopped.send_signal(signal.SIGSTOP)
    wait_until(lambda: psutil.Process(stopped.pid).status() == psutil.STATUS_STOPPED)
    watch = Watch(tmp_path, AFTER)
    look(watch, sleepers, AFTER)
    assert not has_ended(stopped)
    look(watch, sleepers, 6)
    assert has_ended(stopped)
    assert not has_ended(other)


def test_one_that_goes_on_in_time_is_let_be(
    tmp_path: Path, sleepers: list[subprocess.Popen[bytes]]
) -> None:
    watch = Watch(tmp_path, AFTER)
    for _ in range(3):
        sleepers[0].send_signal(signal.SIGSTOP)
        wait_until(lambda: psutil.Process(sleepers[0].pid).status() == psutil.STATUS_STOPPED)
        look(watch, sleepers, 40)
        sleepers[0].send_signal(signal.SIGCONT)
        wait_until(lambda: psutil.Process(sleepers[0].pid).status() != psutil.STATUS_STOPPED)
        look(watch, sleepers, 2)
    assert not any(map(has_ended, sleepers))


def test_an_address_that_is_no_longer_answered_ends_the_whole_group(
    tmp_path: Path, sleepers: list[subprocess.Popen[bytes]]
) -> None:
    silent, slow = Question("web", lambda: False), Question("web", lambda: False)
    silent.answers = 7  # it has answered, and then never again
    watch = Watch(tmp_path, AFTER)
    look(watch, sleepers, 70, _0=silent, _1=slow)
    assert has_ended(sleepers[0])
    # One that never answered yet is still loading.
    assert not has_ended(sleepers[1])
    look(watch, sleepers, 5 * AFTER, _1=slow)
    assert has_ended(sleepers[1])
    silent.end()
    slow.end()


def test_a_machine_that_slept_makes_nobody_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch(tmp_path, AFTER)
    awake = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: awake + 8 * 3_600)
    assert watch.step() == 3.0
    assert watch.step() is None


def test_with_zero_seconds_nobody_is_killed(
    tmp_path: Path, sleepers: list[subprocess.Popen[bytes]]
) -> None:
    sleepers[0].send_signal(signal.SIGSTOP)
    look(Watch(tmp_path, 0), sleepers, 600)
    assert not has_ended(sleepers[0])


def test_a_heartbeat_is_of_the_process_that_shows_it(tmp_path: Path) -> None:
    own = OwnHeartbeat(tmp_path, "worker")
    own.touch()
    (found,) = heartbeats(tmp_path)
    assert (found.pid, found.path.name) == (os.getpid(), f"worker.{os.getpid()}")


@pytest.mark.enable_socket
def test_a_server_that_takes_connections_and_says_nothing_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        assert web_answers(f"127.0.0.1:{deaf.getsockname()[1]}")() is False
    assert web_answers(f"127.0.0.1:{free_port()}")() is False


@pytest.fixture(scope="module")
def watched(
    first_start: FirstStart, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """An installation that waits 20 seconds for a sign."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.journeys.test_processes.bare_environment", quick_environment)
        started = Installation(first_start.copied_to(tmp_path_factory.mktemp("hung")))
    try:
        wait_until(started.answers)
        wait_until(lambda: len(list((started.home / "heartbeats").glob("*"))) >= 3)
        yield started
    finally:
        started.stop()


def quick_environment(home: Path) -> dict[str, str]:
    from tests.journeys.installations import bare_environment

    return bare_environment(home) | {"RUNRATE_HUNG_AFTER_SECONDS": "20"}


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["web", "worker", "beat"])
def test_up_starts_again_what_was_stopped(watched: Installation, kind: str) -> None:
    folder = watched.home / "heartbeats"
    pid = min(int(path.suffix[1:]) for path in wait_until(lambda: list(folder.glob(f"{kind}.*"))))
    psutil.Process(pid).send_signal(signal.SIGSTOP)
    wait_until(
        lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    )
    wait_until(lambda: any(path.suffix != f".{pid}" for path in folder.glob(f"{kind}.*")))
    wait_until(watched.answers)
    assert "process_hung" in watched.log()
    assert [len(watched.children(word)) for word in WORDS] == [1, 1, 1]


@pytest.mark.proof
def test_up_starts_a_stopped_database_again(watched: Installation) -> None:
    was = watched.postmaster()
    was.send_signal(signal.SIGSTOP)
    wait_until(lambda: "postgres_hung" in watched.log())
    wait_until(lambda: "the database had ended; it was started again" in watched.log())
    wait_until(watched.answers)
    assert watched.postmaster().pid != was.pid
