"""RunDay in the roll-up: the day's lines of jobs that carried runs, divided over these."""

from apps.ledger.actions.rolled_day import RolledDay
from apps.ledger.queries.tables import run


def write_run_days(rolled: RolledDay) -> None:
    """Write the day's rows of runs anew, in the roll-up's transaction."""
    run(DELETE, rolled.parameters())


DELETE = """
DELETE FROM ledger_runday WHERE day = %(day)s AND coalesce(pool_id, 0) = ANY(%(pools)s)
"""
