"""Bills by browser: sent, taken in while the page says how far, looked at, undone."""

from apps.console.pages.bills.changes import accept, call_off, undo, upload
from apps.console.pages.bills.views import bills, bills_csv, one_import, rejected_csv

__all__ = [
    "accept",
    "bills",
    "bills_csv",
    "call_off",
    "one_import",
    "rejected_csv",
    "undo",
    "upload",
]
