"""Life and readiness of a web process, answered without a thread of requests: all of them may be held.

Imported after the applications are loaded.
"""

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from apps.files import place_trouble
from apps.logs.context import request_id_of
from controlplane.health import readiness, unreadiness_of_thread
from controlplane.request_id import HEADER as REQUEST_ID

READY_SECONDS = 5.0
FILES_SECONDS = 2.0
FILES_SILENT = f"the place where files are kept does not answer within {FILES_SECONDS:.0f} seconds"
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
        # A folder of another machine may hold up whoever looks, and must not hold up who asks the database.
        self.files_thread = ThreadPoolExecutor(1, thread_name_prefix="files")
        self.unreadiness: asyncio.Future[dict[str, object]] | None = None
        self.place_trouble: asyncio.Future[str] | None = None

    async def answer(self, environ: Mapping[str, Any]) -> HealthAnswer:
        """Say that the process lives, or whether it can work: status, headers and body."""
        if environ["PATH_INFO"] == "/healthz":
            status, kind, body = 200, "text/plain", b"ok\n"
        else:
            reasons, files = await asyncio.gather(self._unreadiness(), self._place_trouble())
            status, kind = 503 if reasons else 200, "application/json"
            body = json.dumps(readiness(reasons, files)).encode()
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

    async def _place_trouble(self) -> str:
        """Ask the place of files in a thread of its own, once for all who ask meanwhile."""
        if self.place_trouble is None or self.place_trouble.done():
            loop = asyncio.get_running_loop()
            self.place_trouble = loop.run_in_executor(self.files_thread, place_trouble)
        try:
            return await asyncio.wait_for(asyncio.shield(self.place_trouble), FILES_SECONDS)
        except TimeoutError:
            return FILES_SILENT
