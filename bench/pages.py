"""Server time, queries and size of every page, on 13 months of 10,000 GPUs, uncached."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from bench.calibration import scaled
from bench.machine import Figures, over, own_database, python

ROOT = Path(__file__).resolve().parent.parent
DATABASE = "runrate_bench_pages"
ROUNDS, FULL_ROUNDS = 20, 100
TARGETS = {"p95_ms": 150, "queries": 15, "wire_kb": 300}


def run(
    *, full: bool = False, scale: float = 1.0, keep: bool = False, rounds: int = ROUNDS
) -> dict[str, object]:
    """The figures of one run; `full` asks each page a hundred times instead of `rounds`.

    `misses` names each page beyond a target, with what it takes. With `keep` the filled database
    stays, and is used as it is by the next run with `keep`. Refuses BenchRefused as other benches do.
    """
    url = os.environ["RUNRATE_DATABASE_URL"]
    times = str(FULL_ROUNDS if full else rounds)
    # Minutes of seeding would be for nothing where a page cannot be asked for.
    _taught(url, "bench.pages_ask", "0")
    if keep and _is_there(url):
        return _told(_taught(_own(url), "bench.pages_ask", times))
    with _kept(url) if keep else own_database(url, DATABASE) as own:
        seeded = python(own, "bench.pages_seed", str(scale))
        return seeded | _told(_taught(own, "bench.pages_ask", times))


def _taught(url: str, *command: str) -> Figures:
    """Run it; where it has to be taught a page it has said so, and nothing follows."""
    try:
        return python(url, *command)
    except subprocess.CalledProcessError as ended:
        sys.exit(ended.returncode)


def _told(asked: Figures) -> Figures:
    pages: dict[str, Figures] = asked["pages"]
    worst = {
        figure: max((told[figure], name) for name, told in pages.items()) for figure in TARGETS
    }
    targets = TARGETS | {"p95_ms": scaled(TARGETS["p95_ms"])}
    return {"targets": targets, "worst": worst, "misses": over(pages, targets), **asked}


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
