"""How hard GPUs worked, as a table beside what they cost: active, SM active, memory, links."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from apps.console.kit.cells import DATA_RATE, GPU_HOURS, RATIO, Format
from apps.console.kit.request import Context
from apps.console.kit.table import Table, TableSection
from apps.economics.gpu_meters import GpuMeters
from apps.show.amounts import per_cent
from apps.tables.column import Column

MEANING = (
    "Active: share of observed time with a kernel resident. SM, tensor and DRAM active: how much of "
    "the chip was in use, of the time its meters reported; unknown is not 0."
)


class Metered(NamedTuple):
    """A row: what it is of, where that leads, what its meters told, and whose it is where a table has several teams."""

    name: str
    meters: GpuMeters
    href: str = ""
    team: str = ""


class MeteredTime(NamedTuple):
    """The GPU time that meters are of: the key of its hours, and its words."""

    key: str
    words: str


HELD = MeteredTime("held_gpu_hours", "held")


def meter_section(
    rows: Sequence[Metered],
    total_meters: GpuMeters,
    first: str,
    context: Context,
    time: MeteredTime = HELD,
) -> TableSection | None:
    """The rows with GPU time, the most of it first, over their total; None where there is no time."""
    timed = [row for row in rows if row.meters.gpu_milliseconds]
    if not timed:
        return None
    timed.sort(key=lambda row: row.name.casefold())
    has_nvlink = any(row.meters.nvlink_bytes_per_second is not None for row in timed)
    has_pcie = any(row.meters.pcie_bytes_per_second is not None for row in timed)
    has_links = has_nvlink or has_pcie
    links = (
        "Links are of one GPU, both directions."
        if has_links
        else "What links carried no agent reported."
    )
    columns: tuple[Column[Metered], ...] = (
        Column(first.lower(), first, lambda row: row.name, href=lambda row: row.href),
        *([_TEAM] if any(row.team for row in timed) else []),
        _column(time.key, f"GPU-hours {time.words}", lambda of: of.gpu_milliseconds, GPU_HOURS),
        _column("active_ratio", "Active", lambda of: of.active_ratio),
        _column("sm_active_ratio", "SM active", lambda of: of.sm_active_ratio),
        _column("tensor_active_ratio", "Tensor active", lambda of: of.tensor_active_ratio),
        _column("dram_active_ratio", "DRAM active", lambda of: of.dram_active_ratio),
        # Of a link that no agent reported there is no column on the page: all of it is unknown.
        _column(
            "nvlink_bytes_per_second",
            "NVLink" if has_nvlink else "",
            lambda of: of.nvlink_bytes_per_second,
            DATA_RATE,
        ),
        _column(
            "pcie_bytes_per_second",
            "PCIe" if has_pcie else "",
            lambda of: of.pcie_bytes_per_second,
            DATA_RATE,
        ),
        _column("sm_coverage_ratio", "SM observed", lambda of: of.sm_coverage_ratio),
    )
    table = Table[Metered](
        "meters", "GPU utilization", columns, sort="meters", default_sort=f"-{time.key}"
    )
    return table.section(
        timed,
        context,
        about=f"{meters_in_words(total_meters, time.words)}. {MEANING} {links}",
        total=Metered("Total", total_meters) if len(timed) > 1 else None,
    )


def meters_in_words(meters: GpuMeters, of: str = HELD.words) -> str:
    """`Of the GPU time held 62 % was active, SM active 40 % (observed for 85 % of it)`."""
    sentence = f"Of the GPU time {of} {per_cent(meters.active_ratio)} was active"
    if meters.active_ratio is None:
        sentence = f"No agent observed the GPU time {of}"
    if meters.sm_active_ratio is None:
        return f"{sentence}; SM active was not reported"
    sentence += f", SM active {per_cent(meters.sm_active_ratio)}"
    return f"{sentence} (observed for {per_cent(meters.sm_coverage_ratio)} of it)"


_TEAM: Column[Metered] = Column("team", "Team", lambda row: row.team)


def _column(
    key: str, text: str, of: Callable[[GpuMeters], Any], format: Format = RATIO
) -> Column[Metered]:
    return Column(key, text, lambda row: of(row.meters), format)
