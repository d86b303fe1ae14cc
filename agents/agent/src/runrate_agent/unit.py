"""The systemd unit that an agent runs as, and a command run as that unit would be.

`systemd-run` makes a unit of the moment with the same user, credentials, capabilities and sandbox: what
it can read there, the agent can.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runrate_agent.compat import SLOTS

AGENT_UNIT, CACHE_UNIT = "runrate-agent.service", "runrate-slurm-cache.service"
UNITS = (AGENT_UNIT, CACHE_UNIT)
BOOTED = Path("/run/systemd/system")
"""There where systemd is the machine's init, as sd_booted(3) has it."""
ASKED_SECONDS = 10
LONGEST_SECONDS = 120
LEFT_OUT = (
    *("Type", "ExecStart", "ExecStop", "ExecReload", "ExecCondition", "Restart", "StartLimit"),
    *("Timeout", "RuntimeMax", "RuntimeRandom", "Success", "Watchdog", "Notify", "Standard"),
    *("PIDFile", "BusName", "Remain", "GuessMainPID", "OOMPolicy", "Kill", "Sockets"),
    # How fast, not what.
    *("CPUQuota", "CPUWeight", "Nice", "IOScheduling", "IOWeight", "Slice"),
)
"""Beginnings of settings that say when and how long a service runs, not what it may do."""
FAILED_STEPS = {
    200: "its working folder cannot be entered",
    203: "its program cannot be started: it is not there, or not for this user to run",
    216: "a group of its SupplementaryGroups= does not exist",
    217: "its user does not exist",
    226: "its sandbox cannot be set up",
    233: "its RuntimeDirectory= cannot be made",
    238: "its StateDirectory= cannot be made",
    239: "its CacheDirectory= cannot be made",
    243: "a credential of its LoadCredential= cannot be read",
}
"""Statuses of systemd.exec(5) for what failed before the program began."""


@dataclass(frozen=True, **SLOTS)
class Unit:
    """An installed unit: its settings in the order of its files, the later ones on top."""

    name: str
    settings: tuple[tuple[str, str], ...]

    def last(self, key: str) -> str:
        """A setting's last value; "" where it has none."""
        return next((value for name, value in reversed(self.settings) if name == key), "")

    @property
    def user(self) -> str:
        """Whom it runs as; a dynamic user without a name has the unit's."""
        named = self.last("User")
        if named:
            return named
        return self.name.partition(".")[0] if self._is_dynamic else "root"

    @property
    def command(self) -> list[str]:
        """The words that it starts."""
        return self.last("ExecStart").lstrip("-@+!:").split()

    @property
    def properties(self) -> list[str]:
        """What a unit of the moment needs to be let do the same, as systemd-run takes it."""
        kept = [f"{key}={value}" for key, value in self.settings if not key.startswith(LEFT_OUT)]
        if self.last("RuntimeDirectory"):
            # The unit itself may be running: what is its own stays when this one ends.
            kept.append("RuntimeDirectoryPreserve=yes")
        # By one name it is one user, who keeps the state folder.
        return kept if self.last("User") else [*kept, f"User={self.user}"]

    @property
    def _is_dynamic(self) -> bool:
        return self.last("DynamicUser").lower() in ("yes", "true", "on", "1")


@dataclass(frozen=True, **SLOTS)
class Done:
    """A command that ran as a unit; `failed` is what kept it from beginning."""

    status: int
    output: str
    errors: str
    failed: str = ""


def installed_units() -> list[Unit]:
    """Ours that systemd knows on this machine."""
    if not BOOTED.is_dir() or shutil.which("systemctl") is None:
        return []
    return [unit for name in UNITS if (unit := installed_unit(name)) is not None]


def installed_unit(name: str) -> Unit | None:
    """A unit as its file and drop-ins say; None where there is none."""
    status, text = _systemctl("cat", "--no-pager", name)
    return None if status else unit_in(name, text)


def activity_of(unit: Unit) -> str:
    """Whether it runs, in systemd's word."""
    return _systemctl("is-active", unit.name)[1].strip() or "not known"


def unit_in(name: str, text: str) -> Unit:
    """Read the files of a unit one after the other; an empty value takes back those before it."""
    settings: list[tuple[str, str]] = []
    for key, value in _settings(text):
        if not value:
            settings = [each for each in settings if each[0] != key]
        settings.append((key, value))
    return Unit(name, tuple(settings))


def run_as_unit(unit: Unit, command: Sequence[str]) -> Done:
    """Run a command with all that the unit is given and denied, and wait for it."""
    dropped: list[str] = []
    while True:
        done = _run(unit, command, dropped)
        unknown = _unknown_setting(done)
        if unknown is None or unknown in dropped:
            return done
        # A setting of a newer or older systemd than this one's systemd-run.
        dropped.append(unknown)


def current_user() -> str:
    """The name of whoever runs this, else the number."""
    number = os.geteuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return os.environ.get("USER") or f"user {number}"


def _systemctl(*words: str) -> tuple[int, str]:
    """The status and what was printed."""
    try:
        done = subprocess.run(
            ["systemctl", *words],
            capture_output=True, text=True, timeout=ASKED_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return 1, ""
    return done.returncode, done.stdout


def _settings(text: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in text.replace("\\\n", " ").splitlines():
        stripped = line.strip()
        if stripped.startswith("["):
            section = stripped
        elif stripped and stripped[0] not in "#;" and section == "[Service]":
            key, _, value = stripped.partition("=")
            yield key.strip(), value.strip()


def _run(unit: Unit, command: Sequence[str], dropped: Sequence[str]) -> Done:
    asked = [each for each in unit.properties if each.partition("=")[0] not in dropped]
    words = ["systemd-run", "--pipe", "--wait", "--collect", "--quiet"]
    words += [word for each in asked for word in ("-p", each)]
    try:
        done = subprocess.run(
            [*words, "--", *command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST_SECONDS,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Done(1, "", "", f"nothing came of it in {LONGEST_SECONDS} s")
    except OSError as refused:
        return Done(1, "", "", f"systemd-run: {refused}")
    return Done(done.returncode, done.stdout, done.stderr, FAILED_STEPS.get(done.returncode, ""))


def _unknown_setting(done: Done) -> str | None:
    """The setting that systemd-run does not know, as it says."""
    for line in done.errors.splitlines():
        for said in ("Unknown assignment: ", "Cannot set property "):
            if said in line:
                return line.partition(said)[2].partition("=")[0].partition(",")[0].strip()
    return None
