"""One line and everything behind it: the charge, its rate, the settlement, the minutes, the rule."""

from datetime import date

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts import queries as accounts
from apps.accounts.authentication import viewer_of_request
from apps.console.pages.access import EVERYONE, frame_of, shown_to
from apps.console.pages.costs.line_facts import line_facts
from apps.console.pages.costs.line_values import LinePage
from apps.console.pages.costs.line_words import about_charge, about_line, finding, trail_of
from apps.console.pages.costs.minutes import device_minutes
from apps.console.pages.costs.shared_out import sibling_rows
from apps.console.pages.setup.questions import questions_waiting
from apps.ledger.queries.drill import behind_line


@require_safe
@shown_to(EVERYONE)
def line(request: HttpRequest, month: str, line_id: int) -> HttpResponse:
    """The page of one line; one of a team the viewer does not see is as if there were none."""
    at = timezone.now()
    viewer = viewer_of_request(request)
    behind = behind_line(_month(month), line_id, viewer)
    if behind is None:
        raise Http404("There is no such line, or its hour was settled again.")
    organisation = accounts.organisation()
    facts = line_facts(behind, viewer, organisation)
    waiting = questions_waiting(at) if viewer.sees_everything else 0
    return render(
        request,
        "costs/line.html",
        {
            "page": LinePage(
                frame=frame_of(request, organisation, "costs", waiting),
                finding=finding(facts),
                currency=organisation.currency,
                status=behind.status,
                trail=trail_of(facts),
                about=about_line(facts),
                charge=about_charge(facts),
                pieces=facts.pieces(),
                siblings=sibling_rows(facts),
                devices=device_minutes(facts),
            )
        },
    )


def _month(text: str) -> date:
    try:
        return date.fromisoformat(f"{text}-01")
    except ValueError:
        raise Http404("There is no such month.") from None
