"""The effect of more GPUs on a workload: how much sooner it is trained, and how much dearer."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import cast

from apps.accounts import queries as accounts
from apps.economics import scaling
from apps.economics.scaling import ScalingLaw, Throughput
from apps.ledger.queries.windows import Window
from apps.show.amounts import counted
from apps.show.counts import short_count, times
from apps.show.money import rounded_amount
from apps.show.words import joined
from apps.unit_economics.models import RunFigures
from apps.unit_economics.queries.runs.spent import runs_of_window
from apps.workloads.queries.run_facts import run_summaries

MOST_RUNS = 60
"""Of more runs the last ones: an older one was made with older code."""
MOST_LOOKED_AT = 500
PICTURE_STEPS = 12
SECONDS_PER_HOUR = 3600
FINISHED = "finished"


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


@dataclass(frozen=True, slots=True)
class _Version:
    """A model version: its tokens, paid time for each second of training, micro-units a GPU-second."""

    tokens: int
    overhead: float
    price: float | None

    def hours(self, law: ScalingLaw, gpus: int) -> float:
        return self.tokens / law.rate(gpus) * self.overhead / SECONDS_PER_HOUR

    def micros(self, law: ScalingLaw, gpus: int) -> float:
        return self.hours(law, gpus) * SECONDS_PER_HOUR * gpus * (self.price or 0.0)


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A law, the laws of its runs drawn anew, and the version whose time and cost are asked."""

    law: ScalingLaw
    drawn: Sequence[ScalingLaw]
    version: _Version | None

    def range_of(self, figure: Callable[[ScalingLaw], float]) -> Range:
        between = scaling.middle_of([figure(law) for law in self.drawn]) or (None, None)
        return Range(figure(self.law), *between)

    def hours(self, gpus: int) -> Range | None:
        version = self.version
        if version is None:
            return None
        return self.range_of(lambda law: version.hours(law, gpus))

    def micros(self, gpus: int) -> Range | None:
        version = self.version
        if version is None or version.price is None:
            return None
        return self.range_of(lambda law: version.micros(law, gpus))

    def point(self, gpus: int) -> CurvePoint:
        rate = self.range_of(lambda law: law.rate(gpus))
        return CurvePoint(gpus, rate, self.hours(gpus), self.micros(gpus))


def scaling_of(
    workload_id: int, *, window: Window, gpus: int | None = None
) -> ScalingAnswer | ScalingRefusal:
    """Return what `gpus` GPUs (twice those of the last run, where not said) would do for a workload.

    From its runs of the window on one GPU model, training one model: of the last run's kind, else
    of the last one of which three sizes are known. Gunther's universal scalability law, fitted by
    non-negative least squares.
    """
    groups = _comparable_groups(runs_of_window(workload_id, window))
    if not groups:
        return ScalingRefusal(
            workload_id, "No run of this time reported how many tokens it trained.", ()
        )
    enough = (group for group in groups if len(_sizes_of_runs(group[1])) >= scaling.FEWEST_SIZES)
    model, chosen = next(enough, groups[0])
    runs = tuple(_scaling_run(figures) for figures in chosen)
    sizes = _sizes_of_runs(chosen)
    if len(sizes) < scaling.FEWEST_SIZES:
        return ScalingRefusal(workload_id, _too_few(sizes, chosen[0]), runs)
    now = chosen[0].gpus or 0
    more = gpus or 2 * now
    if more > scaling.FURTHEST * max(sizes):
        return ScalingRefusal(workload_id, _too_far(more, max(sizes)), runs)
    throughputs = [Throughput(run.gpus, run.tokens_per_second) for run in runs]
    fitted = _Fitted(scaling.fit(throughputs), scaling.resampled(throughputs), _version_of(chosen))
    others = sum(len(group) for _, group in groups) - len(chosen)
    return _scaling_answer(_ScalingQuestion(workload_id, now, more, chosen, others, model), fitted)


@dataclass(frozen=True, slots=True)
class _ScalingQuestion:
    workload_id: int
    now: int
    more: int
    chosen: Sequence[RunFigures]
    others: int
    model: Mapping[str, object]


def _scaling_answer(question: _ScalingQuestion, fitted: _Fitted) -> ScalingAnswer:
    now, more, law, version = question.now, question.more, fitted.law, fitted.version
    speed_up = fitted.range_of(lambda fitted_law: fitted_law.speed_up(now, more))
    multiplier = fitted.range_of(lambda fitted_law: fitted_law.cost_multiplier(now, more))
    hours, micros = fitted.hours(more), fitted.micros(more)
    return ScalingAnswer(
        workload_id=question.workload_id,
        gpu_model=question.chosen[0].gpu_model,
        model=_model_words(question.model),
        gpus=now,
        more=more,
        speed_up=speed_up,
        cost_multiplier=multiplier,
        version_tokens=version.tokens if version else None,
        hours_now=fitted.hours(now),
        hours=hours,
        micros_now=fitted.micros(now),
        micros=micros,
        peak_gpus=law.peak if law.peak <= scaling.FURTHEST * law.largest else None,
        largest=law.largest,
        runs=tuple(_scaling_run(figures) for figures in question.chosen),
        others=question.others,
        points=tuple(
            fitted.point(picture_siz)
            for picture_siz in _picture_sizes(_sizes_of_runs(question.chosen), (now, more))
        ),
        words=_answer_words(now, more, speed_up, multiplier, micros),
    )


def _comparable_groups(
    runs: Sequence[RunFigures],
) -> list[tuple[Mapping[str, object], list[RunFigures]]]:
    """The last runs that told their throughput, by GPU model and trained model, newest first.

    Each with that trained model.
    """
    measured_runs = [figures for figures in runs if figures.tokens_per_second and figures.gpus][
        :MOST_LOOKED_AT
    ]
    summaries = run_summaries([figures.run_id for figures in measured_runs])
    groups: dict[tuple[str, str], tuple[Mapping[str, object], list[RunFigures]]] = {}
    for run in measured_runs:
        model = summaries[run.run_id].model if run.run_id in summaries else {}
        key = run.gpu_model, json.dumps(model, sort_keys=True)
        groups.setdefault(key, (model, []))[1].append(run)
    return [(model, group[:MOST_RUNS]) for model, group in groups.values()]


def _version_of(chosen: Sequence[RunFigures]) -> _Version | None:
    """As the finished runs were: their median of tokens, and what all the runs paid beside steps.

    Paid time ÷ time that the tokens took at the rate of their run: restarts, saves and waits are in
    a version's cost as they were in these runs'.
    """
    tokens = [run.tokens for run in chosen if run.tokens and run.status == FINISHED]
    counted_runs = [run for run in chosen if run.tokens and run.unit_milliseconds]
    if not tokens or not counted_runs:
        return None
    paid = sum(counted_run.unit_milliseconds for counted_run in counted_runs) / 1000
    trained = sum(
        cast("int", counted_run.tokens)
        / cast("float", counted_run.tokens_per_second)
        * cast("int", counted_run.gpus)
        for counted_run in counted_runs
    )
    return _Version(round(median(tokens)), paid / trained, _price_per_second(counted_runs))


def _price_per_second(chosen: Sequence[RunFigures]) -> float | None:
    """Micro-units for a GPU-second that has a price."""
    priced = [run for run in chosen if run.effective_micros is not None]
    seconds = sum(run.unit_milliseconds - run.unpriced_milliseconds for run in priced) / 1000
    return sum(run.effective_micros or 0 for run in priced) / seconds if seconds else None


def _picture_sizes(sizes: Sequence[int], wanted_sizes: Sequence[int]) -> list[int]:
    """The sizes that were run, the asked ones, and steps between the smallest and twice the largest."""
    low, high = min(sizes), scaling.FURTHEST * max(sizes)
    steps = (
        round(low * (high / low) ** (step / PICTURE_STEPS)) for step in range(PICTURE_STEPS + 1)
    )
    return sorted({*sizes, *wanted_sizes, *steps})


def _sizes_of_runs(group: Sequence[RunFigures]) -> list[int]:
    return sorted({run.gpus for run in group if run.gpus})


def _scaling_run(run: RunFigures) -> ScalingRun:
    # Both are there: runs without are left aside by _comparable.
    return ScalingRun(run.run_id, run.key, run.gpus or 0, run.tokens_per_second or 0.0)


def _too_few(sizes: Sequence[int], last: RunFigures) -> str:
    sizes_text = joined([str(size) for size in sizes])
    return (
        f"Runs on {scaling.FEWEST_SIZES} different numbers of GPUs are needed to say what more "
        f"would bring; runs like {last.key} were on {counted(len(sizes), 'number')}: {sizes_text}."
    )


def _too_far(more: int, largest: int) -> str:
    return (
        f"{more} GPUs are over twice the largest run seen, {largest}: no run says what happens "
        f"there. Ask for at most {scaling.FURTHEST * largest}."
    )


def _answer_words(
    now: int, more: int, speed_up: Range, multiplier: Range, micros: Range | None
) -> str:
    sentence = (
        f"{times(more / now)} GPUs ({now} → {more}): {times(speed_up.value)} as fast, "
        f"costs {times(multiplier.value)} as much"
    )
    if micros is None:
        return f"{sentence}."
    currency = accounts.organisation().currency
    cost = rounded_amount(round(micros.value), currency)
    if micros.low is None or micros.high is None:
        return f"{sentence}; a model version then costs {cost}."
    between = "–".join(
        rounded_amount(round(bound), currency) for bound in (micros.low, micros.high)
    )
    return f"{sentence}; a model version then costs {cost} ({between})."


def _model_words(model: Mapping[str, object]) -> str:
    active = model.get("active_parameters")
    return f"{short_count(active)} parameters" if isinstance(active, int | float) else ""
