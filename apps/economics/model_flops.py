"""How much of a GPU's dense peak a model's training used: MFU, by what the model is."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

TERA = 1e12
# Each token is multiplied into every weight once forward and twice backward, two operations each.
TRAINED, FROZEN, FORWARD = 6, 4, 2
# Attention: 12 operations for each layer, head, dimension and token of the sequence (PaLM, App. B).
ATTENDED, ATTENDED_FORWARD = 12, 4


class NotAModel(ValueError):
    """A size below nothing, or more active parameters than there are."""


class Precision(StrEnum):
    """In what a model is trained; peaks differ by it."""

    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    TF32 = "tf32"


@dataclass(frozen=True, slots=True)
class Attention:
    """The shape of a model's attention; `is_causal` counts only the half that is not masked."""

    layers: int
    heads: int
    head_dimension: int
    sequence: int
    is_causal: bool = False

    @property
    def products(self) -> int:
        """Layers × heads × dimensions × tokens, halved where it is causal."""
        whole = self.layers * self.heads * self.head_dimension * self.sequence
        return whole // 2 if self.is_causal else whole


@dataclass(frozen=True, slots=True)
class Model:
    """Parameters that work on each token: all of a dense model, the active ones of a mixture.

    With `adapter_parameters` only those are trained and the rest is frozen (LoRA). Refuses NotAModel.
    """

    active_parameters: float
    attention: Attention | None = None
    adapter_parameters: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no model."""
        if self.active_parameters <= 0 or self.adapter_parameters < 0:
            raise NotAModel("a model has parameters")


@dataclass(frozen=True, slots=True)
class Peak:
    """Dense operations a second of one GPU, with where the figure is from."""

    gpu: str
    precision: Precision
    flops: float
    source: str
    source_date: date


_NVIDIA_H100 = "NVIDIA H100 datasheet, SXM; half of the figure with sparsity"
_NVIDIA_A100 = "NVIDIA A100 datasheet, without sparsity"
_SEEN = date(2026, 7, 28)
PEAKS = tuple(
    Peak(gpu, precision, teraflops * TERA, source, _SEEN)
    for gpu, precision, teraflops, source in (
        ("H100 SXM", Precision.BF16, 989.4, _NVIDIA_H100),
        ("H100 SXM", Precision.FP16, 989.4, _NVIDIA_H100),
        ("H100 SXM", Precision.FP8, 1978.9, _NVIDIA_H100),
        ("H100 SXM", Precision.TF32, 494.7, _NVIDIA_H100),
        ("H200 SXM", Precision.BF16, 989.4, "NVIDIA H200 datasheet; half of that with sparsity"),
        ("H200 SXM", Precision.FP8, 1978.9, "NVIDIA H200 datasheet; half of that with sparsity"),
        ("A100", Precision.BF16, 312.0, _NVIDIA_A100),
        ("A100", Precision.FP16, 312.0, _NVIDIA_A100),
        ("A100", Precision.TF32, 156.0, _NVIDIA_A100),
        ("L4", Precision.BF16, 121.0, "NVIDIA L4 datasheet; half of the figure with sparsity"),
        ("L40S", Precision.BF16, 362.05, "NVIDIA L40S datasheet, without sparsity"),
        ("A10G", Precision.BF16, 70.0, "AWS G5 and NVIDIA A10G figures, without sparsity"),
        ("V100", Precision.FP16, 125.0, "NVIDIA V100 datasheet, tensor"),
    )
)


def training_flops_per_token(model: Model) -> float:
    """6N with attention; 4N and 6 for each adapter's parameter where the base is frozen."""
    if model.adapter_parameters:
        weights = FROZEN * model.active_parameters + TRAINED * model.adapter_parameters
    else:
        weights = TRAINED * model.active_parameters
    return weights + ATTENDED * (model.attention.products if model.attention else 0)


def inference_flops_per_token(model: Model) -> float:
    """2N with attention."""
    attended = ATTENDED_FORWARD * (model.attention.products if model.attention else 0)
    return FORWARD * model.active_parameters + attended


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Model operations of what the GPUs could do; over 1 cannot be, and some input is wrong."""

    share: float

    @property
    def is_possible(self) -> bool:
        """Whether any machine could have done it."""
        return self.share <= 1


def mfu(
    *, tokens_per_second: float, flops_per_token: float, gpus: float, peak: Peak | None
) -> Utilisation | None:
    """Model operations a second ÷ (GPUs × dense peak); None where no peak or no GPU is known."""
    if peak is None or gpus <= 0:
        return None
    return Utilisation(tokens_per_second * flops_per_token / (gpus * peak.flops))


def peak_of(gpu_model: str, precision: Precision) -> Peak | None:
    """The dense peak of a model as NVML names it; None where nobody has said one: never a guess."""
    name = gpu_model.upper().replace("-", " ")
    for peak in PEAKS:
        words = peak.gpu.split()
        is_board = words[0] in name.split() and "PCIE" not in name and "NVL" not in name.split()
        if peak.precision is precision and is_board:
            return peak
    return None
