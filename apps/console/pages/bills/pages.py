"""The list of bills, one file of them, and what people do with it: send, accept, undo."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts.queries.paging import PageRequest
from apps.console.kit.cells import INSTANT, linked
from apps.console.kit.change import Act, ChangeForm, Done, acting
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.entries import PickField, UploadField
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, Include, files_page, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.pages.bills.changes import accept, choose, delivery_or_404, undo
from apps.console.pages.bills.tables import BILLS, FILES, SUMS, TWINS
from apps.console.pages.imports.receiving import (
    NO_FILE,
    REJECTED_ROWS,
    UploadForm,
    receiving,
)
from apps.files.limits import BodyKind
from apps.ledger.actions import bill_uploads
from apps.ledger.queries.bills import deliveries as ledger
from apps.ledger.queries.bills.twins import open_twins
from apps.show.amounts import counted
from apps.show.data import file_size
from apps.uploads.files import StoredFile
from apps.web.rest.body_limits import largest_file_of

MOST_LISTED = 200
MOST_SHOWN = 20
MOST_IN_CSV = 10_000


class BillForm(UploadForm):
    """A file of a bill, and what of its period it is."""

    takes = BodyKind.BILL
    file = UploadField("File", needed=NO_FILE, takes=BodyKind.BILL)
    add = PickField(
        "Billing period",
        {
            "": "File covers the whole billing period",
            "yes": "One of several files of the period: add it",
        },
    )


@shown(SEES_EVERYTHING, "bills")
def bills(context: Context) -> ConsolePage:
    """Every bill, the latest files, and the form for another."""
    if context.csv_table is not None:
        return files_page(context, *_files_of(context), main=BILLS.name)
    return bills_page(context)


def _files_of(context: Context) -> tuple[CsvFile, CsvFile, CsvFile]:
    """Every bill, the files that they came in, and bills that may be the same money."""
    return (
        BILLS.file("bills", context, lambda: ledger.bill_page(PageRequest(MOST_IN_CSV)).rows),
        FILES.file(
            "bill imports", context, lambda: ledger.delivery_page(PageRequest(MOST_IN_CSV)).rows
        ),
        TWINS.file("bills that may be the same money", context, open_twins),
    )


def bills_page(context: Context, sent: ChangeForm | None = None) -> ConsolePage:
    """The list of bills, with what came of a file that was just sent."""
    context = replace(context, path=reverse("bills"))
    bills_csv, files_csv, twins_csv = _files_of(context)
    bill_rows = ledger.bill_page(PageRequest(MOST_LISTED)).rows
    files = ledger.delivery_page(PageRequest(MOST_LISTED)).rows
    twins = open_twins()
    rules = linked(
        "Mapping rules for rows without a node or team", context.onward(reverse("bill-rules"))
    )
    return ConsolePage(
        context=context,
        finding=_bills_finding(bill_rows),
        under=(
            "as issued; the same file again changes nothing, a corrected one replaces its period",
            rules,
        ),
        sections=(
            BillForm.opened(sent, context).section(
                "upload",
                reverse("upload-bill"),
                "Upload",
                title="Upload a bill",
                about="FOCUS 1.0 to 1.4 or an AWS Cost and Usage Report; CSV, gzip or Parquet, up to "
                f"{file_size(largest_file_of(BodyKind.BILL))}",
                is_primary=True,
            ),
            TWINS.section(twins, context, csv=twins_csv) if twins else None,
            BILLS.section(
                bill_rows,
                context,
                about="by issuer, account and billing period, each in its own currency; its page "
                "has the variance against the estimate: {said}",
                empty="Send the first one above: what a provider charged, as it issued it, beside "
                "what was estimated.",
                csv=bills_csv,
            ),
            FILES.section(files, context, csv=files_csv) if files else None,
        ),
    )


@shown(SEES_EVERYTHING, "bills")
def one_import(context: Context, import_id: int) -> ConsolePage:
    """How far the file is, and what came of it."""
    return _import_page(context, import_id)


def _import_page(context: Context, import_id: int) -> ConsolePage:
    context = replace(context, path=reverse("bill-import", args=[import_id]))
    fact = delivery_or_404(import_id)
    import_bills = ledger.bills_of(import_id)
    rejected = ledger.rejected_page(import_id, PageRequest(MOST_SHOWN)).rows
    is_busy = fact.state in {"waiting", "running"}
    is_over = fact.state in {"done", "undone"}
    return ConsolePage(
        context=context,
        finding=_file_finding(fact),
        under=tuple(_file_terms(fact, context)),
        back=Link("All bills", reverse("bills")),
        refresh_seconds=2 if is_busy else 0,
        sections=(
            Include(
                "bills/_import.html",
                {
                    "fact": fact,
                    "is_busy": is_busy,
                    "bills": import_bills,
                    "may_be_read_again": fact.state == "failed" and bool(fact.stored_as),
                },
            ),
            SUMS.section(sorted(fact.totals.items()), context) if is_over and fact.totals else None,
            BILLS.section(
                import_bills,
                context,
                title="Bills that it is part of",
                about="as they stand now, all imports together",
            )
            if import_bills
            else None,
            REJECTED_ROWS.section(
                rejected,
                context,
                about=f"by line in the file; the first {len(rejected)} of {fact.rejected:,}",
                csv_name=f"rejected rows of bill {import_id}",
                csv_rows=lambda: ledger.rejected_page(import_id, PageRequest(MOST_IN_CSV)).rows,
                is_shown=bool(rejected),
            ),
        ),
    )


@receiving(SEES_EVERYTHING, "bills", BillForm, bills_page)
def upload(context: Context, file: StoredFile, entered: Mapping[str, Any]) -> Done:
    """Take a file to disk as it comes, and leave it to the next sweep."""
    upload = bill_uploads.BillUpload(
        **asdict(file), is_addition=entered["add"] == "yes", person_id=context.viewer.person_id
    )
    import_id = bill_uploads.keep_bill(upload=upload, at=context.at)
    return f"{file.name} came, and is taken in next.", ("bill-import", import_id)


@acting(SEES_EVERYTHING, "bills")
def call_off(context: Context, import_id: int) -> Act:
    """Take nothing of the file."""
    return _act_on_import(
        context,
        import_id,
        bill_uploads.call_off_bill,
        message="{} is called off.",
        refusal=bill_uploads.BillImportOver,
    )


@acting(SEES_EVERYTHING, "bills")
def read_again(context: Context, import_id: int) -> Act:
    """Have a file of which nothing was taken read again, for as long as it is kept."""
    return _act_on_import(
        context,
        import_id,
        bill_uploads.read_bill_again,
        message="{} is read again.",
        refusal=bill_uploads.BillFileNotStored,
    )


def _act_on_import(
    context: Context,
    import_id: int,
    change: Callable[..., object],
    *,
    message: str,
    refusal: type[Exception],
) -> Act:
    """Return what a button on an import's page does; refused, the page says why."""
    fact = delivery_or_404(import_id)

    def apply(_: Mapping[str, Any]) -> Done:
        change(import_id=import_id, at=context.at)
        return message.format(fact.name), ("bill-import", import_id)

    return Act(
        form=ChangeForm(context.sent, context, is_sent=True),
        apply=apply,
        page=lambda _: _import_page(context, import_id),
        refusals=(refusal,),
        status=409,
    )


def _bills_finding(bill_facts: Sequence[ledger.BillFact]) -> str:
    waiting = sum(bill.state != "reconciled" for bill in bill_facts)
    if not bill_facts:
        return "No bill has come yet."
    if waiting:
        waits = "waits" if waiting == 1 else "wait"
        return f"{counted(waiting, 'bill')} of {len(bill_facts):,} {waits}."
    # Not "reconciled": what they charge may be far from what was estimated.
    subject = f"All {len(bill_facts):,} bills are" if len(bill_facts) > 1 else "The bill is"
    return f"{subject} in the ledger."


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
    finding_by_state = {
        "waiting": f"{fact.name} is about to be taken in.",
        "failed": f"Nothing of {fact.name} was taken.",
    }
    return finding_by_state.get(fact.state, f"{fact.name} was undone.")


def _file_terms(fact: ledger.DeliveryFact, context: Context) -> Iterator[str]:
    """Yield what the file is, who sent it, and when which things happened to it."""
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
    path("bills/upload", upload, name="upload-bill"),
    path("bills/twins/<int:bill_twin_id>", choose, name="choose-bill"),
    path("bills/imports/<int:import_id>", one_import, name="bill-import"),
    path("bills/imports/<int:import_id>/call-off", call_off, name="call-off-bill"),
    path("bills/imports/<int:import_id>/read-again", read_again, name="read-bill-again"),
    path("bills/imports/<int:import_id>/accept", accept, name="accept-bill"),
    path("bills/imports/<int:import_id>/undo", undo, name="undo-bill"),
]
