"""Notices that a cloud takes a node back, and what the cloud says the node is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from runrate_agent.compat import SLOTS, UTC, moment_of
from runrate_agent.frames import Event

EVERY_SECONDS = 5.0
FACTS_EVERY = 720
"""What kind of node it is changes never; it is asked again hourly, should the first time fail."""


class MetadataUnreachable(Exception):
    """No metadata service answers here, or not as the cloud's does."""


@dataclass(frozen=True, **SLOTS)
class Notice:
    """The node stops at a moment (ISO 8601; empty: now), by what the cloud calls it.

    `is_end` where it does not come back: it is charged no longer. One that is stopped may be started
    again, and what it costs meanwhile only its bill tells.
    """

    action: str
    at: str
    is_end: bool = True


class Cloud(Protocol):
    """One cloud's metadata service."""

    name: str

    def facts(self) -> Mapping[str, str]:
        """purchase_option, instance_type, region, provider_id, as far as told."""

    def notice(self) -> Notice | None:
        """What is announced; None: nothing. Both refuse MetadataUnreachable."""


@dataclass(**SLOTS)
class Notices:
    """Watches one cloud in a thread of its own: a metadata service may be slow to say no."""

    cloud: Cloud
    say: Callable[[str], object] = lambda text: None
    _events: list[Event] = field(default_factory=list)
    _facts: dict[str, Any] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _told: Notice | None = None
    _stopped: threading.Event = field(default_factory=threading.Event)
    _turn: int = 0

    def run(self) -> None:
        """Until `stop`."""
        while not self._stopped.is_set():
            self.look()
            self._stopped.wait(EVERY_SECONDS)

    def stop(self) -> None:
        """Return from `run`."""
        self._stopped.set()

    def look(self) -> None:
        """Ask once."""
        try:
            if self._turn % FACTS_EVERY == 0 or not self._facts:
                facts = dict(self.cloud.facts())
                with self._lock:
                    self._facts = facts
            self._turn += 1
            notice = self.cloud.notice()
        except MetadataUnreachable:
            return
        if notice is None or notice == self._told:
            return
        self._told = notice
        detail = f"{self.cloud.name}: {notice.action} at {notice.at or 'once'}"
        self.say(detail)
        with self._lock:
            now_ms = time.time_ns() // 1_000_000
            ends_at_ms = moment_ms(notice.at) or now_ms
            if notice.is_end:
                told = Event(now_ms, "reclaim_notice", detail=detail, ends_at_ms=ends_at_ms)
            else:
                told = Event(now_ms, "stop_notice", detail=detail)
            self._events.append(told)

    def taken(self) -> list[Event]:
        """Notices since the last time."""
        with self._lock:
            events, self._events = self._events, []
        return events

    def facts(self) -> dict[str, Any]:
        """What the cloud says of the node."""
        with self._lock:
            return dict(self._facts)


def moment_ms(text: str) -> int | None:
    """ISO 8601 in ms since 1970, taken for UTC where it names no zone; None where it is no moment."""
    try:
        moment = moment_of(text)
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
