"""A Debian of its own, booted under a real systemd in a container: users, units and sandboxes are real.

Its root is made once by mmdebstrap and kept under var/; what a test changes lies over it, in memory.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.agents.nvml.conftest import LIBRARY, built
from tests.databases import wait_until

ROOT = Path(__file__).resolve().parents[3]
KEPT = ROOT / "var/debian"
PACKAGES = "systemd,systemd-sysv,python3,python3-venv,ca-certificates,dbus"
MISSING = "no Debian root can be booted here"
SERVER = "http://127.0.0.1:8000"
BOOT_SECONDS = 90
LIBRARIES = "usr/lib/x86_64-linux-gnu"
STATE = "/srv/nvml.state"


def debian_root() -> Path:
    """A root with systemd and Python, made by mmdebstrap where there is none yet; else a skip."""
    for program in ("mmdebstrap", "systemd-nspawn", "nsenter"):
        if shutil.which(program) is None:
            pytest.skip(f"{MISSING}: {program} is not installed")
    if os.geteuid() != 0:
        pytest.skip(f"{MISSING}: only root may")
    root = KEPT / "bookworm"
    if not root.is_dir():
        KEPT.mkdir(parents=True, exist_ok=True)
        draft = KEPT / f"new.{os.getpid()}"
        made = subprocess.run(
            ["mmdebstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(draft)],
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        if made.returncode:
            shutil.rmtree(draft, ignore_errors=True)
            pytest.skip(f"{MISSING}: {made.stderr.strip().splitlines()[-1]}")
        draft.rename(root)
    return root


def wheelhouse(folder: Path) -> Path:
    """The agent's wheel as the server serves it, and what it needs from the registry."""
    from apps.web.queries.wheels import wheel_of

    folder.mkdir()
    wheel = wheel_of("runrate-agent")
    (folder / wheel.name).write_bytes(wheel.content)
    subprocess.run(
        ["/usr/bin/python3", "-m", "venv", str(folder.parent / "pip")], check=True, timeout=120
    )
    subprocess.run(
        [
            *(str(folder.parent / "pip/bin/pip"), "download", "-q", "--no-deps"),
            *("-d", str(folder), "nvidia-ml-py"),
        ],
        check=True, timeout=120,
    )  # fmt: skip
    return folder


@dataclass
class BootedMachine:
    """`pid` is its init; commands run in it as root, or as whom a command becomes."""

    container: subprocess.Popen[bytes]
    pid: int
    log: Path

    def run(self, line: str, *, seconds: int = 120) -> subprocess.CompletedProcess[str]:
        """A line of shell in root's home, with what a login shell there would have."""
        env = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root", "LANG": "C.UTF-8", "FAKE_NVML_STATE": STATE,
            "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/srv/wheels",
        }  # fmt: skip
        return subprocess.run(
            ["nsenter", "-t", str(self.pid), "-a", "bash", "-c", f"cd /root; {line}"],
            env=env, capture_output=True, text=True, timeout=seconds, check=False,
        )  # fmt: skip

    def done(self, line: str, *, seconds: int = 120) -> str:
        """What a line that must not fail prints."""
        ran = self.run(line, seconds=seconds)
        assert ran.returncode == 0, (line, ran.stdout[-3_000:], ran.stderr[-3_000:])
        return ran.stdout

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """A file in it."""
        place = Path(f"/proc/{self.pid}/root{path}")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        place.chmod(mode)

    def journal(self, unit: str) -> str:
        """What a unit has said."""
        return self.done(f"journalctl --no-pager -o cat -u {unit}")

    def end(self) -> None:
        """Switch it off."""
        self.container.terminate()
        try:
            self.container.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.container.kill()
            self.container.wait()


def booted_machine(folder: Path) -> BootedMachine:
    """A machine with one made-up GPU and the far end at SERVER; a skip where none can be booted."""
    root, wheels = debian_root(), wheelhouse(folder / "wheels")
    library = built(folder / "fake_nvml") / LIBRARY
    log = folder / "boot.log"
    with log.open("wb") as out:
        container = subprocess.Popen(
            [
                *("systemd-nspawn", "-b", "-D", str(root), "--machine=gpu-01", "--hostname=gpu-01"),
                *("--register=no", "--keep-unit", "--private-network", "--volatile=overlay"),
                *(f"--bind-ro={wheels}:/srv/wheels", "--console=pipe"),
                f"--bind-ro={Path(__file__).with_name('far_end.py')}:/srv/far_end.py",
                f"--bind-ro={library}:/{LIBRARIES}/{LIBRARY}",
            ],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out,
        )  # fmt: skip
    pid = _init_of(container, log)
    machine = BootedMachine(container, pid, log)
    try:
        _prepare(machine)
    except BaseException:
        machine.end()
        raise
    return machine


def _init_of(container: subprocess.Popen[bytes], log: Path) -> int:
    children = Path(f"/proc/{container.pid}/task/{container.pid}/children")
    last = time.monotonic() + BOOT_SECONDS
    while time.monotonic() < last:
        if container.poll() is not None:
            pytest.skip(f"{MISSING}: {log.read_text(errors='replace').strip()[-300:]}")
        found: Sequence[str] = children.read_text().split()
        if found and _is_up(int(found[0])):
            return int(found[0])
        time.sleep(0.5)
    container.kill()
    pytest.skip(f"{MISSING}: it did not come up in {BOOT_SECONDS} s")


def _is_up(pid: int) -> bool:
    asked = subprocess.run(
        ["nsenter", "-t", str(pid), "-a", "systemctl", "is-system-running"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return asked.stdout.strip() in ("running", "degraded")


def _prepare(machine: BootedMachine) -> None:
    machine.done("ip link set lo up 2>/dev/null || true")
    machine.write(STATE, "count=1\ngpu.0.uuid=GPU-0\ngpu.0.samples=40\ngpu.0.name=NVIDIA H100\n")
    # The driver is the machine's: whatever runs there finds it, and what it says.
    machine.done(f"systemctl set-environment FAKE_NVML_STATE={STATE}")
    machine.done(
        "systemd-run --unit=far-end /usr/bin/python3 /srv/far_end.py /srv/wheels /srv/sent.jsonl"
    )
    up = "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 8000))'"
    wait_until(lambda: machine.run(up).returncode == 0)


if __name__ == "__main__":
    sys.stdout.write(f"{debian_root()}\n")
