"""A run's figures are by what it told; what it did not tell is unknown, with the reason."""

from datetime import UTC, datetime
from fractions import Fraction

import pytest

from apps.economics.run_figures import (
    Sized,
    Trained,
    cost_per,
    gpu_models,
    model_use,
    most_at_once,
    part_of,
    scaling_ratios,
)

H100 = ("NVIDIA H100 80GB HBM3",)
LLAMA = {"active_parameters": 8e9, "precision": "BF16"}
PALM = {
    "active_parameters": 540.35e9,
    "layers": 118,
    "heads": 48,
    "head_dimension": 256,
    "sequence": 2048,
    "precision": "bf16",
}


def trained(**given: object) -> Trained:
    """An hour of a model of 8 billion parameters on eight H100."""
    values = {
        "tokens": 3600 * 60_000,
        "flops": None,
        "seconds": 3600.0,
        "gpus": 8,
        "gpu_models": H100,
        "told": LLAMA,
    } | given
    return Trained(**values)  # type: ignore[arg-type]  # of each field's own type


def test_mfu_is_six_operations_a_parameter_and_token_of_the_dense_peak() -> None:
    use = model_use(trained())

    assert use.ratio == pytest.approx(6 * 8e9 * 60_000 / (8 * 989.4e12))
    assert use.doubt == ""


@pytest.mark.parametrize(
    ("said", "format_"),
    [("bf16-mixed", "bf16"), ("torch.float16", "fp16"), ("16-mixed", "fp16"), ("32-true", "fp32")],
)
def test_a_precision_is_understood_as_frameworks_name_it(said: str, format_: str) -> None:
    use = model_use(trained(told=LLAMA | {"precision": said}))
    assert use.ratio == model_use(trained(told=LLAMA | {"precision": format_})).ratio is not None


def test_attention_counts_where_its_shape_is_told() -> None:
    with_attention = model_use(trained(told=PALM, tokens=3600)).ratio
    without = model_use(trained(told={**PALM, "sequence": None}, tokens=3600)).ratio

    assert with_attention is not None
    assert without is not None
    assert with_attention / without == pytest.approx(0.46229 / 0.45726, rel=1e-4)


def test_only_adapters_trained_cost_two_thirds() -> None:
    lora = model_use(trained(told=LLAMA | {"active_parameters": 7e9, "adapter_parameters": 2e7}))
    full = model_use(trained(told=LLAMA | {"active_parameters": 7e9}))

    assert lora.ratio is not None
    assert full.ratio is not None
    assert lora.ratio / full.ratio == pytest.approx(0.669524, rel=1e-5)


def test_operations_that_were_told_stand_for_a_model_that_was_not() -> None:
    told = {"precision": "bf16"}
    use = model_use(trained(told=told, tokens=None, flops=8 * 989.4e12 * 3600 * 0.4))

    assert use.ratio == pytest.approx(0.4)


def test_above_1_is_told_as_impossible() -> None:
    use = model_use(trained(tokens=3600 * 10_000_000))

    assert use.ratio is not None
    assert use.ratio > 1
    assert use.doubt.startswith("impossible")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"told": {}}, "the run did not tell its model's parameters"),
        ({"told": {"active_parameters": True}}, "the run did not tell its model's parameters"),
        ({"told": {"active_parameters": 0}}, "the reported model has no parameters"),
        ({"tokens": None}, "the run reported no tokens"),
        ({"seconds": None}, "it is not known for how long it trained, or on how many GPUs"),
        ({"gpus": None}, "it is not known for how long it trained, or on how many GPUs"),
        ({"gpu_models": ()}, "its GPUs' model is not known"),
        ({"gpu_models": ("A", "B")}, "it ran on several models of GPU: A, B"),
        ({"told": {"active_parameters": 1e9}}, "the run did not tell its precision"),
        ({"told": LLAMA | {"precision": "fp2"}}, "the precision fp2 is not known"),
        (
            {"gpu_models": ("Voodoo 2",)},
            "Voodoo 2 is not a GPU model that Runrate knows",
        ),
        (
            {"told": LLAMA | {"precision": "fp4"}},
            "NVIDIA H100 80GB HBM3 has no known dense peak in fp4: its tensor cores lack the format",
        ),
    ],
)
def test_without_what_it_needs_there_is_no_mfu(given: dict[str, object], reason: str) -> None:
    assert model_use(trained(**given)).ratio is None
    assert model_use(trained(**given)).doubt == reason


def test_scaling_is_against_the_median_of_the_smallest_runs_alike() -> None:
    runs = [
        Sized(1, ("llama",), 8, 800.0),
        Sized(2, ("llama",), 8, 1000.0),
        Sized(3, ("llama",), 8, 900.0),
        Sized(4, ("llama",), 64, 3600.0),
        Sized(5, ("bert",), 64, 50.0),
    ]

    assert scaling_ratios(runs) == pytest.approx({1: 8 / 9, 2: 10 / 9, 3: 1, 4: 0.5, 5: 1})


def test_a_good_checkpoint_costs_its_part_of_everything() -> None:
    assert cost_per(13_800_000_000, 4) == 3_450_000_000
    assert cost_per(500, 2_000_000, 1_000_000) == 250


def test_a_cost_of_nothing_is_undefined() -> None:
    assert cost_per(100, 0) is cost_per(100, None) is cost_per(None, 3) is part_of(1, 0) is None
    assert part_of(1, 4) == 0.25


def test_gpus_are_of_the_model_that_most_time_was_on() -> None:
    times = [("A100", 3), ("H100", 2), ("", 9), ("H100", 2), ("L4", 0)]

    assert gpu_models(times) == ("H100", "A100")


def test_the_most_held_at_once_gives_back_before_it_takes() -> None:
    hours = [datetime(2026, 3, 2, hour, tzinfo=UTC) for hour in range(3)]
    spans = [(hours[0], hours[1], Fraction(3, 7)), (hours[1], None, Fraction(4, 7))]
    assert most_at_once(spans) == Fraction(4, 7)
    assert most_at_once([*spans, (hours[0], hours[2], Fraction(1))]) == Fraction(11, 7)
    assert most_at_once([]) == 0
