"""What the agent itself costs on this machine: its processor time, its memory, its room on disk.

The agent runs as on a node, with a server that takes everything on the loopback, on the driver that
is there or on one in another folder (the test suite builds one whose calls compute and wait).
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Optional

from runrate_agent.compat import SLOTS

WARM_SECONDS = 25.0
SAMPLED_EVERY = 1.0
DAY_SECONDS = 86_400


@dataclass(frozen=True, **SLOTS)
class TakenBody:
    """A body that the agent sent, and where."""

    path: str
    document: dict[str, Any]


def measured(
    *,
    seconds: float,
    driver_folder: Path | None,
    gpus: int,
    window_seconds: int = 60,
    keep: Callable[[TakenBody], object] | None = None,
) -> dict[str, Any]:
    """The figures of one run of that many seconds, after a warm-up; `keep` is given what was sent."""
    _Taking.taken, _Taking.keep = 0, keep
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Taking)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        settings = f"expected_gpus = {gpus}\nwindow_seconds = {window_seconds}\n"
        agent = _started(Path(folder), server.server_port, driver_folder, settings)
        try:
            time.sleep(WARM_SECONDS)
            figures = _watched(agent.pid, seconds, _health_port(Path(folder)))
        finally:
            agent.send_signal(signal.SIGTERM)
            agent.wait(timeout=30)
            server.shutdown()
            server.server_close()
    lived = WARM_SECONDS + seconds
    return {**figures, "spool_mib_per_day": round(_Taking.taken / lived * DAY_SECONDS / 2**20, 2)}


class _Taking(BaseHTTPRequestHandler):
    """Takes everything, and counts the bytes as the spool would keep them."""

    taken = 0
    keep: Optional[Callable[[TakenBody], object]] = None

    def do_POST(self) -> None:
        """Acknowledge."""
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        type(self).taken += len(sent)
        keep = type(self).__dict__["keep"]
        if keep is not None:
            packed = self.headers.get("Content-Encoding") == "gzip"
            keep(TakenBody(self.path, json.loads(gzip.decompress(sent) if packed else sent)))
        body = b'{"accepted": 1, "duplicate": false, "rejected": [], "ignored": []}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


def _started(
    folder: Path, port: int, driver_folder: Path | None, source: str
) -> subprocess.Popen[bytes]:
    (folder / "token").write_text("bench")
    (folder / "agent.toml").write_text(
        f'[server]\nurl = "http://127.0.0.1:{port}"\ntoken_file = "{folder}/token"\n'
        f'[spool]\nfolder = "{folder}/spool"\n[holders]\ncluster = "bench"\n'
        f'slurm_folder = "{folder}/slurm"\n'
        f'[health]\nlisten = "127.0.0.1:{_free_port(folder)}"\ncloud = "none"\n'
        f"[source]\n{source}"
    )
    # As installed: a package's modules are compiled before they are first run.
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    for module in ("runrate_agent.nvml.node", "runrate_agent.making", "runrate_agent.health"):
        subprocess.run([sys.executable, "-c", f"import {module}"], env=environment, check=False)
    if driver_folder is not None:
        environment["LD_LIBRARY_PATH"] = str(driver_folder)
    command = [sys.executable, "-m", "runrate_agent", "run", "--config", str(folder / "agent.toml")]
    return subprocess.Popen(command, env=environment)


def _watched(pid: int, seconds: float, port: int) -> dict[str, Any]:
    import http.client

    def metrics() -> dict[str, float]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        return {name: float(value) for name, _, value in (line.partition(" ") for line in lines)}

    before, cpu_before, started = metrics(), _cpu_seconds(pid), time.monotonic()
    peak = 0
    while time.monotonic() - started < seconds:
        time.sleep(SAMPLED_EVERY)
        peak = max(peak, _pss_bytes(pid))
    lived = time.monotonic() - started
    spent, after = _cpu_seconds(pid) - cpu_before, metrics()
    calls = after["runrate_agent_nvml_calls_total"] - before["runrate_agent_nvml_calls_total"]
    return {
        "cpu_percent_of_core": round(100 * spent / lived, 3),
        "pss_mib": round(peak / 2**20, 1),
        "nvml_calls_per_second": round(calls / lived, 1),
        "seen_gpus": int(after["runrate_agent_seen_gpus"]),
        "seconds": round(lived, 1),
    }


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return [pid, *(int(child) for child in children)]


def _cpu_seconds(pid: int) -> float:
    """User and system time of the process and its children, living and dead."""
    ticks = 0
    for each in _family(pid):
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(int(value) for value in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def _pss_bytes(pid: int) -> int:
    total = 0
    for each in _family(pid):
        try:
            text = Path(f"/proc/{each}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total * 1024


def _free_port(folder: Path) -> int:
    """A port that is free now, noted for `_health_port`."""
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = int(listener.getsockname()[1])
    (folder / "port").write_text(json.dumps(port))
    return port


def _health_port(folder: Path) -> int:
    return int(json.loads((folder / "port").read_text()))
