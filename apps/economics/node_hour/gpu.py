"""One GPU's hour: cut where anything changes, and divided among its slices."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import lcm
from typing import NamedTuple

from apps.economics.node_hour.counted import Tally
from apps.economics.node_hour.facts import DeviceOfHour, OutageOfHour
from apps.economics.node_hour.holds import Hold, HoldingNode, Holds
from apps.economics.node_hour.readings import Readings, ReadingSpan
from apps.economics.node_hour.segment import (
    NOBODY,
    OUT_OF_SERVICE,
    UNALLOCATED,
    Key,
    Segment,
    Weighted,
)
from apps.economics.split import largest_remainder
from apps.economics.states import State

STRANDED = int(State.STRANDED)
NO_HOLDS: tuple[Hold, ...] = ()


class GpuHour(NamedTuple):
    """The facts that all GPUs of the node share, and the tallies they add to: one for each piece."""

    node: HoldingNode
    holds: Holds
    outages: Sequence[OutageOfHour]
    piece_starts: Sequence[int]
    tallies: Sequence[Tally]
    uncounted: Sequence[tuple[int, int]] = ()
    """When a job held GPUs of which nobody says how many."""

    def add(self, start_ms: int, unit_ms: int, parts: int, states: list[Weighted]) -> None:
        """Add exactly `unit_ms` to the tally of the piece that `start_ms` falls in."""
        tally = self.tallies[bisect_right(self.piece_starts, start_ms) - 1]
        if parts == 1:
            for key, amount in states:
                tally[key] = tally.get(key, 0) + amount
            return
        states.sort()
        amounts = largest_remainder(unit_ms, [weight for _, weight in states])
        for (key, _), amount in zip(states, amounts, strict=True):
            if amount:
                tally[key] = tally.get(key, 0) + amount


def add_gpu(hour: GpuHour, gpu: DeviceOfHour) -> None:
    """Add the lived time of one GPU."""
    slices = [
        slice_
        for slice_ in hour.node.slices.get(gpu.device_id, ())
        if slice_.start_ms < gpu.end_ms and slice_.end_ms > gpu.start_ms
    ]
    if slices:
        _add_sliced(hour, gpu, slices)
        return
    device_id = gpu.device_id
    spans = _gpu_spans(hour, gpu, hour.holds.get(device_id, NO_HOLDS))
    readings = Readings(hour.node.usage.get(device_id, ()), spans, hour.node.names)
    for span in spans:
        segment = Segment(span, readings, hour.node.names)
        hour.add(span.start_ms, segment.length_ms, segment.shares.parts, segment.states())


def _gpu_spans(hour: GpuHour, gpu: DeviceOfHour, holds: Sequence[Hold]) -> list[ReadingSpan]:
    """A whole GPU's spans between changes: of its holds, of service, and of price."""
    spans = list(pairwise(_cut_moments(hour, gpu, holds)))
    return [
        ReadingSpan(
            start,
            end,
            there,
            _is_out(hour.outages, (gpu.device_id,), start),
            _is_uncounted(hour, start),
        )
        for (start, end), there in zip(spans, _in_spans(holds, spans), strict=True)
    ]


def _cut_moments(
    hour: GpuHour, gpu: DeviceOfHour, changing: Iterable[Hold | DeviceOfHour]
) -> list[int]:
    start, end = gpu.start_ms, gpu.end_ms
    if not (changing or hour.outages or hour.uncounted) and len(hour.piece_starts) == 1:
        return [start, end]
    moments = {start, end, *hour.piece_starts}
    for change in changing:
        moments.add(change.start_ms)
        moments.add(change.end_ms)
    for outage in hour.outages:
        moments.add(outage.start_ms)
        moments.add(outage.end_ms)
    for uncounted in hour.uncounted:
        moments.update(uncounted)
    return sorted(moment for moment in moments if start <= moment <= end)


def _in_spans(
    holds: Sequence[Hold], spans: Sequence[tuple[int, int]]
) -> Iterator[tuple[Hold, ...]]:
    """Yield the holds in each of the spans, which are in order and cut wherever a hold changes."""
    if len(holds) == 1:
        # By far the most.
        (hold,), always = holds, tuple(holds)
        yield from (
            always if hold.start_ms < end and hold.end_ms > start else () for start, end in spans
        )
        return
    coming = deque(sorted(holds))
    now: list[Hold] = []
    for start, end in spans:
        while coming and coming[0].start_ms < end:
            now.append(coming.popleft())
        now = [hold for hold in now if hold.end_ms > start]
        yield tuple(now)


def _is_out(outages: Sequence[OutageOfHour], device_ids: Sequence[int], moment_ms: int) -> bool:
    return any(
        outage.start_ms <= moment_ms < outage.end_ms
        and (outage.device_id is None or outage.device_id in device_ids)
        for outage in outages
    )


def _is_uncounted(hour: GpuHour, moment_ms: int) -> bool:
    return any(start_ms <= moment_ms < end_ms for start_ms, end_ms in hour.uncounted)


class _Timeline(NamedTuple):
    """One slice's spans by their start, and its readings."""

    slice_: DeviceOfHour
    spans: dict[int, ReadingSpan]
    readings: Readings


def _add_sliced(hour: GpuHour, gpu: DeviceOfHour, slices: Sequence[DeviceOfHour]) -> None:
    """Slices take their shares of the parent's time; what is left over is stranded."""
    of_gpu = hour.holds.get(gpu.device_id, NO_HOLDS)
    of_slices = [hold for slice_ in slices for hold in hour.holds.get(slice_.device_id, NO_HOLDS)]
    moments = _cut_moments(hour, gpu, [*of_gpu, *of_slices, *slices])
    spans = list(pairwise(moments))
    timelines = [
        _device_timeline(hour, gpu, slice_, spans)
        for slice_ in sorted(slices, key=lambda slice_: (slice_.stable_key, slice_.device_id))
    ]
    gpu_timeline = _device_timeline(hour, gpu, gpu, spans)
    for start, end in spans:
        live_timelines = [timeline for timeline in timelines if start in timeline.spans]
        _add_divided(hour, live_timelines, gpu_timeline, (start, end))


def _device_timeline(
    hour: GpuHour, gpu: DeviceOfHour, device: DeviceOfHour, spans: Sequence[tuple[int, int]]
) -> _Timeline:
    """A claim on the parent is one on each of its slices."""
    ids = tuple({gpu.device_id, device.device_id})
    holds = [hold for device_id in ids for hold in hour.holds.get(device_id, NO_HOLDS)]
    spans_by_start = {
        start: ReadingSpan(
            start, end, there, _is_out(hour.outages, ids, start), _is_uncounted(hour, start)
        )
        for (start, end), there in zip(spans, _in_spans(holds, spans), strict=True)
        if device.start_ms <= start and end <= device.end_ms
    }
    rows = hour.node.usage.get(device.device_id, ())
    return _Timeline(
        device, spans_by_start, Readings(rows, list(spans_by_start.values()), hour.node.names)
    )


def _add_divided(
    hour: GpuHour,
    live_timelines: Sequence[_Timeline],
    gpu_timeline: _Timeline,
    span: tuple[int, int],
) -> None:
    start, end = span
    if not live_timelines:
        segment = Segment(gpu_timeline.spans[start], gpu_timeline.readings, hour.node.names)
        hour.add(start, end - start, segment.shares.parts, segment.states())
        return
    weighted = []
    whole_share = lcm(*(timeline.slice_.share.denominator for timeline in live_timelines))
    taken = 0
    for timeline in live_timelines:
        share = timeline.slice_.share
        numerator = share.numerator * (whole_share // share.denominator)
        taken += numerator
        segment = Segment(timeline.spans[start], timeline.readings, hour.node.names)
        weighted.append((numerator, segment.shares.parts, segment.states()))
    if taken < whole_share:
        unread = Segment(gpu_timeline.spans[start], _no_readings(hour), hour.node.names)
        left = [(_stranded_key(key), weight) for key, weight in unread.states()]
        weighted.append((whole_share - taken, unread.shares.parts, left))
    parts = lcm(*(parts for _, parts, _ in weighted))
    states = [
        (key, weight * numerator * (parts // own_parts))
        for numerator, own_parts, of_part in weighted
        for key, weight in of_part
    ]
    hour.add(start, end - start, max(whole_share, taken) * parts, states)


def _no_readings(hour: GpuHour) -> Readings:
    return Readings((), (), hour.node.names)


def _stranded_key(key: Key) -> Key:
    """Return the key of what slices leave over: stranded unless the whole GPU is held."""
    if key[2] in (OUT_OF_SERVICE, UNALLOCATED):
        return (NOBODY, NOBODY, STRANDED, key[3], key[4])
    return key
