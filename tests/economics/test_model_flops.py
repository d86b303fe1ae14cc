"""MFU by the published figures, and no figure where a peak is not known."""

import pytest

from apps.economics.gpu_catalogue import CATALOGUE, TERA
from apps.economics.gpu_model import Precision
from apps.economics.model_flops import (
    Attention,
    Model,
    NoPeak,
    NotAModel,
    Peak,
    mfu,
    peak_of,
    training_flops_per_token,
)

TPU = Peak("TPUv4", Precision.BF16, 275 * TERA)
PALM = Attention(layers=118, heads=48, head_dimension=256, sequence=2048)


def test_palm_540b_used_what_its_paper_says() -> None:
    model = Model(540.35e9, PALM)
    whole = mfu(
        tokens_per_second=238_300,
        flops_per_token=training_flops_per_token(model),
        gpus=6144,
        peak=TPU,
    )
    assert whole.share == pytest.approx(0.46229, abs=5e-5)
    without = mfu(
        tokens_per_second=238_300,
        flops_per_token=training_flops_per_token(Model(540.35e9)),
        gpus=6144,
        peak=TPU,
    )
    assert without.share == pytest.approx(0.45726, abs=5e-5)


def test_llama_3_by_its_dense_peak() -> None:
    peak = peak_of("NVIDIA H100 80GB HBM3", Precision.BF16)
    assert 400 * TERA / peak.flops == pytest.approx(0.4043, abs=5e-5)
    run = training_flops_per_token(Model(405e9)) * 15.6e12
    assert run == pytest.approx(3.791e25, rel=1e-3)
    assert run / (30.84e6 * 3600 * peak.flops) == pytest.approx(0.3451, abs=5e-4)


def test_a_mixture_counts_what_is_active_of_it() -> None:
    run = training_flops_per_token(Model(37e9)) * 14.8e12
    peak = peak_of("NVIDIA H200", Precision.BF16)
    assert run == pytest.approx(3.286e24, rel=1e-3)
    assert run / (2.664e6 * 3600 * peak.flops) == pytest.approx(0.3463, abs=5e-4)


def test_adapters_over_a_frozen_base_take_two_thirds() -> None:
    whole, lora = Model(7e9), Model(7e9, adapter_parameters=20e6)
    ratio = training_flops_per_token(lora) / training_flops_per_token(whole)
    assert ratio == pytest.approx(0.669524, abs=5e-7)


def test_causal_attention_is_half() -> None:
    causal = Attention(118, 48, 256, 2048, is_causal=True)
    assert causal.products * 2 == PALM.products


def test_above_one_is_impossible() -> None:
    peak = peak_of("NVIDIA A100-SXM4-80GB", Precision.BF16)
    over = mfu(tokens_per_second=1e6, flops_per_token=6 * 7e9, gpus=8, peak=peak)
    assert not over.is_possible


@pytest.mark.parametrize("precision", Precision)
@pytest.mark.parametrize("model", CATALOGUE, ids=lambda model: model.name)
def test_every_model_of_the_catalogue_has_a_peak_or_says_why_not(model, precision) -> None:
    peak = peak_of(model.name, precision)
    if precision in model.peaks:
        assert peak == Peak(model.name, precision, model.peaks[precision])
    else:
        assert peak.reason.startswith(f"{model.name} has no known dense peak in {precision}: ")


@pytest.mark.parametrize("model", CATALOGUE, ids=lambda model: model.name)
def test_every_model_of_the_catalogue_has_an_mfu_in_half_precision(model) -> None:
    peaks = [peak_of(model.name, each) for each in (Precision.BF16, Precision.FP16)]
    known = [peak for peak in peaks if isinstance(peak, Peak)]
    # Volta and Turing train in fp16 alone.
    assert len(known) == (1 if model.name.startswith("Tesla") else 2)
    for peak in known:
        used = mfu(tokens_per_second=peak.flops / 5, flops_per_token=2, gpus=1, peak=peak)
        assert used.share == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Quadro P6000", "Quadro P6000 is not a GPU model that Runrate knows"),
        (
            "H100",
            "H100 may be any of NVIDIA H100 80GB HBM3, NVIDIA H100 PCIe, NVIDIA H100 NVL, "
            "whose bf16 peaks differ",
        ),
        (
            "Tesla T4",
            "Tesla T4 has no known dense peak in bf16: its tensor cores lack the format",
        ),
    ],
)
def test_without_a_peak_the_reason_names_the_gpu(name: str, reason: str) -> None:
    assert peak_of(name, Precision.BF16) == NoPeak(reason)


def test_a_peak_on_which_pages_of_the_vendor_disagree_is_unknown() -> None:
    assert peak_of("NVIDIA B300", Precision.INT8).reason.endswith(
        "NVIDIA's pages disagree about it"
    )


def test_a_name_of_several_models_with_one_peak_has_it() -> None:
    assert peak_of("A100", Precision.BF16).flops == 312 * TERA
    assert peak_of("nvidia_gh200", Precision.FP8).flops == 1978.9 * TERA


@pytest.mark.parametrize(
    ("name", "teraflops"),
    [
        ("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", 989.4 / 7),
        ("nvidia_a100-sxm4-40gb_3g.20gb", 312 * 3 / 7),
        ("A100 MIG 2g.10gb+me", 312 * 2 / 7),
        ("NVIDIA A30 MIG 1g.6gb", 165 / 4),
    ],
)
def test_a_slice_has_its_compute_slices_of_the_peak(name: str, teraflops: float) -> None:
    assert peak_of(name, Precision.BF16).flops == pytest.approx(teraflops * TERA)


@pytest.mark.parametrize("name", ["NVIDIA A30 MIG 7g.40gb", "NVIDIA L4 MIG 1g.6gb"])
def test_a_slice_that_its_gpu_cannot_have_has_no_peak(name: str) -> None:
    assert isinstance(peak_of(name, Precision.BF16), NoPeak)


@pytest.mark.parametrize(("active", "adapters"), [(0, 0), (-1, 0), (7e9, -1)])
def test_what_is_no_model_is_refused(active: float, adapters: float) -> None:
    with pytest.raises(NotAModel):
        Model(active, adapter_parameters=adapters)
