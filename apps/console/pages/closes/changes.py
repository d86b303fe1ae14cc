"""Closing a month, reopening it, and posting late-arriving facts as corrections."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.authentication import viewer_of_request
from apps.console.kit.request import shown_to
from apps.console.pages.closes.views import CLOSES, month_of, refused_month
from apps.ledger.actions import close as actions
from apps.ledger.actions.closed import MonthAlreadyClosed

LONGEST_NOTE = 2_000
REFUSALS = (
    actions.ItemsNotAccepted,
    actions.MonthNotClosed,
    actions.MonthNotOver,
    actions.MonthNotReady,
    actions.NoOpenMonth,
    MonthAlreadyClosed,
)


@require_POST
@shown_to(CLOSES)
def close(request: HttpRequest, month: str) -> HttpResponse:
    """Close the month, with each open item that is waived ticked."""
    of, at = month_of(month), timezone.now()
    asked = actions.CloseAsked(
        month=of,
        person_id=viewer_of_request(request).person_id,
        accepted=request.POST.getlist("accept"),
        note=request.POST.get("note", "")[:LONGEST_NOTE],
    )
    try:
        actions.close_month(asked=asked, at=at)
    except REFUSALS as refused:
        return refused_month(request, of, f"{refused}.", 409)
    return HttpResponseRedirect(reverse("month", args=[month]))


@require_POST
@shown_to(CLOSES)
def reopen(request: HttpRequest, month: str) -> HttpResponse:
    """Open the month again; why is kept with the close."""
    of, at = month_of(month), timezone.now()
    reason = request.POST.get("reason", "").strip()[:LONGEST_NOTE]
    if not reason:
        return refused_month(request, of, "Say why it is opened again.", 400)
    person_id = viewer_of_request(request).person_id
    try:
        actions.reopen_month(month=of, reason=reason, person_id=person_id, at=at)
    except REFUSALS as refused:
        return refused_month(request, of, f"{refused}.", 409)
    return HttpResponseRedirect(reverse("month", args=[month]))


@require_POST
@shown_to(CLOSES)
def correct(request: HttpRequest, month: str) -> HttpResponse:
    """Post late-arriving facts as corrections in the open month."""
    of, at = month_of(month), timezone.now()
    try:
        actions.post_corrections(month=of, at=at)
    except REFUSALS as refused:
        return refused_month(request, of, f"{refused}.", 409)
    return HttpResponseRedirect(reverse("month", args=[month]))
