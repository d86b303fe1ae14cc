"""The digests of every table of money of a closed month, each of all the table's columns.

The columns are the database's own: one that is added is in the digests of months closed from then on.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.apps import apps
from django.db import connection

from apps.accounts import queries as accounts
from apps.ledger.models import Close, DigestOrigin, MonthDigest
from apps.ledger.queries.added_parts import add_parts
from apps.ledger.queries.calendar import month_span, next_month
from apps.personal.fields import personal_fields
from apps.web.queries.table_digests import table_columns, table_digest, write_values_alike

POSTED = "posting_month = '{month}'"
OF_HOURS = "hour >= '{from}' AND hour < '{to}'"
OF_DAYS = "day >= '{month}' AND day < '{next_month}'"
# A charge without a digest is empty: it stands only for what corrects it, and may come later.
CHARGED = f"{POSTED} AND digest <> ''"
# Rows that wait for somebody's word, or are just being read, are no bill yet.
TAKEN = "batch_id IN (SELECT id FROM ledger_billimport WHERE state = 'done')"
# A bill is of the month in which the middle of its period lies.
ITS_MONTH = (
    "date_trunc('month', (starts_at + (ends_at - starts_at) / 2) AT TIME ZONE '{zone}')"
    " = '{month}'::timestamp"
)
OF_BILLS = "bill_id IN (SELECT id FROM ledger_bill WHERE :of_month)".replace(":of_month", ITS_MONTH)
OF_CHARGES = "charge_id IN (SELECT id FROM ledger_charge WHERE :charged)".replace(
    ":charged", CHARGED
)
OF_CLOSE = "close_id = {close}"
KEPT: dict[str, str] = {
    "ledger_charge": CHARGED,
    "ledger_chargepiece": OF_CHARGES,
    "ledger_settlement": OF_HOURS,
    "ledger_line": POSTED,
    "ledger_ledgerday": POSTED,
    "ledger_ledgerteamday": POSTED,
    "ledger_ledgerpoolday": POSTED,
    "ledger_ledgermonth": POSTED,
    "ledger_ledgeruserday": POSTED,
    "ledger_ledgernodeday": POSTED,
    "ledger_ledgerjobday": POSTED,
    "ledger_meterday": OF_DAYS,
    "ledger_bill": f"{ITS_MONTH} AND created_at <= '{{closed_at}}'",
    "ledger_billrow": f"{OF_BILLS} AND {TAKEN}",
    "ledger_billedhour": OF_BILLS,
    "ledger_billedcharge": OF_BILLS,
    "ledger_close": "id = {close}",
    "ledger_statementline": OF_CLOSE,
}
"""Which rows of a table nobody changes once their month is closed, as a condition in SQL.

Not here: calls to model APIs, which are priced anew of closed months too and are held against what
they are of; figures of runs, which are of all their days.
"""

OF_BILL: dict[str, str] = {
    "ledger_bill": "id = {bill}",
    "ledger_billrow": f"bill_id = {{bill}} AND {TAKEN}",
    "ledger_billedhour": "bill_id = {bill}",
    "ledger_billedcharge": "bill_id = {bill}",
}
"""Which rows of these a bill has: they have digests by bill, for one may come after the close."""

# Something is charged for it, or of it: it is more than the name of a bill that somebody began to read.
HAS_MONEY = f"""(
    EXISTS (SELECT 1 FROM ledger_billrow WHERE bill_id = ledger_bill.id AND {TAKEN})
    OR EXISTS (SELECT 1 FROM ledger_billedhour WHERE bill_id = ledger_bill.id)
    OR EXISTS (SELECT 1 FROM ledger_billedcharge WHERE bill_id = ledger_bill.id))"""  # noqa: S608  # words of our own
BILLS = "SELECT id FROM ledger_bill WHERE {of_month} AND {has_money} ORDER BY id"
# A bill that came, or what it goes by, after the close; by more than one column, so that none alone
# takes its tables out of the digests.
LATE_BILLS = (
    "SELECT EXISTS (SELECT 1 FROM ledger_bill WHERE {of_month}"
    " AND greatest(changed_at, woken_at) > %(at)s"
    " AND (reconciled_at IS NULL OR reconciled_at >= greatest(changed_at, woken_at))"
    # What somebody only began to read is no bill yet.
    " AND (created_at <= %(at)s OR {has_money}))"
)


def has_late_bills(close: Close) -> bool:
    """Whether a bill of a closed month came, or was read anew, since it was closed."""
    query = LATE_BILLS.format(of_month=_filled(ITS_MONTH, close), has_money=HAS_MONEY)
    with connection.cursor() as cursor:
        cursor.execute(query, {"at": close.closed_at})
        return bool(cursor.fetchone()[0])


def bills_with_money(close: Close) -> list[int]:
    """Return the bills of a closed month that something was taken in for, by id."""
    query = BILLS.format(of_month=_filled(ITS_MONTH, close), has_money=HAS_MONEY)
    with connection.cursor() as cursor:
        cursor.execute(query)
        return [bill_id for (bill_id,) in cursor.fetchall()]


def keep_of_closed_months(table: str, which: str) -> None:
    """Let these rows of a table of an app above be held against their digest too."""
    KEPT[table] = which


add_parts("kept_of_closed_months")


@dataclass(frozen=True, slots=True)
class DigestFact:
    """A digest as it is made or kept: of which columns of which table, of how many rows.

    `bill_id` is of the bill whose rows alone it is of; None: of all that the month has of the table.
    """

    table: str
    is_personal: bool
    columns: tuple[str, ...]
    rows: int
    digest: str
    bill_id: int | None = None


def digests_of_month(close: Close) -> Iterator[DigestFact]:
    """Return the digests that the tables of a closed month have now, in the caller's transaction."""
    of_month = [table for table in KEPT if table not in OF_BILL]
    yield from _digests_of(close, of_month, None)
    for bill_id in bills_with_money(close):
        yield from digests_of_bill(close, bill_id)


def digests_of_bill(
    close: Close, bill_id: int, tables: Iterable[str] = tuple(OF_BILL)
) -> Iterator[DigestFact]:
    """Return the digests that one bill's rows of these tables have now."""
    yield from _digests_of(close, tables, bill_id)


def current_digests(close_id: int) -> list[DigestFact]:
    """Return the digests of a close that are in force: the last of each table and bill.

    Earlier versions made one of all bills together. It is in force until its bills have their own,
    or where there was no bill.
    """
    month_digests = MonthDigest.objects.filter(close_id=close_id).order_by("id")
    last = {(digest.table, digest.is_personal, digest.bill_id): digest for digest in month_digests}
    are_apart = any(digest.bill_id for digest in last.values()) or not any(
        digest.rows for digest in last.values() if digest.table == "ledger_bill"
    )
    return [
        DigestFact(
            digest.table,
            digest.is_personal,
            tuple(digest.columns),
            digest.rows,
            digest.digest,
            digest.bill_id,
        )
        for digest in last.values()
        if digest.bill_id or digest.table not in OF_BILL or not are_apart
    ]


def is_of_all_bills(digest: DigestFact) -> bool:
    """Whether a digest is of all bills together, as earlier versions made them."""
    return digest.table in OF_BILL and digest.bill_id is None


def are_late_bills_undigested(close: Close, digests: Iterable[DigestFact]) -> bool:
    """Whether a bill came late before bills had digests of their own: the next sweep makes those.

    Not where they were compared since, and kept because they said something else.
    """
    if not any(is_of_all_bills(digest_fact) for digest_fact in digests):
        return False
    again = MonthDigest.objects.filter(
        close=close, bill_id=None, table__in=OF_BILL, origin=DigestOrigin.BILL
    )
    return not again.exists() and has_late_bills(close)


def bills_without_digest(close: Close, digests: Iterable[DigestFact]) -> list[int]:
    """Return the bills of a closed month that something was taken in for by nobody who may, by id."""
    digest_facts = list(digests)
    if any(is_of_all_bills(digest_fact) for digest_fact in digest_facts):
        # What all of them come to is known.
        return []
    digested = {digest_fact.bill_id for digest_fact in digest_facts}
    return [bill_id for bill_id in bills_with_money(close) if bill_id not in digested]


def digests_taken_away(close: Close, digests: Iterable[DigestFact]) -> list[str]:
    """Return of which tables a close has no digest in force though it was made with one.

    A close without any was made by an earlier version, unless one before it was digested as it was
    closed. Whoever adds a table to KEPT has to give earlier closes their digests of it.
    """
    digest_facts = list(digests)
    if not digest_facts:
        earlier = MonthDigest.objects.filter(origin=DigestOrigin.CLOSE, close_id__lt=close.pk)
        return ["every table"] if earlier.exists() else []
    has = {
        (digest_fact.table, digest_fact.bill_id)
        for digest_fact in digest_facts
        if not digest_fact.is_personal
    }
    bills = sorted({digest_fact.bill_id for digest_fact in digest_facts if digest_fact.bill_id})
    return [
        *(table for table in sorted(KEPT.keys() - OF_BILL.keys()) if (table, None) not in has),
        *(
            f"{table}, bill {bill_id}"
            for bill_id in bills
            for table in OF_BILL
            if (table, bill_id) not in has
        ),
    ]


def digest_again(close: Close, digest: DigestFact) -> DigestFact:
    """Return what a digest would be now, of the columns that it was made of."""
    return _digest_now(
        close, digest.table, digest.columns, digest.bill_id, is_personal=digest.is_personal
    )


def _digests_of(close: Close, tables: Iterable[str], bill_id: int | None) -> Iterator[DigestFact]:
    with connection.cursor() as cursor:
        columns = table_columns(cursor)
    for table in tables:
        keys, named = _named_columns(table)
        plain = [name for name in columns[table] if name not in named]
        yield _digest_now(close, table, plain, bill_id, is_personal=False)
        if named:
            # With the key of their rows: else two names could change places.
            yield _digest_now(close, table, sorted({*keys, *named}), bill_id, is_personal=True)


def frozen_rows_condition(close: Close, table: str) -> str:
    """Return the condition in SQL that is true of the rows that a closed month has in a table."""
    return _filled(KEPT[table], close)


def _filled(condition: str, close: Close) -> str:
    zone = accounts.organisation().zone
    span = month_span(close.month, zone)
    # Days, moments and the name of a zone: there is nothing in them to quote.
    return condition.format_map(
        {
            "close": close.pk,
            "closed_at": close.closed_at.isoformat(),
            "month": close.month.isoformat(),
            "next_month": next_month(close.month).isoformat(),
            "from": span.starts_at.isoformat(),
            "to": span.ends_at.isoformat(),
            "zone": zone,
        }
    )


def _digest_now(
    close: Close, table: str, columns: Sequence[str], bill_id: int | None, *, is_personal: bool
) -> DigestFact:
    where = (
        frozen_rows_condition(close, table)
        if bill_id is None
        else OF_BILL[table].format(bill=bill_id)
    )
    with connection.cursor() as cursor:
        write_values_alike(cursor)
        current = table_digest(cursor, table, columns, where=where)
    return DigestFact(table, is_personal, current.columns, current.rows, current.digest, bill_id)


def _named_columns(table: str) -> tuple[set[str], set[str]]:
    """The columns of a table that are its key, and those that may name a person."""
    for model in apps.get_models():
        if model._meta.db_table == table:
            named = personal_fields(model)
            columns = {field.name: field.attname for field in model._meta.concrete_fields}
            keys = {field.attname for field in model._meta.pk_fields}
            return keys, {columns[name] for name in named}
    raise LookupError(f"no model has the table {table}")
