"""The page that CONTRIBUTING adds: one file, with a table of three columns, and its addresses."""

from datetime import date

from django.urls import include, path

from apps.console.kit.cells import DAY, MONEY
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import Table
from apps.tables.column import CURRENCY_COLUMN, Column

ROWS = [
    ("=rack", date(2026, 3, 2), 1_500_000),
    ("Lease", date(2026, 3, 1), 20_000_000),
    ("Power", date(2026, 3, 3), None),
]
TABLE = Table[tuple[str, date, int | None]](
    "table",
    "What was paid",
    (
        Column("what", "What", lambda row: row[0]),
        Column("day", "Day", lambda row: row[1], DAY),
        Column("cost", "Cost", lambda row: row[2], MONEY),
        CURRENCY_COLUMN,
    ),
    noun=("payment", "payments"),
    sort="sort",
)


@shown(SEES_EVERYTHING, "bills")
def payments(context: Context) -> ConsolePage:
    """What was paid."""
    table = TABLE.section(ROWS, context, csv_name="payments")
    return ConsolePage(context=context, finding="Three things were paid", sections=(table,))


urlpatterns = [
    path("payments", payments, name="payments"),
    path("", include("controlplane.urls")),
]
