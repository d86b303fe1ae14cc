"""What is known of GPU models, under the names that NVML prints."""

import pytest

from apps.economics.gpu_catalogue import CATALOGUE, GIB, gpu_model, named_gpu
from apps.economics.gpu_model import Precision
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
        "NVIDIA GH200 480GB", "NVIDIA B300 SXM6 AC", "NVIDIA GB300", "NVIDIA RTX 6000 Ada Generation",
        "NVIDIA RTX PRO 6000 Blackwell Server Edition", "AMD Instinct MI300X OAM",
        "AMD Instinct MI325X", "AMD Instinct MI355X",
    ],
)  # fmt: skip
def test_the_models_of_every_large_cloud_are_known(name):
    assert gpu_model(name) is not None


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("nvidia-h100-80gb", "NVIDIA H100 80GB HBM3"),
        ("H100 SXM5", "NVIDIA H100 80GB HBM3"),
        ("h100_pcie", "NVIDIA H100 PCIe"),
        ("nvidia-tesla-a100", "NVIDIA A100-SXM4-40GB"),
        ("nvidia-tesla-t4", "Tesla T4"),
        ("H200 SXM", "NVIDIA H200"),
        ("MI300X", "AMD Instinct MI300X"),
        ("RTX 6000 Ada", "NVIDIA RTX 6000 Ada Generation"),
        ("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "NVIDIA H100 80GB HBM3"),
    ],
)
def test_a_model_is_found_by_what_clouds_and_people_call_it(name, model):
    assert gpu_model(name).name == model


@pytest.mark.parametrize(
    ("name", "candidates"),
    [("H100", 3), ("H100 80GB", 2), ("A100", 4), ("RTX PRO 6000", 3), ("RTX A6000", 0), ("", 0),
     ("80GB", 0), ("Radeon VII", 0)],
)  # fmt: skip
def test_a_name_that_may_be_several_models_is_none_of_them(name, candidates):
    assert gpu_model(name) is None
    assert len(named_gpu(name).candidates) == candidates


def test_peaks_are_dense():
    # The datasheets print 1,979 and 3,958 TFLOP/s (H100) and 20 PFLOP/s in fp4 (GB200) "with sparsity".
    h100 = gpu_model("NVIDIA H100 80GB HBM3")
    assert (h100.peaks[Precision.BF16], h100.peaks[Precision.FP8]) == (989.4e12, 1978.9e12)
    assert (h100.memory_bytes, h100.tdp_watts) == (80 * GIB, 700)
    assert gpu_model("NVIDIA GB200").peaks[Precision.FP4] == 10e15
    # And AMD's 2,614.9 and 10.1 PFLOP/s in fp8.
    assert gpu_model("MI300X").peaks[Precision.BF16] == 1307.4e12
    assert gpu_model("MI355X").peaks[Precision.FP8] == 5033.2e12


def test_half_the_bits_are_at_most_about_twice_the_operations():
    """A figure with sparsity beside a dense one would be four times the next larger format's."""
    halves = [(Precision.TF32, Precision.BF16), (Precision.BF16, Precision.FP8)]
    for model in CATALOGUE:
        for larger, smaller in halves:
            if larger in model.peaks and smaller in model.peaks:
                ratio = model.peaks[smaller] / model.peaks[larger]
                assert ratio == pytest.approx(2, rel=0.02), (model.name, smaller)


def test_a_format_that_a_chip_lacks_has_no_peak():
    assert Precision.BF16 not in gpu_model("Tesla T4").peaks
    assert Precision.FP8 not in gpu_model("NVIDIA A100-SXM4-80GB").peaks


def test_a_mig_profile_is_found_by_nvmls_name_for_it():
    geometry = gpu_model("NVIDIA A100-SXM4-40GB").mig
    profile = geometry.profile("MIG 1g.10gb+me")
    assert (profile.compute_slices, profile.memory_slices) == (1, 2)
    assert geometry.profile("9g.90gb") is None


@pytest.mark.parametrize("model", CATALOGUE, ids=lambda model: model.name)
def test_every_entry_is_plausible_and_says_where_it_is_from(model):
    assert model.source.url.startswith("https://")
    assert 16 * GIB <= model.memory_bytes <= 288 * GIB
    assert 250e9 <= model.bandwidth_bytes_per_second <= 8e12
    assert 60 <= model.tdp_watts <= 1400
    assert 60e12 <= model.peaks[Precision.FP16] <= 2520e12
    assert model.peaks.get(Precision.BF16) in (None, model.peaks[Precision.FP16])
    assert model.peaks[Precision.FP32] < model.peaks[Precision.FP16]
    assert not set(model.peaks) & set(model.unknown_peaks)
    assert model.link_bytes_per_second is None or 100e9 < model.link_bytes_per_second <= 1800e9
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
