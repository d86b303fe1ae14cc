"""The list of imports, one import, and the rows it did not take."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.queries import organisation
from apps.console.kit.cells import moment_cell, text_cell
from apps.console.kit.request import MANAGES, frame_of, shown_to
from apps.console.kit.table import csv_answer
from apps.console.kit.waiting import questions_waiting
from apps.console.pages.imports.reading import reading_form
from apps.console.pages.imports.receiving import LARGEST_BYTES
from apps.console.pages.imports.values import ImportPage, ImportRow, ImportsPage, Trial
from apps.console.pages.listed import Asked, By, listed
from apps.show.amounts import counted
from apps.show.data import file_size
from apps.workloads import queries as workloads

MOST_LISTED = 200
MOST_SHOWN = 20
MOST_IN_CSV = 10_000
TRIAL_HEADER = (
    *("cluster", "job", "user", "account", "state", "started", "ended", "nodes", "gpus"),
)
COLUMNS: Mapping[str, By[ImportRow]] = {
    "name": By("File", lambda row: row.name),
    "begun": By("Begun", lambda row: row.started_at),
    "state": By("State", lambda row: row.state),
    "rows": By("Rows", lambda row: row.rows, is_number=True),
    "imported": By("New or changed", lambda row: row.imported, is_number=True),
    "unchanged": By("Known already", lambda row: row.unchanged, is_number=True),
    "rejected": By("Rejected", lambda row: row.rejected, is_number=True),
}
STATES = {
    "looking": "being looked at",
    "asking": "waits for you",
    "waiting": "about to run",
    "running": "running",
    "done": "done",
    "failed": "broken off",
    "discarded": "discarded",
}


@require_safe
@shown_to(MANAGES)
def imports(request: HttpRequest) -> HttpResponse:
    """The latest imports, and the form for another."""
    return imports_page(request, timezone.now(), "Jobs that ran already come from a file.")


def imports_page(
    request: HttpRequest, at: datetime, finding: str, status: int = 200
) -> HttpResponse:
    """The list under whatever there is to say."""
    chosen = organisation()
    page = ImportsPage(
        frame=frame_of(request, chosen, "setup", questions_waiting(at)),
        finding=finding,
        zone=ZoneInfo(chosen.zone),
        rows=listed(
            [_row(each) for each in workloads.imports(MOST_LISTED)],
            COLUMNS,
            Asked(request.GET, reverse("imports"), part="imports", noun=("import", "imports")),
        ),
        largest=file_size(LARGEST_BYTES),
    )
    return render(request, "imports/page.html", {"page": page}, status=status)


@require_safe
@shown_to(MANAGES)
def imports_csv(request: HttpRequest) -> HttpResponse:
    """The imports, the latest first."""
    header = ("file", "kind", "state", "begun_at", "rows", "new_or_changed", "known", "rejected")
    rows = [
        (
            text_cell(each.name),
            each.kind,
            STATES[each.state],
            moment_cell(each.started_at),
            *(str(n) for n in (each.rows, each.imported, each.unchanged, each.rejected)),
        )
        for each in workloads.imports(MOST_IN_CSV)
    ]
    return csv_answer("imports", header, rows)


@require_safe
@shown_to(MANAGES)
def trial_csv(request: HttpRequest, batch_id: int) -> HttpResponse:
    """The first jobs of the file as they would be taken."""
    trial = _trial(import_or_404(batch_id).seen.get("trial"))
    rows = [tuple(map(text_cell, job)) for job in trial.first_jobs] if trial else []
    return csv_answer(f"first jobs of import {batch_id}", TRIAL_HEADER, rows)


@require_safe
@shown_to(MANAGES)
def one_import(request: HttpRequest, batch_id: int) -> HttpResponse:
    """How far the import is, and what it needs from somebody."""
    fact = import_or_404(batch_id)
    chosen = organisation()
    columns = _texts(fact.seen.get("columns"))
    rejected = workloads.rejected_rows(batch_id, MOST_SHOWN)
    trial = _trial(fact.seen.get("trial"))
    asks = fact.state in {"asking", "failed"} and fact.asked
    page = ImportPage(
        frame=frame_of(request, chosen, "setup", questions_waiting(timezone.now())),
        finding=_finding(fact, trial),
        zone=ZoneInfo(chosen.zone),
        id=fact.id,
        name=fact.name,
        kind=fact.kind,
        state=fact.state,
        size=file_size(fact.size_bytes),
        started_at=fact.started_at,
        ended_at=fact.ended_at,
        rows=fact.rows,
        imported=fact.imported,
        unchanged=fact.unchanged,
        rejected=fact.rejected,
        failure=fact.failure,
        reading=reading_form(fact.kind, fact.asked, columns) if asks else None,
        trial=trial if asks else None,
        columns=columns if asks else (),
        samples=tuple(_texts(row) for row in _list(fact.seen.get("samples"))) if asks else (),
        first_rejected=tuple((str(row.line), row.field, row.reason) for row in rejected),
    )
    return render(request, "imports/import.html", {"page": page})


@require_safe
@shown_to(MANAGES)
def rejected_csv(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Every row that was kept as rejected, with its line in the file and why."""
    import_or_404(batch_id)
    rows = [
        (str(row.line), text_cell(row.field), text_cell(row.reason))
        for row in workloads.rejected_rows(batch_id, MOST_IN_CSV)
    ]
    return csv_answer(f"rejected rows of import {batch_id}", ("line", "field", "reason"), rows)


def import_or_404(batch_id: int) -> workloads.ImportFact:
    """The import of this id."""
    fact = workloads.import_batch(batch_id)
    if fact is None:
        raise Http404
    return fact


def _finding(fact: workloads.ImportFact, trial: Trial | None) -> str:
    name = fact.name
    if fact.state == "running":
        return f"{counted(fact.rows, 'row')} of {name} are in, and more come."
    if fact.state == "done":
        refused = f"; {counted(fact.rejected, 'row')} could not be taken" if fact.rejected else ""
        return f"{counted(fact.imported, 'job')} came from {name}{refused}."
    if fact.state == "asking":
        if trial is None or trial.refused or not trial.jobs:
            return f"How is {name} to be read?"
        tried = counted(trial.jobs + trial.rejected + trial.skipped, "row")
        return f"Of the first {tried} of {name}, {_are_jobs(trial.jobs)}."
    said = {
        "looking": f"{name} is being looked at.",
        "waiting": f"{name} is about to be imported.",
        "failed": f"The import of {name} broke off.",
    }
    return said.get(fact.state, f"{name} was discarded.")


def _row(fact: workloads.ImportFact) -> ImportRow:
    return ImportRow(
        name=fact.name,
        kind=fact.kind,
        state=STATES[fact.state],
        started_at=fact.started_at,
        rows=fact.rows,
        imported=fact.imported,
        unchanged=fact.unchanged,
        rejected=fact.rejected,
        href=reverse("import", args=[fact.id]),
    )


def _trial(told: object) -> Trial | None:
    """What the first look found, as it lies in the table."""
    if not isinstance(told, dict):
        return None
    values: dict[str, Any] = {key: told.get(key, 0) for key in ("lines", "jobs", "rejected")}
    return Trial(
        refused=str(told.get("refused", "")),
        skipped=told.get("skipped", 0),
        first_jobs=tuple(_texts(row) for row in _list(told.get("first_jobs"))),
        first_rejected=tuple(_texts(row) for row in _list(told.get("first_rejected"))),
        **values,
    )


def _texts(told: object) -> tuple[str, ...]:
    return tuple(str(each) for each in _list(told))


def _list(told: object) -> Iterable[object]:
    return told if isinstance(told, list) else ()


def _are_jobs(number: int) -> str:
    return "1 is a job" if number == 1 else f"{number:,} are jobs"
