"""Reports on their way: sent from a thread of their own, kept on disk while nobody answers."""

from __future__ import annotations

import threading
from collections import deque
from pathlib import Path

Json = dict[str, object]
MOST_WAITING = 512
MOST_ON_DISK_BYTES = 16 * 1024 * 1024
SECONDS_BETWEEN = 5.0
LONGEST_PAUSE_SECONDS = 300.0
ANSWER_SECONDS = 5.0
REFUSED = frozenset({400, 401, 403, 404, 413, 415, 422})
"""Asking again would be answered the same."""


class Delivery:
    """Takes reports without waiting and sends them when it can; it never raises.

    Where a server does not answer, reports go to files (16 MB at most, the oldest go first) that
    are sent when it answers again, by this process or the run's next one. Where it refuses, the
    report is dropped and counted.
    """

    def __init__(self, url: str, token: str, folder: Path) -> None:
        """Nothing is opened or asked yet."""
        self.url, self.token, self.folder = url, token, folder
        self.dropped = 0
        self._waiting: deque[Json] = deque()
        self._on_its_way: Json | None = None
        self._wake = threading.Event()
        self._is_closed = False
        self._pause = 0.0
        self._thread: threading.Thread | None = None

    def put(self, report: Json) -> None:
        """Keep a report for sending; the oldest goes where too many wait."""
        if len(self._waiting) >= MOST_WAITING:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(report)
        if self._thread is None:
            self._start()

    def close(self, seconds: float) -> None:
        """Send or store what waits, for as long as that; what is left then is stored."""
        self._is_closed = True
        self._wake.set()
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        self._store_all()

    def forked(self) -> None:
        """A child of this process has no thread of its own, and nothing of this to send."""
        self._thread = None
        self._on_its_way = None
        self._waiting.clear()

    def _start(self) -> None:
        try:
            self._thread = threading.Thread(target=self._run, name="runrate", daemon=True)
            self._thread.start()
        except RuntimeError:  # the interpreter is ending: `close` stores what waits
            self._thread = None

    def _run(self) -> None:
        while not self._is_closed:
            self._wake.wait(SECONDS_BETWEEN + self._pause)
            self._once()
        self._once()

    def _once(self) -> None:
        """Older files first, then what waits; the first that nobody answers ends the round."""
        try:
            for name in _files(self.folder):
                if not self._send_file(name):
                    self._store_all()
                    return
            while self._waiting:
                self._on_its_way = self._waiting.popleft()
                if not self._sent(_encoded(self._on_its_way)):
                    self._store_all()
                    return
                self._on_its_way = None
        except Exception:  # noqa: BLE001 - a training process must not hear of it
            self.dropped += 1

    def _send_file(self, name: str) -> bool:
        path = self.folder / name
        try:
            body = path.read_bytes()
        except OSError:  # another rank has sent it meanwhile
            return True
        if not self._sent(body):
            return False
        path.unlink(missing_ok=True)
        return True

    def _sent(self, body: bytes) -> bool:
        """Whether it needs no more sending: it was taken, or will never be."""
        status = _post(f"{self.url}/api/v1/run-reports", self.token, body) if self.url else 0
        if status in REFUSED:
            self.dropped += 1
        elif not 200 <= status < 300:
            self._pause = min(LONGEST_PAUSE_SECONDS, 2 * self._pause + SECONDS_BETWEEN)
            return False
        self._pause = 0.0
        return True

    def _store_all(self) -> None:
        """What waits goes to files, so that it outlives the process.

        What is on its way too: sent twice it counts once, and nobody knows yet whether it arrives.
        """
        if self._on_its_way is not None:
            self._waiting.appendleft(self._on_its_way)
            self._on_its_way = None
        while self._waiting:
            try:
                report = self._waiting.popleft()
                self.dropped += _stored(self.folder, report)
            except (IndexError, OSError, ValueError):
                self.dropped += 1


def _encoded(report: Json) -> bytes:
    import gzip
    import json

    return gzip.compress(json.dumps(report, separators=(",", ":")).encode(), 6)


def _post(url: str, token: str, body: bytes) -> int:
    """The answer's status; 0 where nobody answers in time."""
    import urllib.error
    import urllib.request

    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Content-Encoding": "gzip",
    }
    asked = urllib.request.Request(url, data=body, headers=headers, method="POST")  # noqa: S310
    try:
        with urllib.request.urlopen(asked, timeout=ANSWER_SECONDS) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code
    except (OSError, ValueError):
        return 0


def _stored(folder: Path, report: Json) -> int:
    """Write it where it can be found again; how many older ones had to go for it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{report['began_at_ms']:014d}-{report['attempt']}-{report['sequence']:08d}.json.gz"
    part = folder / f"{name}.part"
    part.write_bytes(_encoded(report))
    part.replace(folder / name)
    held = {each: _size(folder / each) for each in _files(folder)}
    gone = 0
    while sum(held.values()) > MOST_ON_DISK_BYTES and len(held) > 1:
        oldest = min(held)
        del held[oldest]
        (folder / oldest).unlink(missing_ok=True)
        gone += 1
    return gone


def _files(folder: Path) -> list[str]:
    try:
        return sorted(each.name for each in folder.iterdir() if each.name.endswith(".json.gz"))
    except OSError:
        return []


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
