"""The doors through which the demo tells: REST of its own server, asked with its own tokens."""

import gzip
import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

Json = dict[str, Any]
ANSWER_SECONDS = 60


class DemoRefused(Exception):
    """The server did not take what the demo told."""


@dataclass(frozen=True, slots=True)
class Doors:
    """Where the server listens (host:port), and what opens it.

    `tokens` are secrets: `jobs` by cluster, `nodes` by node, `counts` of who counts requests and
    calls. `token_file` has the same for the agent.
    """

    listen: str
    tokens: Mapping[str, Any]
    token_file: Path
    closed: threading.Event = field(default_factory=threading.Event)
    playing: list[subprocess.Popen[str]] = field(default_factory=list)

    def close(self) -> None:
        """Send nothing more: agents that play are ended, and whoever asks is refused."""
        self.closed.set()
        for process in [*self.playing]:
            process.terminate()

    def post(self, path: str, token: str, body: object, *, is_packed: bool = False) -> Json:
        """POST to an address below `/api/v1/`, gzipped where that door takes it.

        Refuses DemoRefused unless every row is taken.
        """
        if self.closed.is_set():
            raise DemoRefused("the demo ends")
        url = f"http://{self.listen}/api/v1/{path}"
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        data = json.dumps(body).encode()
        if is_packed:
            headers["Content-Encoding"] = "gzip"
            data = gzip.compress(data, 6)
        asked = urllib.request.Request(url, data=data, headers=headers, method="POST")
        try:
            with urllib.request.urlopen(asked, timeout=ANSWER_SECONDS) as answer:  # noqa: S310
                told: Json = json.load(answer)
        except urllib.error.HTTPError as refused:
            raise DemoRefused(f"{url}: {refused.code} {refused.read(500).decode()}") from refused
        except OSError as trouble:
            raise DemoRefused(f"{url}: the web server does not answer ({trouble})") from trouble
        if told.get("errors"):
            raise DemoRefused(f"{url}: {told['errors'][:3]}")
        return told

    def simulate(self, scenario: str, ends_at: datetime, *options: str) -> Json:
        """Have the agent play a scenario that ends then; its counts. Refuses DemoRefused."""
        command = self.simulation(scenario, ends_at, "--json", *options)
        said, troubles, code = self._played(command)
        if code:
            raise DemoRefused(f"the simulated agents could not deliver: {troubles[-2000:]}")
        sent: Json = json.loads(said.splitlines()[-1])
        if sent["rejected"]:
            raise DemoRefused(f"{sent['rejected']} windows or jobs: {troubles[-2000:]}")
        return sent

    def _played(self, command: list[str]) -> tuple[str, str, int]:
        """Return what it said, what troubled it, and its exit status; it does not outlive this call."""
        process = subprocess.Popen(  # noqa: S603 - our own agent
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.playing.append(process)
        try:
            if self.closed.is_set():
                raise DemoRefused("the demo ends")
            return *process.communicate(), process.returncode
        finally:
            self.playing.remove(process)
            process.terminate()
            process.wait()

    def simulation(self, scenario: str, ends_at: datetime, *options: str) -> list[str]:
        """The agent's command line that plays it."""
        agent = Path(sys.executable).with_name("runrate-agent")
        return [
            str(agent), "simulate", scenario, "--server", f"http://{self.listen}",
            "--token-file", str(self.token_file), "--ends-at", ends_at.isoformat(), *options,
        ]  # fmt: skip


def in_parts(rows: Iterable[Json], size: int) -> Iterator[list[Json]]:
    """The rows, so many at a time."""
    rest = iter(rows)
    while part := list(islice(rest, size)):
        yield part
