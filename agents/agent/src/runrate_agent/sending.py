"""Sends what waits in the spool, oldest first, for as long as it takes and no longer than it helps."""

import gzip
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from runrate_agent.spool import BATCH, JOBS, REPORT, Item, Spool
from runrate_agent.uplink import (
    BodyRefused,
    NotRunrate,
    PathUnknown,
    ServerUnreachable,
    TokenRefused,
    Uplink,
)

PATHS = {
    BATCH: "/api/v1/telemetry/batches",
    REPORT: "/api/v1/telemetry/reports",
    JOBS: "/api/v1/jobs/bulk",
}
IDLE_SECONDS = 2.0
REFUSED_TOKEN_SECONDS = 600.0
WRONG_SERVER_SECONDS = 60.0
LONGEST_PEACE_SECONDS = 3_600.0
REPORTS_AGAIN_SECONDS = 3_600.0
"""A server that knew no reports may be a newer one by then."""
Uplinks = Mapping[str, Uplink]


@dataclass(slots=True)
class Sent:
    """What became of what was sent, since the start."""

    windows: int = 0
    items: int = 0
    refused_items: int = 0
    rejected_windows: int = 0
    last_at_ms: int | None = None
    offset_ms: int | None = None
    problem: str = ""
    knows_reports: bool = True


@dataclass(slots=True)
class Sending:
    """A thread that empties the spool. `uplinks` by kind; a kind without one is not sent."""

    spool: Spool
    uplinks: Uplinks
    say: Callable[[str], object]
    sent: Sent = field(default_factory=Sent)
    _more: threading.Event = field(default_factory=threading.Event)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _reports_again_at: float = 0.0

    def run(self) -> None:
        """Until `stop`."""
        while not self._stopped.is_set():
            wait = self.step()
            if wait:
                self._more.wait(wait)
                self._more.clear()

    def wake(self) -> None:
        """There is something new; a refused token waits all the same."""
        if not self.sent.problem:
            self._more.set()

    def stop(self) -> None:
        """Return from `run` after what is being sent."""
        self._stopped.set()
        self._more.set()

    def drain(self, seconds: float) -> bool:
        """Send what is left before the process ends; whether all of it went."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.spool.first() is None:
                return True
            if self.step():
                return False
        return False

    def step(self) -> float:
        """Send one item; how many seconds to wait before the next."""
        item = self.spool.first()
        if item is None:
            return IDLE_SECONDS
        try:
            self._send(item)
        except ServerUnreachable as away:
            wait = min(max(IDLE_SECONDS, away.asked_seconds), LONGEST_PEACE_SECONDS)
            return self._failed(str(away), wait)
        except TokenRefused as refused:
            # Asking again at once would hammer a server that has said no.
            return self._failed(str(refused), REFUSED_TOKEN_SECONDS)
        except NotRunrate as other:
            return self._failed(str(other), WRONG_SERVER_SECONDS)
        except BodyRefused as refused:
            self.sent.refused_items += 1
            self.say(f"the server refuses a {item.kind} for good; it is dropped: {refused}")
        self.sent.problem = ""
        self.spool.remove(item)
        return 0.0

    def _send(self, item: Item) -> None:
        uplink = self.uplinks.get(item.kind)
        if uplink is None or (item.kind == REPORT and self._spares_reports()):
            return
        try:
            if item.kind == JOBS:
                answer = uplink.post(PATHS[JOBS], lambda: item.body)
            else:
                answer = uplink.post(PATHS[item.kind], lambda: stamped(item), encoding="gzip")
        except PathUnknown:
            if item.kind != REPORT:
                raise
            # A server older than this agent: it takes windows, and nothing is lost that it knew.
            self.sent.knows_reports = False
            self._reports_again_at = time.monotonic() + REPORTS_AGAIN_SECONDS
            return
        if item.kind == REPORT:
            self.sent.knows_reports = True
        self._note(item, answer)

    def _spares_reports(self) -> bool:
        return not self.sent.knows_reports and time.monotonic() < self._reports_again_at

    def _note(self, item: Item, answer: Mapping[str, object]) -> None:
        self.sent.items += 1
        self.sent.windows += item.windows
        self.sent.last_at_ms = time.time_ns() // 1_000_000
        rejected = answer.get("rejected")
        if isinstance(rejected, list):
            self.sent.rejected_windows += len(rejected)
        offset = answer.get("offset_ms")
        if isinstance(offset, int):
            self.sent.offset_ms = offset

    def _failed(self, problem: str, wait: float) -> float:
        if problem != self.sent.problem:
            self.say(problem)
        self.sent.problem = problem
        return wait


def stamped(item: Item) -> bytes:
    """Gzipped, with the moment of this attempt: by it the server sees how far our clock is off."""
    now_ms = time.time_ns() // 1_000_000
    body = b'{"sent_at_ms":' + str(now_ms).encode() + b"," + item.body[1:]
    return gzip.compress(body, compresslevel=1, mtime=0)


def without_stamp(payload: Mapping[str, object]) -> bytes:
    """A body as the spool keeps it."""
    kept = {name: value for name, value in payload.items() if name != "sent_at_ms"}
    return json.dumps(kept, separators=(",", ":")).encode()
