"""Windows to usage rows: what each device and each holder did in one hour."""

from dataclasses import dataclass

import numpy as np

from apps.economics.usage.columns import (
    MINUTES,
    NO_HOLDER,
    Bits,
    Integers,
    Reals,
    UsageRow,
    WindowColumns,
)
from apps.economics.usage.counted import CountedUsage, counted_windows
from apps.economics.usage.minutes import Minutes, minutes_of, observed_seconds

# Device index and holder share one sortable integer; interned holder ids fit 32 bits.
HOLDER_BITS = 32
HOLDER_MASK = (1 << HOLDER_BITS) - 1
UNKNOWN_SOURCE = np.iinfo(np.int64).max


def usage_of_hour(windows: WindowColumns) -> list[UsageRow]:
    """The rows of one hour, ordered by device and holder.

    The same for any order and any repetition of the windows. A window that crosses the hour is
    cut in proportion, one longer than a minute is spread over its minutes. Where windows of one
    device overlap, the winner counts, and of the others what it leaves free. A window whose work
    is unknown was not observed. Columns may be of any length, 0 included.
    """
    counted = counted_windows(windows)
    if not len(counted.from_ms):
        return []
    table = _hour_table(counted)
    minutes = minutes_of(counted, table.index, table.row, len(table.keys))
    return _usage_rows(counted, table, minutes)


@dataclass(frozen=True, slots=True)
class _HourTable:
    """The rows to be (`keys`: device index and holder) and which window adds to which.

    The first `readings` contributions are the devices' own.
    """

    devices: Integers
    keys: Integers
    index: Integers
    row: Integers
    readings: int


def _hour_table(counted: CountedUsage) -> _HourTable:
    """One row for a device that only ever had one key, else one of its own and one per holder."""
    holder = counted.windows.holder_id
    devices, device = np.unique(counted.windows.device_id, return_inverse=True)
    lowest = np.full(len(devices), HOLDER_MASK)
    highest = np.zeros(len(devices), dtype=np.int64)
    np.minimum.at(lowest, device, holder)
    np.maximum.at(highest, device, holder)
    own_holder = np.where(lowest == highest, lowest, NO_HOLDER)
    own_key = (np.arange(len(devices)) << HOLDER_BITS) | own_holder
    held_rows = np.flatnonzero((lowest != highest)[device] & (holder != NO_HOLDER))
    held_key = (device[held_rows] << HOLDER_BITS) | holder[held_rows]
    keys = np.unique(np.concatenate([own_key, held_key]))
    reading = np.flatnonzero(counted.is_reading)
    return _HourTable(
        devices=devices,
        keys=keys,
        index=np.concatenate([reading, held_rows]),
        row=np.concatenate(
            [np.searchsorted(keys, own_key)[device[reading]], np.searchsorted(keys, held_key)]
        ),
        readings=len(reading),
    )


def _usage_rows(counted: CountedUsage, table: _HourTable, minutes: Minutes) -> list[UsageRow]:
    observed, worked = minutes.observed.tobytes(), minutes.worked.tobytes()
    windows = counted.windows
    sums = _HourSums(counted, table)
    return [
        UsageRow(device, holder, observed[at : at + MINUTES], worked[at : at + MINUTES], *of_row)
        for device, holder, at, *of_row in zip(
            table.devices[table.keys >> HOLDER_BITS].tolist(),
            (table.keys & HOLDER_MASK).tolist(),
            range(0, len(observed), MINUTES),
            *sums.of_ratio(windows.sm_ratio),
            *sums.of_ratio(windows.tensor_ratio),
            *sums.of_ratio(windows.dram_ratio),
            sums.of_joules(windows.energy_joules),
            _best_source(counted, table),
            strict=True,
        )
    ]


def _best_source(counted: CountedUsage, table: _HourTable) -> list[int]:
    best = np.full(len(table.keys), UNKNOWN_SOURCE)
    np.minimum.at(best, table.row, counted.windows.source[table.index])
    return [int(source) for source in best.tolist()]


class _HourSums:
    """Sums over the devices' own readings, by row."""

    def __init__(self, counted: CountedUsage, table: _HourTable) -> None:
        """Work out once how much of each window counts."""
        self._index = table.index[: table.readings]
        self._row = table.row[: table.readings]
        self._rows = len(table.keys)
        inside = (counted.to_ms - counted.from_ms)[self._index]
        self._part: Reals = inside / counted.windows.length_ms[self._index]
        self._seconds: Reals = self._part * observed_seconds(counted, self._index)

    def of_ratio(self, ratio: Reals) -> tuple[list[float | None], list[float | None]]:
        """Σ ratio × observed seconds, and the seconds for which the ratio is known."""
        values = ratio[self._index]
        is_known = ~np.isnan(values)
        return (
            self._sum_by_row(np.where(is_known, values, 0.0) * self._seconds, is_known),
            self._sum_by_row(np.where(is_known, self._seconds, 0.0), is_known),
        )

    def of_joules(self, joules: Reals) -> list[float | None]:
        """Joules, of a window cut by the hour or by another in proportion."""
        values = joules[self._index]
        is_known = ~np.isnan(values)
        return self._sum_by_row(np.where(is_known, values, 0.0) * self._part, is_known)

    def _sum_by_row(self, values: Reals, is_known: Bits) -> list[float | None]:
        if not is_known.any():
            return [None] * self._rows
        sums = np.bincount(self._row, values, self._rows).tolist()
        times = np.bincount(self._row, is_known, self._rows).tolist()
        return [total if count else None for total, count in zip(sums, times, strict=True)]
