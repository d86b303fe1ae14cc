"""Inputs of a plan's items, and the measured figures that they may stand on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Annotated, Any

from apps.economics.gpu_model import Precision
from apps.economics.model_flops import NoPeak, Peak, peak_of
from apps.economics.planned_work import WorkSpread
from apps.economics.refusal import Refusal
from apps.ledger.queries.windows import Window
from apps.planning.models import PlannedKind
from apps.planning.queries.service_hours import served_hours, service_named
from apps.show.entries import Entry, Ratio
from apps.unit_economics.queries.runs.list import run_rows
from apps.workloads.queries import runs_of_keys

TRAINING, LAUNCH, PRICE = map(str, PlannedKind)
KINDS = {str(kind.value): str(kind.label) for kind in PlannedKind}
MOST_WEEKS = 104


@dataclass(frozen=True, slots=True)
class TrainingWork:
    """A model of so many parameters (active on each token) on so many tokens, on `gpus` in bf16.

    `mfu` is of the dense peak; `like_run` is the run that it was measured of, empty where it is assumed.
    """

    gpus: int
    parameters: Annotated[float, Entry(help="active on each token")]
    tokens: float
    mfu: Annotated[Ratio, Entry(help="of the dense bf16 peak, above 0")]
    like_run: Annotated[str, Entry(help="the key of the run whose measured MFU it has")] = ""


@dataclass(frozen=True, slots=True)
class LaunchWork:
    """A service's requests by week, and what they take.

    `like_service` is whose tokens a GPU-hour were measured, empty where they are assumed.
    """

    requests_by_week: tuple[float, ...]
    tokens_per_request: float
    tokens_per_gpu_hour: float
    like_service: Annotated[str, Entry(help="the service whose measured throughput it has")] = ""


@dataclass(frozen=True, slots=True)
class PriceChange:
    """By what the price of a GPU-hour is multiplied from its day on."""

    factor: Annotated[Ratio, Entry(help="of the price of a GPU-hour")]


PlannedInputs = TrainingWork | LaunchWork | PriceChange
OF_KIND: Mapping[str, type[Any]] = {TRAINING: TrainingWork, LAUNCH: LaunchWork, PRICE: PriceChange}


@dataclass(frozen=True, slots=True)
class NewPlannedItem:
    """An item from a local day on; its kind is that of its inputs. `spread` None: it comes as entered."""

    name: str
    starts_on: date
    inputs: PlannedInputs
    spread: WorkSpread | None = None

    @property
    def kind(self) -> str:
        """The word of its inputs."""
        return next(
            kind for kind, input_type in OF_KIND.items() if isinstance(self.inputs, input_type)
        )


def inputs_from_json(kind: str, document: Mapping[str, Any]) -> PlannedInputs:
    """Return the inputs that were kept, as they were."""
    if kind == LAUNCH:
        document = {**document, "requests_by_week": tuple(document["requests_by_week"])}
    inputs: PlannedInputs = OF_KIND[kind](**document)
    return inputs


def inputs_as_json(inputs: PlannedInputs) -> dict[str, Any]:
    """Return what is kept of an item's inputs."""
    return asdict(inputs)


def training_peak(gpu_model: str) -> Peak:
    """The dense bf16 peak of a GPU model; refuses a Refusal where it is not known."""
    peak = peak_of(gpu_model, Precision.BF16)
    if isinstance(peak, NoPeak):
        raise Refusal("gpu_model", peak.reason)
    return peak


def measured_mfu(run: str) -> float:
    """The MFU of the one run of this key; refuses a Refusal where there is none, or no MFU of it."""
    ids = runs_of_keys([run]).get(run, [])
    rows = run_rows(ids)
    ratios = [row.mfu_ratio for row in rows.values() if row.mfu_ratio is not None]
    if len(ids) != 1 or not ratios or ratios[0] > 1:
        raise Refusal("like_run", f"no one run {run!r} has a measured MFU")
    return ratios[0]


def measured_throughput(service: str, window: Window) -> float:
    """A service's tokens (prompt and output) ÷ GPU-hours held, of the window's hours in which both are known.

    Refuses a Refusal.
    """
    try:
        fact = service_named(service)
    except Refusal as refusal:
        raise Refusal("like_service", refusal.message) from None
    hours = served_hours(fact.id, (window.starts_at, window.ends_at))
    tokens = sum(hour.prompt_tokens + hour.output_tokens for hour in hours)
    gpu_hours = sum(hour.gpu_hours for hour in hours)
    if not tokens or not gpu_hours:
        raise Refusal("like_service", f"no tokens of {service!r} were counted in its GPU-hours")
    return tokens / gpu_hours
