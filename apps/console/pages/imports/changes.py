"""What people do with files of jobs: send one, say how it is read, import it, discard it."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from apps.console.kit.request import MANAGES, shown_to
from apps.console.pages.imports.reading import asked_by
from apps.console.pages.imports.receiving import (
    FORM_BYTES,
    LARGEST_BYTES,
    ReceivedFile,
    receive,
)
from apps.console.pages.imports.views import import_or_404, imports_page
from apps.workloads.actions import uploads

REFUSALS = (uploads.ImportNotReady, uploads.ImportAlreadyOver)


# `receive` asks for the token.
@csrf_exempt
@require_POST
@shown_to(MANAGES)
def upload(request: HttpRequest) -> HttpResponseBase:
    """Take a file to disk as it comes, and leave it to the next sweep."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > LARGEST_BYTES + FORM_BYTES:
        return imports_page(request, timezone.now(), "That file is too large to be taken.", 413)
    return receive(request, _received)


@require_POST
@shown_to(MANAGES)
def read_so(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Have the file looked at again, read as the form says."""
    fact = import_or_404(batch_id)
    asked = asked_by(fact.kind, request.POST, fact.asked)
    return _do(
        request,
        batch_id,
        lambda: uploads.ask_reading(batch_id=batch_id, asked=asked, at=timezone.now()),
    )


@require_POST
@shown_to(MANAGES)
def start(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Have the file imported as it was last looked at."""
    import_or_404(batch_id)
    return _do(
        request, batch_id, lambda: uploads.start_import(batch_id=batch_id, at=timezone.now())
    )


@require_POST
@shown_to(MANAGES)
def discard(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Forget the file."""
    import_or_404(batch_id)
    return _do(
        request, batch_id, lambda: uploads.discard_import(batch_id=batch_id, at=timezone.now())
    )


def _received(request: HttpRequest, file: ReceivedFile | None) -> HttpResponse:
    at = timezone.now()
    if file is None:
        return imports_page(request, at, "No file came: choose one that is not empty.", 400)
    upload = uploads.Upload(file.name, file.stored_as, file.size_bytes, file.digest)
    return redirect("import", uploads.keep_upload(upload=upload, at=at))


def _do(request: HttpRequest, batch_id: int, action: Callable[[], None]) -> HttpResponse:
    try:
        action()
    except REFUSALS as refused:
        messages.warning(request, f"Nothing was changed: {refused}.")
    return redirect("import", batch_id)
