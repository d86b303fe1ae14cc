"""Changes of the ledger: the five passes, the clock that marks hours for them, and all at once."""

from apps.ledger.actions.charge import charge_hour
from apps.ledger.actions.clock import mark_by_clock
from apps.ledger.actions.divide import divide_day
from apps.ledger.actions.outcome import Outcome
from apps.ledger.actions.rollup import roll_up_day
from apps.ledger.actions.runs import figure_due_runs
from apps.ledger.actions.settle import Progress, do_pass, marked_hours, settle_window
from apps.ledger.actions.split import split_hour
from apps.ledger.actions.spread import spread_hour

__all__ = [
    "Outcome",
    "Progress",
    "charge_hour",
    "divide_day",
    "do_pass",
    "figure_due_runs",
    "mark_by_clock",
    "marked_hours",
    "roll_up_day",
    "settle_window",
    "split_hour",
    "spread_hour",
]
