"""Who changed what: the audit trail and its CSV."""

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.queries import organisation
from apps.accounts.queries.trail import KINDS, NOBODY_NAMED, TrailChange, changes
from apps.console.kit.cells import text_cell
from apps.console.kit.frame import Choice, Link
from apps.console.kit.request import SEES_EVERYTHING, frame_of, shown_to
from apps.console.kit.table import csv_answer
from apps.console.kit.waiting import questions_waiting
from apps.console.pages.people.values import TrailPage
from apps.console.pages.people.views import moment_cell

ON_A_PAGE = 100
IN_A_FILE = 100_000
CSV_COLUMNS = ["at", "who", "did", "to", "named", "field", "from", "to"]


@require_safe
@shown_to(SEES_EVERYTHING)
def trail(request: HttpRequest) -> HttpResponse:
    """The newest changes first, of one kind where the address says so."""
    kind, before = _kind(request), _before(request)
    found = changes(kind=kind, before=before, limit=ON_A_PAGE + 1)
    chosen = organisation()
    page = TrailPage(
        frame=frame_of(request, chosen, "people", questions_waiting(timezone.now())),
        finding=finding(found),
        zone=ZoneInfo(chosen.zone),
        changes=tuple(found[:ON_A_PAGE]),
        kinds=_kinds(kind),
        csv_href=f"{reverse('trail-csv')}?{urlencode({'kind': kind})}",
        older=_older(found, kind),
    )
    return render(request, "people/trail.html", {"page": page})


@require_safe
@shown_to(SEES_EVERYTHING)
def trail_csv(request: HttpRequest) -> HttpResponse:
    """A row for each field that changed."""
    found = changes(kind=_kind(request), before=_before(request), limit=IN_A_FILE)
    rows = [
        [
            moment_cell(change.at),
            *(text_cell(each) for each in (change.who, change.verb, change.kind, change.name)),
            *(text_cell(each or "") for each in (field.name, field.old, field.new)),
        ]
        for change in found
        for field in change.fields
    ]
    return csv_answer("changes", CSV_COLUMNS, rows)


def finding(found: Sequence[TrailChange]) -> str:
    """The latest change in one sentence."""
    if not found:
        return "Nothing was changed."
    latest = found[0]
    if latest.who == NOBODY_NAMED:
        return f"The {latest.kind} {latest.name} was {latest.verb} last; nobody is named for it."
    return f"{latest.who} {latest.verb} the {latest.kind} {latest.name} last."


def _kind(request: HttpRequest) -> str:
    asked = request.GET.get("kind", "")
    return asked if asked in KINDS.values() else ""


def _before(request: HttpRequest) -> datetime | None:
    try:
        before = datetime.fromisoformat(request.GET.get("before", ""))
    except ValueError:
        return None
    return before if before.tzinfo else before.replace(tzinfo=UTC)


def _older(found: Sequence[TrailChange], kind: str) -> Link | None:
    if len(found) <= ON_A_PAGE:
        return None
    before = found[ON_A_PAGE - 1].at.isoformat()
    return Link("Older", f"{reverse('trail')}?{urlencode({'kind': kind, 'before': before})}")


def _kinds(chosen: str) -> tuple[Choice, ...]:
    every = Choice("", "everything", not chosen)
    return (every, *(Choice(kind, kind, kind == chosen) for kind in KINDS.values()))
