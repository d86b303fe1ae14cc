"""The commands of the first day, as the page says them, against a server that runs."""

import html
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client

from apps.fleet.models import Agent
from apps.web.queries.wheels import install_command
from tests import make
from tests.agents.nvml.conftest import built

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)


@pytest.fixture
def node_id(live_server: Any) -> int:
    """A node that nothing reports for yet."""
    cache.clear()
    make.make_organisation()
    make.make_person("petra@example.org", name="Petra", role="platform")
    now = datetime.now(UTC)
    return make.make_node("gpu-01", started_at=now - 3 * DAY, at=now)


def commands(url: str, path: str, **given: object) -> list[str]:
    """What the page tells to run, in order."""
    client = Client(headers={"host": url.removeprefix("http://")})
    client.force_login(get_user_model().objects.get(email="petra@example.org"))
    page = client.post(f"/setup/first-day/{path}", given).content.decode()
    return [html.unescape(each) for each in re.findall(r'<code id="made-\d+">(.*?)</code>', page)]


def run(command: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """As on a node whose /etc/runrate is this folder."""
    there = command.replace("/etc/runrate", str(folder))
    there = re.sub(
        r"runrate-agent (enrol|check)",
        rf"runrate-agent \1 --config {folder}/agent.toml",
        there,
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", there],
        cwd=folder,
        env={**os.environ, "PATH": path, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_an_invited_agent_enrols_checks_and_is_let_in_as_the_page_says(
    live_server: Any, node_id: int, tmp_path: Path
) -> None:
    install, configure, enrol, check, start = commands(live_server.url, "invitation", node=node_id)
    assert (install, start) == (
        install_command(live_server.url, "runrate-agent"), "runrate-agent run"
    )  # fmt: skip
    assert run(configure, tmp_path).returncode == 0
    with (tmp_path / "agent.toml").open("a") as settings:
        settings.write(f'token_file = "{tmp_path}/agent.token"\n')
    enrolled = run(enrol, tmp_path)
    assert enrolled.returncode == 0, enrolled.stderr
    assert "enrolled as gpu-01" in enrolled.stderr
    assert Agent.objects.get().node_id == node_id
    again = run(enrol, tmp_path)
    assert (again.returncode, "it was used at" in again.stderr) == (1, True)

    state = tmp_path / "nvml.state"
    state.write_text("count=1\ngpu.0.uuid=GPU-0\ngpu.0.busid=00000000:10:00.0\ngpu.0.samples=40\n")
    driver = {"LD_LIBRARY_PATH": str(built(tmp_path / "fake")), "FAKE_NVML_STATE": str(state)}
    assert "token" in run(check, tmp_path, **driver).stdout
    played = run(
        f"runrate-agent simulate one-node --server {live_server.url} --token-file agent.token",
        tmp_path,
    )
    assert played.returncode == 0, played.stderr
    assert Agent.objects.get().last_seen_at is not None


def test_without_a_gpu_a_day_of_one_node_is_played_as_the_page_says(
    live_server: Any, node_id: int, tmp_path: Path
) -> None:
    keep, play = commands(live_server.url, "agent", node=node_id, source="simulated")
    assert run(keep, tmp_path).returncode == 0
    played = run(f"{play} --json", tmp_path)
    assert played.returncode == 0, played.stderr
    told = json.loads(played.stdout)
    assert (told["nodes"], told["devices"], told["rejected"]) == (1, 8, 0)
    assert told["windows"] > 1000
    assert Agent.objects.get().last_seen_at is not None
