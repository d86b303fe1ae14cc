"""Runs, one of them, some side by side, a programme; and their tables as CSV."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.console.kit.cells import text_cell
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, Context, request_context, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.runs.compare import compare_page, compared, compared_cells
from apps.console.pages.runs.listing import runs_csv_of, runs_page
from apps.console.pages.runs.one import known_run, run_page_of
from apps.console.pages.runs.picture import by_day
from apps.console.pages.runs.programme import known_workload, programme_page
from apps.console.pages.runs.question import runs_question
from apps.console.pages.runs.tables import BUCKETS_OF_RUN, JOBS_OF_RUN, RUN_DAYS
from apps.unit_economics.queries.runs.page import runs_told


@shown(EVERYONE, "runs")
def runs(context: Context) -> ConsolePage:
    """What training runs cost, and how much of it was productive."""
    return runs_page(context)


@shown(EVERYONE, "runs")
def runs_csv(context: Context) -> HttpResponse:
    """The same runs, all of them."""
    return runs_csv_of(context, "runs")


@shown(EVERYONE, "runs")
def runs_days_csv(context: Context) -> HttpResponse:
    """What their days cost, by bucket."""
    asked = runs_question(context)
    days = by_day(runs_told(asked.wanted, asked.window).days)
    return RUN_DAYS.csv(sorted(days.items()), context, "runs-by-day")


@require_safe
@shown_to(EVERYONE)
def compare_runs(request: HttpRequest) -> HttpResponse:
    """Runs side by side."""
    page = compare_page(request.GET, request_context(request, "runs"))
    return render(request, "runs/compare.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def compare_runs_csv(request: HttpRequest) -> HttpResponse:
    """The same as a table: a column for each run."""
    who = request_context(request, "runs")
    found = compared(request.GET, who)
    header = ["what", *(text_cell(each.run.key) for each in found)]
    cells = compared_cells(found, who.organisation.currency) if found else iter(())
    return csv_answer("runs-compared", header, cells)


@require_safe
@shown_to(EVERYONE)
def run(request: HttpRequest, run_id: int) -> HttpResponse:
    """One run: where its time and money went, and what to do."""
    page = run_page_of(run_id, request_context(request, "runs"))
    return render(request, "runs/run.html", {"page": page})


@shown(EVERYONE, "runs")
def run_buckets_csv(context: Context, run_id: int) -> HttpResponse:
    """Where a run's time and money went."""
    buckets = known_run(run_id, context).buckets
    return BUCKETS_OF_RUN.csv(buckets, context, f"run-{run_id}-buckets")


@shown(EVERYONE, "runs")
def run_jobs_csv(context: Context, run_id: int) -> HttpResponse:
    """The jobs that carried a run, each in its part in it."""
    return JOBS_OF_RUN.csv(known_run(run_id, context).jobs, context, f"run-{run_id}-jobs")


@require_safe
@shown_to(EVERYONE)
def programme(request: HttpRequest, workload_id: int) -> HttpResponse:
    """A workload's runs as one programme."""
    page = programme_page(workload_id, request_context(request, "runs"))
    return render(request, "runs/programme.html", {"page": page})


@shown(EVERYONE, "runs")
def programme_csv(context: Context, workload_id: int) -> HttpResponse:
    """A workload's runs as a table."""
    known_workload(workload_id, context)
    return runs_csv_of(context, f"runs-of-workload-{workload_id}", workload_id)
