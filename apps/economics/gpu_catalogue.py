"""What each GPU model is: memory, dense peaks, bandwidth, power and MIG geometry, with sources.

Peaks are dense. NVIDIA's datasheets print most tensor peaks "with sparsity", which is twice that;
half of the printed figure is given here.
"""

from dataclasses import dataclass
from datetime import date

GIB = 1 << 30
TERA = 1e12
GIGA = 1e9


@dataclass(frozen=True, slots=True)
class Source:
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
    source: Source

    def profile(self, name: str) -> MigProfile | None:
        """The profile that NVML calls `name` ("MIG 1g.10gb+me"), or None where it is unknown."""
        plain = name.casefold().removeprefix("mig ").split("+")[0].strip()
        return next((profile for profile in self.profiles if profile.name == plain), None)


@dataclass(frozen=True, slots=True)
class GpuModel:
    """One model under the name that NVML prints; a peak is None where the chip lacks the format.

    `memory_bytes` is nominal: NVML reports a little less. Peaks are FLOP per second on tensor
    cores, dense.
    """

    name: str
    memory_bytes: int
    bandwidth_bytes_per_second: float
    tdp_watts: int
    bf16_flops: float | None
    fp16_flops: float | None
    fp8_flops: float | None
    mig: MigGeometry | None
    source: Source


def gpu_model(name: str) -> GpuModel | None:
    """The model of that name, or None; "NVIDIA", "Tesla", case, blanks and dashes do not matter."""
    return _BY_NAME.get(_plain(name))


def _plain(name: str) -> str:
    words = name.casefold().replace("-", " ").split()
    return " ".join(word for word in words if word not in ("nvidia", "tesla"))


_READ = date(2026, 11, 21)

_MIG_GUIDE = Source(
    "NVIDIA Multi-Instance GPU User Guide, Supported MIG Profiles",
    "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html",
    _READ,
)
_V100 = Source(
    "NVIDIA V100 datasheet",
    "https://images.nvidia.com/content/technologies/volta/pdf/volta-v100-datasheet-update-us-1165301-r5.pdf",
)
_T4 = Source(
    "NVIDIA T4 datasheet",
    "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-datasheet-951643.pdf",
)
_A10 = Source(
    "NVIDIA A10 datasheet",
    "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a10/pdf/a10-datasheet.pdf",
    _READ,
)
_A10G = Source(
    "NVIDIA A10G datasheet for AWS",
    "https://d1.awsstatic.com/product-marketing/ec2/NVIDIA_AWS_A10G_DataSheet_FINAL_02_17_2022.pdf",
)
_A30 = Source(
    "NVIDIA A30 datasheet",
    "https://www.nvidia.com/content/dam/en-zz/Solutions/data-center/products/a30-gpu/pdf/a30-datasheet.pdf",
)
_A40 = Source(
    "NVIDIA A40 datasheet",
    "https://images.nvidia.com/content/Solutions/data-center/a40/nvidia-a40-datasheet.pdf",
    _READ,
)
_A100 = Source(
    "NVIDIA A100 datasheet",
    "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf",
    _READ,
)
_L4 = Source("NVIDIA L4 product page", "https://www.nvidia.com/en-us/data-center/l4/")
_L40 = Source(
    "NVIDIA L40 and L40S datasheets", "https://www.nvidia.com/en-us/data-center/l40s/", _READ
)
_H100 = Source("NVIDIA H100 datasheet", "https://www.nvidia.com/en-us/data-center/h100/", _READ)
_H100_NVL = Source(
    "NVIDIA H100 datasheet, column NVL", "https://www.nvidia.com/en-us/data-center/h100/"
)
_H200 = Source("NVIDIA H200 datasheet", "https://www.nvidia.com/en-us/data-center/h200/", _READ)
_H200_NVL = Source(
    "NVIDIA H200 datasheet, column NVL", "https://www.nvidia.com/en-us/data-center/h200/"
)
_GH200 = Source(
    "NVIDIA GH200 Grace Hopper Superchip datasheet (power is of the whole module)",
    "https://resources.nvidia.com/en-us-grace-cpu/grace-hopper-superchip",
)
_BLACKWELL = Source(
    "NVIDIA Blackwell datasheet, individual GPU of HGX B200 and GB200 NVL72",
    "https://resources.nvidia.com/en-us-blackwell-architecture/datasheet",
    _READ,
)


def _seven_of_eight(*memory_gb: int) -> MigGeometry:
    """Profiles 1g, 1g (double memory), 2g, 3g, 4g and 7g with their names' gigabytes."""
    shapes = ((1, 1), (1, 2), (2, 2), (3, 4), (4, 4), (7, 8))
    return MigGeometry(
        7,
        8,
        tuple(
            MigProfile(f"{compute}g.{gb}gb", compute, memory)
            for gb, (compute, memory) in zip(memory_gb, shapes, strict=True)
        ),
        _MIG_GUIDE,
    )


_OF_40 = _seven_of_eight(5, 10, 10, 20, 20, 40)
_OF_80 = _seven_of_eight(10, 20, 20, 40, 40, 80)
_OF_94 = _seven_of_eight(12, 24, 24, 47, 47, 94)
_OF_96 = _seven_of_eight(12, 24, 24, 48, 48, 96)
_OF_141 = _seven_of_eight(18, 35, 35, 71, 71, 141)
_OF_144 = _seven_of_eight(18, 36, 36, 72, 72, 144)
_OF_180 = _seven_of_eight(23, 45, 45, 90, 90, 180)
_OF_186 = _seven_of_eight(24, 47, 47, 93, 93, 186)
_OF_24 = MigGeometry(
    4,
    4,
    (MigProfile("1g.6gb", 1, 1), MigProfile("2g.12gb", 2, 2), MigProfile("4g.24gb", 4, 4)),
    _MIG_GUIDE,
)


@dataclass(frozen=True, slots=True)
class _Figures:
    """One row as a datasheet has it: GiB, GB/s, watts, and dense TFLOP/s of each format."""

    gib: int
    gb_per_second: float
    watts: int
    bf16: float | None
    fp16: float | None
    fp8: float | None


def _model(
    name: str, figures: _Figures, source: Source, mig: MigGeometry | None = None
) -> GpuModel:
    return GpuModel(
        name=name,
        memory_bytes=figures.gib * GIB,
        bandwidth_bytes_per_second=figures.gb_per_second * GIGA,
        tdp_watts=figures.watts,
        bf16_flops=_flops(figures.bf16),
        fp16_flops=_flops(figures.fp16),
        fp8_flops=_flops(figures.fp8),
        mig=mig,
        source=source,
    )


def _flops(tera: float | None) -> float | None:
    return None if tera is None else tera * TERA


def _ampere(gib: int, gb_per_second: float, watts: int) -> _Figures:
    return _Figures(gib, gb_per_second, watts, 312, 312, None)


_HOPPER = (1979 / 2, 1979 / 2, 3958 / 2)
_HOPPER_NVL = (1671 / 2, 1671 / 2, 3341 / 2)

CATALOGUE: tuple[GpuModel, ...] = (
    _model("Tesla V100-SXM2-16GB", _Figures(16, 900, 300, None, 125, None), _V100),
    _model("Tesla V100-SXM2-32GB", _Figures(32, 900, 300, None, 125, None), _V100),
    _model("Tesla V100-PCIE-16GB", _Figures(16, 900, 250, None, 112, None), _V100),
    _model("Tesla V100-PCIE-32GB", _Figures(32, 900, 250, None, 112, None), _V100),
    _model("Tesla T4", _Figures(16, 320, 70, None, 65, None), _T4),
    _model("NVIDIA A10", _Figures(24, 600, 150, 125, 125, None), _A10),
    _model("NVIDIA A10G", _Figures(24, 600, 300, 70, 70, None), _A10G),
    _model("NVIDIA A30", _Figures(24, 933, 165, 165, 165, None), _A30, _OF_24),
    _model("NVIDIA A40", _Figures(48, 696, 300, 149.7, 149.7, None), _A40),
    _model("NVIDIA A100-SXM4-40GB", _ampere(40, 1555, 400), _A100, _OF_40),
    _model("NVIDIA A100-SXM4-80GB", _ampere(80, 2039, 400), _A100, _OF_80),
    _model("NVIDIA A100-PCIE-40GB", _ampere(40, 1555, 250), _A100, _OF_40),
    _model("NVIDIA A100 80GB PCIe", _ampere(80, 1935, 300), _A100, _OF_80),
    _model("NVIDIA L4", _Figures(24, 300, 72, 242 / 2, 242 / 2, 485 / 2), _L4),
    _model("NVIDIA L40", _Figures(48, 864, 300, 181.05, 181.05, 362), _L40),
    _model("NVIDIA L40S", _Figures(48, 864, 350, 362.05, 362.05, 733), _L40),
    _model("NVIDIA H100 80GB HBM3", _Figures(80, 3350, 700, *_HOPPER), _H100, _OF_80),
    _model(
        "NVIDIA H100 PCIe", _Figures(80, 2000, 350, 1513 / 2, 1513 / 2, 3026 / 2), _H100, _OF_80
    ),
    _model("NVIDIA H100 NVL", _Figures(94, 3900, 400, *_HOPPER_NVL), _H100_NVL, _OF_94),
    _model("NVIDIA H200", _Figures(141, 4800, 700, *_HOPPER), _H200, _OF_141),
    _model("NVIDIA H200 NVL", _Figures(141, 4800, 600, *_HOPPER_NVL), _H200_NVL, _OF_141),
    _model("NVIDIA GH200 480GB", _Figures(96, 4000, 1000, *_HOPPER), _GH200, _OF_96),
    _model("NVIDIA GH200 144G HBM3e", _Figures(144, 4900, 1000, *_HOPPER), _GH200, _OF_144),
    _model("NVIDIA B200", _Figures(180, 7700, 1000, 2250, 2250, 4500), _BLACKWELL, _OF_180),
    _model("NVIDIA GB200", _Figures(186, 8000, 1200, 2500, 2500, 5000), _BLACKWELL, _OF_186),
)

_BY_NAME = {_plain(model.name): model for model in CATALOGUE}
