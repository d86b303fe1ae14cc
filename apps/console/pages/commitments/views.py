"""The commitments of a month, one of them, and their tables as CSV."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.console.pages.access import SEES_EVERYTHING, shown_to
from apps.console.pages.commitments.months import asked_month
from apps.console.pages.commitments.one import commitment_page, teams_of, unused_of
from apps.console.pages.commitments.pages import commitments_page, days_of, rows_of
from apps.console.pages.commitments.values import CommitmentRow
from apps.console.pages.csv_table import csv_answer, hours_cell, moment_cell, money_cell, text_cell
from apps.console.pages.fleet.asking import asking
from apps.pricing.queries.commitments import CommitmentFact
from apps.pricing.queries.commitments import commitments as every_commitment

HEADER = (
    *("commitment", "kind", "covers", "bought", "carried_by", "ends_at", "coverage"),
    *("utilisation", "break_even", "effective_savings_rate", "on_demand", "cost", "unused"),
    "currency",
)
DAYS_HEADER = ("day", "used", "unused", "currency")
TEAMS_HEADER = ("pool", "team", "gpu_hours", "on_demand", "cost", "currency")
UNUSED_HEADER = ("from", "to", "carried_by", "unused", "currency", "status", "reason")


@require_safe
@shown_to(SEES_EVERYTHING)
def commitments(request: HttpRequest) -> HttpResponse:
    """How well what was bought ahead is used."""
    page = commitments_page(request.GET, asking(request, "commitments"))
    return render(request, "commitments/page.html", {"page": page})


@require_safe
@shown_to(SEES_EVERYTHING)
def commitments_csv(request: HttpRequest) -> HttpResponse:
    """The same as a table."""
    who = asking(request, "commitments")
    month = asked_month(request.GET, who)
    cells = _cells(rows_of(month, who), who.organisation.currency)
    return csv_answer(f"commitments-{month.key}", HEADER, cells)


@require_safe
@shown_to(SEES_EVERYTHING)
def days_csv(request: HttpRequest) -> HttpResponse:
    """What of them was used and not, by day."""
    who = asking(request, "commitments")
    month, currency = asked_month(request.GET, who), who.organisation.currency
    cells = [
        [
            day.isoformat(),
            money_cell(found.covered_cost if found.bought else None, currency),
            money_cell(found.unused_cost if found.bought else None, currency),
            currency,
        ]
        for day, found in days_of(month, who)
    ]
    return csv_answer(f"commitments-{month.key}-days", DAYS_HEADER, cells)


@require_safe
@shown_to(SEES_EVERYTHING)
def commitment(request: HttpRequest, commitment_id: int) -> HttpResponse:
    """One commitment: terms, months, whom it covered, what nobody used."""
    who, fact = asking(request, "commitments"), known(commitment_id)
    page = commitment_page(fact, request.GET, who)
    return render(request, "commitments/commitment.html", {"page": page})


@require_safe
@shown_to(SEES_EVERYTHING)
def teams_csv(request: HttpRequest, commitment_id: int) -> HttpResponse:
    """Whom it covered in a month."""
    who, fact = asking(request, "commitments"), known(commitment_id)
    month, currency = asked_month(request.GET, who), who.organisation.currency
    cells = [
        [
            text_cell(row.pool),
            text_cell(row.team),
            hours_cell(row.unit_milliseconds),
            money_cell(row.on_demand_micros, currency),
            money_cell(row.cost_micros, currency),
            currency,
        ]
        for row in teams_of(fact, month)
    ]
    return csv_answer(f"commitment-{commitment_id}-{month.key}", TEAMS_HEADER, cells)


@require_safe
@shown_to(SEES_EVERYTHING)
def unused_csv(request: HttpRequest, commitment_id: int) -> HttpResponse:
    """What nobody used in a month, hour by hour."""
    who, fact = asking(request, "commitments"), known(commitment_id)
    month, currency = asked_month(request.GET, who), who.organisation.currency
    cells = [
        [
            moment_cell(hour.starts_at),
            moment_cell(hour.through),
            text_cell(owner),
            money_cell(hour.micros, currency),
            currency,
            hour.status,
            text_cell(hour.reason),
        ]
        for hour, owner in unused_of(fact, month)
    ]
    return csv_answer(f"commitment-{commitment_id}-{month.key}-unused", UNUSED_HEADER, cells)


def known(commitment_id: int) -> CommitmentFact:
    """The commitment, or the page that there is none."""
    found = next((each for each in every_commitment() if each.id == commitment_id), None)
    if found is None:
        raise Http404
    return found


def _cells(rows: Sequence[CommitmentRow], currency: str) -> Iterator[list[str]]:
    for row in rows:
        yield [
            text_cell(row.name),
            row.kind,
            text_cell(row.covers),
            row.bought,
            text_cell(row.owner),
            moment_cell(row.ends_at),
            *map(_ratio, (row.coverage, row.utilisation, row.break_even, row.savings_rate)),
            money_cell(row.on_demand_micros, currency),
            money_cell(row.cost_micros, currency),
            money_cell(row.unused_micros, currency),
            currency,
        ]


def _ratio(ratio: Fraction | None) -> str:
    return "" if ratio is None else f"{float(ratio):.6f}"
