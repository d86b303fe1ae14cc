"""Which GPUs a cloud's machine type has: by that cloud's table, by names that say it, else nobody says."""

import pytest

from apps.economics.gpu_catalogue import full_gpu_model, gpu_model
from apps.economics.gpu_machines import GPU_MACHINES, gpu_family_of, gpu_machine

H100, H200, B200 = "NVIDIA H100 80GB HBM3", "NVIDIA H200", "NVIDIA B200"


@pytest.mark.parametrize(
    ("provider", "name", "model", "gpus"),
    [
        ("gcp", "a3-highgpu-8g", H100, 8),
        ("gcp", "a3-megagpu-8g", H100, 8),
        ("gcp", "a3-ultragpu-8g", H200, 8),
        ("gcp", "a4-highgpu-8g", B200, 8),
        ("gcp", "a4x-highgpu-4g", "NVIDIA GB200", 4),
        ("gcp", "g2-standard-96", "NVIDIA L4", 8),
        ("gcp", "g4-standard-384", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 8),
        ("aws", "p5.48xlarge", H100, 8),
        ("aws", "p5e.48xlarge", H200, 8),
        ("aws", "p5en.48xlarge", H200, 8),
        ("aws", "p6-b200.48xlarge", B200, 8),
        ("aws", "p6e-gb200.36xlarge", "NVIDIA GB200", 4),
        ("aws", "g6e.12xlarge", "NVIDIA L40S", 4),
        ("aws", "g7e.12xlarge", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 2),
        ("azure", "Standard_ND96isr_H200_v5", H200, 8),
        ("azure", "Standard_NC80adis_H100_v5", "NVIDIA H100 NVL", 2),
        ("oci", "BM.GPU.H100.8", H100, 8),
        ("lambda", "gpu_8x_h100_sxm5", H100, 8),
        ("nebius", "gpu-h200-sxm_8gpu-128vcpu-1600gb", H200, 8),
        ("crusoe", "h100-80gb-sxm-ib.8x", H100, 8),
        ("coreweave", "b200-8x", B200, 8),
    ],
)
def test_a_name_is_read_by_its_own_cloud(provider: str, name: str, model: str, gpus: int) -> None:
    machine = gpu_machine(provider, name)
    assert machine is not None
    assert (machine.gpu_model, machine.gpus) == (model, gpus)
    others = {"aws", "gcp", "azure", "oci", "lambda", "nebius", "crusoe", "coreweave"} - {provider}
    assert [each for each in others if gpu_machine(each, name)] == []


REAL_NAMES = (
    ("aws", "g7e.24xlarge", 4),
    ("aws", "p6-b300.48xlarge", 8),
    ("aws", "g7.2xlarge", None),
    ("aws", "g5g.16xlarge", None),
    ("aws", "g4ad.16xlarge", None),
    ("aws", "ml.p5.48xlarge", None),
    ("aws", "trn2.48xlarge", None),
    ("aws", "u-p6e-gb200x72", None),
    ("gcp", "g4-standard-6", None),
    ("gcp", "g4-standard-96", 2),
    ("gcp", "a3-edgegpu-8g-nolssd", 8),
    ("gcp", "a4x-maxgpu-4g-metal", 4),
    ("gcp", "ct6e-standard-4t", None),
    ("azure", "Standard_ND128isrG5_GB300_v6", 4),
    ("azure", "Standard_ND96isrf_H200_v5", None),
    ("azure", "Standard_NC128ds_xl_RTXPRO6000BSE_v6", None),
    ("azure", "Standard_NV12ads_A10_v5", None),
    ("azure", "Standard_NG32ads_V620_v1", None),
    ("oci", "BM.GPU.H200-NC.8", 8),
    ("oci", "VM.GPU.A10.2", 2),
    ("oci", "VM.GPU3.4", None),
    ("oci", "BM.GPU.B4.8", None),
    ("coreweave", "gb300-4x-e", 4),
    ("coreweave", "gd-1xgh200", 1),
    ("coreweave", "verarubin-4x-e", None),
    ("coreweave", "turin-gp", None),
    ("crusoe", "gb200-186gb-nvl-ib.4x", 4),
    ("crusoe", "l40s-48gb.10x", 10),
    ("crusoe", "a40.1x", None),
    ("lambda", "gpu_8x_a100", 8),
    ("lambda", "gpu_2x_a100", None),
    ("lambda", "gpu_4x_a6000", None),
    ("nebius", "gpu-b200-sxm-a_8gpu-160vcpu-1792gb", 8),
    ("nebius", "gpu-rtx6000_1gpu-24vcpu-218gb", None),
    ("nebius", "cpu-d3_64vcpu-256gb", None),
)
"""Names that these vendors rent machines under; None: none of their documents that was read says how many GPUs of which model."""


@pytest.mark.parametrize(("provider", "name", "gpus"), REAL_NAMES)
def test_real_names_are_known_rightly_or_not_at_all(
    provider: str, name: str, gpus: int | None
) -> None:
    assert getattr(gpu_machine(provider, name), "gpus", None) == gpus
    others = {"aws", "gcp", "azure", "oci", "lambda", "nebius", "crusoe", "coreweave"} - {provider}
    assert [each for each in others if gpu_machine(each, name)] == []


def test_a_cloud_is_the_same_however_it_is_spelt() -> None:
    spelt = {"Google Cloud": "gcp", "AWS": "aws", "Amazon Web Services, Inc.": "aws"}
    spelt |= {"Microsoft Azure": "azure", "Oracle": "oci", "CoreWeave": "coreweave"}
    names = {cloud: name for cloud, name, gpus in REAL_NAMES if gpus}
    for said, cloud in spelt.items():
        assert gpu_machine(said, names[cloud]) == gpu_machine(cloud, names[cloud]) is not None
    assert gpu_family_of("Amazon Web Services, Inc.", "g6e.96xlarge") == "NVIDIA L40S"


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("aws", "g4-standard-48"),
        ("aws", "g6e.96xlarge"),
        ("gcp", "g4-standard-6"),
        ("gcp", "a3-highgpu-0g"),
        ("gcp", "a3-highgpu-999g"),
        ("", "p5.48xlarge"),
        ("elsewhere", "p5.48xlarge"),
    ],
)
def test_what_no_table_and_no_name_says_is_unknown(provider: str, name: str) -> None:
    assert gpu_machine(provider, name) is None


def test_a_size_that_only_its_name_tells_says_so() -> None:
    machine = gpu_machine("gcp", "a4-highgpu-4g")
    assert machine is not None
    assert machine.remark == "taken from its name for 4 × NVIDIA B200: no table has this size"
    listed = gpu_machine("gcp", "a4-highgpu-8g")
    assert listed is not None
    assert not listed.remark


def test_the_model_of_a_family_is_said_where_its_sizes_agree() -> None:
    assert gpu_family_of("aws", "g6e.96xlarge") == "NVIDIA L40S"
    assert gpu_family_of("aws", "g99.xlarge") == ""
    assert gpu_family_of("gcp", "g6e.96xlarge") == ""


def test_a_part_of_a_gpu_and_a_name_of_several_models_are_no_whole_gpu() -> None:
    assert getattr(full_gpu_model("nvidia-h100-80gb"), "name", "") == H100
    assert full_gpu_model("H100") is None
    assert full_gpu_model("NVIDIA H100 80GB HBM3 MIG 1g.10gb") is None
    assert full_gpu_model("a3-highgpu-8g") is None


def test_every_machine_of_the_tables_has_a_model_of_the_catalogue() -> None:
    named = {machine.gpu_model for machine in GPU_MACHINES.values()}
    assert {name for name in named if getattr(gpu_model(name), "name", None) != name} == set()
