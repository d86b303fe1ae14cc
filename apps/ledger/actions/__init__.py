"""Changes of the ledger: its passes, the clock that marks hours for them, and all at once."""

from apps.ledger.actions.charge import charge_hour
from apps.ledger.actions.clock import mark_by_clock
from apps.ledger.actions.outcome import Outcome
from apps.ledger.actions.rollup import roll_up_day
from apps.ledger.actions.settle import (
    PASSES,
    Passes,
    Progress,
    marked_hours,
    settle_window,
    try_pass,
)
from apps.ledger.actions.split import split_hour
from apps.ledger.actions.spread import spread_hour

__all__ = [
    "PASSES",
    "Outcome",
    "Passes",
    "Progress",
    "charge_hour",
    "mark_by_clock",
    "marked_hours",
    "roll_up_day",
    "settle_window",
    "split_hour",
    "spread_hour",
    "try_pass",
]
