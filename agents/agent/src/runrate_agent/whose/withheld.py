"""Processes on the GPUs of which this user may not read what they say: counted, and told as a problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from runrate_agent.compat import SLOTS

KEPT_MS = 600_000
HIDDEN_AFTER_MS = 10_000
"""A process that ends is listed by the driver for a moment; one that it lists for longer is hidden."""
MOST_KEPT = 4_096


@dataclass(**SLOTS)
class Withheld:
    """What was refused of late, by process; `environments` are all that ever were."""

    environments: int = 0
    _refused: dict[tuple[int, str], int] = field(default_factory=dict)
    _hidden: dict[int, tuple[int, int]] = field(default_factory=dict)

    def note_refusal(self, pid: int, started: str, at_ms: int) -> None:
        """The environment of this process is not for us to read."""
        if (pid, started) not in self._refused:
            self.environments += 1
        self._refused[pid, started] = at_ms

    def note_seen(self, pid: int, started: str, at_ms: int) -> None:
        """It is there still, remembered as it was first read."""
        self._hidden.pop(pid, None)
        if (pid, started) in self._refused:
            self._refused[pid, started] = at_ms

    def note_missing(self, pid: int, at_ms: int) -> None:
        """The driver lists a process that /proc does not show."""
        since, _ = self._hidden.get(pid, (at_ms, at_ms))
        self._hidden[pid] = since, at_ms

    def forget(self, now_ms: int) -> None:
        """Those last seen long ago, and the oldest where there are too many."""
        before = now_ms - KEPT_MS
        refused = [item for item in self._refused.items() if item[1] >= before]
        self._refused = dict(refused[-MOST_KEPT:])
        hidden = [item for item in self._hidden.items() if item[1][1] >= before]
        self._hidden = dict(hidden[-MOST_KEPT:])

    def problems(self) -> Iterator[tuple[str, str]]:
        """What is not known because of it, by code."""
        if self._refused:
            yield (
                "environments",
                f"the environments of {len(self._refused)} processes on the GPUs cannot be read: "
                "their runs' names, Ray, SkyPilot and torchrun ids are not known",
            )
        hidden = sum(1 for since, last in self._hidden.values() if last - since > HIDDEN_AFTER_MS)
        if hidden:
            yield (
                "processes",
                f"{hidden} processes on the GPUs are not to be seen in /proc: whose they are is "
                "not known",
            )
