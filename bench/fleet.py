"""A fleet of agents against one server that is killed under them: every window exactly once.

Agents, web server, roll-up and a Postgres of the bench's own share the machine, as figures say.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

from bench.calibration import scaled
from bench.machine import free_port, wait_until_it_answers
from controlplane import embedded_postgres, env, processes

ROOT = Path(__file__).resolve().parent.parent
WINDOW_SECONDS = 10
DOWN_SECONDS = 3.0
# When each is killed, as parts of the whole time.
WEB_KILLS = (0.2, 0.5, 0.8)
DATABASE_KILLS = (0.65,)
P99_LIMIT_MS = 200.0
STORED = """
SELECT count(*), count(DISTINCT (device_id, starts_at, holder_id)) FROM telemetry_window
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """How large, how long, and what is killed when."""

    agents: int = 1_000
    minutes: float = 10.0
    web_kills: tuple[float, ...] = WEB_KILLS
    database_kills: tuple[float, ...] = DATABASE_KILLS

    @property
    def seconds(self) -> float:
        return self.minutes * 60


@dataclass(slots=True)
class Place:
    """The processes that are measured and killed."""

    home: Path
    url: str
    web: processes.Child
    port: int
    stack: ExitStack

    def kill_web(self) -> None:
        """SIGKILL to the web server and its worker; another on the same port after a while."""
        if self.web.process is not None:
            os.killpg(self.web.process.pid, signal.SIGKILL)
            self.web.process.wait()
        time.sleep(DOWN_SECONDS)
        self.web.start()

    def kill_database(self) -> None:
        """SIGKILL to the postmaster; another on the same data when its children are gone."""
        pid = int((self.home / "postgres" / "postmaster.pid").read_text().split()[0])
        postmaster = psutil.Process(pid)
        children = postmaster.children(recursive=True)
        postmaster.kill()
        psutil.wait_procs(children, timeout=30)
        time.sleep(DOWN_SECONDS)
        self.stack.enter_context(embedded_postgres.running(self.home))


def run(plan: Plan) -> dict[str, object]:
    """The figures of one run; `is_exact` says whether every window is there once."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="runrate-fleet-")))
        url = stack.enter_context(embedded_postgres.running(home))
        environment = os.environ | {"RUNRATE_HOME": str(home), "RUNRATE_DATABASE_URL": url}
        stack.enter_context(_set(environment))
        secrets = _enrolled(plan.agents)
        port = free_port()
        web = processes.web(env.environment(environment), f"127.0.0.1:{port}")
        stack.enter_context(processes.started(web))
        wait_until_it_answers(port)
        sweep = processes.Child("sweep", [sys.executable, "-m", "bench.fleet_sweep"])
        stack.enter_context(processes.started(sweep))
        tally = _played(Place(home, url, web, port, stack), secrets, plan)
        return _figures(url, plan, tally)


def is_exact(figures: dict[str, object]) -> bool:
    """Whether nothing was lost and nothing is there twice."""
    return figures["lost"] == 0 and figures["duplicated"] == 0


@contextmanager
def _set(environment: dict[str, str]) -> Iterator[None]:
    """Children of `processes` take this process's environment."""
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _enrolled(agents: int) -> list[str]:
    command = [sys.executable, "-m", "bench.ingest_fleet", str(agents)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    secrets: list[str] = json.loads(done.stdout.splitlines()[-1])
    return secrets


def _played(place: Place, secrets: list[str], plan: Plan) -> dict[str, Any]:
    """What the agents say of their windows, while what is to be killed is killed."""
    fleet = {
        "port": place.port,
        "secrets": secrets,
        "seconds": plan.seconds,
        "window_seconds": WINDOW_SECONDS,
    }
    # Killed from this thread: what is started again would die with any other (see processes).
    with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as said:
        told.write(json.dumps(fleet).encode())
        told.seek(0)
        agents = subprocess.Popen(
            [sys.executable, "-m", "bench.fleet_agents"],
            stdin=told,
            stdout=said,
            cwd=ROOT,
        )
        try:
            _kill(place, plan, agents)
            if agents.wait():
                raise RuntimeError("the agents' process failed")
        finally:
            agents.kill()
            agents.wait()
        said.seek(0)
        tally: dict[str, Any] = json.load(said)
    return tally


def _kill(place: Place, plan: Plan, agents: "subprocess.Popen[bytes]") -> None:
    began = time.monotonic()
    due: list[tuple[float, str, Callable[[], None]]] = [
        *((share, "web server", place.kill_web) for share in plan.web_kills),
        *((share, "database", place.kill_database) for share in plan.database_kills),
    ]
    for share, name, kill in sorted(due, key=lambda each: each[0]):
        time.sleep(max(0.0, began + share * plan.seconds - time.monotonic()))
        if agents.poll() is not None:
            return
        print(f"{time.monotonic() - began:.0f} s: {name} killed", file=sys.stderr, flush=True)
        kill()


def _figures(url: str, plan: Plan, tally: dict[str, Any]) -> dict[str, object]:
    with psycopg.connect(url) as connection:
        rows, keys = connection.execute(STORED).fetchone() or (0, 0)
    ordered = sorted(tally.pop("latencies_ms"))
    first = sorted(tally.pop("first_latencies_ms"))
    sent = tally["windows_sent"]
    return {
        "windows_sent": sent,
        "windows_stored": rows,
        "lost": sent - keys,
        "duplicated": rows - keys,
        "p50_ms": round(ordered[len(ordered) // 2], 1),
        "p99_ms": round(ordered[int(len(ordered) * 0.99)], 1),
        "p99_target_ms": scaled(P99_LIMIT_MS),
        "first_p50_ms": round(first[len(first) // 2], 1),
        "first_p99_ms": round(first[int(len(first) * 0.99)], 1),
        "batches": len(ordered),
        **{name: value for name, value in tally.items() if name != "windows_sent"},
        "agents": plan.agents,
        "minutes": plan.minutes,
        "web_kills": len(plan.web_kills),
        "database_kills": len(plan.database_kills),
    }
