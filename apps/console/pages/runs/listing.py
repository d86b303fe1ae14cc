"""The page of all runs of a period."""

from collections.abc import Mapping
from datetime import date

from django.urls import reverse

from apps.accounts.queries.paging import Page, PageRequest
from apps.console.kit.chart import FigureRow
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, files_page, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import Table, TableSection
from apps.console.pages.annotations.marks import marked_chart
from apps.console.pages.meters import Metered, meter_section
from apps.console.pages.runs.picture import (
    BucketSums,
    bucket_chart,
    by_day,
    figures_of,
    sums_of_days,
)
from apps.console.pages.runs.question import RunsQuestion, runs_question
from apps.console.pages.runs.tables import HOW_TO_READ, RUN_DAYS, RUNS
from apps.economics.gpu_meters import meters_together
from apps.review.queries.annotations import AnnotationsWanted
from apps.show.amounts import counted, per_cent, share
from apps.show.money import rounded_amount
from apps.show.run_buckets import BUCKETS
from apps.unit_economics.queries.runs.gpu_meters import meters_of_runs
from apps.unit_economics.queries.runs.list import run_page
from apps.unit_economics.queries.runs.page import RunsSummary, are_any_runs, summarize_runs
from apps.unit_economics.queries.runs.values import RunRow as RunFact
from apps.web.queries.wheels import install_command

MOST_CSV_ROWS = 20_000
STATES = tuple(BUCKETS.values())
SNIPPET = 'with runrate.run(workload="pretrain-8b", name="july-3") as run: ...'


@shown(EVERYONE, "runs")
def runs(context: Context) -> ConsolePage:
    """Show what training runs cost, how much of it was not productive, and each of them."""
    question, currency = runs_question(context), context.currency
    runs_csv, days_file = _files_of(question)
    if context.csv_table is not None:
        return files_page(context, runs_csv, days_file, main=RUNS.name)
    report = summarize_runs(question.wanted, question.window)
    days, sums = by_day(report.days), sums_of_days(report.days)
    page = run_page(question.wanted, question.asked)
    meters = meters_of_listed(
        {row.id: (row.key, reverse("run", args=[row.id])) for row in page.rows}, context
    )
    return ConsolePage(
        context=context,
        finding=finding_of(report, sums, question.words.within, currency),
        status=sums.status,
        under=(f"{question.words.days}, effective cost in {currency} of what runs held in it",),
        filters=question.filters,
        problems=tuple(question.reading.problems),
        styles=("css/runs.css",),
        sections=(
            FigureRow(figures_of(sums, days, currency)) if report.days else None,
            marked_chart(
                bucket_chart(sums, days, currency, days_file),
                context,
                _annotations_wanted(question).drawn_on(days),
            ),
            runs_section(RUNS, page, question, report.runs, runs_csv),
            meters,
        ),
        empty=None if report.runs or report.days else _no_runs(question, context.site),
    )


def runs_section(
    table: Table[RunFact],
    page: Page[RunFact],
    question: RunsQuestion,
    total: int,
    runs_csv: CsvFile,
) -> TableSection:
    """The fifty runs that are asked for, each with a box that chooses it to be compared."""
    return table.section(
        page.rows,
        question.context,
        part=question.part(page, total),
        csv=runs_csv,
        form=Link("Compare the chosen runs", reverse("compare-runs")),
        states=STATES,
        remark=HOW_TO_READ,
    )


def runs_file(csv_name: str, question: RunsQuestion) -> CsvFile:
    """Return every wanted run, MOST_CSV_ROWS at most, in the order asked for."""
    every = PageRequest(limit=MOST_CSV_ROWS)
    return RUNS.file(csv_name, question.context, lambda: run_page(question.wanted, every).rows)


def _files_of(question: RunsQuestion) -> tuple[CsvFile, CsvFile]:
    """Every run, and what their days cost by bucket."""

    def days() -> list[tuple[date, BucketSums]]:
        return sorted(by_day(summarize_runs(question.wanted, question.window).days).items())

    return runs_file("runs", question), RUN_DAYS.file("runs-by-day", question.context, days)


def _annotations_wanted(question: RunsQuestion) -> AnnotationsWanted:
    """Return which annotations are of the teams that are asked about, or of the one workload."""
    of_workloads = question.wanted.workload_ids or frozenset()
    workload_id = next(iter(of_workloads)) if len(of_workloads) == 1 else None
    return AnnotationsWanted(question.window, question.wanted.team_ids, workload_id)


def meters_of_listed(named: Mapping[int, tuple[str, str]], context: Context) -> TableSection | None:
    """GPU utilization of these runs, each as a whole; by id their names and addresses."""
    meters_by_run = meters_of_runs(list(named))
    rows = [
        Metered(named[run_id][0], meter, named[run_id][1])
        for run_id, meter in meters_by_run.items()
    ]
    return meter_section(rows, meters_together(meters_by_run.values()), "Run", context)


def finding_of(report: RunsSummary, sums: BucketSums, within: str, currency: str) -> str:
    """Return what the runs cost and how much of it was not productive, in one sentence."""
    runs = counted(report.runs, "training run")
    if not report.runs and not report.days:
        return f"No training run is known {within}."
    if not report.days:
        return f"{runs} ran {within}; nothing of {'it' if report.runs == 1 else 'them'} is charged yet."
    if sums.total is None:
        return f"What {runs} cost {within} is not known: no price covers it."
    sentence = f"{runs} cost {rounded_amount(sums.total, currency)} {within}"
    lost, untold = share(sums.no_progress, sums.total), share(sums.untold, sums.total)
    if untold == 1:
        return f"{sentence}; what it was spent on was not reported."
    parts = [f"{per_cent(lost)} of it was not productive"] if lost else []
    if untold:
        parts.append(f"{per_cent(untold)} of it was not reported")
    return (
        f"{sentence}; {', and '.join(parts)}."
        if parts
        else f"{sentence}; all of it was productive."
    )


def _no_runs(question: RunsQuestion, site: str) -> EmptyState:
    if are_any_runs(question.wanted.team_ids if not question.is_narrowed else None):
        steps = [
            Step(
                "There may be runs in a longer period.",
                link=Link("Show the last 90 days", question.href(window="90d")),
            )
        ]
        if question.is_narrowed:
            everything = question.href(team="", workload="", status="")
            steps.append(
                Step("Other teams or workloads may have runs.", link=Link("Show all", everything))
            )
        return EmptyState(
            "No run in this period", "No run matches what was asked for.", tuple(steps)
        )
    return EmptyState(
        "No training run is reported yet",
        "Each run is listed here with what it cost over all its restarts, how much of that was "
        "productive, how well it used its GPUs, and what would make the next one cheaper.",
        (
            Step(
                "Install the SDK where training runs:", command=install_command(site, "runrate-sdk")
            ),
            Step("Say in the training script where a run begins and ends:", command=SNIPPET),
            Step(
                "Or change no code, and start the script through it:",
                command="runrate wrap -- torchrun train.py",
            ),
        ),
    )
