"""A run of a kept scenario as it is looked at: its answer, and both sides against volume."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from apps.economics.crossover.answer import (
    QUICK_ANSWER,
    CrossoverAdvice,
    CrossoverAnswer,
    CrossoverQuestion,
)
from apps.economics.crossover.bands import CostBand, cost_bands
from apps.economics.crossover.moves import question_with
from apps.economics.crossover.reading import question_of
from apps.economics.crossover.scenario import cost_curves
from apps.economics.crossover.sliders import InputSlider, moved_values, sliders_of
from apps.economics.crossover.uncertainty import SavingsRange, SpreadOfThree
from apps.planning.queries.crossover import ScenarioRunFact, run_inputs
from apps.planning.queries.crossover_answers import compute_answer, seeded_chance

CURVE_POINTS, BAND_POINTS, BAND_DRAWS = 192, 24, 40
BEYOND, FAR = 1.35, 6
"""So far beyond the volume, and beyond that of the durable crossing, both sides are drawn."""


@dataclass(frozen=True, slots=True)
class VolumePoint:
    """Both sides' month at a volume, and where the replicas allowed cannot serve it."""

    million_tokens: float
    self_host: float
    api: float
    utilization: float | None
    is_served: bool


@dataclass(frozen=True, slots=True)
class ExploredRun:
    """A run's answer, or what it would be with other values; `is_moved` says which.

    `sliders` are the inputs that may be moved, as they were in the run. `bands` are at the `marked`
    points of the curve; none where no input has a range.
    """

    question: CrossoverQuestion
    answer: CrossoverAnswer
    sliders: tuple[InputSlider, ...]
    is_moved: bool
    curve: tuple[VolumePoint, ...]
    marked: tuple[VolumePoint, ...]
    bands: tuple[CostBand, ...]

    def costs_at(self, volume: float) -> tuple[float, float]:
        """A month of each side at a volume: self-hosting, the API."""
        curves = cost_curves(self.question.scenario)
        return curves.self_host_month(volume), curves.api.month(volume)

    def utilization_at(self, volume: float) -> float | None:
        """Of the replicas that stand at a volume."""
        return cost_curves(self.question.scenario).utilization(volume)


def run_question_and_sliders(
    run: ScenarioRunFact,
) -> tuple[CrossoverQuestion, tuple[InputSlider, ...]]:
    """Return the question that a run answered, and the inputs of it that may be moved."""
    question = question_of(run_inputs(run.id))
    durable = run.figure("break_even", "durable_million_tokens")
    return question, tuple(sliders_of(question, durable))


def explore_run(
    run: ScenarioRunFact,
    question: CrossoverQuestion,
    sliders: tuple[InputSlider, ...],
    chosen: Mapping[str, float],
) -> ExploredRun:
    """The run, with the inputs `chosen` by their sliders' names. Refuses a Refusal.

    Its ranges are drawn a few times only where something was moved: the run has its own.
    """
    values = moved_values(question.scenario, list(sliders), chosen)
    moved = question_with(question, values) if values else question
    effort = QUICK_ANSWER if values else replace(QUICK_ANSWER, draws=2)
    answer = compute_answer(moved, effort)
    if not values:
        answer = replace(
            answer,
            advice=CrossoverAdvice(run.advice),
            reasons=tuple(run.answer["reasons"]),
            uncertainty=_stored_range(run.answer["uncertainty"]),
        )
    volumes = _volumes_drawn(answer)
    curve = _curve_at(moved, volumes)
    marked = (curve[0], *curve[CURVE_POINTS // BAND_POINTS - 1 :: CURVE_POINTS // BAND_POINTS])
    chance = seeded_chance(moved).random
    return ExploredRun(
        moved,
        answer,
        sliders,
        bool(values),
        curve,
        marked,
        tuple(cost_bands(moved, [point.million_tokens for point in marked], BAND_DRAWS, chance)),
    )


def _stored_range(document: Mapping[str, Any] | None) -> SavingsRange | None:
    if document is None:
        return None
    spreads = {
        name: SpreadOfThree(**value) for name, value in document.items() if isinstance(value, dict)
    }
    return SavingsRange(**{**document, **spreads})


def _volumes_drawn(answer: CrossoverAnswer) -> list[float]:
    volume = answer.costs.million_tokens
    # A crossing far away would leave nothing to be seen of where the service is.
    near = (
        crossing
        for crossing in (answer.search.durable, answer.search.first)
        if crossing is not None and crossing <= FAR * volume
    )
    most = BEYOND * max(volume, next(near, volume))
    return [most * (place + 1) / CURVE_POINTS for place in range(CURVE_POINTS)]


def _curve_at(question: CrossoverQuestion, volumes: list[float]) -> tuple[VolumePoint, ...]:
    curves = cost_curves(question.scenario)
    return tuple(
        VolumePoint(
            volume,
            curves.self_host_month(volume),
            curves.api.month(volume),
            curves.utilization(volume),
            curves.serves(volume),
        )
        for volume in volumes
    )
