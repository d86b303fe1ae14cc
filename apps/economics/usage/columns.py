"""Columns that an hour's usage is made from, and those that it is."""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MINUTE_MS = 60_000
MINUTES = 60
MS_PER_SECOND = 1_000
NO_HOLDER = 0

Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bits = npt.NDArray[np.bool_]


class ColumnsDiffer(ValueError):
    """The columns of one table have different lengths."""


@dataclass(frozen=True, slots=True)
class WindowColumns:
    """Windows that touch one hour, as columns of equal length; NaN is unknown.

    Moments are milliseconds from the start of the hour (negative before it). `source` is a rank:
    the lower wins, then the newer `boot`, then the lower `agent_id`. Holder 0 is no holder. With
    several rows for one device and moment of one agent, the one of holder 0 is the device's own.
    Refuses ColumnsDiffer.
    """

    device_id: Integers
    holder_id: Integers
    start_ms: Integers
    length_ms: Integers
    source: Integers
    boot: Integers
    agent_id: Integers
    observed_seconds: Reals
    worked_seconds: Reals
    sm_ratio: Reals
    tensor_ratio: Reals
    dram_ratio: Reals
    energy_joules: Reals

    def __post_init__(self) -> None:
        """Refuse a column that lost a row on its way here."""
        if len({len(getattr(self, column.name)) for column in fields(self)}) != 1:
            raise ColumnsDiffer("window columns are not of equal length")

    def taken(self, index: Integers | Bits) -> "WindowColumns":
        """The rows at `index`, or where it is true."""
        return WindowColumns(
            **{column.name: getattr(self, column.name)[index] for column in fields(self)}
        )


class UsageRow(NamedTuple):
    """A device's hour, or one holder's part of it; 60 bytes of quarter-seconds (0 to 240) each.

    Where a device has several rows, holder 0 is its own reading and always there. Sums of ratios
    and joules are on the device's own reading only, None where no window knew them. `source` is
    the best that contributed.
    """

    device_id: int
    holder_id: int
    observed: bytes
    worked: bytes
    sm_seconds: float | None
    sm_observed_seconds: float | None
    tensor_seconds: float | None
    tensor_observed_seconds: float | None
    dram_seconds: float | None
    dram_observed_seconds: float | None
    energy_joules: float | None
    source: int
