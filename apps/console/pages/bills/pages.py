"""The list of bills, one file of them, and what people do with it: send, accept, undo."""

from collections.abc import Callable, Iterator, Sequence

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from apps.accounts.queries.paging import PageAsked
from apps.console.kit.cells import INSTANT, linked
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, Include, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, request_context, shown_to
from apps.console.pages.bills.tables import BILLS, FILES, SUMS
from apps.console.pages.imports.receiving import (
    LARGEST_BYTES,
    REJECTED_ROWS,
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
from apps.ledger.queries.bills import deliveries as ledger
from apps.show.amounts import counted
from apps.show.data import file_size

MOST_LISTED = 200
MOST_SHOWN = 20
MOST_IN_CSV = 10_000
REFUSALS = (
    bill_uploads.BillImportOver,
    DeliveryNotNewest,
    DeliveryNotUndoable,
    MonthAlreadyClosed,
    NothingToAccept,
    ReasonMissing,
)


@shown(SEES_EVERYTHING, "bills")
def bills(context: Context) -> ConsolePage:
    """Every bill, the latest files, and the form for another."""
    return bills_page(context)


def bills_page(context: Context, problem: str = "") -> ConsolePage:
    """The list of bills; `problem` is of a file that was just sent."""
    found = ledger.bill_page(PageAsked(MOST_LISTED)).rows
    files = ledger.delivery_page(PageAsked(MOST_LISTED)).rows
    rules = linked(
        "Mapping rules for rows without a node or team", context.onward(reverse("bill-rules"))
    )
    return ConsolePage(
        context=context,
        finding=problem or _bills_finding(found),
        under=(
            "as issued; the same file again changes nothing, a corrected one replaces its period",
            rules,
        ),
        sections=(
            Include("bills/_upload.html", file_size(LARGEST_BYTES)),
            BILLS.section(
                found,
                context,
                about="by issuer, account and billing period, each in its own currency; its page "
                "has the variance against the estimate: {said}",
                empty="Send the first one above: what a provider charged, as it issued it, beside "
                "what was estimated.",
                csv_href=reverse("bills-csv") if found else "",
            ),
            FILES.section(files, context, csv_href=reverse("bill-imports-csv")) if files else None,
        ),
    )


@shown(SEES_EVERYTHING, "bills")
def bills_csv(context: Context) -> HttpResponse:
    """The bills with exact amounts, the latest period first unless the page has another order."""
    return BILLS.csv(ledger.bill_page(PageAsked(MOST_IN_CSV)).rows, context, "bills")


@shown(SEES_EVERYTHING, "bills")
def files_csv(context: Context) -> HttpResponse:
    """The files that bills came in, the latest first."""
    return FILES.csv(ledger.delivery_page(PageAsked(MOST_IN_CSV)).rows, context, "bill imports")


@shown(SEES_EVERYTHING, "bills")
def one_import(context: Context, import_id: int) -> ConsolePage:
    """How far the file is, and what came of it."""
    fact = delivery_or_404(import_id)
    whole = ledger.bills_of(import_id)
    rejected = ledger.rejected_page(import_id, PageAsked(MOST_SHOWN)).rows
    is_busy = fact.state in {"waiting", "running"}
    is_over = fact.state in {"done", "undone"}
    return ConsolePage(
        context=context,
        finding=_file_finding(fact),
        under=tuple(_file_terms(fact, context)),
        back=Link("All bills", reverse("bills")),
        refresh_seconds=2 if is_busy else 0,
        sections=(
            Include("bills/_import.html", {"fact": fact, "is_busy": is_busy, "bills": whole}),
            SUMS.section(sorted(fact.totals.items()), context) if is_over and fact.totals else None,
            BILLS.section(
                whole,
                context,
                title="Bills that it is part of",
                about="as they stand now, all imports together",
            )
            if whole
            else None,
            REJECTED_ROWS.section(
                rejected,
                context,
                about=f"by line in the file; the first {len(rejected)} of {fact.rejected:,}",
                csv_href=reverse("rejected-bill-rows", args=[fact.id]),
            )
            if rejected
            else None,
        ),
    )


@shown(SEES_EVERYTHING, "bills")
def rejected_csv(context: Context, import_id: int) -> HttpResponse:
    """Every row that was kept as rejected, with its line in the file and why."""
    delivery_or_404(import_id)
    rows = ledger.rejected_page(import_id, PageAsked(MOST_IN_CSV)).rows
    return REJECTED_ROWS.csv(rows, context, f"rejected rows of bill {import_id}")


# `receive` asks for the token.
@csrf_exempt
@require_POST
@shown_to(SEES_EVERYTHING)
def upload(request: HttpRequest) -> HttpResponseBase:
    """Take a file to disk as it comes, and leave it to the next sweep."""

    def keep(file: ReceivedFile) -> HttpResponse:
        upload = bill_uploads.BillUpload(
            name=file.name,
            stored_as=file.stored_as,
            size_bytes=file.size_bytes,
            digest=file.digest,
            is_addition=request.POST.get("add") == "yes",
            person_id=request.user.pk,
        )
        return redirect("bill-import", bill_uploads.keep_bill(upload=upload, at=timezone.now()))

    def page(problem: str) -> ConsolePage:
        return bills_page(request_context(request, "bills", reverse("bills")), problem)

    return receive(request, keep, page)


@require_POST
@shown_to(SEES_EVERYTHING)
def call_off(request: HttpRequest, import_id: int) -> HttpResponse:
    """Take nothing of the file."""
    return _do_once(
        request,
        import_id,
        lambda: bill_uploads.call_off_bill(import_id=import_id, at=timezone.now()),
    )


@require_POST
@shown_to(SEES_EVERYTHING)
def undo(request: HttpRequest, import_id: int) -> HttpResponse:
    """Take the file's rows back."""
    return _do_once(
        request, import_id, lambda: undo_delivery(import_id=import_id, at=timezone.now())
    )


@require_POST
@shown_to(SEES_EVERYTHING)
def accept(request: HttpRequest, import_id: int) -> HttpResponse:
    """Let the file stand without the rows that could not be read; why is kept with it."""
    return _do_once(
        request,
        import_id,
        lambda: accept_unread_rows(
            import_id=import_id,
            person_id=request.user.pk,
            reason=request.POST.get("reason", ""),
            at=timezone.now(),
        ),
    )


def delivery_or_404(import_id: int) -> ledger.DeliveryFact:
    """The file of this id."""
    fact = ledger.delivery(import_id)
    if fact is None:
        raise Http404
    return fact


def _do_once(request: HttpRequest, import_id: int, action: Callable[[], None]) -> HttpResponse:
    delivery_or_404(import_id)
    try:
        action()
    except REFUSALS as refused:
        messages.warning(request, f"Nothing was changed: {refused}.")
    return redirect("bill-import", import_id)


def _bills_finding(found: Sequence[ledger.BillFact]) -> str:
    waiting = sum(bill.state != "reconciled" for bill in found)
    if not found:
        return "No bill has come yet."
    if waiting:
        waits = "waits" if waiting == 1 else "wait"
        return f"{counted(waiting, 'bill')} of {len(found):,} {waits}."
    # Not "reconciled": what they charge may be far from what was estimated.
    whole = f"All {len(found):,} bills are" if len(found) > 1 else "The bill is"
    return f"{whole} in the ledger."


def _file_finding(fact: ledger.DeliveryFact) -> str:
    if fact.state == "running":
        return f"{counted(fact.rows, 'row')} of {fact.name} were read, and more come."
    if fact.state == "held":
        return f"{fact.name} is held: {counted(fact.rejected, 'row')} could not be read."
    if fact.state == "done":
        refused = f"; {counted(fact.rejected, 'row')} could not be read" if fact.rejected else ""
        if not fact.imported and not fact.replaced:
            return f"{fact.name} changed nothing{refused}."
        return f"{counted(fact.imported, 'new row')} came from {fact.name}{refused}."
    said = {
        "waiting": f"{fact.name} is about to be taken in.",
        "failed": f"Nothing of {fact.name} was taken.",
    }
    return said.get(fact.state, f"{fact.name} was undone.")


def _file_terms(fact: ledger.DeliveryFact, context: Context) -> Iterator[str]:
    """What the file is, who sent it, and when which things happened to it."""
    if fact.layout:
        is_cur = fact.layout == "cur"
        yield "an AWS Cost and Usage Report" if is_cur else fact.layout.replace("focus", "FOCUS")
    yield file_size(fact.size_bytes)
    if fact.is_addition:
        yield "one of several files of its period"
    if fact.person__name:
        yield f"sent by {fact.person__name}"
    moments = {"begun": fact.started_at, "over": fact.ended_at, "undone": fact.undone_at}
    for word, at in moments.items():
        if at is not None:
            yield format_html("{} {}", word, INSTANT.shown(at, context.locale))


urlpatterns = [
    path("bills", bills, name="bills"),
    path("bills.csv", bills_csv, name="bills-csv"),
    path("bills/upload", upload, name="upload-bill"),
    path("bills/imports.csv", files_csv, name="bill-imports-csv"),
    path("bills/imports/<int:import_id>", one_import, name="bill-import"),
    path("bills/imports/<int:import_id>/call-off", call_off, name="call-off-bill"),
    path("bills/imports/<int:import_id>/accept", accept, name="accept-bill"),
    path("bills/imports/<int:import_id>/undo", undo, name="undo-bill"),
    path("bills/imports/<int:import_id>/rejected.csv", rejected_csv, name="rejected-bill-rows"),
]
