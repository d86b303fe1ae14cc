"""What is known of GPU models, under the names that NVML prints."""

import pytest

from apps.economics.gpu_catalogue import CATALOGUE, GIB, gpu_model
from apps.economics.shares import mig_share


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA H100 80GB HBM3",
        "H100 80GB HBM3",
        "nvidia h100 80gb hbm3",
        "NVIDIA-H100-80GB-HBM3",
        " NVIDIA  H100 80GB HBM3 ",
    ],
)
def test_a_model_is_found_however_its_name_is_written(name):
    assert gpu_model(name).name == "NVIDIA H100 80GB HBM3"


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA H100 PCIe", "NVIDIA H100 NVL", "NVIDIA H200", "NVIDIA A100-SXM4-40GB",
        "NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe", "NVIDIA L4", "NVIDIA L40S", "NVIDIA A10",
        "NVIDIA A10G", "Tesla T4", "Tesla V100-SXM2-16GB", "Tesla V100-SXM2-32GB", "NVIDIA B200",
        "NVIDIA GH200 480GB",
    ],
)  # fmt: skip
def test_the_models_of_every_large_cloud_are_known(name):
    assert gpu_model(name) is not None


def test_an_unknown_model_is_unknown():
    assert gpu_model("AMD Instinct MI300X") is None


def test_peaks_are_dense():
    # The datasheet prints 1,979 and 3,958 TFLOP/s "with sparsity".
    h100 = gpu_model("NVIDIA H100 80GB HBM3")
    assert (h100.bf16_flops, h100.fp8_flops) == (989.5e12, 1979e12)
    assert (h100.memory_bytes, h100.tdp_watts) == (80 * GIB, 700)


def test_a_format_that_a_chip_lacks_has_no_peak():
    assert gpu_model("Tesla T4").bf16_flops is None
    assert gpu_model("NVIDIA A100-SXM4-80GB").fp8_flops is None


def test_a_mig_profile_is_found_by_nvmls_name_for_it():
    geometry = gpu_model("NVIDIA A100-SXM4-40GB").mig
    profile = geometry.profile("MIG 1g.10gb+me")
    assert (profile.compute_slices, profile.memory_slices) == (1, 2)
    assert geometry.profile("9g.90gb") is None


@pytest.mark.parametrize("model", CATALOGUE, ids=lambda model: model.name)
def test_every_entry_is_plausible_and_says_where_it_is_from(model):
    assert model.source.url.startswith("https://")
    assert 16 * GIB <= model.memory_bytes <= 192 * GIB
    assert 250e9 <= model.bandwidth_bytes_per_second <= 8e12
    assert 60 <= model.tdp_watts <= 1200
    assert 60e12 <= model.fp16_flops <= 2500e12
    assert model.bf16_flops in (None, model.fp16_flops)
    profiles = model.mig.profiles if model.mig else ()
    whole = [profile for profile in profiles if profile.memory_slices == model.mig.memory_slices]
    assert len(whole) == min(1, len(profiles))
    for profile in profiles:
        share = mig_share(
            profile.compute_slices,
            profile.memory_slices,
            of_compute=model.mig.compute_slices,
            of_memory=model.mig.memory_slices,
        )
        assert 0 < share <= 1


def test_names_are_one_models_each():
    assert len({gpu_model(model.name).name for model in CATALOGUE}) == len(CATALOGUE)
