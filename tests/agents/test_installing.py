"""The agent's wheel in an environment of its own: no Django, one dependency, a program that runs."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UV = ROOT / ".uv/bin/uv"
OURS = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")


def run(*command: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Away from the checkout, so that nothing of it is found by chance."""
    return subprocess.run(
        [str(each) for each in command],
        cwd="/", env={k: v for k, v in os.environ.items() if k not in OURS},
        capture_output=True, text=True, timeout=120, check=check,
    )  # fmt: skip


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("alone")
    run(UV, "build", "-q", "--wheel", ROOT / "agents/agent", "-o", folder / "dist")
    run(UV, "venv", "-q", folder / "venv")
    (wheel,) = (folder / "dist").glob("*.whl")
    run(UV, "pip", "install", "-q", "--python", folder / "venv/bin/python", wheel)
    return folder / "venv"


def test_the_wheel_brings_one_dependency_and_its_program(installed):
    listed = run(UV, "pip", "list", "--python", installed / "bin/python", "--format", "json")

    assert {each["name"] for each in json.loads(listed.stdout)} == {"runrate-agent", "nvidia-ml-py"}
    assert "--seconds" in run(installed / "bin/runrate-agent", "once", "--help").stdout
    run(installed / "bin/python", "-c", "import runrate_agent.making, runrate_agent.nvml.child")


def test_check_works_on_a_node_that_has_nothing_yet(installed, tmp_path):
    config = tmp_path / "agent.toml"
    config.write_text(
        f'[server]\nurl = "https://127.0.0.1:9"\ntoken_file = "{tmp_path}/none"\n'
        f'[spool]\nfolder = "{tmp_path}/spool"\n'
    )

    done = run(installed / "bin/runrate-agent", "check", "--config", config, check=False)

    assert (done.returncode, done.stderr) == (1, "")
    assert "`runrate-agent enrol` writes one" in done.stdout
    assert "Traceback" not in done.stdout
