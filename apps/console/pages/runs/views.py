"""Runs, one of them, some side by side, a programme; and their tables as CSV."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.console.kit.cells import text_cell
from apps.console.kit.request import EVERYONE, request_context, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.runs.compare import compare_page, compared, compared_cells
from apps.console.pages.runs.listing import (
    DAYS_HEADER,
    RUN_HEADER,
    csv_rows,
    day_cells,
    run_cells,
    runs_page,
)
from apps.console.pages.runs.one import known_run, run_page_of
from apps.console.pages.runs.programme import known_workload, programme_page
from apps.console.pages.runs.question import runs_question
from apps.console.pages.runs.tables import bucket_cells, job_cells
from apps.ledger.queries.runs.page import runs_told

BUCKETS_HEADER = (
    *("bucket", "gpu_hours", "unpriced_gpu_hours", "energy_joules"),
    *("list_cost", "contracted_cost", "effective_cost", "billed_cost", "currency"),
)
JOBS_HEADER = (
    *("job", "state", "restarts", "started_at", "ended_at", "gpu_hours", "effective_cost"),
    "currency",
)


@require_safe
@shown_to(EVERYONE)
def runs(request: HttpRequest) -> HttpResponse:
    """What training runs cost, and how much of it bought progress."""
    page = runs_page(request.GET, request_context(request, "runs"))
    return render(request, "runs/page.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def runs_csv(request: HttpRequest) -> HttpResponse:
    """The same runs, all of them."""
    who = request_context(request, "runs")
    asked = runs_question(request.GET, who)
    cells = run_cells(csv_rows(asked), who.organisation.currency)
    return csv_answer("runs", RUN_HEADER, cells)


@require_safe
@shown_to(EVERYONE)
def runs_days_csv(request: HttpRequest) -> HttpResponse:
    """What their days cost, by bucket."""
    who = request_context(request, "runs")
    asked = runs_question(request.GET, who)
    told = runs_told(asked.wanted, asked.window)
    return csv_answer("runs-by-day", DAYS_HEADER, day_cells(told, who.organisation.currency))


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


@require_safe
@shown_to(EVERYONE)
def run_buckets_csv(request: HttpRequest, run_id: int) -> HttpResponse:
    """Where a run's time and money went."""
    told = known_run(run_id, request_context(request, "runs"))
    return csv_answer(f"run-{run_id}-buckets", BUCKETS_HEADER, bucket_cells(told))


@require_safe
@shown_to(EVERYONE)
def run_jobs_csv(request: HttpRequest, run_id: int) -> HttpResponse:
    """The jobs that carried a run, each in its part in it."""
    told = known_run(run_id, request_context(request, "runs"))
    return csv_answer(f"run-{run_id}-jobs", JOBS_HEADER, job_cells(told))


@require_safe
@shown_to(EVERYONE)
def programme(request: HttpRequest, workload_id: int) -> HttpResponse:
    """A workload's runs as one programme."""
    page = programme_page(workload_id, request.GET, request_context(request, "runs"))
    return render(request, "runs/programme.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def programme_csv(request: HttpRequest, workload_id: int) -> HttpResponse:
    """A workload's runs as a table."""
    who = request_context(request, "runs")
    known_workload(workload_id, who)
    asked = runs_question(request.GET, who, workload_id=workload_id)
    cells = run_cells(csv_rows(asked), who.organisation.currency)
    return csv_answer(f"runs-of-workload-{workload_id}", RUN_HEADER, cells)
