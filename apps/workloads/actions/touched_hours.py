"""The node-hours that a change of facts about jobs touches, marked for the split once and in order."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from apps.fleet.actions.marks import mark_spans
from apps.fleet.queries import Pass

Span = tuple[datetime, datetime]


@dataclass(slots=True)
class Touched:
    """Gathers spans by node; the future is left out, for nothing has settled it yet."""

    at: datetime
    _spans: dict[int, list[Span]] = field(default_factory=dict)

    def add(self, node_id: int | None, starts_at: datetime, ends_at: datetime | None) -> None:
        """Note that `[starts_at, ends_at)` changed on the node; None: no node, or no end."""
        until = self.at if ends_at is None else min(ends_at, self.at)
        if node_id is not None and starts_at < until:
            self._spans.setdefault(node_id, []).append((starts_at, until))

    def mark(self) -> None:
        """Lay the marks, in the transaction of the change."""
        spans = [
            (node_id, starts_at, ends_at)
            for node_id in sorted(self._spans)
            for starts_at, ends_at in _joined(self._spans[node_id])
        ]
        mark_spans(pass_=Pass.SPLIT, spans=spans)


def _joined(spans: list[Span]) -> Iterator[Span]:
    """The same time in as few spans as it takes, in order."""
    since, until = min(spans)
    for starts_at, ends_at in sorted(spans):
        if starts_at > until:
            yield since, until
            since, until = starts_at, ends_at
        until = max(until, ends_at)
    yield since, until
