"""A job as a quote is asked for it, checked field by field."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Annotated, Any

from apps.economics.gpu_catalogue import named_gpu
from apps.economics.gpu_model import Precision
from apps.economics.hours import HOUR
from apps.economics.model_flops import NoPeak, peak_of
from apps.economics.placement.estimates import LEAST_CHANCE, LikelyRange, PlacedJob
from apps.economics.planned_work import training_gpu_hours
from apps.economics.refusal import Refusal
from apps.show.entries import Entry
from apps.unit_economics.queries.runs.list import run_rows
from apps.unit_economics.queries.runs.power import FULLY_OBSERVED
from apps.workloads import queries as workloads

HOUR_SECONDS = 3600.0
HOUR_MS = 3_600_000
MOST_ASKED_GPUS = 100_000
MOST_OFFERS, LONGEST_LIST = 300, 50
_HOURS, _COUNT = Entry(least=1e-6, most=1e30), Entry(least=1, most=1e30)
_LIST = Entry(most=LONGEST_LIST)
INTERRUPTIBLE, UNINTERRUPTED, SERVING = "interruptible", "uninterrupted", "serving"
JOB_KINDS = (INTERRUPTIBLE, UNINTERRUPTED, SERVING)


class QuoteNotUnderstood(Refusal):
    """A refusal that says what is wrong with a field of the job that a quote is asked for."""


@dataclass(frozen=True, slots=True)
class RequestedWork:
    """How much work: GPU-hours (of a model), a training's tokens and parameters, or as much as a run took."""

    gpu_hours: Annotated[float | None, _HOURS] = None
    least_gpu_hours: Annotated[float | None, _HOURS] = None
    most_gpu_hours: Annotated[float | None, _HOURS] = None
    of_model: str = ""
    tokens: Annotated[float | None, _COUNT] = None
    parameters: Annotated[float | None, _COUNT] = None
    mfu: Annotated[float | None, Entry(least=1e-3, most=1)] = None
    like_run: int | None = None


@dataclass(frozen=True, slots=True)
class RequestedDataset:
    """Where the data lies (`provider:region`), its gigabytes, and how fast it moves, in gigabits a second."""

    place: str
    gigabytes: Annotated[float, Entry(least=0, most=1e12)]
    gbps: Annotated[float | None, Entry(least=1e-6, most=1e6)] = None


@dataclass(frozen=True, slots=True)
class QuoteRequest:
    """Everything that may be said of a job; None or empty: not said.

    `residency` are places or beginnings of them (`aws:eu-`), `priority` a QOS of the scheduler. An offer with less than `least_chance` of
    the deadline counts as late. What is assumed is the asker's word where nothing was measured.
    """

    gpus: Annotated[int, Entry(least=1, most=MOST_ASKED_GPUS)]
    work: RequestedWork
    gpu_models: Annotated[tuple[str, ...], _LIST] = ()
    gpu_memory_gib: Annotated[float | None, Entry(least=0, most=1e6)] = None
    deadline: datetime | None = None
    write_seconds: float | None = None
    cadence_seconds: float | None = None
    restart_seconds: Annotated[float, Entry(least=0, most=86_400)] = 0.0
    kind: Annotated[str, Entry(choices=JOB_KINDS)] = INTERRUPTIBLE
    has_fallback: bool = False
    dataset: RequestedDataset | None = None
    residency: Annotated[tuple[str, ...], _LIST] = ()
    team_id: int | None = None
    priority: str = ""
    assumed_wait_minutes: Annotated[float | None, Entry(least=0, most=1e6)] = None
    assumed_interruptions_per_day: Annotated[float | None, Entry(least=0, most=1e4)] = None
    least_chance: Annotated[float, Entry(least=0, most=1)] = LEAST_CHANCE
    limit: Annotated[int, Entry(least=1, most=MOST_OFFERS)] = 20

    def document(self) -> dict[str, Any]:
        """As it is kept with its quote."""
        fields = asdict(self)
        return fields | {"deadline": self.deadline.isoformat() if self.deadline else None}

    def placed_job(self, at: datetime) -> PlacedJob:
        """As the arithmetic takes it: hours from now."""
        return PlacedJob(
            gpus=self.gpus,
            deadline=None if self.deadline is None else (self.deadline - at) / HOUR,
            write=_hours_of(self.write_seconds),
            cadence=_hours_of(self.cadence_seconds),
            restart=self.restart_seconds / HOUR_SECONDS,
            is_interruptible=self.kind != UNINTERRUPTED,
            is_serving=self.kind == SERVING,
            has_fallback=self.has_fallback,
            least_chance=self.least_chance,
        )


@dataclass(frozen=True, slots=True)
class WorkBasis:
    """GPU-hours on a model (empty: on any), or by model; `words` say where they are from.

    `watts` is what a GPU drew in the run that it is like, where meters told all of it.
    """

    words: str
    gpu_hours: LikelyRange | None = None
    of_model: str = ""
    asked: RequestedWork = field(default_factory=RequestedWork)
    watts: float | None = None

    def on(self, gpu_model: str, gpus: int) -> tuple[LikelyRange | None, str]:
        """Hours of all the GPUs on this model, and in words how they were carried over; None: not known."""
        if self.gpu_hours is None:
            return self._training_hours(gpu_model, gpus)
        hours = self.gpu_hours.times(1 / gpus)
        if not self.of_model or are_same_model(self.of_model, gpu_model):
            return hours, ""
        from_peak, to_peak = (peak_of(name, Precision.BF16) for name in (self.of_model, gpu_model))
        if isinstance(from_peak, NoPeak) or isinstance(to_peak, NoPeak):
            return None, f"nothing says how much faster {gpu_model} is than {self.of_model}"
        factor = from_peak.flops / to_peak.flops
        words = f"the work is carried from {self.of_model} by their dense bf16 peaks, times {factor:.3g}"
        return hours.times(factor), words

    def _training_hours(self, gpu_model: str, gpus: int) -> tuple[LikelyRange | None, str]:
        peak = peak_of(gpu_model, Precision.BF16)
        if isinstance(peak, NoPeak):
            return None, peak.reason
        work = self.asked
        hours = training_gpu_hours(work.parameters or 0, work.tokens or 0, peak, work.mfu or 0)
        return LikelyRange(hours, hours, hours).times(1 / gpus), ""


def are_same_model(one: str, other: str) -> bool:
    """Whether two written names may mean the same GPU model."""
    if one.casefold() == other.casefold():
        return True
    models = {model.name for model in named_gpu(one).candidates}
    return bool(models & {model.name for model in named_gpu(other).candidates})


def work_basis(
    question: QuoteRequest, team_ids: frozenset[int] | None, cluster_id: int | None = None
) -> WorkBasis:
    """Return what the work is taken to be; refuses QuoteNotUnderstood.

    The asker sees runs of `team_ids` (None: of everybody), with jobs in `cluster_id` (None: anywhere).
    """
    work = question.work
    stated_measures = [
        work.gpu_hours is not None,
        work.tokens is not None,
        work.like_run is not None,
    ]
    if sum(stated_measures) != 1:
        raise QuoteNotUnderstood(
            "work", "say GPU-hours, tokens, or the run it is like: one of them"
        )
    if work.gpu_hours is not None:
        low = work.gpu_hours if work.least_gpu_hours is None else work.least_gpu_hours
        high = work.gpu_hours if work.most_gpu_hours is None else work.most_gpu_hours
        if not 0 < low <= work.gpu_hours <= high:
            raise QuoteNotUnderstood("work", "least, likely and most GPU-hours are in this order")
        model = work.of_model or (question.gpu_models[0] if len(question.gpu_models) == 1 else "")
        on = f" on {model}" if model else ", taken to be as many on every model"
        words = f"{work.gpu_hours:g} GPU-hours{on}"
        return WorkBasis(words, LikelyRange(low, work.gpu_hours, high), model)
    if work.tokens is not None:
        if not (work.parameters and work.mfu):
            raise QuoteNotUnderstood("work", "tokens need parameters and an MFU beside them")
        words = (
            f"6 × {work.parameters / 1e9:,.4g} billion parameters × {work.tokens / 1e9:,.4g} billion tokens"
            f" at an MFU of {work.mfu:.0%}"
        )
        return WorkBasis(words, asked=work)
    return _basis_of_run(work.like_run or 0, team_ids, cluster_id)


def _basis_of_run(
    run_id: int, team_ids: frozenset[int] | None, cluster_id: int | None
) -> WorkBasis:
    run = run_rows([run_id]).get(run_id)
    is_theirs = run is not None and (team_ids is None or run.team_id in team_ids)
    if is_theirs and cluster_id is not None:
        is_theirs = workloads.is_run_in_cluster(run_id, cluster_id)
    if run is None or not is_theirs:
        raise QuoteNotUnderstood("work", f"there is no run {run_id} that was settled")
    if not run.unit_milliseconds:
        raise QuoteNotUnderstood("work", f"nothing is charged of the run {run.key} yet")
    if run.ended_at is None:
        raise QuoteNotUnderstood("work", f"the run {run.key} has not ended: say its GPU-hours")
    hours = run.unit_milliseconds / HOUR_MS
    on = f" on {run.gpu_model}" if run.gpu_model else ""
    words = f"as the run {run.key}: {hours:.1f} GPU-hours{on}, redone work included"
    watts = None
    if run.energy_joules and (run.observed_ratio or 0) >= FULLY_OBSERVED:
        watts = run.energy_joules / (hours * HOUR_SECONDS)
    return WorkBasis(words, LikelyRange(hours, hours, hours), run.gpu_model, watts=watts)


def lies_within(place: str, residency: Sequence[str]) -> bool:
    """Whether a place is one of these, or begins as one of them: `gcp:us-east1` is no beginning of `gcp:us-east10`."""
    return any(
        place.startswith(prefix)
        and not (prefix[-1:].isdigit() and place[len(prefix) :][:1].isdigit())
        for prefix in residency
    )


def refuse_impossible_job(question: QuoteRequest, at: datetime) -> None:
    """Refuse QuoteNotUnderstood of what no job can be."""
    if question.deadline is not None and question.deadline <= at:
        raise QuoteNotUnderstood("deadline", "the deadline is over")
    if question.kind == SERVING and question.work.gpu_hours is None:
        raise QuoteNotUnderstood("work", "serving is asked for by GPU-hours: GPUs times hours")
    if question.has_fallback and question.kind != SERVING:
        raise QuoteNotUnderstood("has_fallback", "a fallback is of serving")
    for name in question.gpu_models:
        if not named_gpu(name).candidates:
            raise QuoteNotUnderstood("gpu_models", f"{name!r} is no GPU model that is known")
    if question.dataset is not None:
        _refuse_unknown_place("dataset", [question.dataset.place])
    _refuse_unknown_place("residency", question.residency)


def _refuse_unknown_place(name: str, places: Sequence[str]) -> None:
    for place in places:
        if ":" not in place:
            raise QuoteNotUnderstood(name, f"{place!r} is no place such as aws:us-east-1")


def _hours_of(seconds: float | None) -> float | None:
    return None if seconds is None else seconds / HOUR_SECONDS
