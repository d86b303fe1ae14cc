"""What the next agent process has to know to go on counting where this one ends."""

from __future__ import annotations

import json
from dataclasses import dataclass

from runrate_agent.compat import SLOTS
from runrate_agent.serving.growth import Known

KEPT_SECONDS = 3_600.0
"""After a longer silence nobody knows in which hour the work was done: counting begins anew."""


@dataclass(frozen=True, **SLOTS)
class Memory:
    """When an endpoint was read last, and what it said."""

    read_at: float
    known: Known

    def text(self) -> bytes:
        """As the spool keeps it."""
        processes = [
            [
                started,
                [[name, labels, list(values.items())] for (name, labels), values in last.items()],
            ]
            for started, last in self.known.items()
        ]
        return json.dumps({"read_at": self.read_at, "processes": processes}).encode()


def remembered(text: bytes | None, now: float) -> Memory | None:
    """What a memo says; None of none, of an old one and of one that cannot be read."""
    try:
        told = json.loads(text or b"{}")
        known = {
            started: {
                (name, tuple((label, value) for label, value in labels)): dict(values)
                for name, labels, values in series
            }
            for started, series in told["processes"]
        }
        memory = Memory(float(told["read_at"]), known)
    except (ValueError, KeyError, TypeError):
        return None
    return memory if 0 <= now - memory.read_at <= KEPT_SECONDS else None
