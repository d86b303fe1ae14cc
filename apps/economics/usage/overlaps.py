"""Devices whose windows overlap: which report wins each moment, exactly."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import isnan, nan
from typing import NamedTuple

from apps.economics.hours import HOUR_MS
from apps.economics.spans import spans_without
from apps.economics.usage.columns import MS_PER_SECOND, NO_HOLDER, WindowColumns


class WindowRow(NamedTuple):
    """One row of WindowColumns."""

    device_id: int
    holder_id: int
    start_ms: int
    length_ms: int
    source: int
    boot: int
    agent_id: int
    observed_seconds: float
    worked_seconds: float
    sm_ratio: float
    tensor_ratio: float
    dram_ratio: float
    energy_joules: float


class Fragment(NamedTuple):
    """The part of a window that counts."""

    window: WindowRow
    from_ms: int
    to_ms: int
    is_reading: bool


Report = tuple[int, int, int, int, int]
Span = tuple[int, int]


def settled(windows: WindowColumns) -> list[Fragment]:
    """Return the fragments of each window that count: lower source, newer boot, lower agent, earlier, shorter."""
    by_device: dict[int, list[WindowRow]] = defaultdict(list)
    for window in rows_of(windows):
        by_device[window.device_id].append(window)
    fragments: list[Fragment] = []
    for device_id in sorted(by_device):
        fragments += _settled_device(by_device[device_id])
    return fragments


def rows_of(windows: WindowColumns) -> Iterator[WindowRow]:
    """The columns as rows of plain numbers."""
    columns = (getattr(windows, name).tolist() for name in WindowRow._fields)
    return map(WindowRow._make, zip(*columns, strict=True))


def _settled_device(windows: Iterable[WindowRow]) -> list[Fragment]:
    reports: dict[Report, list[WindowRow]] = defaultdict(list)
    for window in windows:
        reports[_report_precedence(window)].append(window)
    taken: list[Span] = []
    fragments: list[Fragment] = []
    for report in sorted(reports):
        _, _, _, start, length = report
        rows = _as_reported(reports[report])
        for from_ms, to_ms in spans_without([(max(start, 0), min(start + length, HOUR_MS))], taken):
            fragments += [
                Fragment(row, from_ms, to_ms, index == 0) for index, row in enumerate(rows)
            ]
            taken.append((from_ms, to_ms))
        taken.sort()
    fragments.sort(key=lambda fragment: (fragment.from_ms, fragment.window.holder_id))
    return fragments


def _report_precedence(window: WindowRow) -> Report:
    return window.source, -window.boot, window.agent_id, window.start_ms, window.length_ms


def _as_reported(windows: Iterable[WindowRow]) -> list[WindowRow]:
    """One row for each holder, the device's own reading first; made up where it is missing."""
    rows: dict[int, WindowRow] = {}
    for window in sorted(windows, key=_comparable_content):
        rows.setdefault(window.holder_id, window)
    ordered = [rows[holder_id] for holder_id in sorted(rows)]
    if len(ordered) == 1 or ordered[0].holder_id == NO_HOLDER:
        return ordered
    return [_device_reading(ordered), *ordered]


def _comparable_content(window: WindowRow) -> tuple[float, ...]:
    return tuple(-1.0 if isnan(value) else value for value in window)


def _device_reading(rows: Sequence[WindowRow]) -> WindowRow:
    """Holders without the device's own row: it worked at most as long as they did together."""
    observed = max(_observed_seconds(row) for row in rows)
    worked_times = [row.worked_seconds for row in rows if not isnan(row.worked_seconds)]
    return rows[0]._replace(
        holder_id=NO_HOLDER,
        observed_seconds=observed,
        worked_seconds=min(observed, sum(worked_times)) if worked_times else nan,
        sm_ratio=nan,
        tensor_ratio=nan,
        dram_ratio=nan,
        energy_joules=nan,
    )


def _observed_seconds(window: WindowRow) -> float:
    full_seconds = window.length_ms / MS_PER_SECOND
    return full_seconds if isnan(window.observed_seconds) else window.observed_seconds
