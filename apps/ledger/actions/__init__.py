"""Changes of the ledger: its passes, the clock that marks hours for them, and all at once."""

from apps.ledger.actions.charge import charge_hour
from apps.ledger.actions.clock import mark_by_clock
from apps.ledger.actions.rollup import roll_up_day
from apps.ledger.actions.settle import (
    PASSES,
    NotSettled,
    Passes,
    Progress,
    failed_hours,
    marked_hours,
    settle_window,
    try_pass,
)
