"""The figures of a training run: how much of its GPUs it used, how it scales, what it yields cost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from statistics import median

from apps.economics.gpu_model import Precision
from apps.economics.model_flops import (
    Attention,
    Model,
    NoPeak,
    NotAModel,
    mfu,
    peak_of,
    training_flops_per_token,
)

IMPOSSIBLE = "impossible, above 1: the reported model, tokens or GPUs are wrong"
SHAPE = ("layers", "heads", "head_dimension", "sequence")


@dataclass(frozen=True, slots=True)
class Trained:
    """The work of a run in the seconds of its steps, on so many GPUs of a model; None: not known.

    Of MIG slices `gpus` are the GPUs whose compute they come to, unless the model's name is a slice's.
    """

    tokens: int | None
    flops: float | None
    seconds: float | None
    gpus: float | None
    gpu_models: tuple[str, ...]
    told: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ModelUse:
    """MFU, and why it is not known or not to be believed; empty: there is nothing to say."""

    ratio: float | None
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Sized:
    """A run's throughput on so many GPUs; only runs alike (one workload, model, GPU) are compared."""

    run_id: int
    alike: tuple[object, ...]
    gpus: int
    rate: float


def model_use(trained: Trained) -> ModelUse:
    """MFU by what the run told of its model, else by the operations it told; never a guess."""
    per_token, missing = _flops_per_token(trained.told)
    if per_token is not None and trained.tokens:
        work = per_token * trained.tokens
    elif trained.flops:
        work = trained.flops
    else:
        return ModelUse(None, missing or "the run reported no tokens")
    if not trained.seconds or not trained.gpus:
        return ModelUse(None, "it is not known for how long it trained, or on how many GPUs")
    return _of_peak(work / trained.seconds, trained.gpus, trained)


def scaling_ratios(runs: Sequence[Sized]) -> dict[int, float]:
    """E = X(n) ÷ (X(n₀) · n ÷ n₀) against the median of the smallest runs alike; METHODS, weak."""
    groups: dict[tuple[object, ...], list[Sized]] = {}
    for run in runs:
        groups.setdefault(run.alike, []).append(run)
    ratios: dict[int, float] = {}
    for group in groups.values():
        smallest = min(run.gpus for run in group)
        per_gpu = median(run.rate for run in group if run.gpus == smallest) / smallest
        ratios |= {run.run_id: run.rate / run.gpus / per_gpu for run in group}
    return ratios


def most_at_once(spans: Iterable[tuple[datetime, datetime | None, Fraction]]) -> Fraction:
    """The most that was held at one moment; of each span from when, to when (None: still), how much.

    What ends at a moment is given back before what begins then is taken.
    """
    edges: list[tuple[datetime, Fraction]] = []
    for starts_at, ends_at, amount in spans:
        edges.append((starts_at, amount))
        if ends_at is not None:
            edges.append((ends_at, -amount))
    most, level = Fraction(0), Fraction(0)
    for _, amount in sorted(edges):
        level += amount
        most = max(most, level)
    return most


def cost_per(micros: int | None, count: int | None, unit: int = 1) -> int | None:
    """Micro-units for `unit` of what there are `count` of; None of none: that is undefined."""
    return None if micros is None or not count else round(micros * unit / count)


def part_of(part: float, total: float) -> float | None:
    """A ratio; None of nothing."""
    return part / total if total else None


def _of_peak(flops: float, gpus: float, trained: Trained) -> ModelUse:
    if len(trained.gpu_models) != 1:
        model_names = ", ".join(trained.gpu_models)
        return ModelUse(
            None, f"it ran on several models of GPU: {model_names}" if model_names else NO_GPU
        )
    precision_name = trained.told.get("precision")
    precision = _precision_named(str(precision_name))
    if precision is None:
        return ModelUse(
            None, f"the precision {precision_name} is not known" if precision_name else NO_PRECISION
        )
    (gpu,) = trained.gpu_models
    peak = peak_of(gpu, precision)
    if isinstance(peak, NoPeak):
        return ModelUse(None, peak.reason)
    share = mfu(tokens_per_second=flops, flops_per_token=1, gpus=gpus, peak=peak)
    return ModelUse(share.share, "" if share.is_possible else IMPOSSIBLE)


NO_GPU = "its GPUs' model is not known"
NO_PRECISION = "the run did not tell its precision"
# What PyTorch, Lightning and Hugging Face call the formats.
PRECISION_NAMES = {
    "bfloat16": Precision.BF16,
    "16": Precision.FP16,
    "float16": Precision.FP16,
    "half": Precision.FP16,
    "32": Precision.FP32,
    "float32": Precision.FP32,
    "float": Precision.FP32,
    "transformer-engine": Precision.FP8,
}


def _precision_named(text: str) -> Precision | None:
    """The format that a run's word for it means ("bf16-mixed", "torch.bfloat16"), or None."""
    plain = text.casefold().removeprefix("torch.").removesuffix("-mixed").removesuffix("-true")
    return PRECISION_NAMES.get(plain) or next(
        (precision for precision in Precision if precision == plain), None
    )


def _flops_per_token(facts: Mapping[str, object]) -> tuple[float | None, str]:
    """Operations a token, or why they are not known."""
    parameters = _float_or_none(facts.get("active_parameters"))
    if parameters is None:
        return None, "the run did not tell its model's parameters"
    shape = [_float_or_none(facts.get(name)) for name in SHAPE]
    sizes = [int(size) for size in shape if size is not None]
    attention = None
    if len(sizes) == len(SHAPE):
        layers, heads, head_dimension, sequence = sizes
        attention = Attention(layers, heads, head_dimension, sequence)
    adapter = _float_or_none(facts.get("adapter_parameters")) or 0.0
    try:
        return training_flops_per_token(Model(parameters, attention, adapter)), ""
    except NotAModel:
        return None, "the reported model has no parameters"


def _float_or_none(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def gpu_models(times: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """The models that GPU time was on, the most first; time on none that is named counts not."""
    sums: dict[str, int] = {}
    for model, milliseconds in times:
        if model and milliseconds:
            sums[model] = sums.get(model, 0) + milliseconds
    return tuple(sorted(sums, key=lambda model: (-sums[model], model)))
