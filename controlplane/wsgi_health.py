"""Life and readiness of a web process, answered without a thread of requests: all of them may be held.

Imported after the applications are loaded.
"""

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from apps.logs.context import request_id_of
from controlplane.health import readiness, unreadiness_of_thread
from controlplane.request_id import HEADER as REQUEST_ID

READY_SECONDS = 5.0
SILENT = {"reason": f"the database does not answer within {READY_SECONDS:.0f} seconds"}
SAFE = frozenset({"GET", "HEAD"})
PATHS = frozenset({"/healthz", "/readyz"})
HealthAnswer = tuple[int, list[tuple[str, str]], bytes]


def is_asked_of_health(environ: Mapping[str, Any]) -> bool:
    """Whether a request is answered by `DoorHealth`."""
    return environ["REQUEST_METHOD"] in SAFE and environ["PATH_INFO"] in PATHS


class DoorHealth:
    """One per web process."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="readiness")
        self.unreadiness: asyncio.Future[dict[str, object]] | None = None

    async def answer(self, environ: Mapping[str, Any]) -> HealthAnswer:
        """Say that the process lives, or whether it can work: status, headers and body."""
        if environ["PATH_INFO"] == "/healthz":
            status, kind, body = 200, "text/plain", b"ok\n"
        else:
            reasons = await self._unreadiness()
            status, kind = 503 if reasons else 200, "application/json"
            body = json.dumps(readiness(reasons)).encode()
        headers = [
            ("content-type", kind),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            (REQUEST_ID.lower(), request_id_of(environ.get("HTTP_X_REQUEST_ID", ""))),
        ]
        return status, headers, b"" if environ["REQUEST_METHOD"] == "HEAD" else body

    async def _unreadiness(self) -> dict[str, object]:
        """Ask the database in a thread of its own, once for all who ask meanwhile."""
        if self.unreadiness is None or self.unreadiness.done():
            loop = asyncio.get_running_loop()
            self.unreadiness = loop.run_in_executor(self.thread, unreadiness_of_thread)
        try:
            return await asyncio.wait_for(asyncio.shield(self.unreadiness), READY_SECONDS)
        except TimeoutError:
            return dict(SILENT)
