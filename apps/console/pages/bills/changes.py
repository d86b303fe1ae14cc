"""What people do with bills: send one, call its import off, accept what it lacks, undo it."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from apps.console.kit.request import SEES_EVERYTHING, shown_to
from apps.console.pages.bills.views import bills_page, delivery_or_404
from apps.console.pages.imports.receiving import (
    FORM_BYTES,
    LARGEST_BYTES,
    ReceivedFile,
    receive,
)
from apps.ledger.actions import bill_uploads
from apps.ledger.actions.bill_acceptance import accept_unread_rows
from apps.ledger.actions.bills import (
    DeliveryNotNewest,
    DeliveryNotUndoable,
    NothingToAccept,
    ReasonMissing,
    undo_delivery,
)
from apps.ledger.actions.closed import MonthAlreadyClosed

REFUSALS = (
    bill_uploads.BillImportOver,
    DeliveryNotNewest,
    DeliveryNotUndoable,
    MonthAlreadyClosed,
    NothingToAccept,
    ReasonMissing,
)


# `receive` asks for the token.
@csrf_exempt
@require_POST
@shown_to(SEES_EVERYTHING)
def upload(request: HttpRequest) -> HttpResponseBase:
    """Take a file to disk as it comes, and leave it to the next sweep."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > LARGEST_BYTES + FORM_BYTES:
        return bills_page(
            request, "That file is too large to be taken: send it as gzip or Parquet.", 413
        )
    return receive(request, _received)


@require_POST
@shown_to(SEES_EVERYTHING)
def call_off(request: HttpRequest, import_id: int) -> HttpResponse:
    """Take nothing of the file."""
    return _do(
        request,
        import_id,
        lambda: bill_uploads.call_off_bill(import_id=import_id, at=timezone.now()),
    )


@require_POST
@shown_to(SEES_EVERYTHING)
def undo(request: HttpRequest, import_id: int) -> HttpResponse:
    """Take the delivery back."""
    return _do(request, import_id, lambda: undo_delivery(import_id=import_id, at=timezone.now()))


@require_POST
@shown_to(SEES_EVERYTHING)
def accept(request: HttpRequest, import_id: int) -> HttpResponse:
    """Let the delivery stand without the rows that could not be read; why is kept with it."""
    return _do(
        request,
        import_id,
        lambda: accept_unread_rows(
            import_id=import_id,
            person_id=request.user.pk,
            reason=request.POST.get("reason", ""),
            at=timezone.now(),
        ),
    )


def _received(request: HttpRequest, file: ReceivedFile | None) -> HttpResponse:
    if file is None:
        return bills_page(request, "No file came: choose one that is not empty.", 400)
    upload = bill_uploads.BillUpload(
        name=file.name,
        stored_as=file.stored_as,
        size_bytes=file.size_bytes,
        digest=file.digest,
        is_addition=request.POST.get("add") == "yes",
        person_id=request.user.pk,
    )
    return redirect("bill-import", bill_uploads.keep_bill(upload=upload, at=timezone.now()))


def _do(request: HttpRequest, import_id: int, action: Callable[[], None]) -> HttpResponse:
    delivery_or_404(import_id)
    try:
        action()
    except REFUSALS as refused:
        messages.warning(request, f"Nothing was changed: {refused}.")
    return redirect("bill-import", import_id)
