"""The tables of bills: bills, the files they came in, and what the rows of a file sum to."""

from collections.abc import Callable, Mapping
from datetime import UTC, time, timedelta
from decimal import Decimal

from django.urls import reverse

from apps.console.kit.cells import BILLED, COUNT, FIGURE, INSTANT, WRAPPED
from apps.console.kit.table import Table
from apps.ledger.queries.bills.deliveries import BillFact, BillSums, DeliveryFact
from apps.ledger.queries.bills.twins import TwinFact
from apps.tables.column import Column

BASES = {"billed": "Billed", "effective": "Effective", "contracted": "Contracted", "list": "List"}
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


def period_words(bill: BillFact) -> str:
    """A month by its name; an issuer in another zone has its own, told by its moments."""
    first, end = bill.starts_at.astimezone(UTC), bill.ends_at.astimezone(UTC)
    next_month = (first.replace(day=1) + timedelta(days=32)).replace(day=1)
    if first.day == 1 and first.time() == time() and end == next_month:
        return f"{first:%B %Y}"
    return f"{first:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC"


def _status_words(bill: BillFact) -> str:
    rounded = "effective cost was rounded by its issuer" if bill.is_rounded_upstream else ""
    note = bill.failure or rounded
    return f"{BILL_STATES[bill.state]}: {note}" if note else BILL_STATES[bill.state]


def _describe_twin(twin: TwinFact) -> str:
    """Its account, and which import is held for it."""
    pending_import = f", {twin.delivery} is held" if twin.delivery_id else ""
    return f"{twin.bill.account}{pending_import}"


def _meanwhile(twin: TwinFact) -> str:
    """Return which of two bills counts until somebody decides."""
    return "both count: their month is closed" if twin.both_count else "the old one counts"


def _amount(amount: Decimal | None, bill: BillFact) -> tuple[Decimal, str] | None:
    return None if amount is None else (amount, bill.currency)


def _sum_column(basis: str, of: Callable[[BillSums], Decimal | None]) -> Column[BillFact]:
    def billed(bill: BillFact) -> tuple[Decimal, str] | None:
        amount = of(bill.sums)
        return None if amount is None else (amount, bill.currency)

    return Column(basis, BASES[basis], billed, BILLED)


def _file_sum_column(basis: str) -> Column[tuple[str, Mapping[str, str]]]:
    return Column(basis, BASES[basis], lambda row: row[1].get(basis), FIGURE)


def _count_column(key: str, text: str) -> Column[DeliveryFact]:
    return Column(key, text, lambda fact: getattr(fact, key), COUNT)


BILLS = Table[BillFact](
    "bills",
    "Bills",
    (
        Column("issuer", "Issuer", lambda bill: bill.issuer,
               order=lambda bill: (bill.issuer, bill.account),
               href=lambda bill: reverse("bill", args=[bill.id]),
               note=lambda bill: bill.account),
        Column("account", "", lambda bill: bill.account),
        Column("period", "Period", period_words, csv="", order=lambda bill: bill.starts_at),
        Column("starts_at", "", lambda bill: bill.starts_at, INSTANT),
        Column("ends_at", "", lambda bill: bill.ends_at, INSTANT),
        Column("currency", "", lambda bill: bill.currency),
        Column("rows", "Rows", lambda bill: bill.sums.rows, COUNT),
        _sum_column("billed", lambda sums: sums.billed),
        _sum_column("effective", lambda sums: sums.effective),
        _sum_column("contracted", lambda sums: sums.contracted),
        _sum_column("list", lambda sums: sums.listed),
        Column("state", "Status", _status_words, WRAPPED, csv="status",
               written=lambda bill, _: BILL_STATES[bill.state]),
    ),
    noun=("bill", "bills"),
    sort="sort",
)  # fmt: skip
TWINS = Table[TwinFact](
    "twins",
    "Bills that may be the same money",
    (
        Column("why", "Because", lambda twin: twin.why, WRAPPED,
               href=lambda twin: reverse("choose-bill", args=[twin.id])),
        Column("period", "Period", lambda twin: period_words(twin.bill)),
        Column("new", "New one", lambda twin: twin.bill.issuer, note=_describe_twin),
        Column("new_billed", "It bills", lambda twin: _amount(twin.new_billed, twin.bill), BILLED),
        Column("new_currency", "", lambda twin: twin.bill.currency),
        Column("old", "Old one", lambda twin: twin.other.issuer,
               note=lambda twin: twin.other.account),
        Column("old_billed", "It bills",
               lambda twin: _amount(twin.other.sums.billed, twin.other), BILLED),
        Column("old_currency", "", lambda twin: twin.other.currency),
        Column("meanwhile", "Meanwhile", _meanwhile, WRAPPED),
    ),
    noun=("pair", "pairs"),
    about="open months stay open until somebody says which counts: {said}",
    sort="twins",
)  # fmt: skip
FILES = Table[DeliveryFact](
    "files",
    "Bill imports",
    (
        Column("name", "File", lambda fact: fact.name,
               href=lambda fact: reverse("bill-import", args=[fact.id])),
        Column("begun", "Started", lambda fact: fact.started_at, INSTANT, csv="started_at"),
        Column("state", "State", lambda fact: STATES[fact.state]),
        _count_column("rows", "Rows"),
        _count_column("imported", "New"),
        _count_column("unchanged", "Unchanged"),
        _count_column("replaced", "Replaced"),
        _count_column("rejected", "Rejected"),
    ),
    noun=("import", "imports"),
    about="the latest first: {said}",
    sort="files",
)  # fmt: skip
SUMS = Table[tuple[str, Mapping[str, str]]](
    "sums",
    "Sums of its rows",
    (
        Column("currency", "Currency", lambda row: row[0]),
        *map(_file_sum_column, BASES),
    ),
    about="all rows of the file, by currency",
)
