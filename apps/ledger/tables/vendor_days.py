"""The table of vendors' days: what their calls come to, beside their own reports."""

from apps.ledger.queries.api_spend import VendorDay
from apps.show.cell_formats import PROSE
from apps.tables.column import CURRENCY_COLUMN, Column, field
from apps.tables.table import Table

VENDOR_DAYS = Table[VendorDay](
    "compared",
    "Beside the vendors’ own reports",
    (
        Column("vendor", "Vendor", format=PROSE),
        Column("day", "Day"),
        Column("ours", "Our calls", field("our_micros")),
        Column("theirs", "Their report", field("their_micros")),
        Column("difference", "Difference", field("difference_micros")),
        Column("unpriced_requests", "Without a price", field("unpriced")),
        CURRENCY_COLUMN,
    ),
    about="days of UTC, as vendors cut them; the difference is theirs less ours",
    empty="No vendor’s report of this month is known: bring one in, or send it to "
    "POST /api/v1/vendor-costs.",
    row=VendorDay,
    unique=lambda row: (row.vendor, row.day.isoformat()),
)
