"""Ingest against a plain COPY of the same rows, and small batches against a bare application.

Load generator, web server, roll-up and database share the machine, as the figures say.
"""

import json
import os
import pickle
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psycopg

from bench.calibration import scaled
from bench.ingest_bodies import Series, batches
from bench.ingest_load import Load, Outcome
from bench.machine import ROOT, BenchRefused, free_port, own_database, wait_until_it_answers
from controlplane import env, processes

DATABASE = "runrate_bench"

LARGE_NODES, LARGE_MINUTES = 100, 125
LARGE_BATCHES, ROUNDS = 800, 5
SMALL_NODES, SMALL_SECONDS = 1_000, 60
CAPACITY_BATCHES, CAPACITY_ROUNDS = 8_000, 3
CONNECTIONS = 64
P99_LIMIT_MS = 30.0
HOUR_MS = 3_600_000

ROUND_MS = LARGE_BATCHES // LARGE_NODES * LARGE_MINUTES * 60_000
COPY_OUT = """
COPY (SELECT * FROM telemetry_window
      WHERE starts_at >= to_timestamp(%s / 1000) AND starts_at < to_timestamp(%s / 1000))
TO STDOUT (FORMAT BINARY)
"""
COPY_IN = "COPY reference_window FROM STDIN (FORMAT BINARY)"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the bench runs."""

    url: str
    port: int
    bare_port: int
    secrets: Sequence[str]
    sweep: subprocess.Popen[bytes]

    def connected(self) -> "psycopg.Connection[tuple[object, ...]]":
        return psycopg.connect(self.url, autocommit=True)


def run(*, full: bool = False) -> dict[str, object]:
    """The figures of one run; `full` measures small batches in five times as many rounds.

    Refuses BenchRefused where the server does not write through to disk.
    """
    with ExitStack() as stack:
        url = stack.enter_context(own_database(os.environ["RUNRATE_DATABASE_URL"], DATABASE))
        environment = os.environ | {"RUNRATE_DATABASE_URL": url}
        secrets = _fleet(environment)
        ours = stack.enter_context(web_process(environment))
        bare = stack.enter_context(web_process(environment, bare=True))
        sweep = stack.enter_context(_sweep(environment))
        place = Place(url, ours, bare, secrets, sweep)
        figures = _large(place)
        figures |= _small(place, CAPACITY_ROUNDS * (5 if full else 1))
    return figures


def _fleet(environment: dict[str, str]) -> list[str]:
    command = [sys.executable, "-m", "bench.ingest_fleet", str(LARGE_NODES + SMALL_NODES)]
    done = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    secrets: list[str] = json.loads(done.stdout.splitlines()[-1])
    return secrets


@contextmanager
def web_process(environment: dict[str, str], *, bare: bool = False) -> Iterator[int]:
    """One web process, started as `manage.py up` does, or so but for the bare application; its port."""
    port = free_port()
    chosen = env.environment(environment)
    command = [*processes.web(chosen, f"127.0.0.1:{port}").command]
    if bare:
        command[command.index("controlplane.door:application")] = "bench.bare_ingest:application"
        command[command.index("rsgi")] = "wsgi"
        command += ["--blocking-threads", str(chosen.web_threads)]
    with _running(command, environment):
        wait_until_it_answers(port)
        yield port


@contextmanager
def _sweep(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with _running([sys.executable, "-m", "bench.ingest_sweep"], environment) as process:
        yield process


@contextmanager
def _running(
    command: Sequence[str], environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=sys.stderr.fileno())
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait(30)


def _large(place: Place) -> dict[str, object]:
    """Rounds of HTTP and of COPY by turns; the sweep stands still while COPY is timed."""
    start = int(time.time() * 1000) // HOUR_MS * HOUR_MS - 12 * 24 * HOUR_MS
    series = [Series(node, start, start, LARGE_MINUTES) for node in range(LARGE_NODES)]
    each = LARGE_BATCHES // LARGE_NODES
    ingested, copied = [], []
    with place.connected() as connection:
        connection.execute((ROOT / "bench" / "reference.sql").read_text())
    for turn in range(ROUNDS + 1):
        made = list(batches(series, turn * each, each))
        outcome = sent(Load(place.port, place.secrets, made, connections=4))
        ingested.append(LARGE_BATCHES * LARGE_MINUTES * 8 / outcome.seconds)
        copied.append(_copied(place, start + turn * ROUND_MS))
        _say(f"http {ingested[-1]:,.0f}/s  copy {copied[-1]:,.0f}/s")
    # The first round warms both up.
    ratios = [http / copy for http, copy in zip(ingested[1:], copied[1:], strict=True)]
    return {
        "copy_ratio": round(statistics.median(ratios), 3),
        "http_windows_per_second": round(statistics.median(ingested[1:])),
        "copy_windows_per_second": round(statistics.median(copied[1:])),
        "bytes_per_window": _bytes_per_window(place),
    }


def _copied(place: Place, start_ms: int) -> float:
    """Windows a second of a plain COPY of the rows that the round from `start_ms` stored."""
    place.sweep.send_signal(signal.SIGSTOP)
    with place.connected() as connection, connection.cursor() as cursor:
        with cursor.copy(COPY_OUT, [start_ms, start_ms + ROUND_MS]) as out:
            rows = b"".join(out)
        begun = time.perf_counter()
        with cursor.copy(COPY_IN) as copy:
            copy.write(rows)
        seconds = time.perf_counter() - begun
        count = cursor.rowcount
    place.sweep.send_signal(signal.SIGCONT)
    return count / seconds


def _bytes_per_window(place: Place) -> float:
    """On disk, with the index, of all partitions."""
    with place.connected() as connection:
        row = connection.execute(
            "SELECT sum(pg_total_relation_size(inhrelid))::float8"
            " / (SELECT count(*) FROM telemetry_window)"
            " FROM pg_inherits WHERE inhparent = 'telemetry_window'::regclass"
        ).fetchone()
    return round(float(str(row[0])) if row else 0.0, 1)


def _small(place: Place, rounds: int) -> dict[str, object]:
    """Batches of 8 windows, a node a minute further each time: as many as go, then half of that.

    Capacity is what 64 connections get through that each send their next when they are answered;
    ours and the bare application's by turns, of the same bodies.
    """
    now = int(time.time() * 1000)
    start = now // HOUR_MS * HOUR_MS - 9 * HOUR_MS
    series = [Series(LARGE_NODES + node, start, start, 1) for node in range(SMALL_NODES)]
    secrets = place.secrets[LARGE_NODES:]
    each = CAPACITY_BATCHES // SMALL_NODES
    _wait_until_rolled_up(place)
    ours: list[float] = []
    bare: list[float] = []
    for turn in range(rounds + 1):
        made = list(batches(series, turn * each, each))
        for port, found in ((place.port, ours), (place.bare_port, bare)):
            outcome = sent(Load(port, secrets, made, connections=CONNECTIONS))
            found.append(len(made) / outcome.seconds)
        _say(f"small: ours {ours[-1]:,.0f}/s  bare {bare[-1]:,.0f}/s")
    # The first round warms both up.
    capacity = statistics.median(ours[1:])
    _wait_until_rolled_up(place)
    rate = capacity / 2
    again = -(-int(rate * SMALL_SECONDS) // SMALL_NODES)
    made = list(batches(series, (rounds + 1) * each, again))
    outcome = sent(Load(place.port, secrets, made, connections=CONNECTIONS, per_second=rate))
    return {
        "small_ratio": round(
            statistics.median(one / other for one, other in zip(ours[1:], bare[1:], strict=True)), 3
        ),
        "small_batches_per_second": round(capacity),
        "bare_small_batches_per_second": round(statistics.median(bare[1:])),
        "small_batch_rate": round(rate),
        "small_batch_p99_ms": round(_p99_ms(outcome), 2),
        "small_batch_p99_target_ms": scaled(P99_LIMIT_MS),
    }


def _wait_until_rolled_up(place: Place) -> None:
    """What the batches before left behind is not what is measured next."""
    with place.connected() as connection:
        for _ in range(600):
            row = connection.execute(
                "SELECT count(*) FROM fleet_changedhour WHERE pass_id = 1"
            ).fetchone()
            if row == (0,):
                return
            time.sleep(0.5)


def sent(load: Load) -> Outcome:
    """The load, from a process of its own; BenchRefused where an answer was not good."""
    outcome = answered(load)
    if outcome.failures:
        raise BenchRefused(f"{len(outcome.failures)} refused, the first: {outcome.failures[0]!r}")
    return outcome


def answered(load: Load) -> Outcome:
    """The load, from a process of its own, whatever became of it."""
    # Not by -m: what is pickled must not be of a module called __main__.
    command = [sys.executable, "-c", "from bench.ingest_load import main; main()"]
    done = subprocess.run(
        command, input=pickle.dumps(load), stdout=subprocess.PIPE, cwd=ROOT, check=True
    )
    outcome: Outcome = pickle.loads(done.stdout)  # noqa: S301 - from our own child
    return outcome


def _p99_ms(outcome: Outcome) -> float:
    ordered = sorted(outcome.latencies)
    return ordered[int(len(ordered) * 0.99)] * 1000


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
