"""The node-hours that a change of facts about jobs touches, marked for the split once and in order."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from apps.accounts.queries import has_organisation, organisation
from apps.economics.hours import HOUR, hour_of
from apps.fleet.queries import nodes_lived
from apps.marks.actions import Mark, mark, mark_spans
from apps.marks.queries import Pass

Span = tuple[datetime, datetime]
INSTANT = timedelta(microseconds=1)


@dataclass(slots=True)
class Touched:
    """Gathers spans by node; the future is left out, for nothing has settled it yet."""

    at: datetime
    _spans: dict[int, list[Span]] = field(default_factory=dict)
    _retagged: dict[int, list[Span]] = field(default_factory=dict)

    def add(self, node_id: int | None, starts_at: datetime, ends_at: datetime | None) -> None:
        """Note that `[starts_at, ends_at)` changed on the node; None: no node, or no end."""
        self._note(self._spans, node_id, (starts_at, ends_at))

    def retag(self, node_id: int | None, starts_at: datetime, ends_at: datetime | None) -> None:
        """Note that what was held of the node then goes under another tag, or is another user's.

        Both are read at roll-up, so no line changes and no other pass would mark the day.
        """
        self._note(self._retagged, node_id, (starts_at, ends_at))

    def mark(self) -> None:
        """Lay the marks, in the transaction of the change."""
        spans = [
            (node_id, starts_at, ends_at)
            for node_id in sorted(self._spans)
            for starts_at, ends_at in _joined(self._spans[node_id])
        ]
        mark_spans(pass_=Pass.SPLIT, spans=spans)
        mark(self._days())

    def _note(
        self,
        spans: dict[int, list[Span]],
        node_id: int | None,
        span: tuple[datetime, datetime | None],
    ) -> None:
        starts_at, ends_at = span
        until = self.at if ends_at is None else min(ends_at, self.at)
        if node_id is not None and starts_at < until:
            spans.setdefault(node_id, []).append((starts_at, until))

    def _days(self) -> set[Mark]:
        """The local days to roll up again, by pool."""
        if not self._retagged or not has_organisation():
            return set()
        zone = ZoneInfo(organisation().zone)
        lived = [span for spans in self._retagged.values() for span in spans]
        first, last = min(lived)[0], max(ends_at for _, ends_at in lived)
        pools = {node.id: node.pool_id for node in nodes_lived(first, last, list(self._retagged))}
        return {
            Mark(Pass.ROLLUP, pools[node_id], first_hour)
            for node_id, spans in self._retagged.items()
            if node_id in pools
            for span in spans
            for first_hour in _local_days(span, zone)
        }


def _joined(spans: list[Span]) -> Iterator[Span]:
    """The same time in as few spans as it takes, in order."""
    since, until = min(spans)
    for starts_at, ends_at in sorted(spans):
        if starts_at > until:
            yield since, until
            since, until = starts_at, ends_at
        until = max(until, ends_at)
    yield since, until


def _local_days(span: Span, zone: ZoneInfo) -> Iterator[datetime]:
    """The first UTC hour that starts on each local day whose hours the span touches."""
    starts_at, ends_at = span
    day = hour_of(starts_at).astimezone(zone).date()
    last = hour_of(ends_at - INSTANT).astimezone(zone).date()
    while day <= last:
        midnight = datetime.combine(day, time.min, tzinfo=zone).astimezone(UTC)
        first = hour_of(midnight)
        yield first if first == midnight else first + HOUR
        day += timedelta(days=1)
