"""A workload's runs as one programme: what its versions cost, what more GPUs bring, the trend."""

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

from django.http import Http404
from django.urls import reverse
from django.utils.html import format_html

from apps.console.kit.cells import FIGURE, PROSE, Locale, drawn, linked, quiet
from apps.console.kit.chart import Figure, FigureRow, figure_or_unknown
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, Include, Section, SideBySide, files_page, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import Table
from apps.console.pages.recommendations.related import work_file, work_section
from apps.console.pages.runs.listing import runs_file, runs_section
from apps.console.pages.runs.numbers import NUMBERS, number_words
from apps.console.pages.runs.question import RunsQuestion, runs_question
from apps.console.pages.runs.scaling import Answer, requested_gpus, scaling
from apps.console.pages.runs.tables import RUNS_OF_ONE
from apps.console.pages.runs.verdicts import Advice, bottleneck_verdicts, checkpoint_verdicts
from apps.console.pages.runs.words import Doubted, doubted_mfu, sentence
from apps.show.amounts import change, counted, gpu_hours, per_cent
from apps.show.counts import short_count
from apps.show.money import rounded_amount, short_amount, unit_cost
from apps.show.sparkline import Sparkline, sparkline
from apps.show.time import short_day
from apps.tables.column import Column
from apps.unit_economics.queries.runs.bottlenecks import workload_time_breakdown
from apps.unit_economics.queries.runs.checkpoints import checkpoint_advice_of_workload
from apps.unit_economics.queries.runs.list import run_page
from apps.unit_economics.queries.runs.programme import Programme, ProgrammeRun
from apps.unit_economics.queries.runs.programme import programme as programme_of
from apps.unit_economics.queries.runs.values import RunFigure
from apps.workloads import queries as workloads

NUMBER_OF: dict[RunFigure, Callable[[ProgrammeRun], float | None]] = {
    RunFigure.TOKENS_PER_SECOND: lambda run: run.tokens_per_second,
    RunFigure.MFU: lambda run: run.mfu_ratio,
    RunFigure.SCALING: lambda run: run.scaling_ratio,
    RunFigure.FIRST_GOOD: lambda run: run.first_good_seconds,
    RunFigure.CHECKPOINT_COST: lambda run: run.checkpoint_micros,
}
NO_VERDICT = (
    "Nothing stands out in what its runs reported: no bucket took more than is usual, and nothing "
    "says that checkpoints should be saved more or less often."
)


class Trend(NamedTuple):
    """One of the numbers over the programme's runs: the last one, and what was usual before it."""

    title: str
    explanation: str
    latest: Doubted
    of_run: Link | None
    median: str
    change: str
    spark: Sparkline | None
    known: str


def _latest_shown(row: Trend, locale: Locale) -> str:
    if row.of_run is None:
        return row.latest.cell()
    of_run = linked(row.of_run.text, locale.onward(row.of_run.href))
    return format_html("{}<small>{}</small>", row.latest.cell(), of_run)


def _trend_drawn(row: Trend) -> str:
    if row.spark is None:
        return quiet("too few runs report it")
    return drawn("runs/_trend.html", spark=row.spark)


TRENDS = Table[Trend](
    "trends",
    "Key metrics, run by run",
    (
        Column("number", "Number", lambda row: row.title, PROSE, note=lambda row: row.explanation),
        Column("trend", "Oldest run to latest", lambda row: "",
               shown=lambda row, _: _trend_drawn(row)),
        Column("latest", "Latest", lambda row: row.latest.text, FIGURE,
               shown=_latest_shown),
        Column("median", "Median before", lambda row: row.median or "–", FIGURE),
        Column("change", "Change", lambda row: row.change or "–", FIGURE),
        Column("known", "Reported by", lambda row: row.known),
    ),
    about="the latest run that reports each, against the median of those before it",
)  # fmt: skip


@shown(EVERYONE, "runs")
def programme(context: Context, workload_id: int) -> ConsolePage:
    """The programme of a workload that the viewer sees; of any other there is none."""
    fact = get_workload_or_404(workload_id, context)
    question = runs_question(context, workload_id)
    runs_csv = runs_file(f"runs-of-workload-{workload_id}", question)
    if context.csv_table is not None:
        return files_page(context, runs_csv, work_file(context, fact), main=runs_csv.table)
    gpus, problem = requested_gpus(context.query)
    training_programme = programme_of(workload_id, window=question.window, at=context.at)
    page = run_page(question.wanted, question.asked)
    sections = (
        *(
            _sections_of(workload_id, training_programme, question, gpus)
            if training_programme.runs
            else ()
        ),
        runs_section(
            RUNS_OF_ONE,
            page,
            question,
            training_programme.runs,
            runs_csv,
        ),
        work_section(context, fact),
    )
    jobs = linked(
        "Its jobs in the cost explorer",
        context.onward(reverse("costs-workload", args=[workload_id])),
    )
    return ConsolePage(
        context=context,
        finding=finding_of(fact.name, training_programme, question.words.within, context.currency),
        under=(
            f"{question.words.days}, effective cost in {context.currency} of what its runs held in it",
            jobs,
        ),
        filters=question.filters,
        problems=(*question.reading.problems, *([problem] if problem else [])),
        back=Link("Runs", reverse("runs")),
        actions=(Link("What it returns", reverse("workload-returns", args=[workload_id])),),
        styles=("css/runs.css",),
        sections=sections,
        empty=None if training_programme.runs or page.rows else _no_run(fact.name, question),
    )


def _sections_of(
    workload_id: int, training_programme: Programme, question: RunsQuestion, gpus: int | None
) -> Iterator[Section]:
    context, window = question.context, question.window
    answer, curves = scaling(workload_id, question, gpus)
    yield FigureRow(_figures_of(training_programme, context.currency))
    yield _question_of_gpus(answer, question)
    if curves:
        yield SideBySide(curves)
    trends = [_trend_of(figure, training_programme.trend, context.currency) for figure in NUMBERS]
    yield TRENDS.section(trends, context)
    advice: tuple[Advice, ...] = (
        *bottleneck_verdicts(workload_time_breakdown(workload_id, window=window)),
        *checkpoint_verdicts(checkpoint_advice_of_workload(workload_id, window=window)),
    )
    yield Include("runs/_verdicts.html", {"verdicts": advice, "note": NO_VERDICT})


def _question_of_gpus(answer: Answer, question: RunsQuestion) -> Include:
    path, window = question.context.path, question.reading.texts["window"]
    return Include("runs/_answer.html", {"answer": answer, "here": path, "window": window})


def get_workload_or_404(workload_id: int, context: Context) -> workloads.WorkloadFact:
    """The workload, or the page that there is none."""
    fact = workloads.workloads().get(workload_id)
    if fact is None or not context.viewer.sees_team(fact.team_id):
        raise Http404("There is no such workload.")
    return fact


def finding_of(name: str, training_programme: Programme, within: str, currency: str) -> str:
    """Return what the programme cost and what came of it, in one sentence."""
    if not training_programme.runs:
        return f"No run of {name} is known {within}."
    runs, versions = counted(training_programme.runs, "run"), len(training_programme.versions)
    if training_programme.micros is None:
        return f"What {runs} of {name} cost {within} is not known: nothing of it has a price yet."
    summary = (
        f"{runs} of {name} cost {rounded_amount(training_programme.micros, currency)} {within}"
    )
    if versions and training_programme.version_micros is not None:
        version_cost = rounded_amount(training_programme.version_micros, currency)
        return (
            f"{summary}: {version_cost} for each of {counted(versions, 'model version')} shipped."
        )
    if training_programme.failed_share:
        return (
            f"{summary}; {per_cent(training_programme.failed_share)} of it went into what failed."
        )
    return f"{summary}."


def _figures_of(training_programme: Programme, currency: str) -> tuple[Figure, ...]:
    versions = len(training_programme.versions)
    hours = f"{gpu_hours(training_programme.unit_milliseconds)} GPU-hours"
    if training_programme.unpriced_milliseconds:
        hours += f", {gpu_hours(training_programme.unpriced_milliseconds)} of them without a price"
    return (
        figure_or_unknown(
            "Cost per model version",
            None
            if training_programme.version_micros is None
            else short_amount(training_programme.version_micros, currency),
            f"{counted(versions, 'version')} shipped, all runs included; {hours}"
            if versions
            else "no shipped model version was reported",
        ),
        figure_or_unknown(
            "Cost per million tokens",
            None
            if training_programme.million_tokens_micros is None
            else unit_cost(training_programme.million_tokens_micros, currency),
            f"{short_count(training_programme.tokens)} tokens trained and kept"
            if training_programme.tokens
            else "no tokens reported",
        ),
        figure_or_unknown(
            "Experiments a week",
            None
            if training_programme.experiments_per_week is None
            else f"{training_programme.experiments_per_week:.1f}",
            f"{counted(training_programme.runs, 'run')}, of which {training_programme.failed_runs:,} failed"
            + (
                f"; in {training_programme.told_days:,.1f} days with runs known"
                if training_programme.told_days
                else ""
            ),
        ),
        figure_or_unknown(
            "Goodput",
            None
            if training_programme.goodput_ratio is None
            else per_cent(training_programme.goodput_ratio),
            f"{per_cent(training_programme.told_ratio)} of GPU time reported"
            + (
                f"; {short_amount(training_programme.failed_micros, currency)} went into what failed"
                if training_programme.failed_micros
                else ""
            ),
        ),
    )


def _trend_of(figure: RunFigure, runs: Sequence[ProgrammeRun], currency: str) -> Trend:
    about, of = NUMBERS[figure], NUMBER_OF[figure]
    values = [_possible_value(figure, of(run)) for run in runs]
    known_values = [
        (run, value) for run, value in zip(runs, values, strict=True) if value is not None
    ]
    earlier = [value for _, value in known_values[:-1]]
    usual = median(earlier) if earlier else None
    return Trend(
        title=about.title,
        explanation=about.explanation,
        latest=_latest_value(figure, runs, known_values, currency),
        of_run=Link(known_values[-1][0].key, reverse("run", args=[known_values[-1][0].run_id]))
        if known_values
        else None,
        median=number_words(figure, usual, currency) if usual is not None else "",
        change=_relative_change(known_values[-1][1], usual) if known_values and usual else "",
        spark=sparkline(values, words=f"{about.title}, run by run{_first_to_last(known_values)}"),
        known=f"{len(known_values):,} of {counted(len(runs), 'run')}",
    )


def _latest_value(
    figure: RunFigure,
    runs: Sequence[ProgrammeRun],
    known_values: Sequence[tuple[ProgrammeRun, float]],
    currency: str,
) -> Doubted:
    """Of the last run that reports it; where none does, its substitute in the last run."""
    if known_values:
        run, value = known_values[-1]
        doubt = sentence(run.mfu_doubt) if figure is RunFigure.MFU else ""
        return Doubted(number_words(figure, value, currency), doubt)
    if figure is RunFigure.MFU and runs:
        return doubted_mfu(
            runs[-1].mfu_ratio, sentence(runs[-1].mfu_doubt), runs[-1].tensor_active_ratio
        )
    return Doubted("–", is_unknown=True)


def _possible_value(figure: RunFigure, value: float | None) -> float | None:
    """A trend has no place for what cannot be."""
    return None if figure is RunFigure.MFU and value is not None and value > 1 else value


def _relative_change(last: float, usual: float) -> str:
    return change(round(last * 1000), round(usual * 1000))


def _first_to_last(known_values: Sequence[tuple[ProgrammeRun, float]]) -> str:
    if not known_values:
        return ""
    first, last = known_values[0][0].began_at, known_values[-1][0].began_at
    return f", {short_day(first.date())} to {short_day(last.date())}"


def _no_run(name: str, question: RunsQuestion) -> EmptyState:
    return EmptyState(
        title="No run in this period",
        sentence=f"What the runs of {name} cost, what more GPUs would bring them, and how their "
        "numbers move stands here once there are runs.",
        steps=(
            Step(
                "There may be runs in a longer period.",
                link=Link("Show the last 365 days", question.href(window="365d")),
            ),
            Step(
                "Runs are this workload’s when they name it:",
                command=f'with runrate.run(workload="{name}", name="july-3") as run: ...',
            ),
        ),
    )
