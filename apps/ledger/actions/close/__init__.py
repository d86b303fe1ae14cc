"""Months closed, reopened, and corrected afterwards."""

from apps.ledger.actions.close.closing import (
    CloseRequest,
    ItemsNotAccepted,
    MonthNotClosed,
    MonthNotOver,
    MonthNotReady,
    close_month,
    refuse_open,
    reopen_month,
)
from apps.ledger.actions.close.corrections import post_corrections
from apps.ledger.actions.close.posting import NoOpenMonth
