"""How hard GPUs worked: what their meters told, and of how much of the time."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from apps.economics.money import sum_of_known

MS_PER_SECOND = 1000


@dataclass(frozen=True, slots=True)
class GpuMeters:
    """Sums over some GPU time; a meter is None where it never told, and then nothing is known of it.

    `gpu_milliseconds` is that time: what jobs held, or of a GPU all in which it was there.
    `observed_milliseconds` of it somebody looked at, in `active_milliseconds` a kernel was resident.
    `…_seconds` of sm, tensor and dram are seconds × the share of the chip's units that were active in
    them, `…_observed_seconds` the GPU-seconds in which the meter told. Links are bytes sent and
    received.
    """

    gpu_milliseconds: int = 0
    observed_milliseconds: int = 0
    active_milliseconds: int = 0
    sm_seconds: float | None = None
    sm_observed_seconds: float | None = None
    tensor_seconds: float | None = None
    tensor_observed_seconds: float | None = None
    dram_seconds: float | None = None
    dram_observed_seconds: float | None = None
    nvlink_bytes: float | None = None
    nvlink_observed_seconds: float | None = None
    pcie_bytes: float | None = None
    pcie_observed_seconds: float | None = None

    @property
    def active_ratio(self) -> float | None:
        """The share of the time observed with a kernel resident."""
        observed = self.observed_milliseconds
        return min(1.0, self.active_milliseconds / observed) if observed else None

    @property
    def sm_active_ratio(self) -> float | None:
        """The mean share of streaming multiprocessors with a warp resident, of the time observed."""
        return _mean_over(self.sm_seconds, self.sm_observed_seconds)

    @property
    def tensor_active_ratio(self) -> float | None:
        """The mean share of cycles in which tensor cores were active, of the time observed."""
        return _mean_over(self.tensor_seconds, self.tensor_observed_seconds)

    @property
    def dram_active_ratio(self) -> float | None:
        """The mean share of cycles in which memory moved data, of the time observed."""
        return _mean_over(self.dram_seconds, self.dram_observed_seconds)

    @property
    def nvlink_bytes_per_second(self) -> float | None:
        """Of one GPU, both directions, over the time observed."""
        return _mean_over(self.nvlink_bytes, self.nvlink_observed_seconds)

    @property
    def pcie_bytes_per_second(self) -> float | None:
        """Of one GPU, both directions, over the time observed."""
        return _mean_over(self.pcie_bytes, self.pcie_observed_seconds)

    @property
    def sm_coverage_ratio(self) -> float | None:
        """The share of the time in which SM activity was observed; 0: none of it, None: no time."""
        if not self.gpu_milliseconds:
            return None
        observed = (self.sm_observed_seconds or 0.0) * MS_PER_SECOND
        return min(1.0, observed / self.gpu_milliseconds)


def meters_together(parts: Iterable[GpuMeters]) -> GpuMeters:
    """Their sums; what one of them did not tell is left out, with the time of it."""
    meters = list(parts)
    return GpuMeters(
        sum(part.gpu_milliseconds for part in meters),
        sum(part.observed_milliseconds for part in meters),
        sum(part.active_milliseconds for part in meters),
        **{name: sum_of_known(getattr(part, name) for part in meters) for name in TOLD},
    )


def _mean_over(total: float | None, seconds: float | None) -> float | None:
    return None if total is None or not seconds else total / seconds


SUMMED = tuple(field.name for field in fields(GpuMeters))
TOLD = SUMMED[3:]
