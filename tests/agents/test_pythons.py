"""The agent and the SDK as the server serves them, in clean environments, on every Python there is.

From an empty environment: installed by the command of the pages, enrolled with a join token, killed
and started again; every window that was measured is there once.
"""

import os
import signal
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache

from apps.fleet import actions as fleet
from apps.fleet.models import Agent
from apps.telemetry.models import Batch, TelemetryWindow
from apps.web.queries.wheels import install_command
from apps.workloads.models import RunProgress
from tests import make
from tests.agents.nvml.conftest import built
from tests.databases import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.proof]
VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13")
OURS = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONWARNINGS")
TRAINING = """
import runrate
with runrate.run(workload="w", name="installed") as run:
    for batch in run.batches(range(5)):
        with run.step(tokens=10):
            pass
"""


def interpreter(version: str) -> Path | None:
    """A Python of this version on this machine."""
    for folder in (Path.home() / ".pyenv/versions", Path.home() / ".local/share/uv/python"):
        for found in sorted(folder.glob(f"*{version}.*/bin/python{version}")):
            return found
    for place in os.environ["PATH"].split(":"):
        found = Path(place) / f"python{version}"
        if found.exists() and "shims" not in place:
            return found
    return None


def clean(**more: str) -> dict[str, str]:
    """An environment in which nothing of the checkout is found."""
    return {name: value for name, value in os.environ.items() if name not in OURS} | more


def shell(command: str, **env: str) -> None:
    done = subprocess.run(
        ["bash", "-c", command], cwd="/", env=clean(**env), capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]


@pytest.mark.parametrize("version", VERSIONS)
def test_from_an_empty_environment_to_counts_that_are_right(
    version: str, live_server: Any, tmp_path: Path
) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    cache.clear()
    make.make_organisation()
    now = datetime.now(UTC)
    pool = make.make_pool("h100", cluster_id=make.make_cluster("prod"), gpus_per_node=1)
    joining = fleet.NewJoinToken(
        "proof", make.make_cluster("prod"), ("gpu-*",), now + timedelta(days=1), pool
    )
    (tmp_path / "join").write_text(fleet.make_join_token(token=joining, at=now).secret)

    venv = tmp_path / "venv"
    shell(f"{python} -m venv {venv}")
    for project in ("runrate-agent", "runrate-sdk"):
        shell(f"{venv}/bin/{install_command(live_server.url, project)}")
    start = _agent(tmp_path, live_server.url)
    first = start()
    wait_until(TelemetryWindow.objects.exists)
    first.kill()
    first.communicate(timeout=20)
    token, before = Agent.objects.get().token_id, TelemetryWindow.objects.count()
    again = start()
    wait_until(lambda: TelemetryWindow.objects.count() > before)
    again.send_signal(signal.SIGTERM)
    _, said = again.communicate(timeout=30)

    assert again.returncode == 0, said
    assert Agent.objects.get().token_id == token
    batches = list(Batch.objects.values_list("boot", "sequence", "accepted"))
    for boot in {boot for boot, _, _ in batches}:
        told = sorted(sequence for each, sequence, _ in batches if each == boot)
        assert told == list(range(len(told)))
    windows = list(TelemetryWindow.objects.values_list("device_id", "starts_at"))
    assert len(windows) == len(set(windows)) == sum(accepted for _, _, accepted in batches)

    training = make.make_token("runs", name="training").secret
    shell(
        f"{venv}/bin/python -c '{TRAINING}'",
        RUNRATE_URL=live_server.url,
        RUNRATE_TOKEN=training,
        RUNRATE_SPOOL=str(tmp_path / "runs"),
    )
    assert sum(RunProgress.objects.values_list("steps", flat=True)) == 5


def _agent(folder: Path, url: str) -> Callable[[], "subprocess.Popen[str]"]:
    """Starts the installed agent of gpu-01 on a driver made up."""
    (folder / "agent.toml").write_text(
        f'[server]\nurl = "{url}"\njoin_token_file = "{folder}/join"\n'
        f'[source]\nwindow_seconds = 10\n[spool]\nfolder = "{folder}/state"\n'
        f'[holders]\ncluster = "prod"\npod_resources = "{folder}/none"\n'
        f'slurm_folder = "{folder}/slurm"\n[health]\nlisten = ""\ncloud = "none"\n'
    )
    (folder / "nvml.state").write_text("count=1\ngpu.0.uuid=GPU-0\ngpu.0.samples=40\n")
    library = built(folder / "fake")
    program = folder / "venv/bin/runrate-agent"

    def start() -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [program, "run", "--config", folder / "agent.toml"], cwd="/", text=True,
            stderr=subprocess.PIPE,
            env=clean(
                NODE_NAME="gpu-01", FAKE_NVML_STATE=str(folder / "nvml.state"),
                LD_LIBRARY_PATH=str(library),
            ),
        )  # fmt: skip

    return start
