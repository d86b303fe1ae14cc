"""How much of a GPU's dense peak a model's training used: MFU, by what the model is."""

from dataclasses import dataclass

from apps.economics.gpu_catalogue import named_gpu
from apps.economics.gpu_model import GpuModel, Precision

# Each token is multiplied into every weight once forward and twice backward, two operations each.
TRAINED, FROZEN = 6, 4
# Attention: 12 operations for each layer, head, dimension and token of the sequence (PaLM, App. B).
ATTENDED = 12


class NotAModel(ValueError):
    """A size below nothing, or more active parameters than there are."""


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
        total = self.layers * self.heads * self.head_dimension * self.sequence
        return total // 2 if self.is_causal else total


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
    """Dense operations a second of one GPU, or of the slice of one that its name says."""

    gpu: str
    precision: Precision
    flops: float


@dataclass(frozen=True, slots=True)
class NoPeak:
    """Why a peak is not known, for the person who misses an MFU."""

    reason: str


def training_flops_per_token(model: Model) -> float:
    """6N with attention; 4N and 6 for each adapter's parameter where the base is frozen."""
    if model.adapter_parameters:
        weights = FROZEN * model.active_parameters + TRAINED * model.adapter_parameters
    else:
        weights = TRAINED * model.active_parameters
    return weights + ATTENDED * (model.attention.products if model.attention else 0)


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Model operations of what the GPUs could do; over 1 cannot be, and some input is wrong."""

    share: float

    @property
    def is_possible(self) -> bool:
        """Whether any machine could have done it."""
        return self.share <= 1


def mfu(
    *, tokens_per_second: float, flops_per_token: float, gpus: float, peak: Peak
) -> Utilisation:
    """Model operations a second ÷ (GPUs × dense peak); `gpus`, over 0, counts what the peak is of."""
    return Utilisation(tokens_per_second * flops_per_token / (gpus * peak.flops))


def peak_of(gpu_name: str, precision: Precision) -> Peak | NoPeak:
    """The dense peak of the GPU, or MIG slice, of that name; never a guess.

    A name that may mean several models ("A100") has a peak where they all have the same.
    """
    named = named_gpu(gpu_name)
    if not named.candidates:
        return NoPeak(f"{gpu_name} is not a GPU model that Runrate knows")
    peaks = {model.peaks.get(precision) for model in named.candidates}
    if len(peaks) > 1:
        models = ", ".join(model.name for model in named.candidates)
        return NoPeak(f"{gpu_name} may be any of {models}, whose {precision} peaks differ")
    flops = peaks.pop()
    if flops is None:
        return NoPeak(_why_none(named.candidates[0], precision))
    return Peak(gpu_name, precision, flops * float(named.part))


def _why_none(model: GpuModel, precision: Precision) -> str:
    why = model.unknown_peaks.get(precision, "its tensor cores lack the format")
    return f"{model.name} has no known dense peak in {precision}: {why}"
