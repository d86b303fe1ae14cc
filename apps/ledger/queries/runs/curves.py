"""What more GPUs would do to a workload: how much sooner it is trained, and how much dearer."""

from dataclasses import dataclass

from apps.ledger.queries.windows import Window


@dataclass(frozen=True, slots=True)
class Range:
    """A figure, and between what it lies as often as 90 % of resampled runs; None: no range yet."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class ScalingRun:
    """A run that the curves are fitted on."""

    run_id: int
    key: str
    gpus: int
    tokens_per_second: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A model version trained on so many GPUs: tokens a second, hours, and micro-units of money."""

    gpus: int
    tokens_per_second: Range
    hours: Range | None
    micros: Range | None


@dataclass(frozen=True, slots=True)
class ScalingAnswer:
    """From `gpus` to `more` GPUs: how many times as fast, and how many times as dear.

    `version_tokens` are of a model version: the median of finished runs. `hours` and `micros` are
    of one on `more` GPUs, None where no run finished or nothing has a price. `peak_gpus` is where
    it becomes slower; None: not as far as was seen. `points` are for a picture, by GPUs.
    """

    workload_id: int
    gpu_model: str
    model: str
    gpus: int
    more: int
    speed_up: Range
    cost_multiplier: Range
    version_tokens: int | None
    hours_now: Range | None
    hours: Range | None
    micros_now: Range | None
    micros: Range | None
    peak_gpus: float | None
    largest: int
    runs: tuple[ScalingRun, ...]
    others: int
    points: tuple[CurvePoint, ...]
    words: str


@dataclass(frozen=True, slots=True)
class ScalingRefusal:
    """Why there is no answer, in words, with the runs that there are."""

    workload_id: int
    words: str
    runs: tuple[ScalingRun, ...]


def scaling_of(
    workload_id: int, *, window: Window, gpus: int | None = None
) -> ScalingAnswer | ScalingRefusal:
    """What `gpus` GPUs (twice those of the last run, where not said) would do for a workload."""
    raise NotImplementedError
