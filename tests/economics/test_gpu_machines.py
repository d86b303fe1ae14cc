"""Which GPUs a cloud's machine type has: by that cloud's table, by names that say it, else nobody says."""

import pytest

from apps.economics.gpu_catalogue import gpu_model
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


def test_every_machine_of_the_tables_has_a_model_of_the_catalogue() -> None:
    named = {machine.gpu_model for machine in GPU_MACHINES.values()}
    assert {name for name in named if getattr(gpu_model(name), "name", None) != name} == set()
