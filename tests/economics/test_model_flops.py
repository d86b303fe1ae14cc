"""MFU by the published figures, and no figure where a peak is not known."""

import pytest

from apps.economics.model_flops import (
    TERA,
    Attention,
    Model,
    NotAModel,
    Peak,
    Precision,
    inference_flops_per_token,
    mfu,
    peak_of,
    training_flops_per_token,
)

TPU = Peak("TPUv4", Precision.BF16, 275 * TERA, "PaLM", peak_of("A100", Precision.BF16).source_date)
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


def test_causal_attention_is_half_and_inference_a_third() -> None:
    causal = Attention(118, 48, 256, 2048, is_causal=True)
    assert causal.products * 2 == PALM.products
    model = Model(7e9, PALM)
    assert inference_flops_per_token(model) * 3 == training_flops_per_token(model)


def test_above_one_is_impossible_and_without_a_peak_there_is_none() -> None:
    peak = peak_of("NVIDIA A100-SXM4-80GB", Precision.BF16)
    over = mfu(tokens_per_second=1e6, flops_per_token=6 * 7e9, gpus=8, peak=peak)
    assert not over.is_possible
    assert mfu(tokens_per_second=1, flops_per_token=1, gpus=8, peak=None) is None
    assert mfu(tokens_per_second=1, flops_per_token=1, gpus=0, peak=peak) is None


@pytest.mark.parametrize(
    "name", ["NVIDIA H100 PCIe", "NVIDIA H100 NVL", "NVIDIA B300", "AMD MI300X"]
)
def test_a_gpu_that_nobody_stated_a_peak_for_has_none(name: str) -> None:
    assert peak_of(name, Precision.BF16) is None


@pytest.mark.parametrize(("active", "adapters"), [(0, 0), (-1, 0), (7e9, -1)])
def test_what_is_no_model_is_refused(active: float, adapters: float) -> None:
    with pytest.raises(NotAModel):
        Model(active, adapter_parameters=adapters)
