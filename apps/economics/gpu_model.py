"""The facts of a GPU model: memory, dense peaks by precision, links, power and MIG geometry."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from fractions import Fraction


class Precision(StrEnum):
    """A number format of training or inference; peaks differ by it."""

    FP32 = "fp32"
    TF32 = "tf32"
    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    INT8 = "int8"
    FP4 = "fp4"


@dataclass(frozen=True, slots=True)
class ModelSource:
    """The document that says so, and when a copy or a quotation of it was compared with.

    `compared_on` is None where the figures are the well-known ones and no copy was at hand.
    """

    title: str
    url: str
    compared_on: date | None = None


@dataclass(frozen=True, slots=True)
class MigProfile:
    """A slice that a GPU can be cut into; slices of compute and of memory that it takes."""

    name: str
    compute_slices: int
    memory_slices: int


@dataclass(frozen=True, slots=True)
class MigGeometry:
    """How many slices a GPU has, and which profiles; `+me` and `+gfx` variants count the same."""

    compute_slices: int
    memory_slices: int
    profiles: tuple[MigProfile, ...]
    source: ModelSource

    def profile(self, name: str) -> MigProfile | None:
        """The profile that NVML calls `name` ("MIG 1g.10gb+me"), or None where it is unknown."""
        plain = name.casefold().removeprefix("mig ").split("+")[0].strip()
        return next((profile for profile in self.profiles if profile.name == plain), None)

    def compute_part(self, compute_slices: int) -> Fraction | None:
        """The part of the GPU's peak that so many compute slices have; None: more than it has."""
        if not 0 < compute_slices <= self.compute_slices:
            return None
        return Fraction(compute_slices, self.compute_slices)


@dataclass(frozen=True, slots=True)
class GpuModel:
    """One model under the name that its driver prints (NVML, AMD SMI).

    `memory_bytes` is nominal: drivers report a little less. `peaks` are operations a second of one
    GPU, dense, on tensor (matrix) cores but for fp32, which is on the others. A precision that is
    in neither `peaks` nor `unknown_peaks` is one that the chip's tensor cores lack; `unknown_peaks`
    says why a peak is not known. `link_bytes_per_second` is of all NVLinks (AMD: Infinity Fabric)
    of a GPU, both directions; None where it has none. `cloud_names` are what clouds call it, in lower
    case, `words` what people add to the name ("sxm").
    """

    name: str
    memory_bytes: int
    bandwidth_bytes_per_second: float
    tdp_watts: int
    peaks: Mapping[Precision, float]
    source: ModelSource
    mig: MigGeometry | None = None
    link_bytes_per_second: float | None = None
    unknown_peaks: Mapping[Precision, str] = field(default_factory=dict)
    cloud_names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
