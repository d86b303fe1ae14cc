"""What every bench stands on: a database and an address of its own."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

ROOT = Path(__file__).resolve().parent.parent
NEEDED = ("fsync", "full_page_writes", "synchronous_commit")
Figures = dict[str, Any]


class BenchRefused(Exception):
    """A server that may lose what it acknowledged is not measured."""


def over(told: Mapping[str, Mapping[str, float]], limits: Mapping[str, float]) -> list[str]:
    """Each figure beyond its limit, in words: `told` by what was asked, then by figure."""
    return [
        f"{name}: {figure} {figures[figure]}, over {most}"
        for name, figures in told.items()
        for figure, most in limits.items()
        if figures[figure] > most
    ]


@contextmanager
def own_database(url: str, database: str) -> Iterator[str]:
    """An empty database of the bench's own, dropped at the end.

    Refuses BenchRefused where the server does not write through to disk.
    """
    path = urlsplit(url).path
    admin, own = (url.replace(f"{path}?", f"/{name}?") for name in ("postgres", database))
    with psycopg.connect(admin, autocommit=True) as connection:
        for name in NEEDED:
            value = connection.execute("SELECT current_setting(%s)", [name]).fetchone()
            if value != ("on",):
                raise BenchRefused(f"{name} is {value}; the bench runs only where it is on")
        connection.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {database}")
        try:
            yield own
        finally:
            connection.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")


def python(url: str, module: str, *arguments: str) -> Figures:
    """Run a module in a process of its own and read the last line it prints, as JSON."""
    command: Sequence[str] = [sys.executable, "-m", module, *arguments]
    environment = os.environ | {"RUNRATE_DATABASE_URL": url}
    done = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    printed = done.stdout.splitlines()
    figures: Figures = json.loads(printed[-1]) if printed else {}
    return figures


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_it_answers(port: int) -> None:
    """Until somebody listens on that port of loopback; TimeoutError after half a minute."""
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(f"nobody answered on port {port}")
