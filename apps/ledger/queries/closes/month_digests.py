"""What every table of money holds of a closed month, as a digest of all its columns.

The columns are the database's own: one that is added is in the digests of months closed from then on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.apps import apps
from django.db import connection

from apps.accounts import queries as accounts
from apps.ledger.models import Close, MonthDigest
from apps.ledger.queries.added_parts import add_parts
from apps.ledger.queries.calendar import month_span, next_month
from apps.personal.fields import personal_fields
from apps.web.queries.table_digests import table_columns, table_digest, write_values_alike

POSTED = "posting_month = '{month}'"
OF_HOURS = "hour >= '{from}' AND hour < '{to}'"
OF_DAYS = "day >= '{month}' AND day < '{next_month}'"
# A charge without a digest is empty: it stands only for what corrects it, and may come later.
CHARGED = f"{POSTED} AND digest <> ''"
# A bill is of the month in which the middle of its period lies, and stays with it unless it comes late.
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
    "ledger_bill": ITS_MONTH,
    "ledger_billrow": OF_BILLS,
    "ledger_billedhour": OF_BILLS,
    "ledger_billedcharge": OF_BILLS,
    "ledger_close": "id = {close}",
    "ledger_statementline": OF_CLOSE,
}
"""Which rows of a table nobody changes once their month is closed, as a condition in SQL.

Not here: calls to model APIs, which are priced anew of closed months too and are held against what
they are of; figures of runs, which are of all their days.
"""

BILL_TABLES = frozenset(
    {"ledger_bill", "ledger_billrow", "ledger_billedhour", "ledger_billedcharge"}
)
# A bill that came, or what it goes by, after the close; by more than one column, so that none alone
# takes its tables out of the digests.
LATE_BILLS = (
    "SELECT EXISTS (SELECT 1 FROM ledger_bill WHERE {of_month}"
    " AND greatest(changed_at, woken_at) > %(at)s"
    " AND (reconciled_at IS NULL OR reconciled_at >= greatest(changed_at, woken_at)))"
)


def has_late_bills(close: Close) -> bool:
    """Whether a bill of a closed month came, or was read anew, since it was closed.

    What bills ask of it moves then, and waits for corrections: their tables are not those of the close.
    """
    of_month = rows_kept(close, "ledger_bill")
    with connection.cursor() as cursor:
        cursor.execute(LATE_BILLS.format(of_month=of_month), {"at": close.closed_at})
        return bool(cursor.fetchone()[0])


def keep_of_closed_months(table: str, which: str) -> None:
    """Let these rows of a table of an app above be held against their digest too."""
    KEPT[table] = which


add_parts("kept_of_closed_months")


@dataclass(frozen=True, slots=True)
class DigestFact:
    """A digest as it is made or kept: of which columns of which table, of how many rows."""

    table: str
    is_personal: bool
    columns: tuple[str, ...]
    rows: int
    digest: str


def digests_of_month(close: Close) -> Iterator[DigestFact]:
    """Return the digests that the tables of a closed month have now, in the caller's transaction."""
    with connection.cursor() as cursor:
        columns = table_columns(cursor)
    for table in KEPT:
        keys, named = _named_columns(table)
        plain = [name for name in columns[table] if name not in named]
        yield _digest_now(close, table, plain, is_personal=False)
        if named:
            # With the key of their rows: else two names could change places.
            yield _digest_now(close, table, sorted({*keys, *named}), is_personal=True)


def kept_digests(close_id: int) -> list[DigestFact]:
    """Return the digests of a close that are in force: the last of each table."""
    found = MonthDigest.objects.filter(close_id=close_id).order_by("id")
    last = {(each.table, each.is_personal): each for each in found}
    return [
        DigestFact(each.table, each.is_personal, tuple(each.columns), each.rows, each.digest)
        for each in last.values()
    ]


def digest_again(close: Close, kept: DigestFact) -> DigestFact:
    """Return what a digest would be now, of the columns that it was made of."""
    return _digest_now(close, kept.table, kept.columns, is_personal=kept.is_personal)


def rows_kept(close: Close, table: str) -> str:
    """Return the condition in SQL that is true of the rows that a closed month has in a table."""
    zone = accounts.organisation().zone
    span = month_span(close.month, zone)
    # Days, moments and the name of a zone: there is nothing in them to quote.
    return KEPT[table].format_map(
        {
            "close": close.pk,
            "month": close.month.isoformat(),
            "next_month": next_month(close.month).isoformat(),
            "from": span.starts_at.isoformat(),
            "to": span.ends_at.isoformat(),
            "zone": zone,
        }
    )


def _digest_now(
    close: Close, table: str, columns: Sequence[str], *, is_personal: bool
) -> DigestFact:
    with connection.cursor() as cursor:
        write_values_alike(cursor)
        found = table_digest(cursor, table, columns, where=rows_kept(close, table))
    return DigestFact(table, is_personal, found.columns, found.rows, found.digest)


def _named_columns(table: str) -> tuple[set[str], set[str]]:
    """The columns of a table that are its key, and those that may name a person."""
    for model in apps.get_models():
        if model._meta.db_table == table:
            named = personal_fields(model)
            columns = {field.name: field.attname for field in model._meta.concrete_fields}
            keys = {field.attname for field in model._meta.pk_fields}
            return keys, {columns[name] for name in named}
    raise LookupError(f"no model has the table {table}")
