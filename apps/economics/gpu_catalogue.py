"""Every GPU model that Runrate knows, with sources, and how a written name finds one.

Peaks are dense. NVIDIA's data sheets print most tensor peaks "with sparsity", which is twice that;
half of the printed figure is given here, or the dense one where a white paper prints it.
"""

import re
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

from apps.economics.gpu_model import GpuModel, MigGeometry, MigProfile, ModelSource, Precision

GIB = 1 << 30
TERA = 1e12
GIGA = 1e9


@dataclass(frozen=True, slots=True)
class NamedGpu:
    """The meaning of a written name: the models it may mean, and which part of one (a MIG slice)."""

    candidates: tuple[GpuModel, ...]
    part: Fraction = Fraction(1)


def gpu_model(name: str) -> GpuModel | None:
    """The one model that `name` means; None where it is unknown or may be one of several.

    Vendor, case, blanks, dashes and underscores do not matter. Names of clouds and schedulers are
    understood ("nvidia-h100-80gb", "nvidia_a100-sxm4-40gb"), a MIG slice's is of its GPU.
    """
    candidates = named_gpu(name).candidates
    return candidates[0] if len(candidates) == 1 else None


def full_gpu_model(name: str) -> GpuModel | None:
    """The one model that `name` means, where it means the whole GPU: a MIG slice's name means none."""
    named = named_gpu(name)
    is_one = named.part == 1 and len(named.candidates) == 1
    return named.candidates[0] if is_one else None


def named_gpu(name: str) -> NamedGpu:
    """The models that `name` may mean ("H100": SXM, PCIe and NVL), none where it is unknown.

    Of "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb" the part is one of seven compute slices.
    """
    slice_name = SLICE_NAME.search(name)
    candidates = candidate_models(SLICE_NAME.sub(" ", name))
    if slice_name is None:
        return NamedGpu(candidates)
    compute_slices = int(slice_name["compute"])
    geometries = {model.mig.compute_slices: model.mig for model in candidates if model.mig}
    parts = {geometry.compute_part(compute_slices) for geometry in geometries.values()}
    part = parts.pop() if len(parts) == 1 else None
    return NamedGpu((), Fraction(1)) if part is None else NamedGpu(candidates, part)


def gpu_family(name: str) -> str:
    """The word that every name of the model has ("h100"), as a scheduler's types have it; empty where that is not known."""
    families = {family for model, family, _ in _WORDS if model in named_gpu(name).candidates}
    return families.pop() if len(families) == 1 else ""


def candidate_models(name: str) -> tuple[GpuModel, ...]:
    """Return the models that a name without a slice may mean."""
    exact = _BY_CLOUD_NAME.get(name.strip().casefold()) or _BY_NAME.get(_plain_words(name))
    if exact is not None:
        return (exact,)
    words = set(_plain_words(name).split())
    return tuple(model for model, family, names in _WORDS if family in words and words <= names)


SLICE_NAME = re.compile(
    r"(?:(?:[ ._:/-]|^)mig[ ._:-]*|[ ._:/-]|^)(?P<compute>\d)g[ ._-]?(?P<gigabytes>\d+)(?:gb?)?"
    r"(?:\+[a-z.]+|[._-](?:me|gfx|all)(?![a-z]))*(?![0-9a-z])",
    re.IGNORECASE,
)
"""A MIG profile in a name, as NVML, Kubernetes and people's gres.conf spell it: `MIG 1g.10gb+me`, `a100.1g.10gb`, `mig1g10`."""
_VENDORS = frozenset(("nvidia", "tesla", "amd", "instinct"))


def _plain_words(name: str) -> str:
    words = re.sub(r"[-_/]", " ", name.casefold()).split()
    return " ".join(word for word in words if word not in _VENDORS)


_READ = date(2026, 11, 21)
_READ_LATER = date(2026, 11, 22)

_MIG_GUIDE = ModelSource(
    "NVIDIA Multi-Instance GPU User Guide, Supported MIG Profiles",
    "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html",
    _READ_LATER,
)
_V100 = ModelSource(
    "NVIDIA V100 datasheet",
    "https://images.nvidia.com/content/technologies/volta/pdf/volta-v100-datasheet-update-us-1165301-r5.pdf",
)
_T4 = ModelSource(
    "NVIDIA T4 datasheet",
    "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-datasheet-951643.pdf",
)
_A10 = ModelSource(
    "NVIDIA A10 datasheet",
    "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a10/pdf/a10-datasheet.pdf",
    _READ,
)
_A10G = ModelSource(
    "NVIDIA A10G datasheet for AWS",
    "https://d1.awsstatic.com/product-marketing/ec2/NVIDIA_AWS_A10G_DataSheet_FINAL_02_17_2022.pdf",
)
_A30 = ModelSource(
    "NVIDIA A30 datasheet",
    "https://www.nvidia.com/content/dam/en-zz/Solutions/data-center/products/a30-gpu/pdf/a30-datasheet.pdf",
)
_A40 = ModelSource(
    "NVIDIA A40 datasheet",
    "https://images.nvidia.com/content/Solutions/data-center/a40/nvidia-a40-datasheet.pdf",
    _READ,
)
_A100 = ModelSource(
    "NVIDIA A100 datasheet",
    "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf",
    _READ,
)
_L4 = ModelSource("NVIDIA L4 product page", "https://www.nvidia.com/en-us/data-center/l4/")
_L40 = ModelSource(
    "NVIDIA L40 and L40S datasheets", "https://www.nvidia.com/en-us/data-center/l40s/", _READ
)
_H100 = ModelSource(
    "NVIDIA H100 Tensor Core GPU Architecture white paper, SXM5, and H100 datasheet",
    "https://resources.nvidia.com/en-us-data-center-overview/gtc22-whitepaper-hopper",
    _READ,
)
_H100_PCIE = ModelSource(
    "NVIDIA H100 PCIe datasheet", "https://www.nvidia.com/en-us/data-center/h100/", _READ
)
_H100_NVL = ModelSource(
    "NVIDIA H100 datasheet, column NVL", "https://www.nvidia.com/en-us/data-center/h100/"
)
_H200 = ModelSource(
    "NVIDIA H200 datasheet; peaks as of H100 SXM5",
    "https://www.nvidia.com/en-us/data-center/h200/",
    _READ,
)
_H200_NVL = ModelSource(
    "NVIDIA H200 datasheet, column NVL", "https://www.nvidia.com/en-us/data-center/h200/"
)
_GH200 = ModelSource(
    "NVIDIA GH200 Grace Hopper Superchip datasheet (power is of the whole module)",
    "https://resources.nvidia.com/en-us-grace-cpu/grace-hopper-superchip",
)
_BLACKWELL = ModelSource(
    "NVIDIA Blackwell datasheet, individual GPU of HGX B200 and GB200 NVL72",
    "https://resources.nvidia.com/en-us-blackwell-architecture/datasheet",
    _READ,
)
_HGX_B300 = ModelSource(
    "NVIDIA HGX product page, HGX B300, an eighth of it",
    "https://www.nvidia.com/en-us/data-center/hgx/",
    _READ_LATER,
)
_GB300 = ModelSource(
    "NVIDIA GB300 NVL72 product page, a 72nd of it",
    "https://www.nvidia.com/en-us/data-center/gb300-nvl72/",
)
_RTX_ADA = ModelSource(
    "NVIDIA Ada GPU Architecture white paper, RTX 6000 Ada Generation, FP32 accumulate",
    "https://images.nvidia.com/aem-dam/en-zz/Solutions/technologies/NVIDIA-ADA-GPU-PROVIZ-Architecture-Whitepaper_1.1.pdf",
)
_RTX_PRO = ModelSource(
    "NVIDIA RTX Blackwell PRO GPU Architecture white paper, RTX PRO 6000, FP32 accumulate",
    "https://www.nvidia.com/content/dam/en-zz/Solutions/design-visualization/quadro-product-literature/NVIDIA-RTX-Blackwell-PRO-GPU-Architecture-v1.0.pdf",
    _READ_LATER,
)
_RTX_PRO_SERVER = ModelSource(
    "NVIDIA RTX PRO 6000 Blackwell Server Edition datasheet, half of the peaks with sparsity",
    "https://www.nvidia.com/en-us/data-center/rtx-pro-6000-blackwell-server-edition/",
)
_MI300X = ModelSource(
    "AMD Instinct MI300X data sheet, without structured sparsity",
    "https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/data-sheets/amd-instinct-mi300x-data-sheet.pdf",
    _READ_LATER,
)
_MI325X = ModelSource(
    "AMD Instinct MI325X data sheet, without structured sparsity",
    "https://www.amd.com/en/products/accelerators/instinct/mi300/mi325x.html",
)
_MI355X = ModelSource(
    "AMD CDNA 4 white paper, MI355X, without structured sparsity",
    "https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/white-papers/amd-cdna-4-architecture-whitepaper.pdf",
    _READ_LATER,
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


def _four_of_four(*memory_gb: int) -> MigGeometry:
    """Profiles 1g, 2g and 4g with their names' gigabytes."""
    profiles = (
        MigProfile(f"{slices}g.{gb}gb", slices, slices)
        for gb, slices in zip(memory_gb, (1, 2, 4), strict=True)
    )
    return MigGeometry(4, 4, tuple(profiles), _MIG_GUIDE)


_OF_40 = _seven_of_eight(5, 10, 10, 20, 20, 40)
_OF_80 = _seven_of_eight(10, 20, 20, 40, 40, 80)
_OF_94 = _seven_of_eight(12, 24, 24, 47, 47, 94)
_OF_96 = _seven_of_eight(12, 24, 24, 48, 48, 96)
_OF_141 = _seven_of_eight(18, 35, 35, 71, 71, 141)
_OF_144 = _seven_of_eight(18, 36, 36, 72, 72, 144)
_OF_180 = _seven_of_eight(23, 45, 45, 90, 90, 180)
_OF_186 = _seven_of_eight(24, 47, 47, 93, 93, 186)
_OF_269 = _seven_of_eight(34, 67, 67, 135, 135, 269)
_OF_278 = _seven_of_eight(35, 70, 70, 139, 139, 278)
_OF_24 = _four_of_four(6, 12, 24)
_OF_RTX_96 = _four_of_four(24, 48, 96)


@dataclass(frozen=True, slots=True)
class _Board:
    """A data sheet's memory (GiB), bandwidth (GB/s), power (W) and links (GB/s, both directions)."""

    gib: int
    gb_per_second: float
    watts: int
    link: float | None = None


@dataclass(frozen=True, slots=True)
class _Dense:
    """Dense tera-operations a second by precision; None: its tensor cores lack it."""

    fp32: float
    tf32: float | None = None
    bf16: float | None = None
    fp16: float | None = None
    fp8: float | None = None
    int8: float | None = None
    fp4: float | None = None
    unknown: tuple[Precision, ...] = ()
    why_unknown: str = ""

    def peaks(self) -> dict[Precision, float]:
        teras = {precision: getattr(self, precision) for precision in Precision}
        return {precision: tera * TERA for precision, tera in teras.items() if tera is not None}


@dataclass(frozen=True, slots=True)
class _CatalogueNames:
    """The names that clouds call a model by, and what people add to its name."""

    clouds: tuple[str, ...] = ()
    words: str = ""


def _new_gpu(
    name: str,
    board: _Board,
    dense: _Dense,
    source: ModelSource,
    mig: MigGeometry | None = None,
    names: _CatalogueNames | None = None,
) -> GpuModel:
    names = names or _CatalogueNames()
    return GpuModel(
        name=name,
        memory_bytes=board.gib * GIB,
        bandwidth_bytes_per_second=board.gb_per_second * GIGA,
        tdp_watts=board.watts,
        peaks=dense.peaks(),
        source=source,
        mig=mig,
        link_bytes_per_second=None if board.link is None else board.link * GIGA,
        unknown_peaks=dict.fromkeys(dense.unknown, dense.why_unknown),
        cloud_names=names.clouds,
        words=tuple(names.words.split()),
    )


_VOLTA_SXM, _VOLTA_PCIE = _Dense(fp32=15.7, fp16=125), _Dense(fp32=14, fp16=112)
_TURING = _Dense(fp32=8.1, fp16=65, int8=130)
_A10_PEAKS = _Dense(fp32=31.2, tf32=62.5, bf16=125, fp16=125, int8=250)
_A10G_PEAKS = _Dense(fp32=35, tf32=35, bf16=70, fp16=70, int8=140)
_A30_PEAKS = _Dense(fp32=10.3, tf32=82, bf16=165, fp16=165, int8=330)
_A40_PEAKS = _Dense(fp32=37.4, tf32=74.8, bf16=149.7, fp16=149.7, int8=299.3)
_AMPERE = _Dense(fp32=19.5, tf32=156, bf16=312, fp16=312, int8=624)
_L4_PEAKS = _Dense(fp32=30.3, tf32=60, bf16=121, fp16=121, fp8=242.5, int8=242.5)
_L40_PEAKS = _Dense(fp32=90.5, tf32=90.5, bf16=181.05, fp16=181.05, fp8=362, int8=362)
_L40S_PEAKS = _Dense(fp32=91.6, tf32=183, bf16=362.05, fp16=362.05, fp8=733, int8=733)
_HOPPER = _Dense(fp32=66.9, tf32=494.7, bf16=989.4, fp16=989.4, fp8=1978.9, int8=1978.9)
_HOPPER_PCIE = _Dense(fp32=51.2, tf32=378, bf16=756.5, fp16=756.5, fp8=1513, int8=1513)
_HOPPER_NVL = _Dense(fp32=60, tf32=417.5, bf16=835.5, fp16=835.5, fp8=1670.5, int8=1670.5)
_B200_PEAKS = _Dense(fp32=75, tf32=1125, bf16=2250, fp16=2250, fp8=4500, int8=4500, fp4=9000)
_GB200_PEAKS = _Dense(fp32=80, tf32=1250, bf16=2500, fp16=2500, fp8=5000, int8=5000, fp4=10000)
_NO_INT8 = _Dense(75, unknown=(Precision.INT8,), why_unknown="NVIDIA's pages disagree about it")
_B300_PEAKS = replace(_NO_INT8, tf32=1125, bf16=2250, fp16=2250, fp8=4500, fp4=13125)
_GB300_PEAKS = replace(_NO_INT8, fp32=80, tf32=1250, bf16=2500, fp16=2500, fp8=5000, fp4=15000)
_ADA = _Dense(fp32=91.1, tf32=182.1, bf16=364.2, fp16=364.2, fp8=728.5, int8=728.5)
_GB202 = _Dense(fp32=126, tf32=251.9, bf16=503.8, fp16=503.8, fp8=1007.6, int8=1007.6, fp4=2015.2)
_GB202_300W = _Dense(
    fp32=110, tf32=219.5, bf16=438.9, fp16=438.9, fp8=877.8, int8=877.8, fp4=1755.5
)
_GB202_SERVER = _Dense(fp32=120, tf32=250, bf16=500, fp16=500, fp8=1000, int8=1000, fp4=2000)
_CDNA3 = _Dense(fp32=163.4, tf32=653.7, bf16=1307.4, fp16=1307.4, fp8=2614.9, int8=2614.9)
_CDNA4 = _Dense(fp32=157.3, bf16=2516.6, fp16=2516.6, fp8=5033.2, int8=5033.2, fp4=10066.3)

CATALOGUE: tuple[GpuModel, ...] = (
    _new_gpu("Tesla V100-SXM2-16GB", _Board(16, 900, 300, 300), _VOLTA_SXM, _V100,
           names=_CatalogueNames(words="sxm")),
    _new_gpu("Tesla V100-SXM2-32GB", _Board(32, 900, 300, 300), _VOLTA_SXM, _V100,
           names=_CatalogueNames(words="sxm")),
    _new_gpu("Tesla V100-SXM3-32GB", _Board(32, 900, 350, 300), _VOLTA_SXM, _V100,
           names=_CatalogueNames(words="sxm")),
    _new_gpu("Tesla V100-PCIE-16GB", _Board(16, 900, 250), _VOLTA_PCIE, _V100),
    _new_gpu("Tesla V100-PCIE-32GB", _Board(32, 900, 250), _VOLTA_PCIE, _V100),
    _new_gpu("Tesla T4", _Board(16, 320, 70), _TURING, _T4, names=_CatalogueNames(words="16gb")),
    _new_gpu("NVIDIA A10", _Board(24, 600, 150), _A10_PEAKS, _A10, names=_CatalogueNames(words="24gb pcie")),
    _new_gpu("NVIDIA A10G", _Board(24, 600, 300), _A10G_PEAKS, _A10G, names=_CatalogueNames(words="24gb")),
    _new_gpu("NVIDIA A30", _Board(24, 933, 165, 200), _A30_PEAKS, _A30, _OF_24,
           _CatalogueNames(words="24gb pcie")),
    _new_gpu("NVIDIA A40", _Board(48, 696, 300, 112.5), _A40_PEAKS, _A40,
           names=_CatalogueNames(words="48gb pcie")),
    _new_gpu("NVIDIA A100-SXM4-40GB", _Board(40, 1555, 400, 600), _AMPERE, _A100, _OF_40,
           _CatalogueNames(("nvidia-tesla-a100",), "sxm")),
    _new_gpu("NVIDIA A100-SXM4-80GB", _Board(80, 2039, 400, 600), _AMPERE, _A100, _OF_80,
           _CatalogueNames(("nvidia-a100-80gb",), "sxm")),
    _new_gpu("NVIDIA A100-PCIE-40GB", _Board(40, 1555, 250, 600), _AMPERE, _A100, _OF_40),
    _new_gpu("NVIDIA A100 80GB PCIe", _Board(80, 1935, 300, 600), _AMPERE, _A100, _OF_80),
    _new_gpu("NVIDIA L4", _Board(24, 300, 72), _L4_PEAKS, _L4, names=_CatalogueNames(words="24gb pcie")),
    _new_gpu("NVIDIA L40", _Board(48, 864, 300), _L40_PEAKS, _L40, names=_CatalogueNames(words="48gb pcie")),
    _new_gpu("NVIDIA L40S", _Board(48, 864, 350), _L40S_PEAKS, _L40, names=_CatalogueNames(words="48gb pcie")),
    _new_gpu("NVIDIA H100 80GB HBM3", _Board(80, 3350, 700, 900), _HOPPER, _H100, _OF_80,
           _CatalogueNames(("nvidia-h100-80gb", "nvidia-h100-mega-80gb"), "sxm sxm5")),
    _new_gpu("NVIDIA H100 PCIe", _Board(80, 2000, 350, 600), _HOPPER_PCIE, _H100_PCIE, _OF_80,
           _CatalogueNames(words="80gb hbm2e")),
    _new_gpu("NVIDIA H100 NVL", _Board(94, 3900, 400, 600), _HOPPER_NVL, _H100_NVL, _OF_94,
           _CatalogueNames(words="94gb pcie hbm3")),
    _new_gpu("NVIDIA H200", _Board(141, 4800, 700, 900), _HOPPER, _H200, _OF_141,
           _CatalogueNames(("nvidia-h200-141gb",), "sxm sxm5 141gb hbm3e")),
    _new_gpu("NVIDIA H200 NVL", _Board(141, 4800, 600, 900), _HOPPER_NVL, _H200_NVL, _OF_141,
           _CatalogueNames(words="pcie")),
    _new_gpu("NVIDIA GH200 480GB", _Board(96, 4000, 1000, 900), _HOPPER, _GH200, _OF_96,
           _CatalogueNames(words="96gb hbm3")),
    _new_gpu("NVIDIA GH200 144G HBM3e", _Board(144, 4900, 1000, 900), _HOPPER, _GH200, _OF_144,
           _CatalogueNames(words="144gb")),
    _new_gpu("NVIDIA B200", _Board(180, 7700, 1000, 1800), _B200_PEAKS, _BLACKWELL, _OF_180,
           _CatalogueNames(words="sxm sxm6 180gb hbm3e")),
    _new_gpu("NVIDIA GB200", _Board(186, 8000, 1200, 1800), _GB200_PEAKS, _BLACKWELL, _OF_186,
           _CatalogueNames(words="186gb hbm3e nvl72")),
    _new_gpu("NVIDIA B300 SXM6 AC", _Board(270, 7700, 1100, 1800), _B300_PEAKS, _HGX_B300, _OF_269,
           _CatalogueNames(words="sxm hbm3e 270gb")),
    _new_gpu("NVIDIA GB300", _Board(279, 8000, 1400, 1800), _GB300_PEAKS, _GB300, _OF_278,
           _CatalogueNames(words="279gb hbm3e nvl72")),
    _new_gpu("NVIDIA RTX 6000 Ada Generation", _Board(48, 960, 300), _ADA, _RTX_ADA,
           names=_CatalogueNames(words="48gb")),
    _new_gpu("NVIDIA RTX PRO 6000 Blackwell Server Edition", _Board(96, 1597, 600), _GB202_SERVER,
           _RTX_PRO_SERVER, _OF_RTX_96, _CatalogueNames(("nvidia-rtx-pro-6000",), "96gb")),
    _new_gpu("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", _Board(96, 1792, 600), _GB202,
           _RTX_PRO, _OF_RTX_96, _CatalogueNames(words="96gb")),
    _new_gpu("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", _Board(96, 1792, 300),
           _GB202_300W, _RTX_PRO, _OF_RTX_96, _CatalogueNames(words="96gb")),
    _new_gpu("AMD Instinct MI300X", _Board(192, 5300, 750, 896), _CDNA3, _MI300X,
           names=_CatalogueNames(words="oam 192gb hbm3")),
    _new_gpu("AMD Instinct MI325X", _Board(256, 6000, 1000, 896), _CDNA3, _MI325X,
           names=_CatalogueNames(words="oam 256gb hbm3e")),
    _new_gpu("AMD Instinct MI355X", _Board(288, 8000, 1400, 1075), _CDNA4, _MI355X,
           names=_CatalogueNames(words="oam 288gb hbm3e")),
)  # fmt: skip

_BY_NAME = {_plain_words(model.name): model for model in CATALOGUE}
# Whole and with its dashes: "nvidia-h100-80gb" is an SXM at Google, "H100 80GB" may be either.
_BY_CLOUD_NAME = {name: model for model in CATALOGUE for name in model.cloud_names}
_NO_FAMILY = frozenset(("rtx", "pro"))


def _family_word(model: GpuModel) -> str:
    """The word without which a name is not of the model ("h100"; of RTX models "6000")."""
    return next(word for word in _plain_words(model.name).split() if word not in _NO_FAMILY)


_WORDS = tuple(
    (model, _family_word(model), frozenset((*_plain_words(model.name).split(), *model.words)))
    for model in CATALOGUE
)
