"""Hours that a change of facts about jobs, runs or requests touches, marked once and in order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from apps.accounts.queries import has_organisation, organisation
from apps.economics.hours import first_hour, hour_of
from apps.economics.spans import joined_spans
from apps.fleet.queries import nodes_alive_between
from apps.marks.actions import Mark, mark, mark_spans
from apps.marks.queries import Pass

Span = tuple[datetime, datetime]
INSTANT = timedelta(microseconds=1)


@dataclass(slots=True)
class TouchedHours:
    """Gathers spans by node; the future is left out, for nothing has settled it yet."""

    at: datetime
    _spans: dict[int, list[Span]] = field(default_factory=dict)
    _retagged: dict[int, list[Span]] = field(default_factory=dict)
    _redivided: dict[int, list[Span]] = field(default_factory=dict)

    def add(self, node_id: int | None, starts_at: datetime, ends_at: datetime | None) -> None:
        """Note that `[starts_at, ends_at)` changed on the node; None: no node, or no end."""
        self._note_span(self._spans, node_id, (starts_at, ends_at))

    def retag(self, node_id: int | None, starts_at: datetime, ends_at: datetime | None) -> None:
        """Note that what was held of the node then goes under another tag, or is another user's.

        Both are read at roll-up, so no line changes and no other pass would mark the day.
        """
        self._note_span(self._retagged, node_id, (starts_at, ends_at))

    def divide(self, node_id: int | None, starts_at: datetime, ends_at: datetime | None) -> None:
        """Note that what was held of the node then is divided otherwise over runs or features.

        Lines and their sums stay as they are.
        """
        self._note_span(self._redivided, node_id, (starts_at, ends_at))

    def mark(self) -> None:
        """Lay the marks, in the transaction of the change."""
        spans = [
            (node_id, starts_at, ends_at)
            for node_id in sorted(self._spans)
            for starts_at, ends_at in joined_spans(self._spans[node_id])
        ]
        mark_spans(pass_=Pass.SPLIT, spans=spans)
        mark(_day_marks({Pass.ROLLUP: self._retagged, Pass.DIVIDE: self._redivided}))

    def _note_span(
        self,
        spans: dict[int, list[Span]],
        node_id: int | None,
        span: tuple[datetime, datetime | None],
    ) -> None:
        starts_at, ends_at = span
        until = self.at if ends_at is None else min(ends_at, self.at)
        if node_id is not None and starts_at < until:
            spans.setdefault(node_id, []).append((starts_at, until))


def _day_marks(touched: Mapping[Pass, Mapping[int, list[Span]]]) -> set[Mark]:
    """The local days that passes over days do again, by pool; `touched` is by pass and node."""
    all_spans = [
        span for of_pass in touched.values() for spans in of_pass.values() for span in spans
    ]
    if not all_spans or not has_organisation():
        return set()
    zone = organisation().zone
    node_ids = {node_id for of_pass in touched.values() for node_id in of_pass}
    first, last = min(all_spans)[0], max(ends_at for _, ends_at in all_spans)
    pools = {node.id: node.pool_id for node in nodes_alive_between(first, last, sorted(node_ids))}
    return {
        Mark(pass_, pools[node_id], hour)
        for pass_, of_pass in touched.items()
        for node_id, spans in of_pass.items()
        if node_id in pools
        for span in spans
        for hour in _first_hours(span, zone)
    }


def _first_hours(span: Span, zone: str) -> Iterator[datetime]:
    """The first UTC hour that starts on each local day whose hours the span touches."""
    starts_at, ends_at = span
    day, last = (
        hour_of(moment).astimezone(ZoneInfo(zone)).date()
        for moment in (starts_at, ends_at - INSTANT)
    )
    while day <= last:
        yield first_hour(day, zone)
        day += timedelta(days=1)
