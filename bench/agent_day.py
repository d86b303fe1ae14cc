"""A day of the agent in minutes, to see whether its memory grows: `python -m bench.agent_day`.

The agent is the one that is installed, with its NVML child, spool, reports, holders, health port and
uplink; made up are the clock, the driver, the node's /proc and the server on the loopback. Each
quarter of an hour brings a job of 16 processes with Slurm's notes and two processes of nobody's;
each hour an XID, every other hour a server that refuses for a while, every fourth a lost GPU.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.request import urlopen

from bench.agent_driver import GPUS, build, state
from bench.calibration import calibrated_before, calibration
from bench.fast_clock import AGENT, ALLOWED, CHILD, NANOSECONDS, VARIABLE, Told
from bench.machine import free_port

QUARTER = 900
WARM_HOURS = 2
PROCESSES = 2 * GPUS
LONGEST_WAIT_SECONDS = 300.0
TAKEN = b'{"accepted": 1, "duplicate": false, "rejected": [], "ignored": []}'
KINDS = {"pss": "Pss:", "anonymous": "Anonymous:"}


class Server(BaseHTTPRequestHandler):
    """Takes everything, or refuses as often as `refusals` says."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    refusals: ClassVar[list[int]] = []
    taken: ClassVar[dict[str, int]] = {}

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        status = self.refusals.pop() if self.refusals else 200
        if status == 200:
            name = self.path.rpartition("/")[2]
            self.taken[name] = self.taken.get(name, 0) + 1
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(TAKEN)))
        if status != 200:
            # Waits are real: a server that asks for none costs the day none.
            self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(TAKEN)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@dataclass(slots=True)
class Node:
    """The machine the agent finds itself on."""

    folder: Path
    port: int
    told: Told
    began: int
    quarter: int = 0
    _pids: list[int] = field(default_factory=list)

    def live(self, quarter: int) -> None:
        """What is new in this quarter of an hour."""
        self._end_job()
        self.quarter = quarter
        self._pids = list(range(10_000 + 20 * quarter, 10_000 + 20 * quarter + PROCESSES + 2))
        for pid in self._pids:
            self._process(pid, is_jobs=pid - self._pids[0] < PROCESSES)
        note = f"RUNRATE_AT={self._now()}\nSLURM_JOB_USER=ada\nSLURM_JOB_ACCOUNT=vision\n"
        numbers = ",".join(str(gpu) for gpu in range(GPUS))
        self._note("start", f"{note}SLURM_JOB_GPUS={numbers}\nRUNRATE_RUN=run-{quarter}\n")
        self._drive()
        if quarter % 8 == 7:
            Server.refusals += [503, 502, 429]

    def _end_job(self) -> None:
        if not self._pids:
            return
        self._note("end", f"RUNRATE_AT={self._now()}\nSLURM_JOB_EXIT_CODE2=0:0\n")
        for pid in self._pids:
            shutil.rmtree(self.folder / "host" / "proc" / str(pid))

    def _now(self) -> int:
        return self.began // NANOSECONDS + self.quarter * QUARTER

    def _process(self, pid: int, *, is_jobs: bool) -> None:
        folder = self.folder / "host" / "proc" / str(pid)
        folder.mkdir(parents=True)
        fields = " ".join(["0"] * 18)
        (folder / "stat").write_text(f"{pid} (python) S {fields} {pid * 7} 0\n")
        job = f"/slurm/uid_1000/job_{self.quarter}/step_0"
        (folder / "cgroup").write_text(f"0::{job if is_jobs else '/'}\n")
        run = f"SLURM_JOB_ID={self.quarter}\0RUNRATE_RUN=run-{self.quarter}\0"
        (folder / "environ").write_bytes(run.encode() if is_jobs else b"PATH=/bin\0")

    def _note(self, kind: str, text: str) -> None:
        new = self.folder / "slurm" / "new"
        new.write_text(text)
        new.rename(self.folder / "slurm" / f"{self.quarter}-0.{kind}")

    def _drive(self) -> None:
        """The driver's file: whose processes run, an XID each hour, a GPU that goes and returns."""
        first, lines = self._pids[0], [state(), f"xid=1:31:{self.quarter // 4}"]
        for gpu in range(GPUS):
            pids = [first + 2 * gpu, first + 2 * gpu + 1]
            if gpu == 0:
                pids += self._pids[PROCESSES:]
            lines.append(f"gpu.{gpu}.procs=" + ",".join(f"{pid}:1073741824" for pid in pids))
            lines.append(f"gpu.{gpu}.procutil=" + ",".join(f"{pid}:20" for pid in pids))
        lines += ["gpu.3.rc=15"] if self.quarter % 16 == 9 else []
        new = self.folder / "state.new"
        new.write_text("\n".join([*lines, "cost.cpu_us=0", "cost.sleep_us=0"]) + "\n")
        new.rename(self.folder / "state")

    def pass_time(self, agent: "subprocess.Popen[bytes]") -> None:
        """To the end of the quarter, when the agent has read all of it."""
        ends = self.began + (self.quarter + 1) * QUARTER * NANOSECONDS
        self.told.write(ALLOWED, ends)
        last = time.monotonic() + LONGEST_WAIT_SECONDS
        while self.told.read(AGENT) < ends - 15 * NANOSECONDS:
            if agent.poll() is not None or time.monotonic() > last:
                at = (self.told.read(CHILD) - self.began) / NANOSECONDS
                raise RuntimeError(f"the agent stands still at {at:.0f} s")
            time.sleep(0.005)


def measured(hours: int) -> dict[str, Any]:
    """The figures of a day so many hours long."""
    with tempfile.TemporaryDirectory() as name, _serving() as port:
        node = _node(Path(name), port)
        agent = _started(node)
        memory: list[dict[str, int]] = []
        began = time.monotonic()
        try:
            for quarter in range(4 * hours):
                node.live(quarter)
                node.pass_time(agent)
                if quarter % 4 == 3:
                    memory.append(_memory(agent.pid))
            metrics = _metrics(node.folder)
        finally:
            agent.send_signal(signal.SIGTERM)
            agent.wait(timeout=60)
        return _figures(memory, metrics) | {
            "hours": hours,
            "seconds": round(time.monotonic() - began),
        }


def _figures(memory: Sequence[dict[str, int]], metrics: dict[str, float]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for kind in KINDS:
        by_hour = [each[kind] / 2**20 for each in memory]
        figures[f"{kind}_mib"] = round(by_hour[-1], 2)
        figures[f"{kind}_mib_by_hour"] = [round(each, 2) for each in by_hour]
        figures[f"{kind}_growth_mib_per_day"] = _growth(by_hour[WARM_HOURS:])
    counted = {name: Server.taken.get(name, 0) for name in ("batches", "reports", "bulk")}
    return figures | counted | {
        "spool_items": int(metrics["runrate_agent_spool_items"]),
        "windows_dropped": int(metrics["runrate_agent_windows_dropped_total"]),
        "nvml_calls": int(metrics["runrate_agent_nvml_calls_total"]),
    }  # fmt: skip


def _growth(values: Sequence[float]) -> float | None:
    """A day's, by least squares of one value an hour; None where there are too few."""
    if len(values) < 2:
        return None
    middle, mean = (len(values) - 1) / 2, sum(values) / len(values)
    above = sum((place - middle) * (value - mean) for place, value in enumerate(values))
    return round(24 * above / sum((place - middle) ** 2 for place in range(len(values))), 3)


@contextmanager
def _serving() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def _node(folder: Path, port: int) -> Node:
    build(folder)
    for name in ("host/proc", "slurm"):
        (folder / name).mkdir(parents=True)
    began = 1_795_168_800 * NANOSECONDS
    told = Told(folder / "clock")
    for place in (CHILD, ALLOWED, AGENT):
        told.write(place, began)
    return Node(folder, port, told, began)


def _started(node: Node) -> "subprocess.Popen[bytes]":
    folder = node.folder
    (folder / "token").write_text("bench")
    (folder / "port").write_text(str(free_port()))
    (folder / "agent.toml").write_text(
        f'[server]\nurl = "http://127.0.0.1:{node.port}"\ntoken_file = "{folder}/token"\n'
        f'[spool]\nfolder = "{folder}/spool"\n'
        f'[holders]\ncluster = "bench"\nslurm_folder = "{folder}/slurm"\nscontrol = false\n'
        f'root = "{folder}/host"\njobs_token_file = "{folder}/token"\n'
        f'[health]\nlisten = "127.0.0.1:{(folder / "port").read_text()}"\ncloud = "none"\n'
    )
    environment = os.environ | {
        "FAKE_NVML_STATE": str(folder / "state"),
        "LD_LIBRARY_PATH": str(folder),
        VARIABLE: str(folder / "clock"),
    }
    # Compiled once, as an installer leaves it: to compile the binding in the agent takes 13 MiB.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([sys.executable, "-c", "import pynvml"], env=environment, check=True)
    command = [sys.executable, "-m", "bench.fast_clock", "agent", str(folder / "agent.toml")]
    return subprocess.Popen(command, env=environment)


def _metrics(folder: Path) -> dict[str, float]:
    port = int((folder / "port").read_text())
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return {
        name: float(value)
        for name, _, value in (line.partition(" ") for line in lines)
        if not name.startswith("#")
    }


def _memory(pid: int) -> dict[str, int]:
    """Of the agent and its child, in bytes, by kind."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    found = dict.fromkeys(KINDS, 0)
    for each in (str(pid), *children):
        for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
            for kind, title in KINDS.items():
                if line.startswith(title):
                    found[kind] += int(line.split()[1]) * 1024
    return found


def main() -> None:
    """One day, and its figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=int, default=24)
    hours: int = parser.parse_args().hours
    before = calibrated_before()
    print(json.dumps(measured(hours) | calibration(before)))


if __name__ == "__main__":
    main()
