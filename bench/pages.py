"""Server time, queries and size of every page, on 13 months of 10,000 GPUs, uncached."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from bench.settle import own_database

ROOT = Path(__file__).resolve().parent.parent
DATABASE = "runrate_bench_pages"
ROUNDS, FULL_ROUNDS = 20, 100
TARGETS = {"p95_ms": 150, "queries": 15, "wire_kb": 300}
Figures = dict[str, Any]


def run(
    *, full: bool = False, scale: float = 1.0, keep: bool = False, rounds: int = ROUNDS
) -> dict[str, object]:
    """The figures of one run; `full` asks each page a hundred times instead of `rounds`.

    `misses` names each page beyond a target, with what it takes. With `keep` the filled database
    stays, and is used as it is by the next run with `keep`. Refuses BenchRefused as other benches do.
    """
    url = os.environ["RUNRATE_DATABASE_URL"]
    times = str(FULL_ROUNDS if full else rounds)
    if keep and _is_there(url):
        return _told(_python(_own(url), "bench.pages_ask", times))
    with _kept(url) if keep else own_database(url, DATABASE) as own:
        seeded = _python(own, "bench.pages_seed", str(scale))
        return seeded | _told(_python(own, "bench.pages_ask", times))


def _told(asked: Figures) -> Figures:
    pages: dict[str, Figures] = asked["pages"]
    worst = {
        figure: max((told[figure], name) for name, told in pages.items()) for figure in TARGETS
    }
    return {"targets": TARGETS, "worst": worst, "misses": misses(pages), **asked}


def misses(pages: dict[str, Figures]) -> list[str]:
    """Each figure of a page that is beyond its target, in words."""
    return [
        f"{name}: {figure} {told[figure]}, over {most}"
        for name, told in pages.items()
        for figure, most in TARGETS.items()
        if told[figure] > most
    ]


@contextmanager
def _kept(url: str) -> Iterator[str]:
    with psycopg.connect(_own(url, "postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {DATABASE}")
    yield _own(url)


def _is_there(url: str) -> bool:
    with psycopg.connect(_own(url, "postgres"), autocommit=True) as connection:
        found = connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE])
        return found.fetchone() is not None


def _own(url: str, database: str = DATABASE) -> str:
    return url.replace(f"{urlsplit(url).path}?", f"/{database}?")


def _python(url: str, module: str, *arguments: str) -> Figures:
    environment = os.environ | {"RUNRATE_DATABASE_URL": url}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures
