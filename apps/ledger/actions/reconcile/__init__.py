"""Bills against node-hours: what was billed takes the place of what was estimated."""

from apps.ledger.actions.reconcile.bill import (
    bills_due,
    note_failure,
    reconcile_again,
    reconcile_bill,
)
from apps.ledger.actions.reconcile.waiting import reconcile_waiting, wake_bills, wake_open_bills
