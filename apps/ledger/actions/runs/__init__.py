"""What the roll-up and its sweep write of training runs: RunDay, RunFigures."""

from apps.ledger.actions.runs.days import write_run_days

__all__ = ["write_run_days"]
