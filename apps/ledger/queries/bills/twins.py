"""Bills that may be the same money under another name, or in another kind of file."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import F, Q

from apps.accounts import queries as accounts
from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.accounts.queries.people import person_names
from apps.economics.focus.names import are_one_period, payer_key, provider_key
from apps.ledger.models import Bill, BillImport, BillTwin, TwinChoice
from apps.ledger.queries.bills.deliveries import BillFact, bills_of_ids, sums_of_delivery
from apps.ledger.queries.calendar import main_month
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.tables import rows

TWIN_KEYS = ("id",)
# The kinds of file in which the rows in force of these bills came, by bill.
KINDS = """
SELECT part.bill_id, array_agg(DISTINCT split_part(batch.layout, ' ', 1))
FROM ledger_billimport_bills AS part
JOIN ledger_billimport AS batch ON batch.id = part.billimport_id AND batch.state = 'done'
WHERE part.bill_id = ANY(%(bills)s) AND EXISTS (
    SELECT 1 FROM ledger_billrow AS row
    WHERE row.bill_id = part.bill_id AND row.batch_id = batch.id AND row.replaced_by_id IS NULL)
GROUP BY part.bill_id
"""
GIVEN_WAY = """
SELECT twin.id, sum(row.billed_cost)
FROM ledger_billtwin AS twin
JOIN ledger_billrow AS row
  ON row.bill_id = twin.bill_id AND row.replaced_by_id = twin.gave_way_to_id
WHERE twin.id = ANY(%(twins)s)
GROUP BY twin.id
"""
# Pairs of bills that one file brought, or that somebody said are two: they are not the same money.
# Of a pair that is asked about, or was decided on, one is of the other's file because it gave way.
APART = """
SELECT mine.bill_id, its.bill_id
FROM ledger_billimport_bills AS mine
JOIN ledger_billimport AS batch ON batch.id = mine.billimport_id AND batch.state = 'done'
JOIN ledger_billimport_bills AS its ON its.billimport_id = batch.id AND its.bill_id <> mine.bill_id
WHERE mine.bill_id = ANY(%(bills)s)
  AND NOT EXISTS (SELECT 1 FROM ledger_billtwin AS twin
                  WHERE twin.choice <> 'both'
                    AND (twin.bill_id, twin.other_id) IN ((mine.bill_id, its.bill_id),
                                                          (its.bill_id, mine.bill_id)))
UNION
SELECT bill_id, other_id FROM ledger_billtwin WHERE choice = 'both'
UNION
SELECT other_id, bill_id FROM ledger_billtwin WHERE choice = 'both'
"""
# Whether most of what a file has of a bill is in force already.
AGAIN = """
SELECT 1 WHERE (
    SELECT count(*) FROM ledger_billrow AS staged
    WHERE staged.batch_id = %(id)s AND staged.bill_id = %(bill)s AND EXISTS (
        SELECT 1 FROM ledger_billrow AS row
        JOIN ledger_billimport AS batch ON batch.id = row.batch_id AND batch.state = 'done'
        WHERE row.bill_id = staged.bill_id AND row.digest = staged.digest
          AND row.batch_id <> %(id)s AND row.replaced_by_id IS NULL)
) * 2 > (SELECT count(*) FROM ledger_billrow WHERE batch_id = %(id)s AND bill_id = %(bill)s)
"""


@dataclass(frozen=True, slots=True)
class TwinCandidate:
    """A bill that may be the same money as an older one, and why."""

    bill_id: int
    other_id: int
    why: str


@dataclass(frozen=True, slots=True)
class TwinOfBill:
    """A bill that may be the same money as another, of which it is told; see TwinFact."""

    id: int
    beside: Bill
    why: str
    both_count: bool
    is_new: bool


@dataclass(frozen=True, slots=True)
class TwinFact:
    """Two bills that may be the same money, side by side; `choice` is empty until somebody decides.

    `delivery_id` is the import that is held for it; None where both came before anybody asked. Then
    the new one gave way to the old one until somebody decides, or both count (`both_count`), for their
    month is closed. `told` is what is held of the new one, billed, in its currency.
    """

    id: int
    bill: BillFact
    other: BillFact
    delivery_id: int | None
    delivery: str
    both_count: bool
    told: Decimal | None
    why: str
    choice: str
    noticed_at: datetime
    decided_at: datetime | None
    decided_by: str
    reason: str

    @property
    def new_billed(self) -> Decimal | None:
        """The amount that the new bill bills: what is held of it, else what is in force."""
        return self.bill.sums.billed if self.both_count else self.told


def twins_of_delivery(
    import_id: int, bill_ids: Sequence[int], layout: str, *, is_addition: bool
) -> list[TwinCandidate]:
    """Return the parts of a delivery that may be in force already: under another name, in another kind of file, row by row.

    Bills that it brings itself are not the same money as each other. What somebody said is two
    bills is not asked about again.
    """
    kind = layout.split(" ", 1)[0]
    pairs = [
        (bill, other)
        for bill in Bill.objects.filter(id__in=bill_ids).order_by("id")
        for other in _of_one_payer(bill)
        # The same bill whole is replaced, whatever kind of file it came in before.
        if other.id not in bill_ids or (other.id == bill.id and is_addition)
    ]
    kinds = _kinds_in_force({other.id for _, other in pairs})
    apart = set(rows(APART, {"bills": list(bill_ids)})) if pairs else set()
    twins: list[TwinCandidate] = []
    for bill, other in pairs:
        if other.id not in kinds:
            continue
        is_apart = (bill.id, other.id) in apart
        why = "" if is_apart else _why_twins(bill, other, kind, kinds[other.id])
        # One of several files of one kind is what its sender says that it is, unless it came before.
        if not why and bill.id == other.id and rows(AGAIN, {"id": import_id, "bill": bill.id}):
            why = "most of its rows are on record already, the same in every cell"
        if why:
            twins.append(TwinCandidate(bill.id, other.id, why))
    return twins


def twins_in_force() -> list[TwinCandidate]:
    """Bills in force that may be the same money, whenever they came: the later of each two first."""
    bills = list(Bill.objects.order_by("id"))
    kinds = _kinds_in_force({bill.id for bill in bills})
    apart = set(rows(APART, {"bills": [bill.id for bill in bills]}))
    return [
        TwinCandidate(bill.id, other.id, why)
        for bill in bills
        for other in _of_one_payer(bill)
        if other.id < bill.id
        and {bill.id, other.id} <= kinds.keys()
        and (bill.id, other.id) not in apart
        and (why := _why_twins(bill, other, kinds[bill.id][0], kinds[other.id]))
    ]


def _why_twins(bill: Bill, other: Bill, kind: str, kinds: Sequence[str]) -> str:
    reasons = []
    if bill.issuer != other.issuer:
        reasons.append(f"{other.issuer} and {bill.issuer} are one provider")
    if bill.currency != other.currency:
        reasons.append(f"one is in {other.currency}, the other in {bill.currency}")
    if kind not in kinds:
        reasons.append(f"one came as {' and '.join(kinds)}, the other as {kind}")
    if bill.account != other.account:
        reasons.append(f"{other.account} and {bill.account} are one account")
    if (bill.starts_at, bill.ends_at) != (other.starts_at, other.ends_at):
        reasons.append(f"the periods {_period(other)} and {_period(bill)} are of one time")
    return "; ".join(reasons)


def _period(bill: Bill) -> str:
    return " to ".join(f"{end:%Y-%m-%d %H:%M}" for end in (bill.starts_at, bill.ends_at))


def _of_one_payer(bill: Bill) -> list[Bill]:
    """Every bill of its payer, provider and time, itself too; in another currency only those of its own issuer.

    Regional companies of one provider do bill one payer in their own currencies; one company does not.
    """
    near = Bill.objects.filter(starts_at__lt=bill.ends_at, ends_at__gt=bill.starts_at)
    same = near.filter(Q(currency=bill.currency) | Q(issuer=bill.issuer))
    return [other for other in same.order_by("id") if _is_one_payer(bill, other)]


def _is_one_payer(bill: Bill, other: Bill) -> bool:
    return (
        payer_key(bill.account) == payer_key(other.account)
        and provider_key(bill.provider, bill.issuer) == provider_key(other.provider, other.issuer)
        and are_one_period((bill.starts_at, bill.ends_at), (other.starts_at, other.ends_at))
    )


def _kinds_in_force(bill_ids: Collection[int]) -> dict[int, list[str]]:
    kind_rows = rows(KINDS, {"bills": list(bill_ids)}) if bill_ids else ()
    return {bill_id: sorted(kinds) for bill_id, kinds in kind_rows}


def open_twins() -> list[TwinFact]:
    """Those that nobody decided on, the latest period first."""
    return _facts_of(BillTwin.objects.filter(choice="").order_by("-bill__starts_at", "id"))


def twin_page(page_request: PageRequest) -> Page[TwinFact]:
    """Every one that was noticed, the latest first."""
    page = page_of(BillTwin.objects.values(*TWIN_KEYS), page_request, "-id")
    of = BillTwin.objects.filter(id__in=[row["id"] for row in page.rows]).order_by("-id")
    return Page(_facts_of(of), page.after, page.before)


def twin(twin_id: int) -> TwinFact | None:
    """One of them; None where there is none."""
    return next(iter(_facts_of(BillTwin.objects.filter(id=twin_id))), None)


def undecided_twins() -> list[BillTwin]:
    """Every pair that nobody decided on, with its bills, by the new one's first moment."""
    twins = BillTwin.objects.filter(choice="").select_related("bill", "other")
    return list(twins.order_by("bill__starts_at", "id"))


def words_on_pairs(bill_ids: Collection[int]) -> list[BillTwin]:
    """The last word on each pair of these bills of which one is to count for nothing.

    That is what somebody decided, or that the new one gives way until somebody does.
    """
    last: dict[frozenset[int], BillTwin] = {}
    pairs = BillTwin.objects.filter(Q(bill__in=bill_ids) | Q(other__in=bill_ids))
    for twin in pairs.exclude(other=F("bill")).order_by("id"):
        if twin.choice or twin.gave_way_to_id is not None:
            last[frozenset((twin.bill_id, twin.other_id))] = twin
    return [twin for twin in last.values() if twin.choice != TwinChoice.BOTH]


def open_twins_of(bill_ids: Collection[int], among: Iterable[BillTwin]) -> int:
    """How many pairs of these bills are among some."""
    return sum(twin.bill_id in bill_ids for twin in among)


def twins_of_bill(bill_id: int) -> list[TwinOfBill]:
    """The bills that may be the same money as this one, while nobody decided on it."""
    pairs = BillTwin.objects.filter(Q(bill=bill_id) | Q(other=bill_id), choice="")
    return [
        TwinOfBill(
            id=twin.id,
            beside=twin.other if twin.bill_id == bill_id else twin.bill,
            why=twin.why,
            both_count=twin.both_count,
            is_new=twin.bill_id == bill_id,
        )
        for twin in pairs.exclude(other=F("bill")).select_related("bill", "other").order_by("id")
    ]


def twins_of_closed_months(among: Iterable[BillTwin]) -> list[str]:
    """Those of some pairs that count twice in closed months until somebody decides, in words."""
    counted = [twin for twin in among if twin.both_count]
    zone, closed = accounts.organisation().zone, closed_months() if counted else set()
    named = []
    for twin in counted:
        month = main_month(twin.bill.starts_at, twin.bill.ends_at, zone)
        if month in closed:
            named.append(
                f"{month:%Y-%m}: {twin.other.issuer} {twin.other.account}"
                f" and {twin.bill.issuer} {twin.bill.account}"
            )
    return named


def are_in_force(bill_ids: Collection[int]) -> bool:
    """Whether each of these bills has rows that count."""
    return _kinds_in_force(bill_ids).keys() >= set(bill_ids)


def _facts_of(twin_rows: Iterable[BillTwin]) -> list[TwinFact]:
    twins = list(twin_rows)
    bills = {
        bill.id: bill
        for bill in bills_of_ids(
            {bill_id for twin in twins for bill_id in (twin.bill_id, twin.other_id)}
        )
    }
    names = dict(
        BillImport.objects.filter(id__in=[twin.batch_id for twin in twins]).values_list(
            "id", "name"
        )
    )
    people = person_names()
    brought = {
        twin.batch_id: sums_of_delivery(twin.batch_id, [other.bill_id for other in twins])
        for twin in twins
        if twin.batch_id is not None
    }
    given_way = _deferred_sums(twins)
    return [
        TwinFact(
            id=twin.id,
            bill=bills[twin.bill_id],
            other=bills[twin.other_id],
            delivery_id=twin.batch_id,
            delivery=names.get(twin.batch_id or 0, ""),
            both_count=twin.both_count,
            told=given_way.get(twin.id)
            if twin.batch_id is None
            else brought[twin.batch_id].get(twin.bill_id),
            why=twin.why,
            choice=twin.choice,
            noticed_at=twin.noticed_at,
            decided_at=twin.decided_at,
            decided_by=people.get(twin.decided_by_id or 0, ""),
            reason=twin.reason,
        )
        for twin in twins
    ]


def _deferred_sums(twins: Sequence[BillTwin]) -> dict[int, Decimal | None]:
    """Return the amounts that new bills which gave way until somebody decides would bill, by pair."""
    ids = [twin.id for twin in twins if twin.gave_way_to_id is not None]
    return dict(rows(GIVEN_WAY, {"twins": ids})) if ids else {}
