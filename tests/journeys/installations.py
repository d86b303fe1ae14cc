"""Installations of their own, as newcomers have them: no settings, an empty RUNRATE_HOME."""

import fcntl
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def bare_environment(home: Path) -> dict[str, str]:
    """Without a setting of ours but where it lives."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("RUNRATE_", "DJANGO_"))
    }
    return {**kept, "RUNRATE_HOME": str(home)}


@dataclass(frozen=True, slots=True)
class CommandSaid:
    """How a command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


def manage(home: Path, *arguments: str, said: str = "") -> CommandSaid:
    """Run a command of the installation that lives there, which reads `said`."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=bare_environment(home),
        input=said,
        capture_output=True,
        text=True,
        timeout=480,
        check=False,
    )
    return CommandSaid(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True, slots=True)
class FirstStart:
    """An installation after its first command: where it lies, never used again, and what was said."""

    home: Path
    said: CommandSaid

    def copied_to(self, folder: Path) -> Path:
        """The home of an installation like it."""
        subprocess.run(["cp", "-a", str(self.home), str(folder / "home")], check=True)
        return folder / "home"


def first_start_in(folder: Path) -> FirstStart:
    """Made by whichever worker asks first: the others wait for it."""
    folder.mkdir(exist_ok=True)
    kept = folder / "said.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            said = manage(folder / "home", "audit_ledger", "--json")
            kept.write_text(json.dumps(asdict(said)))
    return FirstStart(folder / "home", CommandSaid(**json.loads(kept.read_text())))
