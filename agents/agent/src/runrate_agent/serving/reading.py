"""The endpoints of engines, each read every minute by a thread of its own."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from runrate_agent.compat import SLOTS
from runrate_agent.serving.engines import Reading, counted_of, reading_of
from runrate_agent.serving.growth import Growth
from runrate_agent.serving.hours import Hours
from runrate_agent.serving.memory import Memory, remembered
from runrate_agent.spool import REQUESTS, Spool

LONGEST = 32 << 20
MINUTE_SECONDS = 60.0
MOST_ROWS = 1_000


class EngineUnreachable(Exception):
    """Nothing answers at an engine's address in time, or not with metrics."""


@dataclass(frozen=True, **SLOTS)
class Endpoint:
    """An address of metrics, and the service that answers there; `feature` empty: as labels say."""

    url: str
    service: str
    feature: str = ""
    feature_label: str = "feature"
    deadline_seconds: float = 5.0
    role: str = ""
    """`prefill` or `decode` where these are pools of one service; empty: one engine does both."""


@dataclass(**SLOTS)
class EndpointReading:
    """What one endpoint answered, since this agent began; `problem` is empty while all is well."""

    endpoint: Endpoint
    since: float
    boot_ms: int
    problem: str = ""
    engines: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    readings: int = 0
    failures: int = 0
    memory: Memory | None = None
    """What an earlier process read last, and after each reading what this one did."""
    _growth: Growth = field(init=False)
    _hours: Hours = field(init=False)

    def __post_init__(self) -> None:
        memory = self.memory
        self._growth = Growth(self.since) if memory is None else _resumed(memory)
        self._hours = Hours(f"{self.boot_ms} {self.endpoint.url}", self.endpoint.service)

    def read(self, now: float) -> list[dict[str, object]]:
        """The rows of what changed; none where the endpoint does not answer."""
        try:
            reading = reading_of(fetched(self.endpoint.url, self.endpoint.deadline_seconds))
        except EngineUnreachable as away:
            self.failures += 1
            self.problem = str(away)
            return []
        self.readings += 1
        self.engines = reading.engines
        self.others = reading.others
        self.problem = "" if reading.series else self._unread_words()
        self._add(reading, now)
        return self._hours.taken()

    def _unread_words(self) -> str:
        if not self.others:
            return f"{self.endpoint.url} tells of no vLLM or SGLang"
        return (
            f"not understood: {', '.join(self.others)} at {self.endpoint.url}; its requests and "
            "tokens are not counted"
        )

    def _add(self, reading: Reading, now: float) -> None:
        grown = self._growth.grown(reading.series, reading.started)
        done = counted_of(
            grown, self.endpoint.feature, self.endpoint.feature_label, self.endpoint.role
        )
        since = self.since if self.memory is None else self.memory.read_at
        self._hours.add(done, since, now)
        self.memory = Memory(now, self._growth.known)


def _resumed(memory: Memory) -> Growth:
    return Growth(memory.read_at, memory.known)


@dataclass(**SLOTS)
class Serving:
    """Every endpoint, and the threads that read them; `wake` is called where there is news."""

    endpoints: Sequence[Endpoint]
    spool: Spool
    wake: Callable[[], object]
    say: Callable[[str], object]
    _readings: list[EndpointReading] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def start(self, boot_ms: int) -> None:
        """Read each endpoint from now on, at every full minute."""
        now = time.time()
        self._readings = [
            EndpointReading(each, now, boot_ms, memory=self._remembered(each, now))
            for each in self.endpoints
        ]
        for reading in self._readings:
            thread = threading.Thread(target=self._run, args=(reading,), daemon=True)
            thread.name = f"reading {reading.endpoint.url}"
            self._threads.append(thread)
            thread.start()

    def stop(self, patience_seconds: float) -> None:
        """Read each once more, and no longer than that together."""
        self._stopped.set()
        until = time.monotonic() + patience_seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def problems(self) -> dict[str, str]:
        """What does not answer."""
        found = [each.problem for each in self._readings if each.problem]
        return {"serving": "; ".join(found)} if found else {}

    def unread(self) -> Sequence[str]:
        """Engines that answered and whose counts are not understood."""
        return sorted({engine for each in self._readings for engine in each.others})

    def figures(self) -> dict[str, float | None]:
        """For /metrics."""
        if not self.endpoints:
            return {}
        return {
            "serving_endpoints": len(self._readings),
            "serving_endpoints_failing": sum(1 for each in self._readings if each.problem),
            "serving_readings_total": sum(each.readings for each in self._readings),
            "serving_failures_total": sum(each.failures for each in self._readings),
        }

    def _run(self, reading: EndpointReading) -> None:
        said = ""
        self._read(reading)
        while not self._stopped.wait(_to_next_minute(time.time())):
            self._read(reading)
            if reading.problem != said:
                self.say(reading.problem or f"{reading.endpoint.url} answers again")
                said = reading.problem
        self._read(reading)

    def _read(self, reading: EndpointReading) -> None:
        now = time.time()
        before = reading.memory
        told = list(bodies(reading.read(now)))
        if reading.memory is None or reading.memory is before:
            return
        memo = _memo_of(reading.endpoint), reading.memory.text()
        self.spool.put_with_memo(REQUESTS, told, at_ms=int(now * 1000), memo=memo)
        if told:
            self.wake()

    def _remembered(self, endpoint: Endpoint, now: float) -> Memory | None:
        return remembered(self.spool.memo(_memo_of(endpoint)), now)


def _memo_of(endpoint: Endpoint) -> str:
    return f"serving {endpoint.url}"


def bodies(rows: Sequence[dict[str, object]]) -> Iterator[bytes]:
    """Bodies of at most MOST_ROWS, as the spool keeps them."""
    for first in range(0, len(rows), MOST_ROWS):
        part = {"rows": list(rows[first : first + MOST_ROWS])}
        yield json.dumps(part, separators=(",", ":")).encode()


def fetched(url: str, deadline_seconds: float) -> str:
    """The text at a URL; refuses EngineUnreachable, soon after `deadline_seconds` at the latest."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "127.0.0.1", parts.port, timeout=deadline_seconds)
    is_cut = threading.Event()
    try:
        connection.connect()
        # Each read may take its time-out; together they may not take more than the deadline.
        late = threading.Timer(deadline_seconds, _cut, (connection.sock, is_cut))
        late.daemon = True
        late.start()
        try:
            path = parts.path or "/metrics"
            connection.request("GET", f"{path}?{parts.query}" if parts.query else path)
            answer = connection.getresponse()
            content = answer.read(LONGEST)
        finally:
            late.cancel()
    except (OSError, http.client.HTTPException) as away:
        raise EngineUnreachable(f"{url}: {away or type(away).__name__}") from away
    finally:
        connection.close()
    if answer.status != 200:
        raise EngineUnreachable(f"{url} answers {answer.status}")
    # Half a line would be another number.
    if is_cut.is_set() or answer.length or (content and not content.endswith(b"\n")):
        raise EngineUnreachable(f"{url}: the answer was cut off")
    return content.decode("utf-8", "replace")


def _cut(sock: socket.socket, is_cut: threading.Event) -> None:
    """Whoever waits on it fails at once."""
    is_cut.set()
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def _to_next_minute(now: float) -> float:
    return MINUTE_SECONDS - now % MINUTE_SECONDS
