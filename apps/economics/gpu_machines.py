"""Machine types of clouds and the GPUs they have, for types that no pool on record is of.

AWS: EC2 accelerated computing instances; Google Cloud: GPU machine types; Azure: GPU-accelerated sizes; all as their
documentation lists them, well-known and not read anew here (docs/placement.md).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GpuMachine:
    """`gpus` of a model, under the name that the catalogue of GPUs knows."""

    gpu_model: str
    gpus: int


_V100_16, _V100_32 = "Tesla V100-SXM2-16GB", "Tesla V100-SXM2-32GB"
_T4, _A10G, _L4, _L40S = "Tesla T4", "NVIDIA A10G", "NVIDIA L4", "NVIDIA L40S"
_A100_40, _A100_80 = "NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB"
_A100_PCIE = "NVIDIA A100 80GB PCIe"
_H100, _H100_NVL = "NVIDIA H100 80GB HBM3", "NVIDIA H100 NVL"
_H200, _B200 = "NVIDIA H200", "NVIDIA B200"

_BY_MODEL: dict[str, dict[str, int]] = {
    _V100_16: {"p3.2xlarge": 1, "p3.8xlarge": 4, "p3.16xlarge": 8},
    _V100_32: {"p3dn.24xlarge": 8, "Standard_ND40rs_v2": 8},
    _T4: {
        **{f"g4dn.{size}xlarge": 1 for size in ("", "2", "4", "8", "16")},
        "g4dn.12xlarge": 4,
        "g4dn.metal": 8,
        **{f"Standard_NC{cores}as_T4_v3": 1 for cores in (4, 8, 16)},
        "Standard_NC64as_T4_v3": 4,
    },
    _A10G: {
        **{f"g5.{size}xlarge": 1 for size in ("", "2", "4", "8", "16")},
        "g5.12xlarge": 4,
        "g5.24xlarge": 4,
        "g5.48xlarge": 8,
    },
    _L4: {
        **{f"g6.{size}xlarge": 1 for size in ("", "2", "4", "8", "16")},
        "g6.12xlarge": 4,
        "g6.24xlarge": 4,
        "g6.48xlarge": 8,
        **{f"g2-standard-{cores}": 1 for cores in (4, 8, 12, 16, 32)},
        "g2-standard-24": 2,
        "g2-standard-48": 4,
        "g2-standard-96": 8,
    },
    _L40S: {
        **{f"g6e.{size}xlarge": 1 for size in ("", "2", "4", "8", "16")},
        "g6e.12xlarge": 4,
        "g6e.24xlarge": 4,
        "g6e.48xlarge": 8,
    },
    _A100_40: {
        "p4d.24xlarge": 8,
        **{f"a2-highgpu-{gpus}g": gpus for gpus in (1, 2, 4, 8)},
        "a2-megagpu-16g": 16,
        "Standard_ND96asr_v4": 8,
    },
    _A100_80: {
        "p4de.24xlarge": 8,
        **{f"a2-ultragpu-{gpus}g": gpus for gpus in (1, 2, 4, 8)},
        "Standard_ND96amsr_A100_v4": 8,
    },
    _A100_PCIE: {f"Standard_NC{24 * gpus}ads_A100_v4": gpus for gpus in (1, 2, 4)},
    _H100: {
        "p5.4xlarge": 1,
        "p5.48xlarge": 8,
        **{f"a3-highgpu-{gpus}g": gpus for gpus in (1, 2, 4, 8)},
        "a3-megagpu-8g": 8,
        "Standard_ND96isr_H100_v5": 8,
    },
    _H100_NVL: {"Standard_NC40ads_H100_v5": 1, "Standard_NC80adis_H100_v5": 2},
    _H200: {
        "p5e.48xlarge": 8,
        "p5en.48xlarge": 8,
        "a3-ultragpu-8g": 8,
        "Standard_ND96isr_H200_v5": 8,
    },
    _B200: {"p6-b200.48xlarge": 8, "a4-highgpu-8g": 8},
}
GPU_MACHINES = {
    machine: GpuMachine(model, gpus)
    for model, machines in _BY_MODEL.items()
    for machine, gpus in machines.items()
}
