"""Sends what waits in the spool, oldest first, for as long as it takes and no longer than it helps."""

from __future__ import annotations

import gzip
import json
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from runrate_agent.compat import SLOTS
from runrate_agent.identity import Identity
from runrate_agent.splitting import halves, list_halves
from runrate_agent.spool import BATCH, JOBS, REPORT, REQUESTS, Item, Spool
from runrate_agent.uplink import (
    BodyRefused,
    BodyTooLarge,
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
    REQUESTS: "/api/v1/request-hours",
}
INGEST = "ingest"
SCOPE_OF = {JOBS: "jobs"}
"""What a joined machine's token needs for a kind; all else is part of measuring."""
UNSTAMPED = frozenset({JOBS, REQUESTS})
"""Bodies whose times are not the agent's clock's alone: they go as they are."""
NEWER = frozenset({REPORT, REQUESTS})
"""What a server older than this agent does not know; it takes windows, and loses none."""
IDLE_SECONDS = 2.0
REFUSED_TOKEN_SECONDS = 600.0
WRONG_SERVER_SECONDS = 60.0
LONGEST_PEACE_SECONDS = 3_600.0
AGAIN_SECONDS = 3_600.0
"""A server that did not know something may be a newer one by then."""
ALL_TOO_LARGE = 8
"""After so many in a row it is asked whether anything at all is taken, before more is parted."""
LONGEST_PHASE_SECONDS = 60.0
"""Long enough to part a thousand agents, short enough to hear of a window soon."""
Uplinks = Mapping[str, Uplink]


@dataclass(**SLOTS)
class Sent:
    """What became of what was sent, since the start."""

    windows: int = 0
    items: int = 0
    refused_items: int = 0
    rejected_windows: int = 0
    last_at_ms: int | None = None
    offset_ms: int | None = None
    problem: str = ""
    unknown: set[str] = field(default_factory=set)
    """Kinds of item that the server did not know when it was asked last."""
    refused_rows: int = 0
    unmatched_rows: int = 0


@dataclass(**SLOTS)
class Sending:
    """A thread that empties the spool. `uplinks` by kind; a kind without one is not sent.

    Windows end in the same second everywhere: what is new waits `phase_seconds`, a time of this
    agent's own, unless it is to hurry or the process ends. What waited longer goes at once.
    `stopping` is set where the process ends; whoever waits for the server may wait for it too.
    With an `identity` the token is the machine's own, which is got anew where it is not known.
    """

    spool: Spool
    uplinks: Uplinks
    say: Callable[[str], object]
    phase_seconds: float = 0.0
    stopping: threading.Event = field(default_factory=threading.Event)
    identity: Identity | None = None
    sent: Sent = field(default_factory=Sent)
    _more: threading.Event = field(default_factory=threading.Event)
    _hurried_ms: int = 0
    _drained_until: float = 0.0
    _again_at: dict[str, float] = field(default_factory=dict)
    _back_at: float = 0.0
    _too_large: int = 0

    def run(self) -> None:
        """Until `stop`, and then as long as that allows to send what is left."""
        while not self.stopping.is_set():
            wait = self.step()
            if wait:
                self._more.wait(wait)
                self._more.clear()
        while time.monotonic() < self._drained_until and not self.step():
            continue
        for uplink in self.uplinks.values():
            uplink.close()

    def wake(self) -> None:
        """There is something new; a refused token waits all the same."""
        if not self.sent.problem:
            self._more.set()

    def hurry(self, at_ms: int) -> None:
        """Whatever was made until then goes at once."""
        self._hurried_ms = max(self._hurried_ms, at_ms)
        self.wake()

    def stop(self, drain_seconds: float = 0.0) -> None:
        """Return from `run` after what is being sent and what goes in that time."""
        self._drained_until = time.monotonic() + drain_seconds
        self.stopping.set()
        self._more.set()

    def step(self) -> float:
        """Send one item; how many seconds to wait before the next."""
        self._bring_back()
        item = self.spool.first()
        if item is None:
            return IDLE_SECONDS
        early = self._early_seconds(item)
        if early:
            return early
        try:
            self._send(item)
        except ServerUnreachable as away:
            wait = min(max(IDLE_SECONDS, away.asked_seconds), LONGEST_PEACE_SECONDS)
            return self._failed(str(away), wait)
        except TokenRefused as refused:
            return self._turned_away(item, refused)
        except NotRunrate as other:
            return self._failed(str(other), WRONG_SERVER_SECONDS)
        except BodyRefused as refused:
            self.sent.problem = ""
            if isinstance(refused, BodyTooLarge):
                return self._made_smaller(item, refused)
            self.sent.refused_items += 1
            self.say(f"the server refuses a {item.kind} for good; it is dropped: {refused}")
            self.spool.lose(item)
            return 0.0
        self.sent.problem, self._too_large = "", 0
        self.spool.remove(item)
        return 0.0

    def _bring_back(self) -> None:
        """What was set aside is tried again every hour, and by the next process."""
        if time.monotonic() >= self._back_at:
            self._back_at = time.monotonic() + AGAIN_SECONDS
            self.spool.bring_back()

    def _made_smaller(self, item: Item, refused: BodyTooLarge) -> float:
        """In halves; what has none is set aside, and nothing is parted where all is refused."""
        self._too_large += 1
        if self._too_large >= ALL_TOO_LARGE:
            if not self._takes_anything(item):
                said = f"even an empty body is called too large, so all waits: {refused}"
                return self._failed(said, REFUSED_TOKEN_SECONDS)
            self._too_large = 0
        if not self._parted(item):
            self.say(f"a {item.kind} is set aside, tried again in an hour: {refused}")
            self.spool.set_aside(item)
        return 0.0

    def _takes_anything(self, item: Item) -> bool:
        """Whether a body of two bytes, which the server cannot want, is refused for another reason."""
        try:
            self.uplinks[item.kind].post(PATHS[item.kind], lambda: b"{}")
        except BodyTooLarge:
            return False
        except BodyRefused:
            return True
        return True

    def _turned_away(self, item: Item, refused: TokenRefused) -> float:
        identity = self._identity_for(item)
        if identity is not None and refused.is_unknown:
            identity.forget()
            if identity.rival:
                return self._failed(f"{identity.rival}: {refused}", REFUSED_TOKEN_SECONDS)
            return self._failed(str(refused), IDLE_SECONDS)
        # Asking again at once would hammer a server that has said no.
        return self._failed(str(refused), REFUSED_TOKEN_SECONDS)

    def _identity_for(self, item: Item) -> Identity | None:
        """The machine's own, unless its kind goes with a token of another's."""
        own = self.uplinks.get(item.kind) is self.uplinks.get(BATCH)
        return self.identity if own else None

    def _early_seconds(self, item: Item) -> float:
        """How long until this agent's moment for it."""
        if self.stopping.is_set() or item.made_at_ms <= self._hurried_ms:
            return 0.0
        waited = time.time_ns() / 1e9 - item.made_at_ms / 1e3
        # Made in the future: the clock was set back, and would hold it as long.
        return self.phase_seconds - waited if 0 <= waited < self.phase_seconds else 0.0

    def _send(self, item: Item) -> None:
        uplink = self.uplinks.get(item.kind)
        if uplink is None or time.monotonic() < self._again_at.get(item.kind, 0.0):
            return
        identity = self._identity_for(item)
        if identity is not None and not identity.may_tell(SCOPE_OF.get(item.kind, INGEST)):
            return
        try:
            if item.kind in UNSTAMPED:
                answer = uplink.post(PATHS[item.kind], lambda: item.body)
            else:
                answer = uplink.post(PATHS[item.kind], lambda: stamped(item), encoding="gzip")
        except PathUnknown:
            if item.kind not in NEWER:
                raise
            self.sent.unknown.add(item.kind)
            self._again_at[item.kind] = time.monotonic() + AGAIN_SECONDS
            return
        self.sent.unknown.discard(item.kind)
        self._note(item, answer)

    def _parted(self, item: Item) -> bool:
        """Whether smaller ones wait in its place."""
        if item.kind == BATCH:
            parts = halves(item.body)
        else:
            parts = [(body, 0) for body in list_halves(item.body)]
        for body, windows in parts:
            self.spool.put(item.kind, body, at_ms=item.made_at_ms, windows=windows)
        if parts:
            self.spool.remove(item)
        return bool(parts)

    def _note(self, item: Item, answer: Mapping[str, object]) -> None:
        self.sent.items += 1
        self.sent.windows += item.windows
        self.sent.last_at_ms = time.time_ns() // 1_000_000
        rejected = answer.get("rejected")
        if isinstance(rejected, list):
            self.sent.rejected_windows += len(rejected)
        if item.kind == REQUESTS:
            self._note_rows(answer)
        offset = answer.get("offset_ms")
        if isinstance(offset, int):
            self.sent.offset_ms = offset

    def _note_rows(self, answer: Mapping[str, object]) -> None:
        """Counts that the server did not take, or keeps for a service that it does not know."""
        errors, unmatched = answer.get("errors"), answer.get("unmatched")
        if isinstance(errors, list) and errors:
            self.sent.refused_rows += len(errors)
            self.say(f"the server takes no counts of requests: {errors[0]}")
        if isinstance(unmatched, int):
            self.sent.unmatched_rows += unmatched

    def _failed(self, problem: str, wait: float) -> float:
        if problem != self.sent.problem:
            self.say(problem)
        self.sent.problem = problem
        return wait


def phase_of(identity: str, window_seconds: int) -> float:
    """A time within the window, the same for the same agent and even over many."""
    share = zlib.crc32(identity.encode()) / (1 << 32)
    return share * min(window_seconds, LONGEST_PHASE_SECONDS)


def stamped(item: Item) -> bytes:
    """Gzipped, with the moment of this attempt: by it the server sees how far our clock is off."""
    now_ms = time.time_ns() // 1_000_000
    body = b'{"sent_at_ms":' + str(now_ms).encode() + b"," + item.body[1:]
    return gzip.compress(body, compresslevel=1, mtime=0)


def without_stamp(payload: Mapping[str, object]) -> bytes:
    """A body as the spool keeps it."""
    kept = {name: value for name, value in payload.items() if name != "sent_at_ms"}
    return json.dumps(kept, separators=(",", ":")).encode()
