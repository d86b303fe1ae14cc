"""One line and everything behind it: the charge, its rate, the settlement, the minutes, the rule."""

from datetime import date

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts import queries as accounts
from apps.accounts.authentication import viewer_of_request
from apps.console.kit.cells import money_cell, text_cell
from apps.console.kit.request import EVERYONE, SEES_EVERYTHING, frame_of, shown_to
from apps.console.kit.table import csv_answer
from apps.console.kit.waiting import questions_waiting
from apps.console.pages.costs.line_facts import LineFacts, line_facts
from apps.console.pages.costs.line_values import LinePage
from apps.console.pages.costs.line_words import about_charge, about_line, finding, settled, trail_of
from apps.console.pages.costs.minutes import MINUTE_HEADINGS, device_minutes, minute_cells
from apps.console.pages.costs.shared_out import (
    HEADINGS,
    line_asked,
    sibling_cells,
    sibling_table,
)
from apps.ledger.queries.drill import behind_line

PIECE_HEADINGS = ("of_the_hour", "rate", "note", "source", "valid", "cost", "currency", "basis")


@require_safe
@shown_to(EVERYONE)
def line(request: HttpRequest, month: str, line_id: int) -> HttpResponse:
    """The page of one line; one of a team the viewer does not see is as if there were none."""
    facts = _facts(request, month, line_id)
    waiting = questions_waiting(timezone.now()) if facts.viewer.sees_everything else 0
    return render(
        request,
        "costs/line.html",
        {
            "page": LinePage(
                frame=frame_of(request, facts.organisation, "costs", waiting),
                finding=finding(facts),
                currency=facts.organisation.currency,
                status=facts.behind.status,
                basis=str(facts.asked.basis),
                settled=settled(facts),
                trail=trail_of(facts),
                about=about_line(facts),
                charge=about_charge(facts),
                pieces=facts.pieces(),
                siblings=sibling_table(facts),
                devices=device_minutes(facts),
                pieces_csv=facts.here("costs-line-pieces"),
                minutes_csv=facts.here("costs-line-minutes"),
            )
        },
    )


@require_safe
@shown_to(EVERYONE)
def siblings_csv(request: HttpRequest, month: str, line_id: int) -> HttpResponse:
    """How the charge was divided."""
    facts = _facts(request, month, line_id)
    return csv_answer(f"lines beside {line_id}", HEADINGS, sibling_cells(facts))


@require_safe
@shown_to(EVERYONE)
def minutes_csv(request: HttpRequest, month: str, line_id: int) -> HttpResponse:
    """The minutes of each GPU."""
    facts = _facts(request, month, line_id)
    return csv_answer(f"minutes of line {line_id}", MINUTE_HEADINGS, minute_cells(facts))


@require_safe
@shown_to(SEES_EVERYTHING)
def pieces_csv(request: HttpRequest, month: str, line_id: int) -> HttpResponse:
    """The rates of the charge."""
    facts = _facts(request, month, line_id)
    currency = facts.organisation.currency
    rows = [
        [
            piece.minutes,
            piece.amount,
            text_cell(piece.note),
            text_cell(piece.source),
            piece.valid,
            money_cell(piece.micros, currency),
            currency,
            str(facts.asked.basis),
        ]
        for piece in facts.pieces()
    ]
    return csv_answer(f"rates of line {line_id}", PIECE_HEADINGS, rows)


def _facts(request: HttpRequest, month: str, line_id: int) -> LineFacts:
    viewer = viewer_of_request(request)
    behind = behind_line(_month(month), line_id, viewer)
    if behind is None:
        raise Http404("There is no such line, or its hour was settled again.")
    return line_facts(behind, viewer, accounts.organisation(), line_asked(request.GET))


def _month(text: str) -> date:
    try:
        return date.fromisoformat(f"{text}-01")
    except ValueError:
        raise Http404("There is no such month.") from None
