"""Asking for an export, and calling one off."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.authentication import viewer_of_request
from apps.console.kit.request import EVERYONE, shown_to
from apps.console.pages.exports.views import FIELDS, FORMS, WHATS, exports_page, form_of
from apps.ledger.actions import exports as actions
from apps.ledger.queries.export_asked import (
    ExportRefused,
    RowsAsked,
    chosen_ids,
    window_asked_for,
)
from apps.ledger.queries.exports import Asker, ExportWhat, FileForm, export_seen


@require_POST
@shown_to(EVERYONE)
def ask(request: HttpRequest) -> HttpResponse:
    """Leave an export to the next sweep, or say what was not understood."""
    at, viewer = timezone.now(), viewer_of_request(request)
    given = {name: request.POST.get(name, "") for name in (*FIELDS, "what", "form")}
    lists: dict[str, Any] = {
        name: tuple(_parts(given[name])) for name in FIELDS if name != "window"
    }
    asked = RowsAsked(window=given["window"].strip() or "lastmonth", **lists)
    try:
        if given["what"] not in WHATS:
            raise ExportRefused("what", "choose what the rows are")
        if (given["form"] or "csv") not in FORMS:
            raise ExportRefused("form", "choose CSV or Parquet")
        wanted = actions.NewExport(
            ExportWhat(given["what"]),
            window_asked_for(asked.window, at),
            asked=asked.words(),
            chosen=chosen_ids(asked, viewer),
            form=FileForm(given["form"] or "csv"),
        )
        actions.ask_export(wanted=wanted, asker=Asker(person_id=viewer.person_id), at=at)
    except ExportRefused as refused:
        return exports_page(request, form_of(given, {refused.field: refused.message}), at, 400)
    except actions.TooManyExports as refused:
        return exports_page(request, form_of(given, {"what": str(refused)}), at, 409)
    return HttpResponseRedirect(reverse("exports"))


@require_POST
@shown_to(EVERYONE)
def cancel(request: HttpRequest, export_id: int) -> HttpResponse:
    """Call one of mine off, or give up its file."""
    viewer = viewer_of_request(request)
    asker = Asker(person_id=viewer.person_id)
    try:
        fact = export_seen(export_id, asker, viewer)
    except ObjectDoesNotExist:
        raise Http404 from None
    if fact.asker != asker and not viewer.may_manage:
        raise Http404
    actions.cancel_export(export_id=export_id, at=timezone.now())
    return HttpResponseRedirect(reverse("exports"))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
