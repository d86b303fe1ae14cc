"""Settling by the passes of all apps, in the order a dollar goes through them."""

from datetime import datetime

from apps.ledger import actions as ledger
from apps.ledger.actions import Passes, Progress
from apps.ledger.actions.settle import Tell
from apps.unit_economics.actions.divide import PASSES as DIVIDING
from apps.unit_economics.actions.runs import figure_due_runs

PASSES: Passes = {**ledger.PASSES, **DIVIDING}


def settle_window(
    *,
    starts_at: datetime,
    ends_at: datetime,
    at: datetime,
    tell: Tell = lambda progress: None,
    newest_first: bool = False,
) -> Progress:
    """`ledger.settle_window` by all passes; then the figures of runs that were folded since."""
    try:
        return ledger.settle_window(
            passes=PASSES,
            starts_at=starts_at,
            ends_at=ends_at,
            at=at,
            tell=tell,
            newest_first=newest_first,
        )
    finally:
        figure_due_runs(at=at)
