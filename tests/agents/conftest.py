"""A server on the loopback that answers as it is told and remembers what it was sent."""

import gzip
import json
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

DROP = "take the body and hang up without an answer"
OK = {"accepted": 1, "duplicate": False, "rejected": [], "ignored": [], "errors": []}


@dataclass(frozen=True)
class Request:
    path: str
    token: str
    connection: int
    document: dict
    etag: str = ""


@dataclass
class FarServer:
    """`answers` are used up one by one, then everything is taken."""

    url: str = ""
    answers: deque = field(default_factory=deque)
    requests: list[Request] = field(default_factory=list)
    holding: int = 0
    most_at_once: int = 0
    _held_until: threading.Event | None = None

    def answer(self, status: int, body: object = OK, **headers: str) -> None:
        self.answers.append((status, body, headers))

    def drop(self) -> None:
        self.answers.append(DROP)

    def hold(self) -> threading.Event:
        """Answer nothing more until the event is set."""
        self._held_until = threading.Event()
        return self._held_until

    def wait(self) -> None:
        if self._held_until is not None:
            self.holding += 1
            self.most_at_once = max(self.most_at_once, self.holding)
            self._held_until.wait(10)
            self.holding -= 1

    @property
    def batches(self) -> list[dict]:
        return [each.document for each in self.requests if each.path.endswith("/batches")]

    @property
    def events(self) -> list[dict]:
        bulks = [each.document for each in self.requests if each.path.endswith("/jobs/bulk")]
        return [event for bulk in bulks for event in bulk["events"]]


@pytest.fixture
def far_server() -> Iterator[FarServer]:
    far = FarServer()
    listener = ThreadingHTTPServer(("127.0.0.1", 0), _handler(far))
    far.url = f"http://127.0.0.1:{listener.server_port}"
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield far
    listener.shutdown()
    listener.server_close()
    thread.join()


def _document_of(request: BaseHTTPRequestHandler) -> dict:
    body = request.rfile.read(int(request.headers["Content-Length"]))
    if request.headers.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    return json.loads(body)


def _handler(far: FarServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self._take(_document_of(self))

        def do_GET(self):
            self._take({}, self.headers.get("If-None-Match", ""))

        def _take(self, document, etag=""):
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            far.requests.append(Request(self.path, token, self.client_address[1], document, etag))
            far.wait()
            answer = far.answers.popleft() if far.answers else (200, OK, {})
            if answer == DROP:
                self.close_connection = True
                return
            self._send(*answer)

        def _send(self, status, body, headers):
            is_text = isinstance(body, str)
            raw = body.encode() if is_text else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if is_text else "application/json")
            self.send_header("Content-Length", str(len(raw)))
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *arguments):
            """Quiet."""

    return Handler
