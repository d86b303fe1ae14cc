"""How hard GPUs worked, as a table beside what they cost: active, SM active, memory, links."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.economics.gpu_meters import GpuMeters
from apps.show.amounts import per_cent


@dataclass(frozen=True, slots=True)
class Metered:
    """A row: what it is of, where that leads, and what its meters told."""

    name: str
    meters: GpuMeters
    href: str = ""


@dataclass(frozen=True, slots=True)
class MeterTable:
    """The rows of meters and what they come to in one sentence; `of` names the GPU time ("held")."""

    finding: str
    first: str
    of: str
    rows: tuple[Metered, ...]
    total: Metered | None = None

    @property
    def has_nvlink(self) -> bool:
        """Whether any row's agents told it: a column of nothing but unknown is none."""
        return any(row.meters.nvlink_bytes_per_second is not None for row in self.rows)

    @property
    def has_pcie(self) -> bool:
        """Whether any row's agents told the use of the bus."""
        return any(row.meters.pcie_bytes_per_second is not None for row in self.rows)


def meter_table(
    rows: Sequence[Metered], total_meters: GpuMeters, first: str, of: str = "held"
) -> MeterTable | None:
    """The rows with GPU time, the most of it first, over their total; None where there is no time."""
    timed = [row for row in rows if row.meters.gpu_milliseconds]
    if not timed:
        return None
    timed.sort(key=lambda row: (-row.meters.gpu_milliseconds, row.name.casefold()))
    total = Metered("Total", total_meters) if len(timed) > 1 else None
    return MeterTable(f"{meters_in_words(total_meters, of)}.", first, of, tuple(timed), total)


def meters_in_words(meters: GpuMeters, of: str = "held") -> str:
    """`Of the GPU time held 62 % was active, SM active 40 % (observed for 85 % of it)`."""
    sentence = f"Of the GPU time {of} {per_cent(meters.active_ratio)} was active"
    if meters.active_ratio is None:
        sentence = f"No agent observed the GPU time {of}"
    if meters.sm_active_ratio is None:
        return f"{sentence}; SM active was not reported"
    sentence += f", SM active {per_cent(meters.sm_active_ratio)}"
    return f"{sentence} (observed for {per_cent(meters.sm_coverage_ratio)} of it)"
