"""The agent's own process on a driver made up, and a far server: killed, checked, run once, enrolled."""

import json
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.databases import wait_until

# Windows of two seconds, so that a test sees many; a node has them of a minute.
RUN = """
import sys, time
from pathlib import Path
from runrate_agent.making import agent_of
from runrate_agent.running import heed_signals
from runrate_agent.settings import settings_in
agent = agent_of(settings_in(Path(sys.argv[1])), "1")
agent.window_seconds = 2
agent.source.span_seconds = 0.5
agent.start(time.time_ns() // 1_000_000)
heed_signals(agent)
agent.run()
"""


@pytest.fixture
def config(tmp_path, far_server) -> Path:
    (tmp_path / "token").write_text("secret\n")
    path = tmp_path / "agent.toml"
    path.write_text(
        f'[server]\nurl = "{far_server.url}"\ntoken_file = "{tmp_path}/token"\n'
        f'[spool]\nfolder = "{tmp_path}/spool"\n'
        f'[holders]\nslurm_folder = "{tmp_path}/slurm"\npod_resources = "{tmp_path}/none"\n'
        '[health]\nlisten = ""\ncloud = "none"\n'
    )
    return path


def command(*arguments: object, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "runrate_agent", *(str(each) for each in arguments)],
        input=given, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def found(config: Path) -> dict[str, tuple[str, str]]:
    lines = command("check", "--json", "--config", config).stdout.splitlines()
    told = [json.loads(line) for line in lines]
    return {each["subject"]: (each["grade"], each["said"]) for each in told}


def windows(far_server) -> list[tuple[int, int]]:
    """(boot, start) of each window of each batch, a batch that came twice counted once."""
    batches = {(each["boot"], each["sequence"]): each for each in far_server.batches}
    return sorted(
        {(boot, start) for (boot, _), each in batches.items()
         for start in each["windows"]["starts_at_ms"]}
    )  # fmt: skip


def test_an_agent_killed_at_any_moment_loses_at_most_the_window_it_was_in(
    driver, config, far_server
):
    def started(boots: int) -> subprocess.Popen[bytes]:
        """The agent, once a window of it has come; as many ran by then."""
        agent = subprocess.Popen([sys.executable, "-c", RUN, str(config)])
        wait_until(lambda: len({boot for boot, _ in windows(far_server)}) >= boots)
        return agent

    killed = []
    for boots in (1, 2):
        agent = started(boots)
        time.sleep(secrets.randbelow(2_000) / 1000)
        killed.append(time.time())
        agent.send_signal(signal.SIGKILL)
        agent.wait()
    agent = started(3)
    agent.terminate()
    assert agent.wait(timeout=15) == 0

    told = windows(far_server)
    boots = sorted({boot for boot, _ in told})
    for boot, at in zip(boots, killed, strict=False):
        starts = [start for each, start in told if each == boot]
        assert starts == list(range(starts[0], starts[-1] + 1, 2000))
        # What ended a moment before the kill may still have been on its way from the child.
        assert starts[-1] >= (int(at - 1.0) // 2 - 1) * 2000


def test_check_says_in_words_that_all_is_well(driver, config):
    driver.gpu(0, energy_watts=300, name="NVIDIA H100 80GB HBM3")

    told = found(config)

    assert told["server"] == ("ok", "it answers and knows the token")
    assert told["nvml"][0] == "ok"
    assert "driver 580.95.05; 1 GPUs (NVIDIA H100 80GB HBM3), 0 MIG instances" in told["nvml"][1]
    assert told["spool"][0] == "ok"
    assert "not reported by the GPU: SM activity" in told["measures"][1]
    assert told["Slurm"][0] == "note"


def test_check_says_what_is_wrong_and_ends_with_1(driver, config, far_server, tmp_path):
    driver.write(init__rc=18)
    far_server.answer(401, {"title": "no such token"})

    told = found(config)

    assert told["token"][0] == "wrong"
    assert "no such token" in told["token"][1]
    assert told["nvml"] == (
        "wrong", "the driver was upgraded under its library: reload the driver or reboot"
    )  # fmt: skip
    (tmp_path / "token").unlink()
    assert command("check", "--config", config).returncode == 1
    assert "`runrate-agent enrol` writes one" in found(config)["token"][1]


def test_check_names_a_server_that_is_none_and_one_that_is_away(driver, config, far_server):
    driver.write(init__rc=18)
    far_server.answer(200, "<html>Sign in</html>")
    assert "is this a Runrate server?" in command("check", "--config", config).stdout

    config.write_text(config.read_text().replace(far_server.url, "http://127.0.0.1:9"))
    assert "did not take it in" in found(config)["server"][1]


def test_once_prints_what_was_measured_and_sends_nothing(driver, config, far_server):
    config.write_text(config.read_text() + "[source]\nwindow_seconds = 10\n")

    done = command("once", "--config", config)

    (told,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert (told["device"], told["holder"]) == ("GPU-0", "")
    assert told["worked_seconds"] / told["observed_seconds"] == pytest.approx(0.4, abs=0.01)
    assert "energy_joules" not in told
    assert far_server.requests == []


def test_once_says_what_there_is_none_of(driver, config):
    driver.write(init__rc=18)

    done = command("once", "--seconds", "5", "--config", config)

    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing was measured: nvml is driver_mismatch" in done.stderr


def test_enrolling_with_an_expired_invitation_or_another_server_keeps_the_token(
    config, far_server, tmp_path
):
    far_server.answer(410, {"title": "Expired", "detail": "the invitation expired at 10:00"})
    expired = command("enrol", "--config", config, given="invitation\n")
    far_server.answer(200, "<html>Sign in</html>")
    other = command("enrol", "--config", config, given="invitation\n")
    empty = command("enrol", "--config", config)

    assert [each.returncode for each in (expired, other, empty)] == [1, 1, 1]
    assert "the invitation expired at 10:00" in expired.stderr
    assert "does not answer as a Runrate server" in other.stderr
    assert "no invitation" in empty.stderr
    assert (tmp_path / "token").read_text() == "secret\n"


def test_an_invitation_is_not_spent_where_the_token_cannot_be_kept(config, far_server, tmp_path):
    (tmp_path / "in the way").write_text("")
    text = config.read_text().replace(f"{tmp_path}/token", f"{tmp_path}/in the way/token")
    config.write_text(text)

    done = command("enrol", "--config", config, given="invitation\n")

    assert "cannot write" in done.stderr
    assert far_server.requests == []


def test_settings_prints_a_file_to_begin_with():
    done = command("settings")

    assert done.returncode == 0
    assert "[server]" in done.stdout
