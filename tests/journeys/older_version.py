"""A version of Runrate from before, with its own code and its own environment."""

import fcntl
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.journeys.installations import ROOT, CommandSaid, bare_environment


@dataclass(frozen=True, slots=True)
class OlderVersion:
    """Where its code and environment lie."""

    folder: Path

    def manage(self, *arguments: str, database_url: str, home: Path) -> CommandSaid:
        """Run a command of it on this database; what else it keeps goes to `home`."""
        environment = bare_environment(home) | {"RUNRATE_DATABASE_URL": database_url}
        done = subprocess.run(
            [str(self.folder / ".venv/bin/python"), "manage.py", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        return CommandSaid(done.returncode, done.stdout, done.stderr)


def older_version(commit: str) -> OlderVersion:
    """Return that commit, made ready below var/versions by whoever asks first; kept from then on.

    Skips where this clone does not have it, as a shallow one, or its packages cannot be had.
    """
    folder = ROOT / "var" / "versions" / commit
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{commit}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / ".venv" / ".ready").exists():
            _unpack(commit, folder)
            _install(folder)
    return OlderVersion(folder)


def _unpack(commit: str, folder: Path) -> None:
    packed = subprocess.run(
        ["git", "archive", "--format=tar", commit], cwd=ROOT, capture_output=True, check=False
    )
    if packed.returncode:
        pytest.skip(f"the version to come from is not in this clone: {commit}")
    folder.mkdir(exist_ok=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)


def _install(folder: Path) -> None:
    """As `make setup` does there, with the uv that is here."""
    inherited = ("VIRTUAL_ENV", "PYTHONPATH", "UV_PROJECT_ENVIRONMENT")
    environment = {name: value for name, value in os.environ.items() if name not in inherited}
    done = subprocess.run(
        [str(ROOT / ".uv/bin/uv"), "sync", "--locked", "--quiet"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"packages of the version to come from cannot be had: {done.stderr[-300:]}")
    (folder / ".venv" / ".ready").touch()
