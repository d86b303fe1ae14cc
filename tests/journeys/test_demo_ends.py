"""What a command started ends with it, however it is asked to end; and nothing that others started."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from controlplane.embedded_postgres import running
from tests.databases import wait_until
from tests.journeys.installations import ROOT, FirstStart, bare_environment, manage
from tests.journeys.test_processes import Installation, free_port

HOLDS_A_DATABASE = """
import sys, time
from pathlib import Path
from controlplane.embedded_postgres import database_for
from controlplane.ending import ended_by_signals
with ended_by_signals(), database_for(Path(sys.argv[1]), ""):
    print("there", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def home(first_start: FirstStart, tmp_path: Path) -> Path:
    return first_start.copied_to(tmp_path)


def processes_in(home: Path) -> list[psutil.Process]:
    """Whatever works in that home's database, or was told to."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            if process.cwd().startswith(str(home)) or str(home) in process.environ().get(
                "RUNRATE_HOME", ""
            ):
                found.append(process)
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_database_that_a_command_started_ends_with_it_and_not_with_another(
    home: Path, number: signal.Signals
) -> None:
    with running(home):
        assert end_holder(home, number) != 0
        assert processes_in(home / "postgres"), "the other one goes on"
    assert processes_in(home) == []
    end_holder(home, number)
    assert processes_in(home) == []


def end_holder(home: Path, number: signal.Signals) -> int:
    """Start a process that holds the home's database, and end it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS_A_DATABASE, str(home)],
        cwd=ROOT,
        env=bare_environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"there\n"
        process.send_signal(number)
        return process.wait(60)


@pytest.fixture
def demo(home: Path) -> Iterator[Installation]:
    """A demo as it begins."""
    begun = Installation(home, "demo")
    try:
        yield begun
    finally:
        if begun.process.poll() is None:
            begun.stop()


@pytest.mark.proof
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_demo_that_is_asked_to_end_while_it_fills_ends_all_it_started(
    demo: Installation, number: signal.Signals
) -> None:
    wait_until(lambda: "are sending their last week" in demo.log() or demo.process.poll())
    wait_until(lambda: demo.children("runrate-agent"))
    demo.process.send_signal(number)
    assert demo.process.wait(120) == (130 if number is signal.SIGINT else 128 + number)
    assert processes_in(demo.home) == []
    assert "Traceback" not in demo.log()


@pytest.mark.proof
def test_a_demo_whose_web_server_dies_as_it_starts_says_so_and_ends_all_it_started(
    demo: Installation,
) -> None:
    (web,) = wait_until(lambda: demo.children("granian"))
    web.kill()
    assert demo.process.wait(180) == 1
    assert "the web server did not start: it ended with -9" in demo.log()
    assert processes_in(demo.home) == []


@pytest.mark.proof
def test_a_demo_on_a_port_that_is_taken_empties_nothing_and_says_so(home: Path) -> None:
    with socket.create_server(("127.0.0.1", free_port())) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        refused = manage(home, "demo", "--listen", listen)
    assert refused.returncode == 1
    assert f"nobody can listen on {listen}" in refused.stderr
    assert "New installation" not in refused.stderr
    assert processes_in(home) == []


@pytest.mark.proof
def test_a_demo_to_which_somebody_added_something_is_served_as_it_stands_until_a_fresh_one(
    home: Path, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens.json"
    assert manage(home, "demo", "--fleet-only", str(tokens)).returncode == 0
    again = manage(home, "demo", "--fleet-only", str(tokens))
    assert again.returncode == 0
    assert "An earlier demo is here: it is emptied" in again.stderr

    added = manage(home, "add_team", "Of my own")
    assert added.returncode == 0, added.stderr
    refused = manage(home, "demo", "--fleet-only", str(tokens))
    assert refused.returncode == 1
    assert "people added to it since it was filled: " in refused.stderr
    assert "`manage.py demo --fresh` empties it" in refused.stderr

    served = Installation(home, "demo")
    try:
        wait_until(served.answers)
        assert "it is served as it stands" in served.log()
        assert "Putting the fleet" not in served.log()
    finally:
        assert served.stop() == 0
    teams = manage(home, "shell", "--no-imports", "-c", TEAMS)
    assert "Of my own" in teams.stdout

    assert manage(home, "demo", "--fresh", "--fleet-only", str(tokens)).returncode == 0
    teams = manage(home, "shell", "--no-imports", "-c", TEAMS)
    assert "Of my own" not in teams.stdout


TEAMS = "from apps.accounts.queries import teams; print([team.name for team in teams()])"
