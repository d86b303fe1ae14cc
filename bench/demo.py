"""How soon the demo's console answers, when each page of its navigation has content, and when all weeks are there."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from bench.calibration import scaled
from bench.machine import ROOT, Figures, free_port
from bench.page_content import addresses_of_navigation, content_of

CONSOLE_SECONDS, PAGES_SECONDS = 45.0, 120.0
"""The targets, where the calibration takes 0.37 s."""
LOOKS_APART = 3.0
"""A look asks every page that has nothing yet: they are to cost the demo little."""
LOOKS_COST = 0.15
"""Of the time between two looks, at most."""
MOST_SECONDS = 5_400
IS_OVER = re.compile(r"All weeks are there|No more is filled in|error", re.IGNORECASE)
SIGN_IN = re.compile(r"Sign in: (\S+?),")
PASSWORD = re.compile(r"Password: (\S+)")
CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class NotMeasured(Exception):
    """The demo ended before its pages had content."""


@dataclass(slots=True)
class Looked:
    """Seconds after the start: of each page, by its address; `waits` is what the last look saw of the rest."""

    content: dict[str, float] = field(default_factory=dict)
    processor: dict[str, float] = field(default_factory=dict)
    waits: dict[str, str] = field(default_factory=dict)


def run(*, full: bool = False) -> Figures:
    """The figures of one demo from an empty home; `full` waits until all weeks are there.

    `misses` says what is over a target. Refuses NotMeasured.
    """
    with tempfile.TemporaryDirectory(prefix="rr", dir="/tmp") as folder:
        # The embedded database runs as an account of its own, which has to pass here.
        Path(folder).chmod(0o755)
        with _started(Path(folder)) as demo:
            return _measured(demo, full=full)


def sign_in(person: httpx.Client, log: str) -> list[str]:
    """Come in as the demo's log says; return the addresses of the navigation, as finance sees them.

    Refuses NotMeasured where nobody is let in.
    """
    email, password = SIGN_IN.search(log), PASSWORD.search(log)
    form = person.get("/sign-in").text
    csrf = CSRF.search(form)
    if email is None or password is None or csrf is None:
        raise NotMeasured("there is no way to sign in")
    fields = {"csrfmiddlewaretoken": csrf[1], "login": email[1], "password": password[1]}
    answer = person.post(
        "/sign-in", data=fields, headers={"Referer": str(person.base_url)}, follow_redirects=True
    )
    addresses = addresses_of_navigation(answer.text)
    if not addresses:
        raise NotMeasured(f"nobody was let in: {answer.status_code}")
    return addresses


@dataclass(slots=True)
class Demo:
    """A demo that runs: where it listens, what it has printed, since when."""

    home: Path
    port: int
    process: subprocess.Popen[bytes]
    began: float

    def log(self) -> str:
        """Return all that it has printed."""
        return (self.home.parent / "log").read_text()

    def seconds(self) -> float:
        """Return how long it has run."""
        return round(time.monotonic() - self.began, 1)

    def processor_seconds(self) -> float:
        """Return what it and its database have used, with all that ended under them."""
        total = 0.0
        for process in _tree(self.process.pid) + _tree(_postmaster(self.home)):
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
        return round(total, 1)


@contextmanager
def _started(folder: Path) -> Iterator[Demo]:
    kept = {key: text for key, text in os.environ.items() if not key.startswith("RUNRATE_")}
    port, home = free_port(), folder / "home"
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "demo", "--listen", f"127.0.0.1:{port}"],
            cwd=ROOT,
            env=kept | {"RUNRATE_HOME": str(home)},
            stdout=log,
            stderr=log,
        )
    try:
        yield Demo(home, port, process, time.monotonic())
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(120)


def _measured(demo: Demo, *, full: bool) -> Figures:
    _wait_for(demo, PASSWORD)
    console = {"seconds": demo.seconds(), "processor_seconds": demo.processor_seconds()}
    looked = Looked()
    with httpx.Client(base_url=f"http://127.0.0.1:{demo.port}", timeout=120) as person:
        addresses = sign_in(person, demo.log())
        while not _is_done(demo, looked, addresses, full=full):
            began = time.monotonic()
            _look(person, demo, looked, addresses)
            time.sleep(max(LOOKS_APART, (time.monotonic() - began) / LOOKS_COST))
    figures: Figures = {
        "console": console,
        "pages": dict(sorted(looked.content.items(), key=lambda pair: pair[1])),
        "processor_seconds_of_pages": looked.processor,
        "without_content": {
            address: looked.waits[address] for address in addresses if address not in looked.content
        },
        "end": {"seconds": demo.seconds(), "processor_seconds": demo.processor_seconds()},
        "log": demo.log().splitlines(),
    }
    return figures | {"misses": _misses(figures)}


def _is_done(demo: Demo, looked: Looked, addresses: list[str], *, full: bool) -> bool:
    is_over = bool(IS_OVER.search(demo.log()))
    if demo.process.poll() is not None or demo.seconds() > MOST_SECONDS:
        raise NotMeasured(f"the demo ended or takes too long: {demo.log()[-2000:]}")
    has_all = len(looked.content) == len(addresses)
    return is_over if full or not has_all else True


def _look(person: httpx.Client, demo: Demo, looked: Looked, addresses: list[str]) -> None:
    for address in addresses:
        if address in looked.content:
            continue
        answer = person.get(address)
        shown = content_of(answer.text)
        if answer.status_code == httpx.codes.OK and shown.has_content:
            looked.content[address] = demo.seconds()
            looked.processor[address] = demo.processor_seconds()
        else:
            looked.waits[address] = f"{answer.status_code} {shown.finding.strip()}"


def _wait_for(demo: Demo, words: re.Pattern[str]) -> None:
    while not words.search(demo.log()):
        if demo.process.poll() is not None:
            raise NotMeasured(f"the demo ended: {demo.log()[-2000:]}")
        time.sleep(0.1)


def _misses(figures: Figures) -> list[str]:
    limits = {"console": scaled(CONSOLE_SECONDS), "pages": scaled(PAGES_SECONDS)}
    found = [
        f"{address}: content after {seconds} s, over {limits['pages']}"
        for address, seconds in figures["pages"].items()
        if seconds > limits["pages"]
    ]
    found += [f"{address}: never any content" for address in figures["without_content"]]
    if figures["console"]["seconds"] > limits["console"]:
        found.append(
            f"the console after {figures['console']['seconds']} s, over {limits['console']}"
        )
    return found


def _tree(pid: int | None) -> list[psutil.Process]:
    with suppress(psutil.Error):
        if pid is not None:
            return [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    return []


def _postmaster(home: Path) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        return int((home / "postgres" / "postmaster.pid").read_text().split()[0])
    return None
