"""The commands of the agent's and the SDK's pages, run as they are written, on an empty environment.

Only what stands for a place is put in: the server's address, and this test's folders for /opt,
/etc and the state folder. The node's own page gives the one-time token that `enrol` takes.
"""

import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache

from apps.fleet import actions as fleet
from apps.fleet.models import Agent
from apps.telemetry.models import TelemetryWindow
from apps.workloads.models import RunAttempt
from tests import make
from tests.agents.nvml.conftest import built
from tests.agents.test_pythons import clean

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.proof]
GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"
EXAMPLE = "https://runrate.example.org"


def commands(page: str, heading: str) -> list[str]:
    """The lines of code below a heading of a page, of whichever kind of block, without comments."""
    part = (GUIDES / page).read_text().partition(f"{heading}\n")[2].partition("\n## ")[0]
    told, fence = [], None
    for line in part.splitlines():
        if line.startswith("```"):
            fence = line[3:] if fence is None else None
        elif fence == "" or (fence is None and line.startswith("    ")):
            told.append(line.strip() if fence == "" else line[4:])
    return [line.partition("  #")[0].strip() for line in told if line.strip()]


class Machine:
    """Empty but for Python and a made-up driver; `places` says what stands for what."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.places = {
            EXAMPLE: url,
            "/opt/": f"{folder}/opt/",
            "/usr/local/bin/": f"{folder}/bin/",
            "/etc/systemd/system/": f"{folder}/units/",
            "/etc/runrate": f"{folder}/etc",
        }
        for name in ("opt", "etc", "state", "bin", "units"):
            (folder / name).mkdir()
        (folder / "nvml.state").write_text("count=1\ngpu.0.uuid=GPU-0\ngpu.0.samples=40\n")
        self.env = clean(
            PATH=f"{folder}/bin:/usr/bin:/bin",
            HOME=str(folder),
            NODE_NAME="gpu-01",
            FAKE_NVML_STATE=str(folder / "nvml.state"),
            LD_LIBRARY_PATH=str(built(folder / "fake")),
        )

    def run(self, line: str, *, seconds: int = 300) -> subprocess.CompletedProcess[str]:
        """A line of the page; of the agent's own program, with this machine's settings."""
        for name, place in self.places.items():
            line = line.replace(name, place)
        words = line.split()
        if words[0] == "runrate-agent" and words[1] not in ("settings", "file"):
            line += f" --config {self.folder}/etc/agent.toml"
        return subprocess.run(
            ["bash", "-c", f"timeout --signal=TERM {seconds} {line}"],
            cwd=self.folder, env=self.env, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def set_up(self) -> None:
        """This test's folders in place of the machine's own."""
        path = self.folder / "etc/agent.toml"
        text = path.read_text()
        given = {
            "/etc/runrate/": f"{self.folder}/etc/",
            "/var/lib/runrate-agent": f"{self.folder}/state",
            "window_seconds = 60": "window_seconds = 10",
            '"127.0.0.1:9808"': '""',
            'cloud = "auto"': 'cloud = "none"',
        }
        for before, after in given.items():
            assert before in text
            text = text.replace(before, after)
        path.write_text(text)


@pytest.fixture
def machine(live_server: Any, tmp_path: Path) -> Machine:
    cache.clear()
    make.make_organisation()
    return Machine(tmp_path, live_server.url)


def test_the_agents_page_from_an_empty_machine_to_windows(machine, live_server) -> None:
    lines = commands("agent.md", "## Install")
    # A booted machine with the units is another test's.
    lines = [line for line in lines if not line.startswith("systemctl ")] + ["runrate-agent run"]
    programs = [line.split()[0] for line in lines]
    assert programs[:3] == ["python3", "/opt/runrate-agent/bin/pip", "ln"]
    own = [line.split()[1] for line in lines if line.startswith("runrate-agent ")]
    assert own == ["settings", "enrol", "file", "check", "once", "run"]
    node = make.make_node("gpu-01", units=1)
    now = datetime.now(UTC)
    secret = fleet.invite_agent(node_id=node, expires_at=now + timedelta(hours=1), at=now)
    (machine.folder / "invitation").write_text(secret)

    for line in lines:
        program = line.split()[1] if line.startswith("runrate-agent ") else ""
        done = machine.run(line, seconds=25 if program == "run" else 300)
        # `timeout` ends what runs until it is stopped; `check` says what this machine has not.
        allowed = {"run": (0, 124), "check": (0, 1)}.get(program, (0,))
        assert done.returncode in allowed, (line, done.stdout[-1_000:], done.stderr[-1_000:])
        assert "Traceback" not in done.stdout + done.stderr
        if program == "settings":
            machine.set_up()

    assert (
        f"ExecStart={machine.folder}/opt/runrate-agent/bin/runrate-agent run"
        in (machine.folder / "units/runrate-agent.service").read_text()
    )
    assert Agent.objects.get().node.name == "gpu-01"
    assert TelemetryWindow.objects.exists()


def test_the_sdks_page_from_an_empty_machine_to_a_run(machine, live_server) -> None:
    install, export, *_ = commands("sdk.md", "# The training SDK")
    assert install.startswith("pip install https://")
    assert export.startswith("export RUNRATE_URL=")
    assert machine.run("python3 -m venv /opt/runrate-agent").returncode == 0
    done = machine.run(install)
    assert done.returncode == 0, done.stderr[-1_000:]
    token = make.make_token("runs", name="training").secret
    told = re.sub(r"https://runrate\.example\b", live_server.url, export).replace("rr_…", token)
    program = machine.folder / "train.py"
    program.write_text(
        "import runrate\n"
        "with runrate.run(name='as-written') as run, run.step(tokens=1):\n"
        "    pass\n"
    )
    ran = machine.run(f"true; {told}; python {program}")
    assert ran.returncode == 0, ran.stderr[-1_000:]
    assert RunAttempt.objects.get().run.key == "as-written"
