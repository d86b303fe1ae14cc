"""Machine types of clouds and the GPUs they have, for types that no pool on record is of.

Each cloud by its own names, each row held against what docs/guides/prices.md names for it, with its date. What could not be found
there is not here: such a machine is unknown until a pool says what it has. A name of another cloud says nothing:
`g4-standard-48` is Google's, `g4dn.xlarge` is AWS's.
"""

import re
from dataclasses import dataclass

from apps.economics.focus.names import provider_word


@dataclass(frozen=True, slots=True)
class GpuMachine:
    """`gpus` of a model, under the name that the catalogue of GPUs knows; `remark` says by what, where no table has it."""

    gpu_model: str
    gpus: int
    remark: str = ""


_V100_16, _V100_32 = "Tesla V100-SXM2-16GB", "Tesla V100-SXM2-32GB"
_T4, _A10, _A10G = "Tesla T4", "NVIDIA A10", "NVIDIA A10G"
_L4, _L40, _L40S = "NVIDIA L4", "NVIDIA L40", "NVIDIA L40S"
_A100_40, _A100_80 = "NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB"
_A100_PCIE = "NVIDIA A100 80GB PCIe"
_H100, _H100_NVL, _H100_PCIE = "NVIDIA H100 80GB HBM3", "NVIDIA H100 NVL", "NVIDIA H100 PCIe"
_H200, _B200, _B300 = "NVIDIA H200", "NVIDIA B200", "NVIDIA B300 SXM6 AC"
_GB200, _GB300, _GH200 = "NVIDIA GB200", "NVIDIA GB300", "NVIDIA GH200 480GB"
_RTX_PRO = "NVIDIA RTX PRO 6000 Blackwell Server Edition"
_MI300X, _MI355X = "AMD Instinct MI300X", "AMD Instinct MI355X"

_OF_CLOUDS: dict[str, dict[str, dict[str, int]]] = {
    "aws": {
        _V100_16: {"p3.2xlarge": 1, "p3.8xlarge": 4, "p3.16xlarge": 8},
        _V100_32: {"p3dn.24xlarge": 8},
        _T4: {
            **{f"g4dn.{size}xlarge": 1 for size in ("", "2", "4", "8", "16")},
            "g4dn.12xlarge": 4,
            "g4dn.metal": 8,
        },
        _A10G: {
            **{f"g5.{size}xlarge": 1 for size in ("", "2", "4", "8", "16")},
            "g5.12xlarge": 4,
            "g5.24xlarge": 4,
            "g5.48xlarge": 8,
        },
        _L4: {
            **{f"g6.{size}xlarge": 1 for size in ("", "2", "4", "8", "16")},
            **{f"gr6.{size}xlarge": 1 for size in ("4", "8")},
            "g6.12xlarge": 4,
            "g6.24xlarge": 4,
            "g6.48xlarge": 8,
        },
        _L40S: {
            **{f"g6e.{size}xlarge": 1 for size in ("", "2", "4", "8", "16")},
            "g6e.12xlarge": 4,
            "g6e.24xlarge": 4,
            "g6e.48xlarge": 8,
        },
        _RTX_PRO: {
            **{f"g7e.{size}xlarge": 1 for size in ("2", "4", "8")},
            "g7e.12xlarge": 2,
            "g7e.24xlarge": 4,
            "g7e.48xlarge": 8,
        },
        _A100_40: {"p4d.24xlarge": 8},
        _A100_80: {"p4de.24xlarge": 8},
        _H100: {"p5.4xlarge": 1, "p5.48xlarge": 8},
        _H200: {"p5e.48xlarge": 8, "p5en.48xlarge": 8},
        _B200: {"p6-b200.48xlarge": 8},
        _B300: {"p6-b300.48xlarge": 8},
        # One of the 18 machines of an UltraServer, which has 72.
        _GB200: {"p6e-gb200.36xlarge": 4},
    },
    "gcp": {
        _L4: {
            **{f"g2-standard-{cores}": 1 for cores in (4, 8, 12, 16, 32)},
            "g2-standard-24": 2,
            "g2-standard-48": 4,
            "g2-standard-96": 8,
        },
        # The smaller ones have a part of a GPU.
        _RTX_PRO: {f"g4-standard-{48 * gpus}": gpus for gpus in (1, 2, 4, 8)},
        _A100_40: {
            **{f"a2-highgpu-{gpus}g": gpus for gpus in (1, 2, 4, 8)},
            "a2-megagpu-16g": 16,
        },
        _A100_80: {f"a2-ultragpu-{gpus}g": gpus for gpus in (1, 2, 4, 8)},
        _H100: {**{f"a3-highgpu-{gpus}g": gpus for gpus in (1, 2, 4, 8)}, "a3-megagpu-8g": 8},
        _H200: {"a3-ultragpu-8g": 8},
        _B200: {"a4-highgpu-8g": 8},
        _GB200: {"a4x-highgpu-4g": 4},
        _GB300: {"a4x-maxgpu-4g-metal": 4},
    },
    "azure": {
        _V100_32: {"Standard_ND40rs_v2": 8},
        _T4: {
            **{f"Standard_NC{cores}as_T4_v3": 1 for cores in (4, 8, 16)},
            "Standard_NC64as_T4_v3": 4,
        },
        _A10: {"Standard_NV36ads_A10_v5": 1, "Standard_NV72ads_A10_v5": 2},
        _A100_40: {"Standard_ND96asr_v4": 8},
        _A100_80: {"Standard_ND96amsr_A100_v4": 8},
        _A100_PCIE: {f"Standard_NC{24 * gpus}ads_A100_v4": gpus for gpus in (1, 2, 4)},
        _H100: {"Standard_ND96isr_H100_v5": 8, "Standard_ND96is_H100_v5": 8},
        _H100_NVL: {
            "Standard_NC40ads_H100_v5": 1,
            "Standard_NCC40ads_H100_v5": 1,
            "Standard_NC80adis_H100_v5": 2,
        },
        _H200: {"Standard_ND96isr_H200_v5": 8},
        _GB200: {"Standard_ND128isr_NDR_GB200_v6": 4},
        _GB300: {"Standard_ND128isr_GB300_v6": 4, "Standard_ND128isrG5_GB300_v6": 4},
        _MI300X: {"Standard_ND96isr_MI300X_v5": 8},
    },
    "oci": {_A100_40: {"BM.GPU4.8": 8}, _A100_80: {"BM.GPU.A100-v2.8": 8}},
    "coreweave": {
        _H100: {"gd-8xh100ib-i128": 8},
        _H200: {"gd-8xh200ib-i128": 8},
        _B200: {"b200-8x": 8},
        _B300: {"b300-8x": 8},
        _GB200: {"gb200-4x": 4},
        _GB300: {"gb300-4x": 4, "gb300-4x-e": 4},
        _GH200: {"gd-1xgh200": 1},
        _RTX_PRO: {"rtxp6000-8x": 8, "rtxp6000-8x-v2": 8},
        _L40: {"gd-8xl40-i128": 8},
        _L40S: {"gd-8xl40s-i128": 8},
        _A100_80: {"gd-8xa100-i128": 8},
    },
    # Of Lambda's other A100 machines the names do not say which A100 it is.
    "lambda": {
        _A100_40: {"gpu_8x_a100": 8, "gpu_1x_a100_sxm4": 1},
        _V100_16: {"gpu_8x_v100": 8},
    },
}
GPU_MACHINES = {
    (provider, machine): GpuMachine(model, gpus)
    for provider, models in _OF_CLOUDS.items()
    for model, machines in models.items()
    for machine, gpus in machines.items()
}

_PATTERNS: dict[str, dict[str, str]] = {
    "gcp": {
        r"a2-(?:high|mega)gpu-(\d+)g": _A100_40,
        r"a2-ultragpu-(\d+)g(?:-nolssd)?": _A100_80,
        r"a3-(?:high|mega|edge)gpu-(\d+)g(?:-nolssd)?": _H100,
        r"a3-ultragpu-(\d+)g(?:-nolssd)?": _H200,
        r"a4-highgpu-(\d+)g(?:-nolssd)?": _B200,
        r"a4x-highgpu-(\d+)g(?:-nolssd|-metal)?": _GB200,
        r"a4x-maxgpu-(\d+)g(?:-nolssd|-metal)?": _GB300,
    },
    "oci": {
        r"(?:BM|VM)\.GPU\.A10\.(\d+)": _A10,
        r"BM\.GPU\.A100-v2\.(\d+)": _A100_80,
        r"BM\.GPU\.H100\.(\d+)": _H100,
        r"BM\.GPU\.H200(?:-NC)?\.(\d+)": _H200,
        r"BM\.GPU\.B200\.(\d+)": _B200,
        r"BM\.GPU\.B300\.(\d+)": _B300,
        r"BM\.GPU\.GB200\.(\d+)": _GB200,
        r"BM\.GPU\.GB300\.(\d+)": _GB300,
        r"BM\.GPU\.L40S\.(\d+)": _L40S,
        r"BM\.GPU\.MI300X\.(\d+)": _MI300X,
        r"BM\.GPU\.MI355X\.(\d+)": _MI355X,
    },
    "lambda": {
        r"gpu_(\d+)x_b200_sxm6": _B200,
        r"gpu_(\d+)x_h100_sxm5": _H100,
        r"gpu_(\d+)x_h100_pcie": _H100_PCIE,
        r"gpu_(\d+)x_gh200": _GH200,
        r"gpu_(\d+)x_a100_80gb_sxm4": _A100_80,
        r"gpu_(\d+)x_a10": _A10,
    },
    "nebius": {
        r"gpu-h100-sxm_(\d+)gpu-.+": _H100,
        r"gpu-h200-sxm_(\d+)gpu-.+": _H200,
        r"gpu-b200-sxm(?:-a)?_(\d+)gpu-.+": _B200,
        r"gpu-b300-sxm_(\d+)gpu-.+": _B300,
        r"gpu-l40s-[ad]_(\d+)gpu-.+": _L40S,
    },
    "crusoe": {
        r"a100-80gb-sxm-ib\.(\d+)x": _A100_80,
        r"a100-80gb\.(\d+)x": _A100_PCIE,
        r"h100-80gb-sxm-ib\.(\d+)x": _H100,
        # Crusoe writes both.
        r"h200-14[14]gb-sxm-ib\.(\d+)x": _H200,
        r"b200-180gb-sxm-ib\.(\d+)x": _B200,
        r"gb200-186gb-nvl(?:-ib)?\.(\d+)x": _GB200,
        r"l40s-48gb\.(\d+)x": _L40S,
    },
}
_SMALL_LETTERS = frozenset(("aws", "gcp"))
MOST_GPUS = 72
"""No machine that is rented as one has more."""


def gpu_machine(provider: str, name: str) -> GpuMachine | None:
    """The GPUs of a cloud's machine type: by its table, else by its names that say how many; None: nobody says.

    However the cloud is spelt; the name is as the cloud writes it.
    """
    cloud = provider_word(provider)
    machine = GPU_MACHINES.get((cloud, name))
    if machine is not None:
        return machine
    for pattern, model in _PATTERNS.get(cloud, {}).items():
        size_match = re.fullmatch(pattern, name)
        if size_match is not None and 0 < int(size_match[1]) <= MOST_GPUS:
            gpus = int(size_match[1])
            remark = f"taken from its name for {gpus} × {model}: no table has this size"
            return GpuMachine(model, gpus, remark)
    return None


def machine_name(provider: str, machine_type: str) -> str:
    """A machine type as its cloud writes it, whatever its case: by the table, of AWS and Google in small letters."""
    cloud = provider_word(provider)
    names = {name.casefold(): name for table_cloud, name in GPU_MACHINES if table_cloud == cloud}
    plain = machine_type.lower() if cloud in _SMALL_LETTERS else machine_type
    return names.get(machine_type.casefold(), plain)


def gpu_family_of(provider: str, name: str) -> str:
    """The one GPU model of all sizes of the name's family (`g6e.96xlarge`: that of g6e); empty: not known."""
    family = name.partition(".")[0] if provider_word(provider) == "aws" else ""
    models = {
        machine.gpu_model
        for (cloud, machine_type), machine in GPU_MACHINES.items()
        if family and cloud == "aws" and machine_type.startswith(f"{family}.")
    }
    return models.pop() if len(models) == 1 else ""
