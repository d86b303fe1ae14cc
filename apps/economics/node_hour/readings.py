"""Readings of a span of one device, by its rows, in milliseconds."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from apps.economics.node_hour.facts import MINUTE_MS, UsageFact
from apps.economics.node_hour.holds import Hold
from apps.economics.node_hour.names import HolderNames

QUARTER_MS = 250
DEVICE_ROW = 0


class ReadingSpan(NamedTuple):
    """A span of a device in which nothing about its holds changes; `out` = out of service.

    `uncounted`: a job of the node holds GPUs, and nobody says how many.
    """

    start_ms: int
    end_ms: int
    holds: tuple[Hold, ...]
    out: bool
    uncounted: bool = False


class Shown(NamedTuple):
    """Observed and worked milliseconds; worked ≤ observed ≤ the span."""

    observed_ms: int
    worked_ms: int


NOTHING_SHOWN = Shown(0, 0)


class Columns(NamedTuple):
    """Moments of a span side by side: the device's work, and what each process row shows.

    Times `scale` they are milliseconds; but `seen` only tells 0 from anything else.
    """

    scale: int
    observed: Sequence[int]
    worked: Sequence[int]
    seen: Sequence[Sequence[int]]
    of_rows: Sequence[Sequence[int]]


Placed = dict[int, Shown]


class Readings:
    """The rows of one device, read span by span.

    Evidence is kept by the minute. In a minute that is cut by a change of holder, work goes first
    to the spans held (for a process: held by its own job), then to the rest: a job that ends at
    second 20 does not leave 20 seconds of unclaimed work behind it.
    """

    __slots__ = ("_cut", "_names", "_placed", "device", "processes")

    def __init__(
        self, rows: Sequence[UsageFact], spans: Sequence[ReadingSpan], names: HolderNames
    ) -> None:
        """Tell the device's own reading from its processes' and find the minutes that are cut."""
        self._names = names
        self._placed: dict[tuple[int, int], Placed] = {}
        self.device = _device_reading(rows)
        self.processes = [row for row in rows if row.holder_id]
        if len(self.processes) > 1:
            self.processes.sort()
        self._cut: dict[int, list[ReadingSpan]] = defaultdict(list)
        if rows and any(span.start_ms % MINUTE_MS or span.end_ms % MINUTE_MS for span in spans):
            for span in spans:
                self._note_cut_minutes(span)

    def device_shown(self, span: ReadingSpan) -> Shown:
        """The device's own reading."""
        return (
            NOTHING_SHOWN if self.device is None else self._shown_in(self.device, DEVICE_ROW, span)
        )

    def is_seen(self, row: UsageFact, span: ReadingSpan) -> bool:
        """Whether the row shows anything in the span or in the minutes it cuts."""
        first, last = span.start_ms // MINUTE_MS, -(-span.end_ms // MINUTE_MS)
        return row.observed.count(0, first, last) < last - first

    def columns(self, rows: Sequence[UsageFact], span: ReadingSpan) -> list[Columns]:
        """The span's whole minutes in quarter-seconds, and the cut ones in milliseconds."""
        device = self.device
        if device is None:
            return [Columns(1, (), (), [() for _ in rows], [() for _ in rows])]
        first, last = _whole_minutes(span)
        whole_columns = Columns(
            QUARTER_MS,
            device.observed[first:last],
            bytes(map(min, device.observed[first:last], device.worked[first:last])),
            [row.observed[first:last] for row in rows],
            [row.worked[first:last] for row in rows],
        )
        cut = _cut_minutes(span) if self._cut else ()
        return (
            [whole_columns, self._cut_columns(device, rows, span, cut)] if cut else [whole_columns]
        )

    def _cut_columns(
        self,
        device: UsageFact,
        rows: Sequence[UsageFact],
        span: ReadingSpan,
        minutes: Sequence[int],
    ) -> Columns:
        starts = [max(span.start_ms, minute * MINUTE_MS) for minute in minutes]
        places = list(zip(minutes, starts, strict=True))
        shown = [self._in_cut_minute(device, DEVICE_ROW, minute)[at] for minute, at in places]
        return Columns(
            1,
            [reading.observed_ms for reading in shown],
            [reading.worked_ms for reading in shown],
            [[row.observed[minute] for minute in minutes] for row in rows],
            [
                [
                    self._in_cut_minute(row, row.holder_id, minute)[at].worked_ms
                    for minute, at in places
                ]
                for row in rows
            ],
        )

    def _shown_in(self, row: UsageFact, holder_id: int, span: ReadingSpan) -> Shown:
        if not self._cut:
            first, last = span.start_ms // MINUTE_MS, span.end_ms // MINUTE_MS
            observed_ms = sum(row.observed[first:last]) * QUARTER_MS
            return Shown(observed_ms, min(observed_ms, sum(row.worked[first:last]) * QUARTER_MS))
        first, last = _whole_minutes(span)
        observed, worked = (
            sum(row.observed[first:last]) * QUARTER_MS, sum(row.worked[first:last]) * QUARTER_MS
        )  # fmt: skip
        for minute in _cut_minutes(span):
            shown = self._in_cut_minute(row, holder_id, minute)
            part = shown[max(span.start_ms, minute * MINUTE_MS)]
            observed += part.observed_ms
            worked += part.worked_ms
        return Shown(observed, min(observed, worked))

    def _note_cut_minutes(self, span: ReadingSpan) -> None:
        for minute in _cut_minutes(span):
            start, end = minute * MINUTE_MS, (minute + 1) * MINUTE_MS
            self._cut[minute].append(
                span._replace(start_ms=max(span.start_ms, start), end_ms=min(span.end_ms, end))
            )

    def _in_cut_minute(self, row: UsageFact, holder_id: int, minute: int) -> Placed:
        placed = self._placed.get((holder_id, minute))
        if placed is None:
            spans = self._cut[minute]
            mine = [span for span in spans if self._is_first_for(holder_id, span)]
            placed = _place_minute(row.observed[minute], row.worked[minute], spans, mine)
            self._placed[holder_id, minute] = placed
        return placed

    def _is_first_for(self, holder_id: int, span: ReadingSpan) -> bool:
        if holder_id == DEVICE_ROW:
            return bool(span.holds)
        return self._names.is_of_any(holder_id, [hold.job_id for hold in span.holds])


def _device_reading(rows: Sequence[UsageFact]) -> UsageFact | None:
    if len(rows) == 1:
        return rows[0]
    return next((row for row in rows if not row.holder_id), None)


def _whole_minutes(span: ReadingSpan) -> tuple[int, int]:
    first, last = -(-span.start_ms // MINUTE_MS), span.end_ms // MINUTE_MS
    return first, max(first, last)


def _cut_minutes(span: ReadingSpan) -> list[int]:
    first, last = span.start_ms // MINUTE_MS, span.end_ms // MINUTE_MS
    minutes = []
    if span.start_ms % MINUTE_MS:
        minutes.append(first)
    if span.end_ms % MINUTE_MS and not (minutes and first == last):
        minutes.append(last)
    return minutes


def _place_minute(
    observed: int, worked: int, spans: Sequence[ReadingSpan], mine: Sequence[ReadingSpan]
) -> Placed:
    """Place a minute's quarter-seconds on its spans, in those of `mine` first."""
    live = sum(span.end_ms - span.start_ms for span in spans)
    observed_ms = min(observed * QUARTER_MS, live)
    worked_ms = min(worked * QUARTER_MS, observed_ms)
    first = sum(span.end_ms - span.start_ms for span in mine)
    worked_first = min(worked_ms, first)
    observed_first = max(worked_first, observed_ms * first // live)
    placed: Placed = {}
    _place_evenly(placed, mine, observed_first, worked_first)
    other_spans = [span for span in spans if span not in mine]
    _place_evenly(placed, other_spans, observed_ms - observed_first, worked_ms - worked_first)
    return placed


def _place_evenly(
    placed: Placed, spans: Sequence[ReadingSpan], observed_ms: int, worked_ms: int
) -> None:
    """In proportion to length, cumulatively, so that nothing is lost to rounding."""
    total_ms = sum(span.end_ms - span.start_ms for span in spans)
    done = 0
    for span in spans:
        upto = done + span.end_ms - span.start_ms
        observed = observed_ms * upto // total_ms - observed_ms * done // total_ms
        worked = worked_ms * upto // total_ms - worked_ms * done // total_ms
        placed[span.start_ms] = Shown(observed, min(observed, worked))
        done = upto
