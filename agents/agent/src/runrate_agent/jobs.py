"""Job events as they go over the wire, in bulk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runrate_agent.compat import SLOTS

# Some 600 kB: below what web servers take by default, and below the 5,000 the API takes.
MAX_EVENTS = 1_000


@dataclass(frozen=True, **SLOTS)
class Allocation:
    """GPUs or slices of one node; `share` None: the whole of each, else that fraction of each.

    `gpus` None: not known how many; `devices` None: not known which.
    """

    node: str
    gpus: int | None
    share: str | None
    devices: tuple[str, ...] | None
    cpus: int | None

    def payload(self) -> dict[str, object]:
        # A server that knows no unknown number takes one that is left out, and refuses a null.
        counted = {} if self.gpus is None else {"gpus": self.gpus}
        return {
            "node": self.node,
            **counted,
            "share": self.share,
            "devices": None if self.devices is None else list(self.devices),
            "cpus": self.cpus,
        }


@dataclass(frozen=True, **SLOTS)
class JobEvent:
    """What a scheduler said of one attempt of a job at a moment; times are RFC 3339, UTC."""

    cluster: str
    raw_id: str
    submitted_at: str | None
    restart_count: int
    event: str
    at: str
    state: str
    details: Mapping[str, object]
    allocations: tuple[Allocation, ...]
    source: str = "scheduler"

    def payload(self) -> dict[str, object]:
        submitted = {} if self.submitted_at is None else {"submitted_at": self.submitted_at}
        return {
            "cluster": self.cluster,
            "raw_id": self.raw_id,
            **submitted,
            "restart_count": self.restart_count,
            "event": self.event,
            "at": self.at,
            "source": self.source,
            **self.details,
            "state": self.state,
            **self._held(),
        }

    def _held(self) -> dict[str, object]:
        # An agent knows its own node alone: none told is not none held.
        if self.source == "agent" and not self.allocations:
            return {}
        return {"allocations": [each.payload() for each in self.allocations]}


def bulks(events: Sequence[JobEvent]) -> Iterator[dict[str, object]]:
    """Bodies of at most MAX_EVENTS, in the order given."""
    for first in range(0, len(events), MAX_EVENTS):
        part = events[first : first + MAX_EVENTS]
        yield {"events": [event.payload() for event in part]}
