"""What the agent says of itself on the node: /healthz and /metrics on a loopback port."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Optional

Figures = Mapping[str, Optional[float]]


class Health:
    """Serves until `stop`; asks `figures` and `problems` anew each time."""

    def __init__(
        self,
        listen: str,
        figures: Callable[[], Figures],
        problems: Callable[[], Mapping[str, str]],
    ) -> None:
        host, _, port = listen.rpartition(":")
        handler = type("Handler", (_Handler,), {"figures": staticmethod(figures),
                                                "problems": staticmethod(problems)})  # fmt: skip
        self._server = HTTPServer((host.strip("[]") or "127.0.0.1", int(port)), handler)
        self.port = self._server.server_address[1]

    def run(self) -> None:
        """Until `stop`."""
        self._server.serve_forever(poll_interval=2.0)

    def stop(self) -> None:
        """Return from `run` and close the port."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Two addresses and no others."""

    figures: Callable[[], Figures]
    problems: Callable[[], Mapping[str, str]]
    timeout = 5

    def do_GET(self) -> None:
        """/healthz: 200 while all is well, else 503 and what is not; /metrics: the figures."""
        if self.path == "/healthz":
            problems = type(self).problems()
            said = "".join(f"{code}: {text}\n" for code, text in problems.items()) or "ok\n"
            self._answer(503 if problems else 200, said)
        elif self.path == "/metrics":
            self._answer(200, exposition(type(self).figures()))
        else:
            self._answer(404, "there are /healthz and /metrics\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a probe every few seconds is not news."""

    def _answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def exposition(figures: Figures) -> str:
    """Prometheus text; what is unknown is not there."""
    lines = [
        f"runrate_agent_{name} {value:g}" for name, value in figures.items() if value is not None
    ]
    return "\n".join(lines) + "\n"
