"""The list of somebody's exports, with the form for another, and their files."""

from collections.abc import Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.authentication import viewer_of_request
from apps.accounts.queries import organisation
from apps.console.kit.frame import Choice
from apps.console.kit.request import EVERYONE, frame_of, shown_to
from apps.console.pages.exports.values import ExportForm, ExportRow, ExportsPage
from apps.ledger.queries.exports import (
    Asker,
    ExportFact,
    export_seen,
    exports_of,
    file_parts,
)
from apps.show.amounts import counted
from apps.show.data import file_size

MOST_LISTED = 50
WHATS = {
    "lines": "Lines, of every hour",
    "job_days": "Jobs, by day",
    "days": "Teams, by day",
    "service_days": "Services by feature, by day",
    "run_days": "Training runs by where their time went, by day",
}
SHORT = {
    "lines": "Lines",
    "job_days": "Jobs by day",
    "days": "Teams by day",
    "service_days": "Services by day",
    "run_days": "Runs by day",
}
FORMS = {"csv": "CSV, gzipped", "parquet": "Parquet"}
STATES = {
    "queued": "queued",
    "making": "being created",
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
}
FIELDS = ("window", "team", "workload", "pool", "state")


@require_safe
@shown_to(EVERYONE)
def exports(request: HttpRequest) -> HttpResponse:
    """What I asked for, and the form; the address may fill it in."""
    return exports_page(request, form_of(request.GET, {}), timezone.now())


def exports_page(
    request: HttpRequest, form: ExportForm, at: datetime, status: int = 200
) -> HttpResponse:
    """The page around a form."""
    chosen = organisation()
    facts = exports_of(request.user.pk or 0, MOST_LISTED)
    rows = tuple(_row(fact, at) for fact in facts)
    page = ExportsPage(
        frame=frame_of(request, chosen, "exports", 0),
        finding=_finding(rows),
        zone=ZoneInfo(chosen.zone),
        form=form,
        rows=rows,
    )
    return render(request, "exports/page.html", {"page": page}, status=status)


@require_safe
@shown_to(EVERYONE)
def export_file(request: HttpRequest, export_id: int) -> StreamingHttpResponse:
    """The file, while everything in it is still theirs to read."""
    viewer = viewer_of_request(request)
    try:
        fact = export_seen(export_id, Asker(person_id=viewer.person_id), viewer)
        if not fact.has_file(timezone.now()) or not fact.is_covered_by(viewer):
            raise Http404
        parts = file_parts(fact)
    except (ObjectDoesNotExist, FileNotFoundError):
        raise Http404 from None
    return StreamingHttpResponse(
        parts,
        content_type=fact.media_type,
        headers={"Content-Disposition": f'attachment; filename="{fact.file_name}"'},
    )


def form_of(given: Mapping[str, str], problems: dict[str, str]) -> ExportForm:
    """The form as it was filled in, or as an address fills it in."""
    texts = {name: str(given.get(name, ""))[:500] for name in FIELDS}
    texts["window"] = texts["window"] or "lastmonth"
    chosen = given.get("what", "lines")
    whats = tuple(Choice(key, said, is_chosen=key == chosen) for key, said in WHATS.items())
    form = given.get("form", "csv")
    forms = tuple(Choice(key, said, is_chosen=key == form) for key, said in FORMS.items())
    return ExportForm(what=whats, form=forms, problems=problems, **texts)


def _finding(rows: tuple[ExportRow, ...]) -> str:
    ready = sum(1 for row in rows if row.file_href)
    busy = sum(1 for row in rows if row.is_open)
    if busy:
        return f"{counted(busy, 'export')} of yours being created, {ready} ready to download."
    if ready:
        return f"{counted(ready, 'export')} of yours {'is' if ready == 1 else 'are'} ready to download."
    return "Rows of the ledger come as a file, however many there are."


def _row(fact: ExportFact, at: datetime) -> ExportRow:
    is_open = fact.state in ("queued", "making")
    is_ready = fact.has_file(at)
    return ExportRow(
        what=SHORT[fact.what],
        form=FORMS[fact.form],
        window=fact.window.text,
        asked=_words(fact.asked),
        state=STATES[fact.state] if is_ready or fact.state != "done" else "expired",
        is_open=is_open,
        rows=fact.rows,
        progress=_progress(fact) if is_open else None,
        size="" if fact.size_bytes is None else file_size(fact.size_bytes, digits=1),
        failure=fact.failure,
        asked_at=fact.asked_at,
        expires_at=fact.expires_at if is_ready else None,
        file_href=reverse("export-file", args=[fact.id]) if is_ready else "",
        cancel_href=reverse("cancel-export", args=[fact.id]) if is_open or is_ready else "",
    )


def _progress(fact: ExportFact) -> int | None:
    """What Postgres expects is a guess: never a hundred before it is done."""
    if not fact.rows_estimated:
        return None
    return min(99, 100 * fact.rows // fact.rows_estimated)


def _words(asked: Mapping[str, object]) -> str:
    said = [
        f"{name} {', '.join(str(each) for each in value)}"
        for name, value in asked.items()
        if isinstance(value, list)
    ]
    return "; ".join(said) or "everything that is yours to see"
