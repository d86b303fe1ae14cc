"""What changed, one change, and their tables as CSV."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.console.pages.access import EVERYONE, shown_to
from apps.console.pages.csv_table import csv_answer, money_cell, text_cell
from apps.console.pages.findings.pages import (
    asked_window,
    finding_page,
    findings_page,
    rows_of,
    series_of,
)
from apps.console.pages.fleet.asking import Asking, asking
from apps.review.queries import findings as review
from apps.review.queries.findings import FindingFact

HEADER = (
    "changed_on",
    "what",
    "team",
    "kind",
    "effect",
    "impact_30_days",
    "currency",
    "about_then",
)
DAYS_HEADER = ("day", "value", "output")


@require_safe
@shown_to(EVERYONE)
def findings(request: HttpRequest) -> HttpResponse:
    """What changed in a span."""
    page = findings_page(request.GET, asking(request, "findings"))
    return render(request, "findings/page.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def findings_csv(request: HttpRequest) -> HttpResponse:
    """The same as a table."""
    who = asking(request, "findings")
    currency = who.organisation.currency
    cells = [
        [
            row.changed_on.isoformat(),
            text_cell(row.title),
            text_cell(row.team),
            row.kind,
            f"{row.effect:.6f}",
            money_cell(row.impact_micros, currency),
            currency,
            text_cell(row.cause),
        ]
        for row in rows_of(asked_window(request.GET, who), who)
    ]
    return csv_answer("findings", HEADER, cells)


@require_safe
@shown_to(EVERYONE)
def finding(request: HttpRequest, finding_id: int) -> HttpResponse:
    """One change: its days, its parts, what changed about then."""
    who = asking(request, "findings")
    page = finding_page(known(finding_id, who), who)
    return render(request, "findings/finding.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def finding_csv(request: HttpRequest, finding_id: int) -> HttpResponse:
    """The days of the figure."""
    who = asking(request, "findings")
    series = series_of(known(finding_id, who), who.organisation.zone)
    days = () if series is None else series.days
    cells = [[f"{each.date:%Y-%m-%d}", f"{each.value:.6f}", f"{each.output:.0f}"] for each in days]
    return csv_answer(f"finding-{finding_id}", DAYS_HEADER, cells)


def known(finding_id: int, who: Asking) -> FindingFact:
    """The finding, or the page that there is none: another team's is as if it were not there."""
    seen = None if who.viewer.sees_everything else who.viewer.team_ids
    found = review.finding(finding_id, seen)
    if found is None:
        raise Http404
    return found
