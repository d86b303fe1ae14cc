"""Judgement of the windows of a batch: which are sound, when they were by the server's clock, and in which hour."""

from dataclasses import dataclass

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from apps.economics.hours import HOUR_MS
from apps.telemetry.actions.window_errors import Remark, refused_indices
from apps.telemetry.actions.wire import (
    COLUMNS,
    DEVICE,
    DRAM,
    ENERGY,
    HOLDER,
    MEMORY,
    OBSERVED,
    SECONDS,
    SM,
    START,
    TENSOR,
    WORKED,
    Cells,
    Wire,
)

AHEAD_MS = 10 * 60_000
SKEW_MS = 2_000
SHORTEST_SECONDS, LONGEST_SECONDS = 10, 300
# A flood that is refused for one reason must not become as many rows of remarks.
MOST_REFUSED_ALIKE = 1_000
# Agents integrate in floats: up to this much over a bound is rounding, and cut to the bound.
TOLERANCE = 1.01
MOST_WATTS = 20_000
MOST_MEMORY_BYTES = 2**44

SHIFTED, CUT = 1, 2
"""Bits of a window's flags: its times were corrected by the clock's offset; it crossed an hour."""

# What NVML and DCGM hand out where a GPU has no such reading, as the floats they become:
# NVML_VALUE_NOT_AVAILABLE of 32 and 64 bits, DCGM_INT32_BLANK and DCGM_FP64_BLANK with their
# three variants each, DCGM_INT64_BLANK with its variants (all round to 2**63).
SENTINELS = frozenset(
    {float(2**32 - 1), float(2**64), float(2**63)}
    | {float(0x7FFFFFF0 + k) for k in range(4)}
    | {float(2**47 + k) for k in range(4)}
)
_SMALL_SENTINELS = np.array(sorted(value for value in SENTINELS if value < MOST_MEMORY_BYTES))
_WHOLE = slice(DEVICE, SECONDS + 1)


@dataclass(frozen=True, slots=True)
class Pieces:
    """Sound windows, none of which crosses an hour.

    `window`, `device` and `holder` point into the batch.
    """

    window: NDArray[np.intp]
    device: NDArray[np.intp]
    holder: NDArray[np.intp]
    starts_at_ms: NDArray[np.int64]
    length_ms: NDArray[np.int64]
    cells: Cells
    flags: NDArray[np.int16]

    def first_seen_ms(self, devices: int) -> NDArray[np.int64]:
        """The earliest start of each of `devices`; the largest integer where it has no window."""
        first = np.full(devices, np.iinfo(np.int64).max)
        np.minimum.at(first, self.device, self.starts_at_ms)
        return first

    def taken(self, rows: NDArray[np.bool_]) -> "Pieces":
        """Those for which `rows` is true."""
        return Pieces(
            window=self.window[rows],
            device=self.device[rows],
            holder=self.holder[rows],
            starts_at_ms=self.starts_at_ms[rows],
            length_ms=self.length_ms[rows],
            cells=self.cells[:, rows],
            flags=self.flags[rows],
        )


@dataclass(frozen=True, slots=True)
class JudgedWindows:
    """The pieces to store, how many windows they were, and what was said of the others."""

    pieces: Pieces
    accepted: int
    offset_ms: int
    remarks: tuple[Remark, ...]

    def without(self, refused: NDArray[np.bool_], field: str, reason: str) -> "JudgedWindows":
        """The windows of which no piece is refused, with a remark for each other, up to a number."""
        windows = np.unique(self.pieces.window[refused])
        if not windows.size:
            return self
        refusals = [Remark(index, field, reason, kept=False) for index in windows.tolist()]
        return JudgedWindows(
            self.pieces.taken(~np.isin(self.pieces.window, windows)),
            self.accepted - len(refusals),
            self.offset_ms,
            (*self.remarks, *refusals[:MOST_REFUSED_ALIKE]),
        )


def oldest_ms(at_ms: int) -> int:
    """The first moment of which windows are still taken; a day later its partition may be gone."""
    return at_ms - _taken_days() * 24 * HOUR_MS


def too_old_words() -> str:
    """Why an earlier one is refused."""
    return f"older than {_taken_days()} days"


def _taken_days() -> int:
    days: int = settings.KEEP_WINDOW_DAYS
    return days - 1


def judged(wire: Wire, at_ms: int) -> JudgedWindows:
    """Judge every window by itself: one that is refused leaves its neighbours alone.

    Times are shifted by the offset of the agent's clock where that is over two seconds.
    """
    offset_ms = 0 if wire.sent_at_ms is None else at_ms - wire.sent_at_ms
    shifted = abs(offset_ms) > SKEW_MS
    cells = wire.cells
    if shifted:
        cells[START] += offset_ms
    strange = _strange_cells(wire, at_ms)
    keep, remarks = ~wire.refused, list(wire.remarks)
    if strange.any():
        refusals = _explained_cells(wire, strange, at_ms)
        remarks.extend(refusals)
        keep[refused_indices(refusals)] = False
    kept_windows = np.flatnonzero(keep)
    if kept_windows.size < keep.size:
        cells = cells[:, keep]
    pieces = _cut_at_hours(_clamped_to_bounds(cells), kept_windows, SHIFTED if shifted else 0)
    return JudgedWindows(pieces, kept_windows.size, offset_ms, tuple(remarks))


def _strange_cells(wire: Wire, at_ms: int) -> NDArray[np.bool_]:
    """The cells that are not plainly sound; NaN passes every comparison but that with itself."""
    cells = wire.cells
    low, high = _cell_bounds(len(wire.devices), len(wire.holders), at_ms)
    strange: NDArray[np.bool_] = (cells < low) | (cells > high)
    strange[_WHOLE] |= cells[_WHOLE] != np.floor(cells[_WHOLE])
    with np.errstate(invalid="ignore"):
        strange[SECONDS] |= np.fmod(HOUR_MS // 1000, cells[SECONDS]) != 0
    seconds, observed = cells[SECONDS], cells[OBSERVED]
    strange[OBSERVED] |= observed > seconds * TOLERANCE
    strange[WORKED] |= cells[WORKED] > np.fmin(observed, seconds) * TOLERANCE
    strange[ENERGY] |= cells[ENERGY] > seconds * MOST_WATTS
    strange[MEMORY] |= (cells[MEMORY] == _SMALL_SENTINELS[:, None]).any(axis=0)
    for row, entries in ((DEVICE, wire.devices), (HOLDER, wire.holders)):
        if None in entries:
            unread = [index for index, entry in enumerate(entries) if entry is None]
            strange[row] |= np.isin(cells[row], unread)
    return strange


def _cell_bounds(devices: int, holders: int, at_ms: int) -> tuple[Cells, Cells]:
    low, high = _LOW.copy(), _HIGH.copy()
    high[DEVICE, 0], high[HOLDER, 0] = devices - 1, holders - 1
    low[START, 0], high[START, 0] = oldest_ms(at_ms), at_ms + AHEAD_MS
    return low, high


_LOW = np.zeros((len(COLUMNS), 1))
_LOW[SECONDS] = SHORTEST_SECONDS
_HIGH = np.full((len(COLUMNS), 1), np.inf)
_HIGH[SECONDS] = LONGEST_SECONDS
_HIGH[[SM, TENSOR, DRAM]] = TOLERANCE
_HIGH[MEMORY] = MOST_MEMORY_BYTES


def _explained_cells(wire: Wire, strange: NDArray[np.bool_], at_ms: int) -> list[Remark]:
    """A remark for each strange cell; one that only means "not supported" becomes unknown."""
    remarks = []
    for index, row in np.argwhere(strange.T).tolist():
        if wire.refused[index] and np.isnan(wire.cells[row, index]):
            continue  # the reading has said already what stood here
        value = float(wire.cells[row, index])
        if row >= WORKED and value in SENTINELS:
            wire.cells[row, index] = np.nan
            remarks.append(Remark(index, COLUMNS[row], "not-supported sentinel", kept=True))
        else:
            reason = _reason_of_cell(row, value, at_ms)
            remarks.append(Remark(index, COLUMNS[row], reason, kept=False))
    return remarks


def _reason_of_cell(row: int, value: float, at_ms: int) -> str:
    if np.isnan(value):
        return "missing"
    if row == START:
        return too_old_words() if value < oldest_ms(at_ms) else _reason_of_start(value, at_ms)
    if value < 0:
        return "negative"
    if row in (DEVICE, HOLDER) and value != np.floor(value):
        return "not a whole number"
    return _TOO_LARGE[row]


def _reason_of_start(value: float, at_ms: int) -> str:
    return "over 10 minutes ahead" if value > at_ms + AHEAD_MS else "not a whole number"


_TOO_LARGE = {
    DEVICE: "no such device in the batch",
    HOLDER: "no such holder in the batch",
    SECONDS: "not 10 to 300 whole seconds that divide an hour",
    OBSERVED: "more than the window is long",
    WORKED: "more than was observed",
    SM: "more than 1",
    TENSOR: "more than 1",
    DRAM: "more than 1",
    ENERGY: "more than 20 kW",
    MEMORY: "more than 16 TiB",
}


def _clamped_to_bounds(cells: Cells) -> Cells:
    """Bounds that were passed by rounding only are kept to; observed is known from here on."""
    seconds = cells[SECONDS]
    cells[OBSERVED] = np.fmin(cells[OBSERVED], seconds)
    cells[WORKED] = np.minimum(cells[WORKED], cells[OBSERVED])
    np.minimum(cells[SM : DRAM + 1], 1.0, out=cells[SM : DRAM + 1])
    return cells


def _cut_at_hours(cells: Cells, windows: NDArray[np.intp], flags: int) -> Pieces:
    """A window across an hour becomes two, its seconds and joules divided by time."""
    starts = cells[START].astype(np.int64)
    lengths = cells[SECONDS].astype(np.int64) * 1000
    to_hour = HOUR_MS - starts % HOUR_MS
    pieces = _full_pieces(cells, windows, starts, lengths, flags)
    crossing = np.flatnonzero(lengths > to_hour)
    if not crossing.size:
        return pieces
    crossed = cells[:, crossing]
    before = to_hour[crossing]
    share = before / lengths[crossing]
    tail = crossed.copy()
    for row in (OBSERVED, WORKED, ENERGY):
        cells[row, crossing] = crossed[row] * share
        tail[row] = crossed[row] * (1 - share)
    after = lengths[crossing] - before
    tail_pieces = _full_pieces(
        tail, windows[crossing], starts[crossing] + before, after, flags | CUT
    )
    pieces.length_ms[crossing] = before
    pieces.flags[crossing] = flags | CUT
    return _joined_pieces(pieces, tail_pieces)


def _full_pieces(
    cells: Cells,
    windows: NDArray[np.intp],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    flags: int,
) -> Pieces:
    return Pieces(
        window=windows,
        device=cells[DEVICE].astype(np.intp),
        holder=cells[HOLDER].astype(np.intp),
        starts_at_ms=starts,
        length_ms=lengths,
        cells=cells,
        flags=np.full(starts.size, flags, np.int16),
    )


def _joined_pieces(first: Pieces, second: Pieces) -> Pieces:
    return Pieces(
        window=np.concatenate([first.window, second.window]),
        device=np.concatenate([first.device, second.device]),
        holder=np.concatenate([first.holder, second.holder]),
        starts_at_ms=np.concatenate([first.starts_at_ms, second.starts_at_ms]),
        length_ms=np.concatenate([first.length_ms, second.length_ms]),
        cells=np.concatenate([first.cells, second.cells], axis=1),
        flags=np.concatenate([first.flags, second.flags]),
    )
