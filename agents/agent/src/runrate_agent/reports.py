"""Reports: how the agent is, what explains the windows, and what happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runrate_agent.batch import FORMAT, Stamp
from runrate_agent.compat import SLOTS
from runrate_agent.folding import Window, readings_of
from runrate_agent.frames import Event
from runrate_agent.node.counters import columns_of
from runrate_agent.spool import Depth

MOST_EVENTS = 500


@dataclass(**SLOTS)
class Evidence:
    """What has come together since the last report."""

    windows: list[Window] = field(default_factory=list)
    node: list[tuple[int, int, Mapping[str, float]]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def is_urgent(self) -> bool:
        """Whether somebody should hear of it before the next report is due."""
        return any(event.phase != "ended" for event in self.events)


def report_of(evidence: Evidence, stamp: Stamp, status: Mapping[str, Any]) -> dict[str, Any]:
    """The body, without the moment of sending."""
    uuids, readings = readings_of(evidence.windows)
    places = {uuid: place for place, uuid in enumerate(uuids)}
    for event in evidence.events:
        if event.device is not None:
            places.setdefault(event.device, len(places))
    return {
        "format": FORMAT,
        "boot": stamp.boot_ms,
        "sequence": stamp.sequence,
        "agent": stamp.agent(),
        "status": dict(status),
        "devices": list(places),
        "readings": readings,
        "node_readings": columns_of(evidence.node),
        "events": [_event(each, places) for each in evidence.events[:MOST_EVENTS]],
    }


def spool_status(depth: Depth) -> dict[str, Any]:
    """What waits to be sent."""
    return {
        "batches": depth.items,
        "bytes": depth.size_bytes,
        "oldest_at_ms": depth.oldest_at_ms,
    }


def _event(event: Event, places: Mapping[str, int]) -> dict[str, Any]:
    return {
        "at_ms": event.at_ms,
        "kind": event.kind,
        "phase": event.phase,
        "device": None if event.device is None else places[event.device],
        "code": event.code,
        "detail": event.detail[:500],
        "ends_at_ms": event.ends_at_ms,
    }


def missing_of(expected: Sequence[str], seen: Sequence[str]) -> list[str]:
    """GPUs that were seen before and are not now."""
    return sorted(set(expected) - set(seen))
