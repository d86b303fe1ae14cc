"""The windows that count, and for which part of the hour each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.economics.hours import HOUR_MS
from apps.economics.usage.columns import NO_HOLDER, Bits, Integers, WindowColumns
from apps.economics.usage.overlaps import Fragment, WindowRow, settled


@dataclass(frozen=True, slots=True)
class CountedUsage:
    """Windows with the span of the hour that each counts for; one device's never overlap.

    `is_reading` marks the device's own. Ordered by start within each device.
    """

    windows: WindowColumns
    from_ms: Integers
    to_ms: Integers
    is_reading: Bits


def counted_windows(windows: WindowColumns) -> CountedUsage:
    """Settle every overlap; the answer does not depend on the order of the windows."""
    ends = windows.start_ms + windows.length_ms
    inside = windows.taken((windows.start_ms < HOUR_MS) & (ends > 0) & (windows.length_ms > 0))
    ordered = inside.taken(np.lexsort((inside.holder_id, inside.start_ms, inside.device_id)))
    plain, is_reading = _plain_devices(ordered)
    counted = _full_windows(ordered.taken(plain), is_reading[plain])
    if plain.all():
        return counted
    return _join_fragments(counted, settled(ordered.taken(~plain)))


def _plain_devices(ordered: WindowColumns) -> tuple[Bits, Bits]:
    """Rows of devices without any overlap, and rows that are a device's own reading."""
    device, start = ordered.device_id, ordered.start_ms
    end = start + ordered.length_ms
    same_device = device[1:] == device[:-1]
    same_slot = same_device & (start[1:] == start[:-1])
    one_report = (
        (ordered.length_ms[1:] == ordered.length_ms[:-1])
        & (ordered.source[1:] == ordered.source[:-1])
        & (ordered.boot[1:] == ordered.boot[:-1])
        & (ordered.agent_id[1:] == ordered.agent_id[:-1])
        & (ordered.holder_id[1:] != ordered.holder_id[:-1])
    )
    is_first = np.ones(len(device), dtype=np.bool_)
    is_first[1:] = ~same_slot
    no_own = np.zeros(len(device), dtype=np.bool_)
    no_own[1:] = same_slot & is_first[:-1] & (ordered.holder_id[:-1] != NO_HOLDER)
    bad = no_own
    bad[1:] |= np.where(same_slot, ~one_report, same_device & (start[1:] < end[:-1]))
    plain = ~np.isin(device, device[bad]) if bad.any() else ~bad
    return plain, is_first


def _full_windows(windows: WindowColumns, is_reading: Bits) -> CountedUsage:
    ends = windows.start_ms + windows.length_ms
    return CountedUsage(
        windows, np.maximum(windows.start_ms, 0), np.minimum(ends, HOUR_MS), is_reading
    )


def _join_fragments(counted: CountedUsage, fragments: Sequence[Fragment]) -> CountedUsage:
    columns = zip(*(fragment.window for fragment in fragments), strict=True)
    joined = WindowColumns(
        **{
            name: np.concatenate([getattr(counted.windows, name), more])
            for name, more in zip(WindowRow._fields, columns, strict=True)
        }
    )
    return CountedUsage(
        joined,
        np.concatenate([counted.from_ms, [fragment.from_ms for fragment in fragments]]),
        np.concatenate([counted.to_ms, [fragment.to_ms for fragment in fragments]]),
        np.concatenate([counted.is_reading, [fragment.is_reading for fragment in fragments]]),
    )
