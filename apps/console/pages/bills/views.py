"""The list of bills, one delivery, and the rows it did not take."""

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from zoneinfo import ZoneInfo

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.accounts.queries import organisation
from apps.accounts.queries.paging import PageAsked
from apps.console.kit.cells import moment_cell, text_cell
from apps.console.kit.request import SEES_EVERYTHING, frame_of, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.bills.values import BillRow, BillsPage, DeliveryPage, DeliveryRow, Total
from apps.console.pages.imports.receiving import LARGEST_BYTES
from apps.console.pages.listed import Asked, By, listed
from apps.ledger.queries.bills import deliveries as ledger
from apps.show.amounts import counted
from apps.show.data import file_size

MOST_LISTED = 200
MOST_SHOWN = 20
MOST_IN_CSV = 10_000
MICROS = Decimal(10) ** 6
BASES = ("billed", "effective", "contracted", "list")
STATES = {
    "waiting": "about to be taken in",
    "running": "being taken in",
    "held": "held: nothing of it counts yet",
    "done": "done",
    "failed": "broken off",
    "undone": "undone",
}
BILL_STATES = {
    "waiting": "being reconciled",
    "reconciled": "in the ledger",
    "incomplete": "incomplete: rows of it could not be read",
    "failed": "not reconciled",
}
BILL_COLUMNS: Mapping[str, By[BillRow]] = {
    "issuer": By("Issuer", lambda row: (row.issuer, row.account)),
    "period": By("Period", lambda row: row.starts_at),
    "rows": By("Rows", lambda row: row.rows, is_number=True),
    "billed": By("Billed", lambda row: row.billed, is_number=True),
    "effective": By("Effective", lambda row: row.effective, is_number=True),
    "contracted": By("Contracted", lambda row: row.contracted, is_number=True),
    "list": By("List", lambda row: row.listed, is_number=True),
    "state": By("Status", lambda row: row.state),
}
COLUMNS: Mapping[str, By[DeliveryRow]] = {
    "name": By("File", lambda row: row.name),
    "begun": By("Started", lambda row: row.started_at),
    "state": By("State", lambda row: row.state),
    "rows": By("Rows", lambda row: row.rows, is_number=True),
    "imported": By("New", lambda row: row.imported, is_number=True),
    "unchanged": By("Unchanged", lambda row: row.unchanged, is_number=True),
    "replaced": By("Replaced", lambda row: row.replaced, is_number=True),
    "rejected": By("Rejected", lambda row: row.rejected, is_number=True),
}


@require_safe
@shown_to(SEES_EVERYTHING)
def bills(request: HttpRequest) -> HttpResponse:
    """Every bill, the latest deliveries, and the form for another."""
    return bills_page(request, "")


def bills_page(request: HttpRequest, finding: str, status: int = 200) -> HttpResponse:
    """The list under whatever there is to say."""
    chosen = organisation()
    found = [bill_row(bill) for bill in ledger.bill_page(PageAsked(MOST_LISTED)).rows]
    waiting = sum(row.state != BILL_STATES["reconciled"] for row in found)
    page = BillsPage(
        frame=frame_of(request, chosen, "bills", None),
        finding=finding or _said(len(found), waiting),
        zone=ZoneInfo(chosen.zone),
        bills=listed(
            found,
            BILL_COLUMNS,
            Asked(request.GET, reverse("bills"), part="bills", noun=("bill", "bills")),
        ),
        deliveries=listed(
            [_delivery_row(each) for each in ledger.deliveries(MOST_LISTED)],
            COLUMNS,
            Asked(
                request.GET,
                reverse("bills"),
                name="files",
                part="files",
                noun=("import", "imports"),
            ),
        ),
        largest=file_size(LARGEST_BYTES),
    )
    return render(request, "bills/page.html", {"page": page}, status=status)


@require_safe
@shown_to(SEES_EVERYTHING)
def bills_csv(request: HttpRequest) -> HttpResponse:
    """The bills with exact amounts, the latest period first."""
    header = ("issuer", "account", "starts_at", "ends_at", "currency", "rows", *BASES, "status")
    rows = [
        (
            text_cell(bill.issuer),
            text_cell(bill.account),
            moment_cell(bill.starts_at),
            moment_cell(bill.ends_at),
            bill.currency,
            str(bill.sums.rows),
            *map(
                _exact,
                (
                    bill.sums.billed,
                    bill.sums.effective,
                    bill.sums.contracted,
                    bill.sums.listed,
                ),
            ),
            BILL_STATES[bill.state],
        )
        for bill in ledger.bill_page(PageAsked(MOST_IN_CSV)).rows
    ]
    return csv_answer("bills", header, rows)


@require_safe
@shown_to(SEES_EVERYTHING)
def one_import(request: HttpRequest, import_id: int) -> HttpResponse:
    """How far the delivery is, and what came of it."""
    fact = delivery_or_404(import_id)
    chosen = organisation()
    rejected = ledger.rejected_bill_rows(import_id, MOST_SHOWN)
    page = DeliveryPage(
        frame=frame_of(request, chosen, "bills", None),
        finding=_finding(fact),
        zone=ZoneInfo(chosen.zone),
        id=fact.id,
        name=fact.name,
        layout=_layout(fact.layout),
        by=fact.person__name or "",
        state=fact.state,
        size=file_size(fact.size_bytes),
        is_addition=fact.is_addition,
        started_at=fact.started_at,
        ended_at=fact.ended_at,
        undone_at=fact.undone_at,
        rows=fact.rows,
        imported=fact.imported,
        unchanged=fact.unchanged,
        replaced=fact.replaced,
        rejected=fact.rejected,
        flags=tuple(fact.flags),
        failure=fact.failure,
        totals=tuple(
            Total(currency, tuple((basis, sums.get(basis, "")) for basis in BASES))
            for currency, sums in sorted(fact.totals.items())
        ),
        bills=tuple(bill_row(bill) for bill in ledger.bills_of(import_id)),
        first_rejected=tuple((str(row.line), row.field, row.reason) for row in rejected),
        may_be_accepted=fact.may_be_accepted,
        accepted_at=fact.accepted_at,
        accepted_by=fact.accepted_by__name or "",
        accepted_reason=fact.accepted_reason,
    )
    return render(request, "bills/import.html", {"page": page})


@require_safe
@shown_to(SEES_EVERYTHING)
def rejected_csv(request: HttpRequest, import_id: int) -> HttpResponse:
    """Every row that was kept as rejected, with its line in the file and why."""
    delivery_or_404(import_id)
    rows = [
        (str(row.line), text_cell(row.field), text_cell(row.reason))
        for row in ledger.rejected_bill_rows(import_id, MOST_IN_CSV)
    ]
    return csv_answer(f"rejected rows of bill {import_id}", ("line", "field", "reason"), rows)


def delivery_or_404(import_id: int) -> ledger.DeliveryFact:
    """The delivery of this id."""
    fact = ledger.delivery(import_id)
    if fact is None:
        raise Http404
    return fact


def bill_row(bill: ledger.BillFact) -> BillRow:
    """A bill as it is listed."""
    sums = bill.sums
    rounded = "effective cost was rounded by its issuer" if bill.is_rounded_upstream else ""
    return BillRow(
        issuer=bill.issuer,
        href=reverse("bill", args=[bill.id]),
        account=bill.account,
        starts_at=bill.starts_at,
        period=_period(bill.starts_at, bill.ends_at),
        currency=bill.currency,
        rows=sums.rows,
        billed=_micros(sums.billed),
        effective=_micros(sums.effective),
        contracted=_micros(sums.contracted),
        listed=_micros(sums.listed),
        state=BILL_STATES[bill.state],
        note=bill.failure or rounded,
    )


def _period(starts_at: datetime, ends_at: datetime) -> str:
    """A month by its name; an issuer in another zone has its own, told by its moments."""
    first, end = starts_at.astimezone(UTC), ends_at.astimezone(UTC)
    next_month = (first.replace(day=1) + timedelta(days=32)).replace(day=1)
    if first.day == 1 and first.time() == time() and end == next_month:
        return f"{first:%B %Y}"
    return f"{first:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC"


def _said(bills: int, waiting: int) -> str:
    if not bills:
        return "No bill has come yet."
    if not waiting:
        # Not "reconciled": what they charge may be far from what was estimated.
        return (
            "The bill is in the ledger."
            if bills == 1
            else f"All {bills:,} bills are in the ledger."
        )
    return f"{counted(waiting, 'bill')} of {bills:,} {'waits' if waiting == 1 else 'wait'}."


def _finding(fact: ledger.DeliveryFact) -> str:
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


def _delivery_row(fact: ledger.DeliveryFact) -> DeliveryRow:
    return DeliveryRow(
        name=fact.name,
        started_at=fact.started_at,
        state=STATES[fact.state],
        rows=fact.rows,
        imported=fact.imported,
        unchanged=fact.unchanged,
        replaced=fact.replaced,
        rejected=fact.rejected,
        href=reverse("bill-import", args=[fact.id]),
    )


def _layout(layout: str) -> str:
    if layout == "cur":
        return "an AWS Cost and Usage Report"
    return layout.replace("focus", "FOCUS")


def _micros(amount: Decimal | None) -> int | None:
    return None if amount is None else int((amount * MICROS).to_integral_value(ROUND_HALF_EVEN))


def _exact(amount: Decimal | None) -> str:
    return "" if amount is None else f"{amount.normalize():f}"
