"""Quotes over HTTP: 200 a second from a book of 20 offers, and 10 a second from one of 300.

Load generator, web server and database share the machine, as the figures say.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass

import psutil

from bench.calibration import scaled
from bench.ingest import answered, web_process
from bench.ingest_load import Load, Outcome, WholeBody
from bench.machine import Figures, own_database, python

DATABASE = "runrate_bench_quotes"
CONNECTIONS = 16
MOST_MS = 100.0
LEAST_OF_RATE = 0.99
"""Of the quotes asked in a second so many must be answered in one, or they pile up."""
WARM_SECONDS = 5


@dataclass(frozen=True, slots=True)
class QuoteLoad:
    """So many quotes a second of a book of so many offers, every one of which is answered."""

    offers: int
    per_second: int
    seconds: int


LOADS = (QuoteLoad(20, 200, 30), QuoteLoad(300, 10, 30))


def run(*, full: bool = False) -> Figures:
    """The figures of one run; `full` asks for four times as long.

    `misses` names what is slower than its target, and refusals.
    """
    figures: Figures = {}
    misses: list[str] = []
    with own_database(os.environ["RUNRATE_DATABASE_URL"], DATABASE) as url:
        environment = os.environ | {"RUNRATE_DATABASE_URL": url}
        secret = python(url, "bench.quotes_book", "secret")["secret"]
        for load in LOADS:
            jobs = python(url, "bench.quotes_book", str(load.offers))["jobs"]
            bodies = [json.dumps(job).encode() for job in jobs]
            with web_process(environment) as port:
                seconds = load.seconds * (4 if full else 1)
                told = _measured(load, seconds, port, secret, bodies)
            figures[f"offers_{load.offers}"] = told
            misses += _missed(load, told)
    return figures | {
        "most_p95_ms": scaled(MOST_MS),
        "load": round(psutil.getloadavg()[0], 1),
        "misses": misses,
    }


def _measured(
    load: QuoteLoad, seconds: int, port: int, secret: str, bodies: Sequence[bytes]
) -> Figures:
    _outcome(load, WARM_SECONDS, port, secret, bodies)
    before = _processor_seconds(port)
    found = _outcome(load, seconds, port, secret, bodies)
    after = _processor_seconds(port)
    asked = load.per_second * seconds
    ordered = sorted(found.latencies)
    figures: Figures = {
        "asked": asked,
        "refused": len(found.failures),
        "first_refusal": found.failures[0].decode(errors="replace") if found.failures else "",
        "asked_per_second": load.per_second,
        "answered_per_second": round(asked / found.seconds, 1),
    }
    figures |= {
        f"p{share}_ms": round(ordered[int(len(ordered) * share / 100)] * 1000, 1)
        for share in (50, 95, 99)
    }
    figures["worst_ms"] = round(ordered[-1] * 1000, 1)
    figures["answer_bytes"] = found.answer_bytes // asked
    figures["generator_processor_ms"] = round(found.processor_seconds / asked * 1000, 2)
    return figures | {
        f"{name}_processor_ms": round((after[name] - before[name]) / asked * 1000, 2)
        for name in before
    }


def _outcome(
    load: QuoteLoad, seconds: int, port: int, secret: str, bodies: Sequence[bytes]
) -> Outcome:
    """Open loop: each quote is due at its moment, whatever became of those before."""
    asked = [WholeBody(bodies[place % len(bodies)]) for place in range(load.per_second * seconds)]
    return answered(
        Load(
            port,
            [secret],
            [(0, body) for body in asked],
            connections=CONNECTIONS,
            per_second=load.per_second,
            path="/api/v1/quotes",
            encoding="",
            good=(b"HTTP/1.1 201", b"}"),
        ),
    )


def _processor_seconds(port: int) -> dict[str, float]:
    """What the web server and the database took of a processor since they began."""
    found, web = {"web": 0.0, "database": 0.0}, _web_processes(port)
    for process in psutil.process_iter(["cmdline", "name"]):
        words = process.info["cmdline"] or []
        kind = ""
        if process.pid in web:
            kind = "web"
        elif DATABASE in " ".join(words):
            kind = "database"
        if kind:
            times = process.cpu_times()
            found[kind] += times.user + times.system
    return found


def _web_processes(port: int) -> set[int]:
    """The server that listens there, and its children."""
    ours = psutil.Process().children(recursive=True)
    heads = [each for each in ours if str(port) in each.cmdline()]
    return {each.pid for head in heads for each in (head, *head.children(recursive=True))}


def _missed(load: QuoteLoad, told: Figures) -> list[str]:
    name, most = f"{load.offers} offers", scaled(MOST_MS)
    misses = []
    if told["refused"]:
        misses.append(f"{name}: {told['refused']} refused, the first: {told['first_refusal']}")
    if told["answered_per_second"] < LEAST_OF_RATE * load.per_second:
        misses.append(
            f"{name}: {told['answered_per_second']} a second of {load.per_second} were answered"
        )
    if told["p95_ms"] > most:
        misses.append(f"{name}: p95 {told['p95_ms']} ms, over {most}")
    return misses
