"""The real SkyPilot client from PyPI, in an environment of its own, and what runs in it."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
UV = ROOT / ".uv/bin/uv"
WANTED = "skypilot==0.14.1"
ANSWER = "ANSWER "


def skypilot_python() -> Path:
    """A Python that has it: SKYPILOT_CLIENT names one, else it is installed once, beside the checkout's own."""
    named = os.environ.get("SKYPILOT_CLIENT")
    if named:
        return Path(named)
    folder = ROOT / ".skypilot"
    found = folder / "bin/python"
    if not (folder / "installed").exists():
        try:
            for command in (
                [UV, "venv", "-q", "--clear", "--python", "3.11", folder],
                [UV, "pip", "install", "-q", "--python", found, WANTED],
            ):
                subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as refused:
            pytest.skip(f"SkyPilot cannot be installed: {str(refused.stderr)[-300:]}")
        (folder / "installed").touch()
    return found


def in_skypilot(
    script: str, lines: Sequence[Mapping[str, Any]], home: Path, **config: Any
) -> list[Any]:
    """What a script of this folder answers to each line, in a home of its own with this configuration."""
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(json.dumps(config))
    done = subprocess.run(
        [skypilot_python(), Path(__file__).with_name(script)],
        input="".join(json.dumps(each) + "\n" for each in lines),
        env={
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "SKYPILOT_GLOBAL_CONFIG": str(home / "config.yaml"),
            "SKYPILOT_DISABLE_USAGE_COLLECTION": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    answers = [
        json.loads(line.removeprefix(ANSWER))
        for line in done.stdout.splitlines()
        if line.startswith(ANSWER)
    ]
    assert len(answers) == len(lines), done.stdout[-2_000:] + done.stderr[-4_000:]
    return answers
