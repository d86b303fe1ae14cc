"""The doors through which the demo tells: REST of its own server, asked with its own tokens."""

import gzip
import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
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

    def post(self, path: str, token: str, body: object, *, is_packed: bool = False) -> Json:
        """POST to an address below `/api/v1/`, gzipped where that door takes it.

        Refuses DemoRefused unless every row is taken.
        """
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
        if told.get("errors"):
            raise DemoRefused(f"{url}: {told['errors'][:3]}")
        return told

    def simulate(self, scenario: str, ends_at: datetime, *options: str) -> Json:
        """Have the agent play a scenario that ends then; its counts. Refuses DemoRefused."""
        command = self.simulation(scenario, ends_at, "--json", *options)
        played = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own agent
        if played.returncode:
            raise DemoRefused(f"the simulated agents could not deliver: {played.stderr[-2000:]}")
        sent: Json = json.loads(played.stdout.splitlines()[-1])
        if sent["rejected"]:
            raise DemoRefused(f"{sent['rejected']} windows or jobs: {played.stderr[-2000:]}")
        return sent

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
