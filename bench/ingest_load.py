"""The load generator: one process, raw sockets, bodies made before.

`main` reads a pickled Load from stdin and writes a pickled Outcome to stdout.
"""

import pickle
import selectors
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

HEAD = (
    "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    "Authorization: Bearer {secret}\r\nContent-Type: application/json\r\n"
    "{encoding}Content-Length: "
)
GZIPPED = "Content-Encoding: gzip\r\n"
ALL_TAKEN = b'"rejected":[],"ignored":[]}'


class Body(Protocol):
    """What is sent."""

    def body(self, sent_at_ms: int) -> bytes:
        """The whole of it, at the moment that it is sent."""


@dataclass(frozen=True, slots=True)
class WholeBody:
    """The same whenever it is sent."""

    whole: bytes

    def body(self, sent_at_ms: int) -> bytes:
        """As it is."""
        return self.whole


@dataclass(frozen=True, slots=True)
class Load:
    """What to send: (node, body) in order, by `connections` kept alive.

    With `per_second` the arrivals are open-loop, each due at its own moment whatever became of
    those before; without, each connection sends its next when it has its answer. A good answer begins
    and ends as `good` says.
    """

    port: int
    secrets: Sequence[str]
    batches: Sequence[tuple[int, Body]]
    connections: int
    per_second: float | None = None
    path: str = "/api/v1/telemetry/batches"
    encoding: str = GZIPPED
    good: tuple[bytes, bytes] = (b"HTTP/1.1 200", ALL_TAKEN)


@dataclass(slots=True)
class Outcome:
    """Seconds from the scheduled moment to the answer, in order of answers."""

    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    failures: list[bytes] = field(default_factory=list)
    answer_bytes: int = 0
    processor_seconds: float = 0.0


@dataclass(slots=True)
class Connection:
    """One socket, at most one request on it."""

    socket: socket.socket
    due: float = 0.0
    answer: bytearray = field(default_factory=bytearray)


class Generator:
    """Sends what is due on whatever connection is free."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.heads = [
            HEAD.format(
                path=load.path, port=load.port, secret=secret, encoding=load.encoding
            ).encode()
            for secret in load.secrets
        ]
        self.selector = selectors.DefaultSelector()
        self.free = deque(self._connection() for _ in range(load.connections))
        self.outcome = Outcome()
        self.flying = 0

    def run(self) -> Outcome:
        """Until every answer is there."""
        begun = time.perf_counter()
        for due, (node, prepared) in zip(self._moments(begun), self.load.batches, strict=False):
            while not self.free or (wait := due - time.perf_counter()) > 0:
                self._receive(None if not self.free else wait)
            self._send(max(due, begun), node, prepared)
            self._receive(0)
        while self.flying:
            self._receive(None)
        self.outcome.seconds = time.perf_counter() - begun
        self.outcome.processor_seconds = time.process_time()
        return self.outcome

    def _moments(self, begun: float) -> Iterator[float]:
        gap = 1 / self.load.per_second if self.load.per_second else 0.0
        for place in range(len(self.load.batches)):
            yield begun + place * gap if gap else time.perf_counter()

    def _connection(self) -> Connection:
        made = socket.create_connection(("127.0.0.1", self.load.port))
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(made)
        self.selector.register(made, selectors.EVENT_READ, connection)
        return connection

    def _send(self, due: float, node: int, prepared: Body) -> None:
        connection = self.free.popleft()
        connection.due = due
        body = prepared.body(time.time_ns() // 1_000_000)
        connection.socket.sendall(b"%b%d\r\n\r\n%b" % (self.heads[node], len(body), body))
        self.flying += 1

    def _receive(self, timeout: float | None) -> None:
        for key, _ in self.selector.select(timeout):
            connection: Connection = key.data
            connection.answer += connection.socket.recv(65_536)
            if _is_complete(connection.answer):
                self._note(connection)

    def _note(self, connection: Connection) -> None:
        self.outcome.latencies.append(time.perf_counter() - connection.due)
        begins, ends = self.load.good
        self.outcome.answer_bytes += len(connection.answer)
        if not connection.answer.startswith(begins) or not connection.answer.endswith(ends):
            self.outcome.failures.append(bytes(connection.answer))
        connection.answer.clear()
        self.free.append(connection)
        self.flying -= 1


def _is_complete(answer: bytearray) -> bool:
    head = answer.find(b"\r\n\r\n")
    if head < 0:
        return False
    place = answer.lower().find(b"content-length:", 0, head)
    length = int(answer[place + 15 : answer.find(b"\r\n", place)])
    return len(answer) >= head + 4 + length


def main() -> None:
    """One load, then the end."""
    load = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our own parent
    sys.stdout.buffer.write(pickle.dumps(Generator(load).run()))
