"""Whose a GPU was: from what schedulers granted, then from what processes say of themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from runrate_agent.compat import SLOTS
from runrate_agent.jobs import JobEvent


@dataclass(frozen=True, **SLOTS)
class Held:
    """A holder key, `<scheduler>/<cluster>/<raw id>`, and what it rests on.

    `labels` are what the work says of itself, such as RUNRATE_WORKLOAD.
    """

    key: str
    evidence: str
    run: str | None = None
    labels: tuple[tuple[str, str], ...] = field(default=())


@dataclass(frozen=True, **SLOTS)
class Places:
    """Where devices are, by UUID: /dev numbers and bus ids of GPUs, GPU and GPU instance of slices.

    `pods` are those on a device, by namespace and name, where the source names them.
    """

    minors: Mapping[str, int] = field(default_factory=dict)
    bus_ids: Mapping[str, str] = field(default_factory=dict)
    parents: Mapping[str, str] = field(default_factory=dict)
    instances: Mapping[str, int] = field(default_factory=dict)
    pods: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)


class Holders(Protocol):
    """Asked by the folding; none of its methods raises."""

    problems: tuple[tuple[str, str], ...]

    @property
    def unread_environments(self) -> int:
        """How many processes there were whose environment is not for this user to read."""

    @property
    def unread_grants(self) -> Sequence[str]:
        """What looks like a grant of a GPU and is not understood, by resource and form."""

    def refresh(self, now_ms: int) -> Sequence[JobEvent]:
        """Look at slow sources at their own pace; what happened to jobs meanwhile."""

    def place(self, places: Places) -> None:
        """Where the GPUs and slices of the node are now."""

    def of_device(self, uuid: str) -> Sequence[Held]:
        """Who was granted it; several where it is shared, none where nobody says."""

    def of_process(self, pid: int) -> Held | None:
        """Whose process this is; None where nothing tells, or it is gone."""
