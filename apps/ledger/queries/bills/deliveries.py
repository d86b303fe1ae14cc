"""Bills as they stand, the deliveries they came in, and the rows that could not be read."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.core.cache import caches

from apps.accounts.queries.facts import facts_of, field_names
from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.ledger.models import Bill, BillImport, RejectedBillRow
from apps.ledger.queries.tables import rows
from apps.ledger.queries.unread_bills import UnreadDelivery, unread_of
from apps.uploads.imports import ImportProgress

SUMS_KEPT_SECONDS = 24 * 3600
BILL_COLUMNS = (
    *("id", "issuer", "provider", "account", "starts_at", "ends_at", "currency"),
    *("is_rounded_upstream", "residual", "changed_at", "reconciled_at", "failure"),
)


@dataclass(frozen=True, slots=True)
class BillSums:
    """The sums of the rows in force, in the bill's currency; None where no row says it."""

    rows: int = 0
    billed: Decimal | None = None
    effective: Decimal | None = None
    contracted: Decimal | None = None
    listed: Decimal | None = None


@dataclass(frozen=True, slots=True)
class BillIdentity:
    """A bill by what tells it from others: who asks whom for what time, in which currency."""

    id: int
    issuer: str
    account: str
    starts_at: datetime
    ends_at: datetime
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BillFact(BillIdentity):
    """A bill; `failure` says why it cannot be reconciled, `unread` which deliveries lack rows."""

    provider: str
    is_rounded_upstream: bool
    residual: Decimal | None
    changed_at: datetime
    reconciled_at: datetime | None
    failure: str
    sums: BillSums
    unread: tuple[UnreadDelivery, ...] = ()

    @property
    def unread_rows(self) -> int:
        """How many rows its deliveries lack."""
        return sum(unread_part.rows for unread_part in self.unread)

    @property
    def state(self) -> str:
        """How far it is: waiting, reconciled, incomplete (reconciled, and rows lack) or failed."""
        if self.failure:
            return "failed"
        if self.reconciled_at is None:
            return "waiting"
        return "incomplete" if self.unread else "reconciled"


@dataclass(frozen=True, slots=True)
class DeliveryFact(ImportProgress):
    """One delivery of a bill's file; `stored_as` is its name while it is kept."""

    layout: str
    is_addition: bool
    replaced: int
    totals: Mapping[str, Mapping[str, str]]
    flags: Sequence[str]
    stored_as: str
    undone_at: datetime | None
    person__name: str | None
    accepted_at: datetime | None
    accepted_by__name: str | None
    accepted_reason: str

    @property
    def may_be_accepted(self) -> bool:
        """Whether rows of it could not be read, and nobody said yet that it may stand so."""
        is_here = self.state in {"held", "done"}
        return is_here and bool(self.rejected) and self.accepted_at is None


@dataclass(frozen=True, slots=True)
class RejectedBillFact:
    """A row that was not taken, by its line in the file."""

    line: int
    field: str
    reason: str


def bill_page(page_request: PageRequest) -> Page[BillFact]:
    """Bills that have rows or had them, the latest period first."""
    page = page_of(Bill.objects.values(*BILL_COLUMNS), page_request, "-starts_at", "-id")
    return Page(_facts_of(page.rows), page.after, page.before)


def bill_fact(bill_id: int) -> BillFact | None:
    """One bill; None where there is none."""
    return next(iter(_facts_of(list(Bill.objects.filter(id=bill_id).values(*BILL_COLUMNS)))), None)


def bills_of(import_id: int) -> list[BillFact]:
    """The bills that one delivery had rows of."""
    bills = Bill.objects.filter(imports=import_id).order_by("starts_at", "id")
    return _facts_of(list(bills.values(*BILL_COLUMNS)))


def bills_failed() -> list[tuple[int, str]]:
    """The bills that could not be reconciled, with why, by id."""
    waiting = Bill.objects.filter(reconciled_at=None).exclude(failure="").order_by("id")
    return list(waiting.values_list("id", "failure"))


def bills_of_ids(bill_ids: Collection[int]) -> list[BillFact]:
    """These bills, by id."""
    bills = Bill.objects.filter(id__in=bill_ids).order_by("id")
    return _facts_of(list(bills.values(*BILL_COLUMNS)))


def sums_of_delivery(import_id: int, bill_ids: Collection[int]) -> dict[int, Decimal | None]:
    """Return the sums that the rows of one delivery bill, whether or not they count, by bill."""
    sum_rows = rows(SUMS_ALONE, {"bills": list(bill_ids), "import": import_id})
    return {bill_id: billed for bill_id, _, billed, *_ in sum_rows}


def bills_moved(delivery: DeliveryFact) -> list[tuple[BillFact, BillSums]]:
    """The bills of a delivery, and their sums were it undone, or accepted where it is held."""
    facts = bills_of(delivery.id)
    params = {"bills": [bill.id for bill in facts], "import": delivery.id}
    moved = rows(SUMS_ALONE if delivery.state == "held" else SUMS_UNDONE, params)
    sums = {bill_id: BillSums(*of_bill) for bill_id, *of_bill in moved}
    return [(bill, sums.get(bill.id, BillSums())) for bill in facts]


def delivery(import_id: int) -> DeliveryFact | None:
    """One delivery."""
    return next(iter(facts_of(DeliveryFact, BillImport.objects.filter(id=import_id))), None)


def delivery_page(page_request: PageRequest) -> Page[DeliveryFact]:
    """Deliveries, the newest first."""
    page = page_of(BillImport.objects.values(*field_names(DeliveryFact)), page_request, "-id")
    return Page([DeliveryFact(**row) for row in page.rows], page.after, page.before)


def bills_of_deliveries(import_ids: Sequence[int]) -> dict[int, list[int]]:
    """The bills that deliveries had rows of, by delivery."""
    bills: dict[int, list[int]] = {import_id: [] for import_id in import_ids}
    links = BillImport.bills.through.objects.filter(billimport_id__in=import_ids)
    for import_id, bill_id in links.order_by("bill_id").values_list("billimport_id", "bill_id"):
        bills[import_id].append(bill_id)
    return bills


def rejected_page(import_id: int, page_request: PageRequest) -> Page[RejectedBillFact]:
    """Rows of a delivery that were not taken, by line."""
    rejected = RejectedBillRow.objects.filter(batch_id=import_id)
    page = page_of(rejected.values(*RejectedBillFact.__slots__), page_request, "line")
    return Page([RejectedBillFact(**row) for row in page.rows], page.after, page.before)


def _facts_of(bill_rows: Sequence[Mapping[str, Any]]) -> list[BillFact]:
    sums, unread = _bill_sums(bill_rows), unread_of([bill["id"] for bill in bill_rows])
    return [
        BillFact(**bill, sums=sums[bill["id"]], unread=unread.get(bill["id"], ()))
        for bill in bill_rows
    ]


def _bill_sums(bill_rows: Sequence[Mapping[str, Any]]) -> dict[int, BillSums]:
    """Of each bill; a million rows are summed once, until the bill changes."""
    keys = {
        bill["id"]: f"bill-sums-{bill['id']}-{bill['changed_at'].timestamp()}" for bill in bill_rows
    }
    cached_sums = caches["process"].get_many(keys.values())
    missing = [bill_id for bill_id, key in keys.items() if key not in cached_sums]
    summed = {bill_id: BillSums(*of_bill) for bill_id, *of_bill in rows(SUMS, {"bills": missing})}
    new = {keys[bill_id]: summed.get(bill_id, BillSums()) for bill_id in missing}
    caches["process"].set_many(new, SUMS_KEPT_SECONDS)
    return {bill_id: {**cached_sums, **new}[key] for bill_id, key in keys.items()}


SUMS_OF_ROWS = """
SELECT row.bill_id, count(*), sum(row.billed_cost), sum(row.effective_cost),
       sum(row.contracted_cost), sum(row.list_cost)
FROM ledger_billrow AS row JOIN ledger_billimport AS batch ON batch.id = row.batch_id
WHERE row.bill_id = ANY(%(bills)s) AND {which}
GROUP BY row.bill_id
"""
SUMS = SUMS_OF_ROWS.format(which="batch.state = 'done' AND row.replaced_by_id IS NULL")
SUMS_UNDONE = SUMS_OF_ROWS.format(
    which="batch.state = 'done' AND batch.id <> %(import)s "
    "AND (row.replaced_by_id IS NULL OR row.replaced_by_id = %(import)s)"
)
SUMS_ALONE = SUMS_OF_ROWS.format(which="batch.id = %(import)s")
